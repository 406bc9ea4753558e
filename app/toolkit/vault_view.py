"""The notes as a tool may see them: it finds and reads, and has nothing that writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from app.errors import (
    AmbiguousError,
    InvalidPathError,
    LimitError,
    NotFoundError,
    StorageError,
    VaultLostError,
)
from app.toolkit.open_note import OpenNote
from app.toolkit.visibility import CallVisibility
from app.vault.markdown.privacy import HEAD_BYTES, is_private
from app.vault.note import ParsedNote
from app.vault.path import NotePath
from app.vault.storage_id import StorageId, is_explicit

if TYPE_CHECKING:
    from app.index.resolver import Resolver
    from app.vault.store import NoteStore


class VaultView:
    """Reads the notes that one call may see; what it may not see is not found.

    A note is checked by its properties as they are on disk, too: the index may be a moment behind.
    """

    def __init__(
        self,
        store: NoteStore,
        resolver: Resolver,
        sight: CallVisibility,
        changed: Mapping[NotePath, bytes] | None = None,
    ) -> None:
        self._store = store
        self._resolver = resolver
        self._sight = sight
        self._changed = changed or {}

    @property
    def hides_private(self) -> bool:
        """Whether private notes are kept from the call."""
        return self._sight.hides_private

    def with_changes(self, changed: Mapping[NotePath, bytes]) -> VaultView:
        """The same notes, as if those in `changed` held these bytes: for calls that build on one another."""
        return VaultView(self._store, self._resolver, self._sight, changed)

    async def resolve_strictly(self, reference: str) -> OpenNote:
        """The one note that a path, name, `id` property or wikilink means: for a tool that writes.

        Raises:
            NotFoundError: no note is meant; `suggestions` are near misses.
            AmbiguousError: several are; `candidates` are their paths.
            StorageError: it can't be read.
        """
        path = self._resolved(self._resolver.resolve_strictly, reference)
        return await asyncio.to_thread(self.open, path)

    async def resolve_for_reading(self, reference: str) -> OpenNote:
        """As `resolve_strictly`, and aliases count after names: for a tool that reads."""
        path = self._resolved(self._resolver.resolve_for_reading, reference)
        return await asyncio.to_thread(self.open, path)

    def open(self, path: NotePath) -> OpenNote:
        """The note (or other file) at `path`.

        Raises:
            NotFoundError: there is none that the call may see.
            StorageError: it can't be read.
        """
        return OpenNote(path, self.read(path))

    def read(self, path: NotePath) -> bytes:
        """The bytes of the file at `path`; raises as `open`."""
        if not self._sight.can_see(path):
            raise _not_found(path)
        try:
            # A link is judged by the file that it leads to, and told of by its own name.
            real = self._store.real_path(path)
            if real != path and not self._sight.can_see(real):
                raise _not_found(path)
            hides = self._sight.hides_private and real.is_note
            try:
                content = self._store.read(path)
            except (LimitError, StorageError) as error:
                if hides and not isinstance(error, VaultLostError) and self._is_private_by_its_start(real):
                    raise _not_found(path) from error
                raise
        except NotFoundError as error:
            raise _not_found(path) from error
        except InvalidPathError as error:
            if self._sight.hides_folder(path):
                raise _not_found(path) from error
            raise
        if hides and is_private(content):
            raise _not_found(path)
        return self._changed.get(path, content)

    def _is_private_by_its_start(self, path: NotePath) -> bool:
        """Return whether a note that can't be read as a whole is kept from the call."""
        try:
            return is_private(self._store.read_start(path, HEAD_BYTES), complete=False)
        except StorageError:
            return True

    def text(self, path: NotePath) -> str:
        """The text of the note at `path`, for reading; raises as `open`."""
        return self.open(path).readable_text

    def parsed(self, path: NotePath) -> ParsedNote:
        """What the text of the note at `path` says; raises as `open`."""
        return self.open(path).parsed

    def open_for_change(self, path: NotePath) -> OpenNote:
        """The note at `path` even if the call may not see it, to keep its links right in a change set.

        What stands in it must not get into a result: the user sees the change, the caller does not.
        """
        return OpenNote(path, self._store.read(path))

    def exists(self, path: NotePath) -> bool:
        """Return whether a file that the call may see is at `path`."""
        return self._sight.can_see(path) and self._store.exists(path)

    def existing_path(self, path: NotePath) -> NotePath | None:
        """What already has that path, whatever the case and the Unicode form; None if it is free.

        Raises:
            InvalidPathError: the call may not use the path: one that it may not look at, whether something
                is there or not, or one that a note has which it may not know of.
        """
        if self._sight.rule(path) == "deny":
            raise _not_usable(path)
        taken = self._store.existing_path(path)
        if taken is not None and not self._may_know(taken):
            raise _not_usable(path)
        return taken

    def is_free(self, path: NotePath) -> bool:
        """Return whether nothing has that path, not even what the call may not know of."""
        return self._store.existing_path(path) is None

    def _may_know(self, path: NotePath) -> bool:
        """Whether the call may know of the file at `path`, by its bytes too where the index is behind."""
        try:
            self.read(path)
        except NotFoundError:
            return False
        except StorageError:
            return self._sight.can_see(path)
        return True

    def disk_spelling(self, path: NotePath) -> NotePath:
        """`path` with the folders that exist spelled as on disk: where a new file must be put."""
        return self._store.disk_spelling(path)

    def hides_folder(self, folder: NotePath) -> bool:
        """Whether a folder holds nothing that the call may know of; the first call looks at every path."""
        return self._sight.hides_folder(folder)

    def can_see(self, path: NotePath) -> bool:
        """Return whether the call may know of the note at `path`."""
        return self._sight.can_see(path)

    def _resolved(self, resolve: Callable[[str], NotePath], reference: str) -> NotePath:
        """What `resolve` finds, as if unseen notes were not there."""
        try:
            path = _resolved_or_stored(resolve, reference)
        except AmbiguousError as error:
            return self._only_seen(error, reference)
        except NotFoundError as error:
            near = error.data.get("suggestions")
            seen = [text for text in near if self._can_see_path(text)] if isinstance(near, list) else []
            raise NotFoundError(error.message, name=reference, suggestions=seen) from error
        if not self._sight.can_see(path):
            raise NotFoundError(f"No note is named {reference!r}.", name=reference, suggestions=[])
        return path

    def _only_seen(self, error: AmbiguousError, reference: str) -> NotePath:
        listed = error.data.get("candidates")
        candidates = [str(text) for text in listed] if isinstance(listed, list) else []
        seen = [text for text in candidates if self._can_see_path(text)]
        if len(seen) == len(candidates):
            raise error
        if len(seen) == 1:
            return NotePath.on_disk(seen[0])
        if not seen:
            raise NotFoundError(f"No note is named {reference!r}.", name=reference, suggestions=[])
        message = f"{len(seen)} notes are named {reference!r}. Give the path of one."
        raise AmbiguousError(message, name=reference, candidates=seen, count=len(seen))

    def _can_see_path(self, text: object) -> bool:
        return self._sight.can_see(NotePath.on_disk(str(text)))


def _resolved_or_stored(resolve: Callable[[str], NotePath], reference: str) -> NotePath:
    """What a reference means; a storage id that says its kind is read as one if no note is called so.

    Raises:
        NotFoundError: no note is meant, or it names a place where this vault stores nothing.
        InvalidParametersError: it begins like a storage id and is none.
    """
    try:
        return resolve(reference)
    except NotFoundError:
        if not is_explicit(reference):
            raise
        return resolve(StorageId.parse(reference).path.text)


def _not_usable(path: NotePath) -> InvalidPathError:
    """The one answer for every path that a call may not use: it must not tell whether something is there."""
    return InvalidPathError("That path can't be used.", path=str(path))


def _not_found(path: NotePath) -> NotFoundError:
    """The one answer for a file that is not there and for one that the call may not see."""
    return NotFoundError(f"There is no file {path}.", path=str(path), suggestions=[])
