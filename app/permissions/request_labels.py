"""Labels that describe an approval request.

Text that a caller or a file may have chosen is shown as plain text, with its hidden characters named.
"""

from __future__ import annotations

from collections import Counter
from functools import reduce

from app.permissions.approval import ApprovalRequest, Effect
from app.permissions.caller import Caller, CallerKind
from app.permissions.scope import Operation
from app.translatable_text import TranslatableText
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, Update
from app.vault.invisible_chars import escape_hidden

CALLER_KINDS = {
    CallerKind.USER: TranslatableText("Approval", "You, in this window"),
    CallerKind.DESKTOP_AGENT: TranslatableText("Approval", "Agent in this window"),
    CallerKind.MCP: TranslatableText("Approval", "MCP client"),
    CallerKind.HTTP: TranslatableText("Approval", "HTTP client"),
    CallerKind.CLI: TranslatableText("Approval", "Command line"),
    CallerKind.PLUGIN: TranslatableText("Approval", "Plug-in"),
}
KIND_NAMES = {
    Create: TranslatableText("Approval", "New file"),
    Update: TranslatableText("Approval", "Changed"),
    Move: TranslatableText("Approval", "Moved"),
    Delete: TranslatableText("Approval", "Deleted"),
}
OPERATION_NAMES = {
    Operation.READ: TranslatableText("Approval", "read"),
    Operation.CREATE: TranslatableText("Approval", "create"),
    Operation.UPDATE: TranslatableText("Approval", "update"),
    Operation.DELETE: TranslatableText("Approval", "delete"),
    Operation.ADMINISTRATIVE: TranslatableText("Approval", "administrative"),
    Operation.EXECUTE: TranslatableText("Approval", "execute"),
    Operation.NETWORK: TranslatableText("Approval", "network"),
}
_OWN_CHANGES = {
    Create: TranslatableText("Approval", "Create {0}"),
    Update: TranslatableText("Approval", "Change {0}"),
    Move: TranslatableText("Approval", "Move {0} to {1}"),
    Delete: TranslatableText("Approval", "Delete {0}"),
}
_CHANGES = {
    Create: TranslatableText("Approval", "{0} wants to create {1}"),
    Update: TranslatableText("Approval", "{0} wants to change {1}"),
    Move: TranslatableText("Approval", "{0} wants to move {1} to {2}"),
    Delete: TranslatableText("Approval", "{0} wants to delete {1}"),
}
_ACTION = TranslatableText("Approval", "{0} wants to {1}")
_NOTE_COUNTS = {
    Create: TranslatableText("Approval", "create {0} note", "create {0} notes"),
    Move: TranslatableText("Approval", "move {0} note", "move {0} notes"),
    Delete: TranslatableText("Approval", "delete {0} note", "delete {0} notes"),
    Update: TranslatableText("Approval", "change {0} note", "change {0} notes"),
}
_FILE_COUNTS = {
    Create: TranslatableText("Approval", "create {0} file", "create {0} files"),
    Move: TranslatableText("Approval", "move {0} file", "move {0} files"),
    Delete: TranslatableText("Approval", "delete {0} file", "delete {0} files"),
    Update: TranslatableText("Approval", "change {0} file", "change {0} files"),
}
# After a part that names the notes or files.
_FURTHER_COUNTS = {
    Move: TranslatableText("Approval", "move {0}"),
    Delete: TranslatableText("Approval", "delete {0}"),
    Update: TranslatableText("Approval", "change {0}"),
}
_CHANGED_IN = TranslatableText("Approval", "{0} in {1}")
_DELETED_FROM = TranslatableText("Approval", "{0} from {1}")
_MAX_NAME_CHARS = 80


