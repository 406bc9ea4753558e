"""Access to the vault's notes and files and their records in the index."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.errors import NotFoundError, ScriptoriumError
from app.index.completion import complete, complete_note_names
from app.index.records import (
    FileRecord,
    LinkRecord,
    Mention,
    NoteRecord,
    Problem,
    TagCount,
    TaskRecord,
    VaultStats,
)
from app.index.resolver import Resolution
from app.toolkit.call import Call
from app.toolkit.call_results import failure_outcome
from app.toolkit.outcome import ToolOutcome
from app.toolkit.related import LikeNote, RelatedNote, find_related_notes
from app.vault import undecodable
from app.vault.obsidian import ObsidianSettings, stored_obsidian_settings
from app.vault.path import NotePath
from app.workspace.service.note_data import NoteData, read_note

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex
    from app.settings import Settings
    from app.toolkit.runner import ToolRunner
    from app.vault.store import FileStatus, NoteStore

_LINK_REASONS = ("FORWARDLINK_TO", "BACKLINK_FROM")
# Related notes leave out notes that are only linked, so this many more candidates are requested.
_MAX_LINKED_NOTES = 200


class NoteService:
    """The notes and files of the vault: their bytes, names, links, tags and tasks.

    Args:
        settings: Returns the user's settings.
        similar_notes: Returns the semantic search for similar notes, or None while it is off.
    """

    def __init__(
        self,
        store: NoteStore,
        index: VaultIndex,
        runner: ToolRunner,
        settings: Callable[[], Settings],
        similar_notes: Callable[[], LikeNote | None],
    ) -> None:
        self._store = store
        self._index = index
        self._runner = runner
        self._settings = settings
        self._similar_notes = similar_notes

    # Files

    async def load(self, path: NotePath) -> NoteData:
        """Read a note for editing; if it is too large for an editor, return an excerpt.

        Raises:
            NotFoundError, StorageError: It does not exist, or can't be read.
        """
        max_bytes = self._settings().index.max_note_mib * 2**20
        return await asyncio.to_thread(read_note, self._store, path, max_bytes)

    def read(self, path: NotePath) -> bytes:
        """Return the bytes of a file.

        Raises:
            NotFoundError, StorageError: It does not exist, or can't be read.
        """
        return self._store.read(path)

    def stat(self, path: NotePath) -> FileStatus:
        """Return the size and time of a file; raises like `read`."""
        return self._store.stat(path)

    def exists(self, path: NotePath) -> bool:
        """Return whether the file exists.

        Raises:
            VaultLostError: The vault's folder is missing.
        """
        return self._store.exists(path)

    def existing_path(self, path: NotePath) -> NotePath | None:
        """Return the path of the file that has this name in any spelling, or None; raises like `exists`."""
        return self._store.existing_path(path)

    def obsidian_settings(self) -> ObsidianSettings:
        """Return Obsidian's settings for the vault."""
        return stored_obsidian_settings(self._store)

    async def rename_misnamed(self, listed: NotePath, name: str) -> ToolOutcome:
        """Rename a file whose name is not UTF-8, as the user asked; the rename can be undone.

        Args:
            listed: The file's path in the index's problems.
            name: The new name, in the same folder.

        Returns:
            The outcome; its error, if any, says why nothing was changed.
        """
        try:
            changes = await asyncio.to_thread(undecodable.plan_rename, self._store, listed, name)
        except ScriptoriumError as error:
            return failure_outcome(error)
        return await self._runner.run(Call.user_edit("rename", {"path": str(listed), "name": name}, changes))

    # Records

    def record(self, path: NotePath) -> NoteRecord | None:
        """Return a note's record in the index; None if there is no such note."""
        return self._index.note(path)

    def records(self, folder: str | None = None, recursive: bool = True) -> tuple[NoteRecord, ...]:
        """Return the notes in a folder (None for the root) by path; with `recursive`, also in subfolders."""
        return self._index.notes(folder, recursive)

    def paths(self) -> tuple[NotePath, ...]:
        """Return the path of every note, without reading properties."""
        return self._index.note_paths()

    def folders(self) -> tuple[str, ...]:
        """Return every folder that contains notes, also in subfolders, sorted; without the root."""
        parts = (folder.split("/") for folder in {path.folder for path in self.paths()})
        return tuple(
            sorted({"/".join(names[:end]) for names in parts for end in range(1, len(names) + 1)} - {""})
        )

    def files(self) -> tuple[FileRecord, ...]:
        """Return the files that are not notes."""
        return self._index.files()

    def random(self, excluded: NotePath | None = None) -> NotePath | None:
        """Return a random note other than `excluded`; None if there is no other."""
        paths = [path for path in self.paths() if path != excluded]
        return random.choice(paths) if paths else None

    def problems(self) -> tuple[Problem, ...]:
        """Return every file or folder that is not completely indexed, with the reason."""
        return self._index.problems()

    def stats(self) -> VaultStats:
        """Return the counts that the status bar shows."""
        return self._index.stats()

    def tags(self) -> tuple[TagCount, ...]:
        """Return every tag and its ancestors, by name."""
        return self._index.tags()

    def tasks(self, limit: int, *, done: bool = False) -> tuple[TaskRecord, ...]:
        """Return up to `limit` open tasks by note and line; with `done`, also completed ones."""
        return self._index.tasks(limit, done=done)

    # Names and links

    @property
    def is_indexed(self) -> bool:
        """True if the index has names from this or an earlier scan."""
        return len(self._index.resolver) > 0

    def resolve(self, target: str, source: NotePath | None) -> Resolution:
        """Resolve a link's target in the note `source`; an empty target is `source` itself."""
        return self._index.resolver.resolve(target, source)

    def resolve_strictly(self, reference: str) -> NotePath:
        """Return the one note for a path, name or `id` property.

        Raises:
            NotFoundError: No note matches; `suggestions` are similar names.
            AmbiguousError: Several notes match; `candidates` are their paths.
        """
        return self._index.resolver.resolve_strictly(reference)

    def find(self, name: str) -> NotePath | None:
        """Return the note or file that a link, an answer or a list refers to by `name`, or None.

        Raises:
            AmbiguousError: Several notes match; `candidates` are their paths.
        """
        path = NotePath(name)
        if name and self._index.note(path) is not None:
            return path
        try:
            return self._index.resolver.resolve_for_reading(name)
        except NotFoundError:
            return self._index.resolver.resolve(name, None).path

    def shortest(self, path: NotePath, source: NotePath | None) -> str:
        """Return the shortest link target that resolves unambiguously to `path` in the note `source`."""
        return self._index.resolver.shortest(path, source)

    def outgoing(self, path: NotePath) -> tuple[LinkRecord, ...]:
        """Return the links in a note, in order."""
        return self._index.outgoing(path)

    def backlinks(self, path: NotePath) -> tuple[LinkRecord, ...]:
        """Return the links in other notes to this file."""
        return self._index.backlinks(path)

    def unlinked_mentions(self, path: NotePath) -> tuple[Mention, ...]:
        """Return unlinked mentions of the note in other notes; reads every note that may have one."""
        return self._index.unlinked_mentions(path)

    def related(self, path: NotePath, limit: int) -> tuple[RelatedNote, ...]:
        """Return up to `limit` notes that are related by more than a link, closest first."""
        record = self._index.note(path)
        if record is None:
            return ()
        related_notes = find_related_notes(
            self._index, self._similar_notes(), path, record.tags, limit + _MAX_LINKED_NOTES
        )
        more_than_linked = (
            note for note in related_notes if any(reason.kind not in _LINK_REASONS for reason in note.reasons)
        )
        return tuple(more_than_linked)[:limit]

    def most_linked(self, limit: int) -> tuple[NotePath, ...]:
        """Return up to `limit` notes with the most incoming and outgoing links."""
        return self._index.most_linked(limit)

    # Completions

    def complete_names(self, word: str, limit: int) -> tuple[str, ...]:
        """Return link texts of the notes whose names match `word`, or of the latest ones if it is empty."""
        return complete_note_names(self._index, word, limit)

    def complete_files(self, word: str, limit: int) -> tuple[str, ...]:
        """Return link texts of the files other than notes whose names match `word`, one for each name."""
        files = {file.path.text.rpartition("/")[2]: file.path for file in self._index.files()}
        return tuple(self.shortest(files[name], None) for name in complete(files, word, limit))

    def complete_folders(self, word: str, limit: int) -> tuple[str, ...]:
        """Return the folders of notes that match `word` (see `complete`)."""
        return complete(self.folders(), word, limit)

    def complete_tags(self, word: str, limit: int) -> tuple[str, ...]:
        """Return tags that match `word` (see `complete`), or the most used ones if it is empty."""
        tags = sorted(self._index.tags(), key=lambda count: -count.count)
        return complete((count.tag for count in tags), word, limit)
