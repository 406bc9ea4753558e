"""Labels that describe an approval request.

Text that a caller or a file may have chosen is shown as plain text, with its hidden characters named.
"""

from __future__ import annotations

from collections import Counter

from app.permissions.approval import ApprovalRequest, Effect
from app.permissions.caller import Caller, CallerKind
from app.permissions.pluralize import pluralize
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, Update
from app.vault.invisible_chars import escape_hidden

CALLER_KINDS = {
    CallerKind.USER: "you, in this window",
    CallerKind.DESKTOP_AGENT: "agent in this window",
    CallerKind.MCP: "MCP client",
    CallerKind.HTTP: "HTTP client",
    CallerKind.CLI: "command line",
    CallerKind.PLUGIN: "plug-in",
}
_VERBS = {Create: "create", Update: "change", Move: "move", Delete: "delete"}
KIND_NAMES = {Create: "New file", Update: "Changed", Move: "Moved", Delete: "Deleted"}
_MAX_NAME_CHARS = 80


def request_title(request: ApprovalRequest) -> str:
    """Return a sentence that states the caller and the proposal: “Claude wants to delete “Kyoto””.

    The title of the user's own request is the action alone: “Delete “Kyoto””.
    """
    action = action_label(request)
    if request.caller.kind is CallerKind.USER:
        return action[:1].upper() + action[1:]
    return f"{truncate_middle(escape_hidden(request.caller.name))} wants to {action}"


def action_label(request: ApprovalRequest) -> str:
    """Return the proposed action as a verb and its object."""
    proposal = request.proposal
    if isinstance(proposal, Effect):
        label = truncate_middle(escape_hidden(request.scope.description or proposal.kind))
        return label[:1].lower() + label[1:]
    label = _change_label(proposal.changes[0]) if len(proposal.changes) == 1 else _changes_label(proposal)
    store_label = request.scope.store_name
    return f"{label} in {truncate_middle(escape_hidden(store_label))}" if store_label else label


def _change_label(change: FileChange) -> str:
    verb, name = _VERBS[type(change)], quote_name(str(change.path))
    if isinstance(change, Move):
        return f"{verb} {name} to {quote_name(str(change.to))}"
    return f"{verb} {name}"


def _changes_label(proposal: ChangeSet) -> str:
    counts = Counter(type(change) for change in proposal.changes)
    notes = "note" if all(path.is_note for path in proposal.paths) else "file"
    parts: list[str] = []
    for kind in (Create, Move, Delete, Update):
        if count := counts[kind]:
            label = f" {notes}{'' if count == 1 else 's'}" if not parts else ""
            parts.append(f"{_VERBS[kind]} {count}{label}")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def change_name(change: FileChange) -> str:
    """Return the path of a change, and for a move both paths."""
    path = escape_hidden(str(change.path))
    return f"{path} → {escape_hidden(str(change.to))}" if isinstance(change, Move) else path


def caller_label(caller: Caller) -> str:
    """Return the caller's interface, and how an external program identifies itself."""
    kind = CALLER_KINDS[caller.kind]
    description = " ".join(caller.says.split())
    return (
        f"{kind}, calls itself {quote_name(description)}"
        if description and description != caller.name
        else kind
    )


def format_extent(request: ApprovalRequest) -> str:
    """Return the number of files and bytes of a request; empty for an effect."""
    scope = request.scope
    parts: list[str] = []
    if isinstance(request.proposal, ChangeSet):
        files = len(request.proposal.changes)
        parts.append(pluralize(files, "file"))
    if scope.size:
        parts.append(format_size(scope.size))
    return ", ".join(parts)


def format_size(count: int) -> str:
    """Return a number of bytes in a suitable unit."""
    if count < 1_000:
        return pluralize(count, "byte")
    for unit, factor in (("kB", 1_000), ("MB", 1_000_000)):
        if count < factor * 1_000:
            return f"{count / factor:.1f} {unit}"
    return f"{count / 1e9:.1f} GB"


def format_time_left(seconds: float) -> str:
    """Return a duration as minutes and seconds, "4:05", or in hours if it is two hours or more: "23 h"."""
    total = max(0, int(seconds + 0.999))
    if total >= 2 * 3600:
        return f"{total // 3600} h"
    return f"{total // 60}:{total % 60:02d}"


def quote_name(text: str) -> str:
    """Return a name in quotes, shortened, with its hidden characters named."""
    return f"“{truncate_middle(escape_hidden(text))}”"


def truncate_middle(text: str) -> str:
    """Return `text` on one line, with its middle elided if it is longer than a name may be."""
    line = " ".join(text.split())
    if len(line) <= _MAX_NAME_CHARS:
        return line
    half = (_MAX_NAME_CHARS - 1) // 2
    return f"{line[:half]}…{line[-half:]}"
