"""The impact of a proposal, computed from the proposal itself and the links in the index.

A description by a tool or a model does not affect it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from app.permissions.approval import Effect
from app.permissions.caller import Caller
from app.permissions.pluralize import pluralize
from app.permissions.scope import Operation, Scope, ScopeKind
from app.permissions.store_policy import StoreVerdict
from app.vault.changes import (
    VAULT,
    ChangeSet,
    ChangeWarning,
    Create,
    Delete,
    FileChange,
    Move,
    Update,
    after_of,
)
from app.vault.markdown.scan import scan
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath, name_key

Backlinks = Callable[[NotePath], Iterable[NotePath]]
"""The notes that link to a note."""

COMMAND, PAGE, MESSAGE, OUTSIDE_READ, ADMINISTRATIVE = "command", "page", "message", "read", "administrative"
EXTERNAL_TOOL = "external tool"
"""A tool of another program, which may run programs and send messages regardless of its description."""

_EFFECTS = {
    COMMAND: Operation.EXECUTE,
    EXTERNAL_TOOL: Operation.EXECUTE,
    PAGE: Operation.NETWORK,
    MESSAGE: Operation.NETWORK,
    OUTSIDE_READ: Operation.READ,
    ADMINISTRATIVE: Operation.ADMINISTRATIVE,
}
_WITHOUT_SIDE_EFFECTS = frozenset({PAGE, OUTSIDE_READ})
_SEVERITY = (Operation.READ, Operation.CREATE, Operation.UPDATE, Operation.DELETE)
_KINDS = {
    Operation.CREATE: ScopeKind.WRITE_CREATE,
    Operation.UPDATE: ScopeKind.WRITE_UPDATE,
    Operation.DELETE: ScopeKind.WRITE_DELETE,
}


@dataclass(frozen=True, slots=True)
class ImpactPart:
    """One operation on one path (None if it has no path) of the vault or of another store.

    Both ends of a move are parts: `other_end` is the file's destination (if `leaves`) or its origin.
    """

    operation: Operation
    path: NotePath | None = None
    other_end: NotePath | None = None
    leaves: bool = False
    store_id: str = VAULT


@dataclass(frozen=True, slots=True)
class CallFacts:
    """The facts about a call that the policy's decision depends on.

    `op` is the chosen operation of a tool that has several; `effect` is the kind of an effect outside the
    notes. `reads_only`: the tool or its category promises to change nothing. `executes`: its category may run
    programs. `creates_only`: the tool or its category creates notes but changes no existing ones.
    `always_asks`: the tool requires approval for every call. `changes_access`: the change affects what is
    private or what the permission rules cover. `access` is the verdict of the store that holds
    the documents; None for the vault.
    """

    caller: Caller
    tool: str
    operation: Operation
    scope: Scope
    parts: tuple[ImpactPart, ...]
    op: str = ""
    effect: str = ""
    reads_only: bool = False
    executes: bool = False
    creates_only: bool = False
    always_asks: bool = False
    changes_access: bool = False
    access: StoreVerdict | None = None


@dataclass(frozen=True, slots=True)
class Impact:
    """The impact of a proposal: its operation, scope, parts and warnings, and the kind of its effect."""

    operation: Operation
    scope: Scope
    parts: tuple[ImpactPart, ...]
    effect: str = ""
    warnings: tuple[ChangeWarning, ...] = ()


def impact_of_changes(change_set: ChangeSet, backlinks: Backlinks, store_name: str = "") -> Impact:
    """Return the impact of changes to documents; the most severe part determines the operation.

    `store_name` is the display name of their store, unless it is the vault. An empty change set counts
    as a read.
    """
    store_id = change_set.place
    parts = tuple(
        replace(part, store_id=store_id) if store_id else part
        for change in change_set.changes
        for part in _parts(change)
    )
    if not parts:
        return impact_of_reading(())
    operation = max((part.operation for part in parts), key=_SEVERITY.index)
    scope = Scope(
        kind=_KINDS[operation],
        paths=change_set.paths,
        size=sum(len(after_of(change) or b"") for change in change_set.changes),
        backlinks=_lost_links(change_set, backlinks) if store_id == VAULT else (),
        files=len(change_set.changes),
        description=change_set.summary,
        store_id=store_id,
        store_name=store_name,
    )
    return Impact(operation, scope, parts, warnings=change_set.warnings)


def impact_of_effect(effect: Effect) -> Impact:
    """Return the impact of an effect outside the notes; an unknown kind counts as a command."""
    operation = _EFFECTS.get(effect.kind, Operation.EXECUTE)
    outside = tuple(value for name, value in effect.arguments if name == "folder")
    if operation is Operation.READ:
        scope = Scope(ScopeKind.READ_OUT_OF_SCOPE, outside=outside, description=effect.text)
    else:
        scope = Scope(ScopeKind.ADMIN, description=effect.text)
    return Impact(operation, scope, (ImpactPart(operation),), effect.kind)


def has_side_effects(effect: Effect) -> bool:
    """Return whether an effect changes something that the app can't undo."""
    return effect.kind not in _WITHOUT_SIDE_EFFECTS


