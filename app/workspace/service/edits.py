"""The user's own edits to notes, which need no approval but are journaled and logged like any other.

A note is written only if it still has the content that was loaded. Otherwise, nothing is written and the user
resolves the conflict.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.errors import NotFoundError, ScriptoriumError, StorageError, VaultLostError
from app.index.mention_links import linked_line, table_lines
from app.index.records import Mention
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.tools.notes import find_similar, new_path
from app.vault.merge import merge
from app.vault.path import NotePath
from app.workspace.service.note_data import NoteData

if TYPE_CHECKING:
    from app.toolkit.runner import ToolRunner
    from app.workspace.note_moves import NoteMoves
    from app.workspace.service.history import HistoryService
    from app.workspace.service.notes import NoteService


@dataclass(frozen=True, slots=True)
class Saved:
    """The note was saved; `page` is its new state."""

    page: NoteData


@dataclass(frozen=True, slots=True)
class SaveConflict:
    """The note has changed since it was loaded, so nothing was written.

    Attributes:
        theirs: The note on disk, under its new path if it was moved; None if it was deleted.
        by_app: Whether the app itself wrote the change, which the user had approved.
    """

    theirs: NoteData | None
    by_app: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing was written; `reason` is one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Created:
    """The note was created at `path`."""

    path: NotePath


@dataclass(frozen=True, slots=True)
class NameTaken:
    """Nothing was written: the note at `path` has that name or a similar one."""

    path: NotePath


_MAX_ROUNDS = 10
"""The number of rounds of the watcher after which a missing note counts as deleted."""
SaveResult = Saved | SaveConflict | Failed
CreateResult = Created | NameTaken | Failed


class EditService:
    """Saves and creates notes for the user.

    Args:
        notes: Reads the notes.
        history: The commits.
        runner: Runs the user's edits.
        moves: The new paths of moved notes.
        wait_watched: Waits until the watcher has published the outside changes made so far; returns False if
            there were none.
    """

    def __init__(
        self,
        notes: NoteService,
        history: HistoryService,
        runner: ToolRunner,
        moves: NoteMoves,
        wait_watched: Callable[[], Awaitable[bool]],
    ) -> None:
        self._notes = notes
        self._history = history
        self._runner = runner
        self._moves = moves
        self._wait_watched = wait_watched

    async def save(self, page: NoteData, text: str, session: str = "") -> SaveResult:
        """Save `text` to the note of `page`, unless the note has changed since `page` was loaded.

        Args:
            page: The note that `text` is based on.
            text: The new text.
            session: The editing session, which groups its saves in the history.

        Raises:
            NotFoundError, StorageError: The note was saved or has changed, but can't be read again.
        """
        after = text.encode("utf-8")
        outcome = await self._runner.run(Call.save(page.path, page.content, after, _user_caller(session)))
        if outcome.success:
            return Saved(await self._notes.load(page.path))
        kind = (outcome.error or {}).get("type")
        try:
            if kind == "conflict" or not self._notes.exists(page.path):
                return await self.read_conflict(page.path)
        except VaultLostError as error:
            # The whole vault is missing, not only the note: it may become available again.
            return Failed(error.message)
        return Failed(outcome.message)

    async def create(self, path: NotePath, text: str, session: str = "") -> SaveResult:
        """Write `text` as a new note; a note that already exists is a conflict.

        Raises:
            NotFoundError, StorageError: The note was written, but can't be read again.
        """
        outcome = await self._runner.run(Call.save(path, None, text.encode("utf-8"), _user_caller(session)))
        if outcome.success:
            return Saved(await self._notes.load(path))
        try:
            return SaveConflict(await self._notes.load(path))
        except (NotFoundError, StorageError):
            return Failed(outcome.message)

    async def create_named(self, name: str, folder: str = "") -> CreateResult:
        """Create a note with its name as its heading.

        Args:
            name: The typed name; it may start with folders.
            folder: The folder for the note; empty for the vault's root.
        """
        try:
            path = new_path(name, folder)
            nearby_notes = (
                self._notes.records(path.folder, recursive=False) if path.folder else self._notes.records()
            )
            existing = self._notes.existing_path(path) or find_similar(nearby_notes, path)
        except ScriptoriumError as error:
            return Failed(error.message)
        if existing is not None:
            return NameTaken(existing)
        outcome = await self._runner.run(Call.save(path, None, f"# {path.name}\n".encode(), Caller.user()))
        return Created(path) if outcome.success else Failed(outcome.message)

    async def read_conflict(self, path: NotePath) -> SaveConflict:
        """Read the note on disk at `path`, or at its new path if it was moved.

        A missing file is not yet a deleted note: another program may be replacing or moving it. The note is
        deleted if its removal was published, or if the file is still missing after the watcher has had
        nothing to report.

        Raises:
            StorageError: It can't be read.
        """
        is_settled, rounds = False, 0
        while True:
            # During a commit, the disk may be ahead of the journal and the published changes.
            async with self._runner.between_commits():
                try:
                    page = await self._notes.load(path)
                except NotFoundError:
                    moved_path, is_removed = self._moves.moved_to(path), self._moves.is_removed(path)
                else:
                    return SaveConflict(page, self._is_by_app(page))
            if moved_path is not None:
                path, is_settled = moved_path, False
            elif is_removed or is_settled:
                return SaveConflict(None)
            else:
                rounds += 1
                is_settled = not await self._wait_watched() or rounds == _MAX_ROUNDS

    def _is_by_app(self, page: NoteData) -> bool:
        """Return whether the app wrote this state of a note."""
        commits = self._history.commits(1, path=page.path)
        changes = commits[0].changes if commits else ()
        return any(change.final_path == page.path and change.after == page.hash for change in changes)

    async def link_mention(self, mention: Mention, target: NotePath) -> ToolOutcome:
        """Turn a mention in a note into a link, once the user approves the change.

        Raises:
            NotFoundError, StorageError: The note does not exist, or can't be read.
            ConflictError: The mention no longer exists.
        """
        note = await self._notes.load(mention.source)
        lines = note.text.split("\n")
        line = lines[mention.line - 1] if mention.line <= len(lines) else ""
        new_line = linked_line(
            line,
            (mention,),
            self._notes.shortest(target, mention.source),
            in_table=mention.line in table_lines(note.text),
        )
        patch = f"@@ -{mention.line},1 +{mention.line},1 @@\n-{line}\n+{new_line}\n"
        arguments = {"name": mention.source.text, "op": "patch", "patch": patch}
        return await self._runner.run(Call.of("edit_note", arguments, Caller.user()))


def name_problem(name: str, folder: str = "") -> str:
    """Return why no note in `folder` can have this name; "" if one can."""
    try:
        new_path(name, folder)
    except ScriptoriumError as error:
        return error.message
    return ""


def merge_texts(base: bytes, ours: bytes, theirs: bytes) -> str | None:
    """Return the three-way merge of both texts, or None if they conflict."""
    merged = merge(base, ours, theirs)
    return None if merged.conflicts else merged.text.decode("utf-8")


def _user_caller(session: str) -> Caller:
    return replace(Caller.user(), turn=session)
