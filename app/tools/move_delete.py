"""Category notes: rename, move and delete notes; a move updates the links in other notes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from app.errors import ConflictError, InvalidParametersError, UnreadableNoteError
from app.index.renames import RenamePlan, Rewrite
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import FolderName, NewNoteName, NoteName
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.vault.changes import ChangeSet, Move, Update
from app.vault.markdown import link_edits
from app.vault.path import NotePath, note_path


class NoteMoved(ToolResult):
    """A moved note; `left_out` lists links and notes that were not rewritten, each with the reason."""

    path: str
    new_path: str
    rewritten: list[str]
    left_out: list[str]


class NoteDeleted(ToolResult):
    """A note that was moved to the vault's trash; `backlinks` are the notes that still link to it."""

    path: str
    backlinks: list[str]


@tool(
    category="notes",
    examples=(
        "rename {name} to {new_name}",
        "move {name} to the folder {folder}",
        "move {name} into {folder}",
        "change the name of {name} to {new_name}",
        "call {name} {new_name} from now on",
    ),
)
async def move_note(
    context: ToolContext,
    name: NoteName,
    new_name: NewNoteName | None = None,
    folder: FolderName | None = None,
) -> Proposal[NoteMoved]:
    """Rename a note, move it to another folder, or both. Links to it are rewritten in the same change.

    Args:
        name: The note.
        new_name: The new name, without a folder.
        folder: The folder to move the note to; empty for the vault's root.
    """
    note = await context.vault.resolve_strictly(name)
    if new_name is None and folder is None:
        raise InvalidParametersError("Give a new name, a folder, or both.")
    new_path = note_path(
        note.path.folder if folder is None else folder, _strip_brackets(new_name or note.name)
    )
    if new_path == note.path:
        raise InvalidParametersError(f"The note is already at {new_path}.", path=str(new_path))
    existing = context.vault.existing_path(new_path)
    if existing is not None and existing.key != note.path.key:
        raise ConflictError(f"There is already a note at {existing}.", path=str(existing))
    plan = await context.index.links_to_rewrite(note.path, new_path)
    rewrites = dict(plan.rewrites)
    own_rewrite = rewrites.pop(note.path, None)
    own_text = link_edits.rewrite_links(note.text, own_rewrite) if own_rewrite else None
    changes, failed = await asyncio.to_thread(rewrite_other_notes, context, rewrites)
    left_out = [*_skipped_links(context, plan), *failed]
    summary = f"Move {note.path} to {new_path}"
    if changes:
        summary += f", {pluralize(len(changes), 'note')} rewritten"
    change_set = ChangeSet.of(note.move_change(new_path, own_text), *changes, summary=summary)

    def report(committed: ChangeSet) -> NoteMoved:
        is_moved = any(isinstance(change, Move) for change in committed.changes)
        rewritten_paths = [
            str(change.path)
            for change in committed.changes
            if isinstance(change, Update) and context.vault.can_see(change.path)
        ]
        message = f"Moved {note.path} to {new_path}." if is_moved else f"{note.path} was not moved."
        if rewritten_paths:
            others = pluralize(
                len(rewritten_paths), "note that links to it was", "notes that link to it were"
            )
            message += f" {others} rewritten."
        return NoteMoved(
            path=str(note.path),
            new_path=str(new_path if is_moved else note.path),
            rewritten=rewritten_paths,
            left_out=left_out,
            message=message,
        )

    return context.propose(change_set, report)


def rewrite_other_notes(
    context: ToolContext, rewrites: Mapping[NotePath, Rewrite]
) -> tuple[list[Update], list[str]]:
    """Return the changes that rewrite the links in notes, and the visible notes that can't be changed.

    Each of the latter is returned with the reason. Reads the notes, so call it in a thread.
    """
    changes: list[Update] = []
    failed: list[str] = []
    for source, rewrite in rewrites.items():
        try:
            other = context.vault.open_for_change(source)
            changes.append(other.with_text(link_edits.rewrite_links(other.text, rewrite)))
        except (UnreadableNoteError, InvalidParametersError) as error:
            if context.vault.can_see(source):
                failed.append(f"{source}: {error.message}")
    return changes, failed


def _skipped_links(context: ToolContext, plan: RenamePlan) -> list[str]:
    """Return the visible links that the plan does not change, each with the reason."""
    reasons = [(link, "could mean several notes") for link in plan.ambiguous]
    reasons += [(link, "will point to the moved note") for link in plan.captured]
    return [
        f"{link.source} line {link.line}: [[{link.target_text}]] {reason}"
        for link, reason in reasons
        if context.vault.can_see(link.source)
    ]


def _strip_brackets(name: str) -> str:
    return name.strip().removeprefix("[[").removesuffix("]]").strip()


@tool(
    category="notes",
    examples=("delete {name}", "remove the note {name}", "throw {name} away", "trash {name}"),
)
async def delete_note(context: ToolContext, name: NoteName) -> Proposal[NoteDeleted]:
    """Move a note to the vault's trash and list the notes that link to it.

    Args:
        name: The note.
    """
    note = await context.vault.resolve_strictly(name)
    links = context.index.backlinks(note.path)
    sources = sorted({str(link.source) for link in links if link.source != note.path})
    message = f"Moved {note.path} to the trash."
    if sources:
        message += f" {pluralize(len(sources), 'note still links', 'notes still link')} to it."
    change_set = ChangeSet.of(note.delete_change(), summary=f"Delete {note.path}")
    return context.propose(change_set, NoteDeleted(path=str(note.path), backlinks=sources, message=message))
