"""Versions of notes, and undo: commits are reverted by a new proposal."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from app.errors import ConflictError, InvalidParametersError, NotFoundError
from app.permissions.caller import CallerKind
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import ContentHash, NoteName
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.tools.notes import NoteWritten
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, Update
from app.vault.path import NotePath


class VersionEntry(BaseModel):
    """A version of a note; `version` identifies it for restore_note and is None for a deletion."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    version: str | None
    time: float
    author: str
    path: str
    size: int
    summary: str


class Versions(ToolResult):
    """The versions of a note, newest first; times are in Unix seconds."""

    versions: list[VersionEntry]


class Undone(ToolResult):
    """Commits that were undone, and the visible documents that were reverted.

    `paths` are the documents where they were before and where they are now: `removed` ones, which the undone
    commits had created, those `moved_back` to these paths, and those whose content was `restored`.
    `commits` is empty if only part of the undo was approved. `left` counts the commits of the same call or
    turn in other stores (memory, files outside the vault), which another undo reverts.
    """

    commits: list[int]
    paths: list[str]
    removed: list[str] = Field(default_factory=list)
    moved_back: list[str] = Field(default_factory=list)
    restored: list[str] = Field(default_factory=list)
    left: int = 0


@tool(
    category="notes",
    examples=("history of {name}", "show the versions of {name}", "what did {name} look like before?"),
)
async def note_history(context: ToolContext, name: NoteName) -> Versions:
    """List the versions of a note, newest first.

    Args:
        name: The note, or the path of a deleted note.
    """
    path = await _find_path(context, name)
    entries = [
        VersionEntry(
            version=v.hash, time=v.time, author=v.author, path=str(v.path), size=v.size, summary=v.summary
        )
        for v in context.history.versions(path)
    ]
    return Versions(versions=entries, message=f"{pluralize(len(entries), 'version')} of {path}.")


@tool(category="notes", examples=("restore {name} to the version {version}",))
async def restore_note(context: ToolContext, name: NoteName, version: ContentHash) -> Proposal[NoteWritten]:
    """Restore a version of a note from note_history.

    Args:
        name: The note, or the path of a deleted note.
        version: The version's hash.
    """
    path = await _find_path(context, name)
    if version not in {known.hash for known in context.history.versions(path)}:
        raise NotFoundError(f"{path} has no such version.", path=str(path), version=version)
    change_set = context.history.plan_restore(path, version)
    message = f"Restored [[{path.name}]]." if change_set else f"[[{path.name}]] is already at that version."
    return context.propose(change_set, NoteWritten(name=path.name, path=str(path), message=message))


async def _find_path(context: ToolContext, name: str) -> NotePath:
    """Return the path of a note, or of a deleted note with versions in the journal.

    Raises:
        NotFoundError: there is neither.
        AmbiguousError: several notes match.
        InvalidPathError: no note matches, and the name can't be a path.
    """
    try:
        return (await context.vault.resolve_for_reading(name)).path
    except NotFoundError:
        text = name.strip().removeprefix("[[").removesuffix("]]")
        for candidate in (text, f"{text}.md"):
            path = NotePath.parse(candidate)
            if context.history.versions(path):
                return path
        raise


@tool(
    category="notes",
    examples=("undo", "undo that", "take it back", "undo the last change", "revert what you just did"),
    usage_rule="undo without arguments undoes the last change in this conversation.",
)
async def undo(context: ToolContext, entry: int | None = None, turn: str | None = None) -> Proposal[Undone]:
    """Undo the changes of a call or of a whole turn; later changes are kept.

    Without arguments, it undoes this caller's last change that has not been undone yet.

    Args:
        entry: The number of the call in the audit log.
        turn: The id of a turn.
    """
    if entry is not None and turn is not None:
        raise InvalidParametersError("Give entry or turn, not both.")
    if entry is not None:
        commits = context.history.commits_of_entry(entry)
    elif turn is not None:
        commits = context.history.commits_of_turn(turn)
    else:
        commits = _last_own_commit(context)
    if not commits:
        raise NotFoundError("There is nothing to undo.", entry=entry, turn=turn)
    first, *others = context.history.group_by_place(commits)
    plan = context.history.plan_undo(first)
    if plan.conflicts:
        paths = context.history.visible_paths(first, (conflict.path for conflict in plan.conflicts))
        raise ConflictError(
            f"{', '.join(paths) or 'A note'} has since changed on the same lines."
            " Nothing was undone. Open the note's history to choose a version.",
            paths=paths,
            commits=list(plan.commits),
        )
    remaining = sum(map(len, others))
    nothing_message = "" if plan.change_set else _explain_empty_undo(context, first)

    def report(committed: ChangeSet) -> Undone:
        def visible(*kinds: type[FileChange]) -> list[str]:
            changes = [change for change in committed.changes if isinstance(change, kinds)]
            now = [change.to if isinstance(change, Move) else change.path for change in changes]
            return context.history.visible_paths(first, now)

        paths = context.history.visible_paths(first, committed.paths)
        message = f"Undone: {', '.join(paths) or 'a note'}." if committed else nothing_message
        if remaining:
            message += f" {pluralize(remaining, 'change')} outside the notes can be undone next."
        is_complete = committed.digest == plan.change_set.digest
        return Undone(
            commits=list(first) if is_complete else [],
            paths=paths,
            removed=visible(Delete),
            moved_back=visible(Move),
            restored=visible(Create, Update),
            left=remaining,
            message=message,
        )

    return context.propose(plan.change_set, report, undoes=first)


def _explain_empty_undo(context: ToolContext, commits: tuple[int, ...]) -> str:
    """Return a message that says why the undo changes nothing."""
    remaining = context.history.not_undone(commits)
    if not remaining:
        return "Already undone; nothing to do."
    changes = [change for commit in remaining for change in commit.changes]
    created = [change.final_path for change in changes if change.before is None]
    missing = context.history.visible_paths(commits, created)
    if missing:
        verb = "no longer exists" if len(missing) == 1 else "no longer exist"
        return f"Nothing to undo: {', '.join(missing)} {verb}. Nothing was changed."
    return "Nothing to undo: the files are as they were before that change. Nothing was changed."


def _last_own_commit(context: ToolContext) -> tuple[int, ...]:
    """Return this caller's newest commit that is neither undone nor an undo."""
    is_user = context.caller.kind is CallerKind.USER
    for commit in context.history.commits(200):
        is_own = is_user or commit.author == context.caller.name
        if is_own and commit.undone_by is None and not commit.undoes:
            return (commit.id,)
    return ()