def request_title(request: ApprovalRequest) -> TranslatableText:
    """Return a sentence that states the caller and the proposal: “Claude wants to delete “Kyoto””.

    The title of the user's own request is the action alone: “Delete “Kyoto””.
    """
    proposal = request.proposal
    is_from_user = request.caller.kind is CallerKind.USER
    caller = _short_name(request.caller.name)
    if isinstance(proposal, ChangeSet) and len(proposal.changes) == 1:
        change = proposal.changes[0]
        names = [quote_name(str(path)) for path in _paths(change)]
        title = (
            _OWN_CHANGES[type(change)].fill(*names)
            if is_from_user
            else _CHANGES[type(change)].fill(caller, *names)
        )
    else:
        action = (
            _effect_label(request, proposal) if isinstance(proposal, Effect) else _changes_label(proposal)
        )
        title = action.capitalized() if is_from_user else _ACTION.fill(caller, action)
    if isinstance(proposal, ChangeSet) and (store := request.scope.store_name):
        is_deletion = all(isinstance(change, Delete) for change in proposal.changes)
        return (_DELETED_FROM if is_deletion else _CHANGED_IN).fill(title, _short_name(store))
    return title


def request_warnings(request: ApprovalRequest) -> tuple[TranslatableText, ...]:
    """Return the sentences about consequences that the changes do not show."""
    warnings = request.proposal.warnings if isinstance(request.proposal, ChangeSet) else ()
    return tuple(_without_hidden(warning.text) for warning in warnings)


def _without_hidden(text: TranslatableText) -> TranslatableText:
    """Return a text with the hidden characters in its values named."""
    return text.fill(*(escape_hidden(value) if isinstance(value, str) else value for value in text.values))


def _effect_label(request: ApprovalRequest, proposal: Effect) -> TranslatableText:
    label = _short_name(request.scope.description or proposal.kind)
    return TranslatableText.verbatim(label[:1].lower() + label[1:])


def _changes_label(proposal: ChangeSet) -> TranslatableText:
    counts = Counter(type(change) for change in proposal.changes)
    first_counts = _NOTE_COUNTS if all(path.is_note for path in proposal.paths) else _FILE_COUNTS
    parts: list[TranslatableText] = []
    for kind in (Create, Move, Delete, Update):
        if count := counts[kind]:
            parts.append((_FURTHER_COUNTS if parts else first_counts)[kind].fill(count))
    *before, last = parts
    if not before:
        return last
    listed = reduce(TranslatableText("Approval", "{0}, {1}").fill, before)
    return TranslatableText("Approval", "{0} and {1}").fill(listed, last)


def _paths(change: FileChange) -> tuple[object, ...]:
    return (change.path, change.to) if isinstance(change, Move) else (change.path,)


def change_name(change: FileChange) -> str:
    """Return the path of a change, and for a move both paths."""
    return " → ".join(escape_hidden(str(path)) for path in _paths(change))


def caller_label(caller: Caller) -> TranslatableText:
    """Return the caller's interface, and how an external program identifies itself."""
    kind = CALLER_KINDS[caller.kind]
    description = " ".join(caller.says.split())
    if not description or description == caller.name:
        return kind
    return TranslatableText("Approval", "{0}, calls itself {1}").fill(kind, quote_name(description))


def format_extent(request: ApprovalRequest) -> TranslatableText | None:
    """Return the number of files and bytes of a request; None if there are neither."""
    size = format_size(request.scope.size) if request.scope.size else None
    if not isinstance(request.proposal, ChangeSet):
        return size
    count = len(request.proposal.changes)
    if size is None:
        return TranslatableText("Approval", "{0} file", "{0} files").fill(count)
    return TranslatableText("Approval", "{0} file, {1}", "{0} files, {1}").fill(count, size)


def format_size(count: int) -> TranslatableText:
    """Return a number of bytes in a suitable unit."""
    if count < 1_000:
        return TranslatableText("FileSize", "{0} byte", "{0} bytes").fill(count)
    if count < 1_000_000:
        return TranslatableText("FileSize", "{0} kB").fill(f"{count / 1e3:.1f}")
    if count < 1_000_000_000:
        return TranslatableText("FileSize", "{0} MB").fill(f"{count / 1e6:.1f}")
    return TranslatableText("FileSize", "{0} GB").fill(f"{count / 1e9:.1f}")


def quote_name(text: str) -> str:
    """Return a name in quotes, shortened, with its hidden characters named."""
    return f"“{_short_name(text)}”"


def _short_name(text: str) -> str:
    """Return a name with its hidden characters named, on one line, its middle elided if it is too long."""
    line = " ".join(escape_hidden(text).split())
    if len(line) <= _MAX_NAME_CHARS:
        return line
    half = (_MAX_NAME_CHARS - 1) // 2
    return f"{line[:half]}…{line[-half:]}"
