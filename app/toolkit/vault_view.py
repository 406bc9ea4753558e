"""Read-only access to the notes that a tool may see."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from app.errors import (
    AmbiguousError,
    ConflictError,
    InvalidPathError,
    LimitError,
    NotFoundError,
    StorageError,
    VaultLostError,
)
from app.toolkit.open_note import OpenNote
from app.toolkit.visibility import CallVisibility
from app.vault.markdown.privacy import HEAD_BYTES, is_private
from app.vault.path import NotePath
from app.vault.storage_id import StorageId, is_explicit

if TYPE_CHECKING:
    from app.index.resolver import Resolver
    from app.vault.store import NoteStore


class VaultView:
    """Finds and reads the notes that one call may see; a hidden note is reported as not found.

    Privacy is also checked against the properties on disk, because the index may lag behind.
    """

    def __init__(
        self,
        store: NoteStore,
        resolver: Resolver,
        visibility: CallVisibility,
        changed: Mapping[NotePath, bytes] | None = None,
    ) -> None:
        self._store = store
        self._resolver = resolver
        self._visibility = visibility
        self._changed = changed or {}

    @property
    def hides_private(self) -> bool:
        """True if private notes are hidden from the call."""
        return self._visibility.hides_private

    @property
    def may_hide(self) -> bool:
        """True if notes may be hidden from the call; see `CallVisibility.may_hide`."""
        return self._visibility.may_hide

    def with_changes(self, changed: Mapping[NotePath, bytes]) -> VaultView:
        """Return a view where the notes in `changed` have these bytes, so calls can build on each other."""
        return VaultView(self._store, self._resolver, self._visibility, changed)

    async def resolve_strictly(self, reference: str) -> OpenNote:
        """Return the one note that a path, name, `id` property, wikilink or storage id refers to.

        Tools that write use this method.

        Raises:
            NotFoundError: no note matches; `suggestions` are near misses.
            AmbiguousError: several notes match; `candidates` are their paths.
            InvalidParametersError: the reference starts like a storage id but is not valid.
            InvalidPathError, LimitError, StorageError: as for `open`.
        """
        path = self._resolve(self._resolver.resolve_strictly, reference)
        return await asyncio.to_thread(self.open, path)

    async def resolve_for_reading(self, reference: str) -> OpenNote:
        """Resolve like `resolve_strictly`, and try aliases after names. Tools that read use this method."""
        path = self._resolve(self._resolver.resolve_for_reading, reference)
        return await asyncio.to_thread(self.open, path)

    def open(self, path: NotePath) -> OpenNote:
        """Return the note (or other file) at `path`.

        Raises:
            NotFoundError: the call can see no file at `path`.
            InvalidPathError: it is a folder, or a link points outside the vault.
            LimitError: it is larger than 64 MiB.
            StorageError: it can't be read.
        """
        return OpenNote(path, self.read(path))

    def read(self, path: NotePath) -> bytes:
        """Return the bytes of the file at `path`; raises the same errors as `open`."""
        if not self._visibility.can_see(path):
            raise _not_found(path)
        try:
            # Visibility depends on the link's target; errors name the link itself.
            real_path = self._store.real_path(path)
            if real_path != path and not self._visibility.can_see(real_path):
                raise _not_found(path)
            hides_private_note = self._visibility.hides_private and real_path.is_note
            try:
                content = self._store.read(path)
            except (LimitError, StorageError) as error:
                if (
                    hides_private_note
                    and not isinstance(error, VaultLostError)
                    and self._is_private_by_its_start(real_path)
                ):
                    raise _not_found(path) from error
                raise
        except NotFoundError as error:
            raise _not_found(path) from error
        except InvalidPathError as error:
            if self._visibility.hides_folder(path):
                raise _not_found(path) from error
            raise
        if hides_private_note and is_private(content):
            raise _not_found(path)
        return self._changed.get(path, content)

    def _is_private_by_its_start(self, path: NotePath) -> bool:
        """Return whether the start of a note that can't be read completely is private or unreadable."""
        try:
            return is_private(self._store.read_start(path, HEAD_BYTES), complete=False)
        except StorageError:
            return True

    def open_for_change(self, path: NotePath) -> OpenNote:
        """Return the note at `path`, even a hidden one, so that a change set can update its links.

        Its content must not appear in a result: the user sees the change, the caller does not. Raises the
        same errors as `open`.
        """
        return OpenNote(path, self._store.read(path))

    def exists(self, path: NotePath) -> bool:
        """Return whether the call can see a file at `path`."""
        return self._visibility.can_see(path) and self._store.exists(path)

    def existing_path(self, path: NotePath) -> NotePath | None:
        """Return the file with this path, ignoring case and Unicode form; None if the path is free.

        Raises:
            InvalidPathError: the call may not use the path: a rule denies it (whether or not a file
                exists), a hidden file already has it, or it leads to something that is not a file.
        """
        if self._visibility.rule(path) == "deny":
            raise _not_usable(path)
        existing = self._store.existing_path(path)
        if existing is not None and not self._may_know(existing):
            raise _not_usable(path)
        return existing

    def is_free(self, path: NotePath) -> bool:
        """Return whether no file has this path, not even a hidden one."""
        return self._store.existing_path(path) is None

    def _may_know(self, path: NotePath) -> bool:
        """Return whether the call may know of the file at `path`; reads it, because the index may lag."""
        try:
            self.read(path)
        except NotFoundError:
            return False
        except (LimitError, StorageError):
            return self._visibility.can_see(path)
        return True

    def check_free_folder(self, folder: NotePath) -> None:
        """Check that a folder without visible files has no hidden or excluded ones either, at any depth.

        Reads the disk, so call it in a thread.

        Raises:
            ConflictError: it has.
            InvalidPathError: it has, and the call may not know of them.
        """
        if any(True for _ in self._store.files_in(folder)):
            raise _not_usable(folder) if self._visibility.may_hide else folder_conflict(folder)

    def count_other_files(self, folder: NotePath, known: Collection[NotePath]) -> int:
        """Return how many files in a folder and below it are not in `known`, even hidden ones.

        The number is for the user, not for a result.
        """
        keys = {path.key for path in known}
        return sum(path.key not in keys for path in self._store.files_in(folder))

    def disk_spelling(self, path: NotePath) -> NotePath:
        """Return `path` with existing folders spelled as on disk: the location for a new file."""
        return self._store.disk_spelling(path)

    def hides_folder(self, folder: NotePath) -> bool:
        """Return whether everything in a folder is hidden; see `CallVisibility.hides_folder`."""
        return self._visibility.hides_folder(folder)

    def can_see(self, path: NotePath) -> bool:
        """Return whether the call may know of the file at `path`, according to the rules and the index."""
        return self._visibility.can_see(path)

    def _resolve(self, resolve: Callable[[str], NotePath], reference: str) -> NotePath:
        """Resolve a reference with `resolve`, ignoring hidden notes."""
        try:
            path = _resolve_name_or_storage_id(resolve, reference)
        except AmbiguousError as error:
            return self._resolve_among_visible(error, reference)
        except NotFoundError as error:
            suggestions = error.data.get("suggestions")
            visible = (
                [text for text in suggestions if self._can_see_path(text)]
                if isinstance(suggestions, list)
                else []
            )
            raise NotFoundError(error.message, name=reference, suggestions=visible) from error
        if not self._visibility.can_see(path):
            raise NotFoundError(f"No note is named {reference!r}.", name=reference, suggestions=[])
        return path

    def _resolve_among_visible(self, error: AmbiguousError, reference: str) -> NotePath:
        error_candidates = error.data.get("candidates")
        candidates = [str(text) for text in error_candidates] if isinstance(error_candidates, list) else []
        visible = [text for text in candidates if self._can_see_path(text)]
        if len(visible) == len(candidates):
            raise error
        if len(visible) == 1:
            return NotePath.on_disk(visible[0])
        if not visible:
            raise NotFoundError(f"No note is named {reference!r}.", name=reference, suggestions=[])
        message = f"{len(visible)} notes are named {reference!r}. Give the path of one."
        raise AmbiguousError(message, name=reference, candidates=visible, count=len(visible))

    def _can_see_path(self, text: object) -> bool:
        return self._visibility.can_see(NotePath.on_disk(str(text)))


def _resolve_name_or_storage_id(resolve: Callable[[str], NotePath], reference: str) -> NotePath:
    """Resolve a reference; treat it as a storage id if it has the prefix of one and no note has that name.

    Raises:
        NotFoundError: no note matches, or the storage id belongs to a store that this vault does not use.
        InvalidParametersError: the reference starts like a storage id but is not valid.
    """
    try:
        return resolve(reference)
    except NotFoundError:
        if not is_explicit(reference):
            raise
        return resolve(StorageId.parse(reference).path.text)


def _not_usable(path: NotePath) -> InvalidPathError:
    """Return the same error for every path that a call may not use, so that it reveals no hidden file."""
    return InvalidPathError("That path can't be used.", path=str(path))


def folder_conflict(folder: NotePath) -> ConflictError:
    """Return the error for a new folder whose path is in use."""
    message = f"There is already a folder “{folder}”. Choose another name."
    return ConflictError(message, folder=str(folder))


def _not_found(path: NotePath) -> NotFoundError:
    """Return the same error for a missing file and for a hidden one."""
    return NotFoundError(f"There is no file {path}.", path=str(path), suggestions=[])
