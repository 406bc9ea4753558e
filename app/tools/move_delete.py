"""Category notes: move and delete notes, and move folders; a move updates the links in other notes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from app.errors import (
    ConflictError,
    InvalidParametersError,
    LimitError,
    NotFoundError,
    PermissionDeniedError,
    UnreadableNoteError,
)
from app.index.renames import RenamePlan, Rewrite
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import FolderName, NewNoteName, NoteName
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import NoteContext
from app.toolkit.tool import tool
from app.toolkit.vault_view import folder_conflict
from app.tools.link_updates import describe_updates, skipped_links, update_notes, visible_updates
from app.tools.move_warnings import move_warnings
from app.translatable_text import TranslatableText
from app.vault.changes import ChangeSet, ChangeWarning, Move
from app.vault.markdown import link_edits
from app.vault.path import NotePath, name_key, note_path

MAX_MOVED_FILES = 5000
MAX_MOVED_BYTES = 256 * 1024 * 1024
_REMAINING = TranslatableText(
    "Approval",
    "{0} hidden or excluded file stays in “{1}”.",
    "{0} hidden or excluded files stay in “{1}”.",
)


class NoteMoved(ToolResult):
    """A moved note; `left_out` lists links and notes that were not updated, each with the reason."""

    path: str
    new_path: str
    rewritten: list[str]
    left_out: list[str]


class FolderMoved(ToolResult):
    """A moved folder; `left_out` lists links and notes that were not updated, each with the reason.

    `remaining` is the number of hidden and excluded files that stay in the old folder; None for a caller that
    may not know of them.
    """

    folder: str
    new_folder: str
    files: int
    remaining: int | None
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
    context: NoteContext,
    name: NoteName,
    new_name: NewNoteName | None = None,
    folder: FolderName | None = None,
) -> Proposal[NoteMoved]:
    """Rename a note, move it to another folder, or both. Links to it are updated in the same change.

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
    plan = await context.index.moves_to_rewrite({note.path: new_path})
    rewrites = dict(plan.rewrites)
    own_rewrite = rewrites.pop(note.path, None)
    own_text = link_edits.rewrite_links(note.text, own_rewrite) if own_rewrite else None
    changes, failed = await asyncio.to_thread(update_notes, context, rewrites, link_edits.rewrite_links)
    left_out = [*_skipped_links(context, plan), *failed]
    summary = f"Move {note.path} to {new_path}"
    if changes:
        summary += f", links updated in {pluralize(len(changes), 'note')}"
    change_set = ChangeSet.of(
        note.move_change(new_path, own_text),
        *changes,
        summary=summary,
        warnings=await move_warnings(
            context.services, str(note.path), {note.path: new_path}, is_folder=False
        ),
    )

    def report(committed: ChangeSet) -> NoteMoved:
        is_moved = any(isinstance(change, Move) for change in committed.changes)
        updated = visible_updates(context, committed.changes)
        message = f"Moved {note.path} to {new_path}." if is_moved else f"{note.path} was not moved."
        return NoteMoved(
            path=str(note.path),
            new_path=str(new_path if is_moved else note.path),
            rewritten=updated,
            left_out=left_out,
            message=message + describe_updates(updated),
        )

    return context.propose(change_set, report)


@tool(
    category="notes",
    examples=("rename the folder {folder} to {new_folder}", "move the folder {folder} to {new_folder}"),
)
async def move_folder(
    context: NoteContext, folder: FolderName, new_folder: FolderName
) -> Proposal[FolderMoved]:
    """Rename a folder or move it with its files. Links to them are updated in the same change.

    Files whose names start with a dot and excluded files stay in the old folder. A folder in which nothing is
    left is removed.

    Args:
        folder: The folder.
        new_folder: Its new path, which no other folder may have.
    """
    old, new = folder.strip(" /"), new_folder.strip(" /")
    moves = await _folder_moves(context, old, new)
    plan = await context.index.moves_to_rewrite(moves)
    rewrites = dict(plan.rewrites)
    own_rewrites = {path: rewrite for path in moves if (rewrite := rewrites.pop(path, None))}
    moved, failed = await asyncio.to_thread(_move_files, context, moves, own_rewrites)
    changes, failed_others = await asyncio.to_thread(
        update_notes, context, rewrites, link_edits.rewrite_links
    )
    left_out = [*_skipped_links(context, plan), *failed, *failed_others]
    remaining = await asyncio.to_thread(context.vault.count_other_files, NotePath.on_disk(old), moves)
    summary = f"Move the folder {old} to {new} ({pluralize(len(moved), 'file')})"
    if changes:
        summary += f", links updated in {pluralize(len(changes), 'note')}"
    warnings = await move_warnings(context.services, old, moves, is_folder=True)
    rest = _REMAINING.fill(remaining, old) if remaining else None
    if rest is not None:
        warnings = (ChangeWarning(rest), *warnings)
    change_set = ChangeSet.of(
        *moved, *changes, summary=summary, warnings=warnings, emptied=_folders_of(moves, old)
    )
    is_told = not context.vault.may_hide

    def report(committed: ChangeSet) -> FolderMoved:
        count = sum(isinstance(change, Move) for change in committed.changes)
        updated = visible_updates(context, committed.changes)
        message = f"Moved {pluralize(count, 'file')} from “{old}” to “{new}”.{describe_updates(updated)}"
        return FolderMoved(
            folder=old,
            new_folder=new,
            files=count,
            remaining=remaining if is_told else None,
            rewritten=updated,
            left_out=left_out,
            message=f"{message} {rest.english}" if rest is not None and is_told else message,
        )

    return context.propose(change_set, report)