def impact_of_reading(paths: tuple[NotePath, ...]) -> Impact:
    """Return the impact of reading these notes in the vault."""
    scope = Scope(ScopeKind.READ_IN_SCOPE, paths=paths, files=len(paths))
    return Impact(Operation.READ, scope, tuple(ImpactPart(Operation.READ, path) for path in paths))


def describe_scope(scope: Scope) -> str:
    """Return a scope in one line for the log: "write_delete: 1 file, 0 bytes, 3 backlinks"."""
    details = []
    if scope.kind is not ScopeKind.READ_IN_SCOPE and scope.files:
        details.append(f"{pluralize(scope.files, 'file')}, {pluralize(scope.size, 'byte')}")
    if scope.backlinks:
        details.append(pluralize(len(scope.backlinks), "backlink"))
    if scope.store_id:
        details.append(f"in {scope.store_name or scope.store_id}")
    details += [*scope.outside, *([scope.description] if scope.kind is ScopeKind.ADMIN else [])]
    return f"{scope.kind.value}: {', '.join(details)}" if details else scope.kind.value


def rewritten_by_move(change_set: ChangeSet) -> tuple[NotePath, ...]:
    """Return the notes whose text a move changes: the updates in its change set."""
    if not any(isinstance(change, Move) for change in change_set.changes):
        return ()
    return tuple(change.path for change in change_set.changes if isinstance(change, Update))


def _parts(change: FileChange) -> tuple[ImpactPart, ...]:
    match change:
        case Create():
            return (ImpactPart(Operation.CREATE, change.path),)
        case Update():
            return (ImpactPart(Operation.UPDATE, change.path),)
        case Delete():
            return (ImpactPart(Operation.DELETE, change.path),)
        case Move():
            return (
                ImpactPart(Operation.UPDATE, change.path, other_end=change.to, leaves=True),
                ImpactPart(Operation.UPDATE, change.to, other_end=change.path),
            )


def _lost_links(change_set: ChangeSet, backlinks: Backlinks) -> tuple[NotePath, ...]:
    """Return the remaining notes that link to a deleted one."""
    deleted = [change.path for change in change_set.changes if isinstance(change, Delete)]
    after = {change.path: change.after for change in change_set.changes if isinstance(change, Update)}
    sources = {
        source
        for path in deleted
        for source in backlinks(path)
        if source not in after or _still_names(after[source], path)
    }
    return tuple(sorted(sources - set(deleted)))


def _still_names(content: bytes, path: NotePath) -> bool:
    """Return whether the new content of a changed note still links to the deleted note at `path`."""
    text = decode_lossy(content)
    if name_key(path.name) not in name_key(text):
        return False
    link_names = (link.target.rpartition("/")[2] for link in scan(text).links)
    return any(name_key(name) in (name_key(path.name), name_key(path.file_name)) for name in link_names)