def _folders_of(files: Iterable[NotePath], folder: str) -> set[str]:
    """Return the folders of files from `folder` down, spelled as on disk."""
    depth = folder.count("/") + 1
    parts = [file.folder.split("/") for file in files]
    return {"/".join(names[:count]) for names in parts for count in range(depth, len(names) + 1)}


async def _folder_moves(context: ToolContext, old: str, new: str) -> dict[NotePath, NotePath]:
    """Return the new paths of a folder's visible files.

    Raises:
        NotFoundError: The folder is missing or empty.
        InvalidParametersError: The new path is hidden, that of the folder or inside it, or differs only in
            case.
        PermissionDeniedError: The call can't see all files of the folder.
        ConflictError: There is already a folder or file with the new path.
        LimitError: The folder has too many or too large files for one change.
    """
    files = [file for file in context.index.files() if file.path.is_under(old)] if old else []
    notes = context.index.notes(old) if old else ()
    paths = [*(note.path for note in notes), *(file.path for file in files)]
    if not paths:
        raise NotFoundError(f"There is no folder “{old}” with files in it.", folder=old)
    folder = NotePath.parse(new)
    if folder.is_hidden:
        message = f"The folder “{new}” would be hidden: no part of its path may start with a dot."
        raise InvalidParametersError(f"{message} Nothing was changed.", folder=new)
    depth = old.count("/") + 1
    if paths[0].text.split("/")[:depth] == folder.text.split("/"):
        message = f"The folder already has the path “{new}”. Nothing was changed."
        raise InvalidParametersError(message, folder=new)
    if folder.key == name_key(old):
        message = (
            f"The new path of the folder “{old}” must differ in more than its case. Nothing was changed."
        )
        raise InvalidParametersError(message, folder=new)
    if folder.is_under(old):
        message = "A folder can't be moved into itself. Nothing was changed."
        raise InvalidParametersError(message, folder=new)
    if context.index.hides_files_in(old):
        message = f"The folder “{old}” can't be moved. Nothing was changed. Ask the user to move it."
        raise PermissionDeniedError(message, folder=old)
    is_in_use = bool(context.index.notes(new)) or any(
        file.path.is_under(new) for file in context.index.files()
    )
    if is_in_use:
        raise folder_conflict(folder)
    await asyncio.to_thread(context.vault.check_free_folder, folder)
    size = sum(note.size for note in notes) + sum(file.size for file in files)
    if len(paths) > MAX_MOVED_FILES or size > MAX_MOVED_BYTES:
        raise LimitError(
            f"The folder “{old}” has more than {MAX_MOVED_FILES:,} files or {MAX_MOVED_BYTES // 1024**2} MiB."
            " Move its subfolders one by one, or use the file manager.",
            limit=MAX_MOVED_FILES,
        )
    moves = {path: NotePath.on_disk("/".join((folder.text, *path.text.split("/")[depth:]))) for path in paths}
    for target in moves.values():
        if (existing := context.vault.existing_path(target)) is not None:
            raise ConflictError(f"There is already a file at {existing}.", path=str(existing))
    return moves


def _move_files(
    context: ToolContext, moves: Mapping[NotePath, NotePath], rewrites: Mapping[NotePath, Rewrite]
) -> tuple[list[Move], list[str]]:
    """Return the moves of files, with new links in notes, and the notes whose links can't be updated.

    Each of the latter is returned with the reason. Reads the files, so call it in a thread.
    """
    moved: list[Move] = []
    failed: list[str] = []
    for path, target in moves.items():
        file = context.vault.open(path)
        rewrite, text = rewrites.get(path), None
        try:
            text = link_edits.rewrite_links(file.text, rewrite) if rewrite else None
        except (UnreadableNoteError, InvalidParametersError) as error:
            failed.append(f"{path}: {error.reason}")
        moved.append(file.move_change(target, text))
    return moved, failed


def _skipped_links(context: ToolContext, plan: RenamePlan) -> list[str]:
    """Return the visible links that the plan does not change, each with the reason."""
    return [
        *skipped_links(context, plan.ambiguous, "could mean several notes"),
        *skipped_links(context, plan.captured, "will point to the moved note"),
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
