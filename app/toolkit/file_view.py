"""Access to a location on disk for one call: through the views in the vault, with approval outside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import PurePath
from typing import TypeVar

from app.errors import InvalidPathError, LimitError, NotFoundError, ScriptoriumError, StorageError
from app.permissions.approval import Effect
from app.permissions.impact import OUTSIDE_READ
from app.toolkit.context import ToolContext
from app.toolkit.file_access import ResolvedPath
from app.toolkit.file_reader import MAX_FILE_BYTES, WalkLimits, read_file, read_start
from app.toolkit.open_note import OpenNote
from app.toolkit.proposal import EffectProposal
from app.toolkit.result import ToolResult
from app.toolkit.services import FileContext
from app.vault.markdown.privacy import HEAD_BYTES, is_private
from app.vault.path import NOTE_SUFFIXES, NotePath

R = TypeVar("R", bound=ToolResult)


async def resolve_path(context: FileContext, text: str) -> ResolvedPath:
    """Resolve the path `text`; raises the same errors as `FileAccess.resolve`."""
    return await asyncio.to_thread(context.services.file_access.resolve, text)


def ask_to_read(
    context: ToolContext, text: str, *locations: ResolvedPath, read: Callable[[], R]
) -> EffectProposal[R]:
    """Propose to read locations outside the vault; after approval, `read` runs in a thread.

    The result is marked as text from outside. Only approved locations are read: their paths contain no links,
    and reading fails if a part of a path has become a link since.

    Args:
        context: The context of the call.
        text: A sentence that describes what will be read.
        locations: The files and folders to read; those in the vault need no approval.
        read: Reads and returns the result.
    """

    async def run() -> R:
        return (await asyncio.to_thread(read)).from_outside()

    outside = [location for location in locations if location.is_outside]
    folders = dict.fromkeys(location.folder for location in outside)
    paths = (("path", location.real_path) for location in outside)
    arguments = (*(("folder", folder) for folder in folders), *paths)
    return context.propose_effect(Effect(OUTSIDE_READ, text, arguments), run)


class FileView:
    """The files that a call may see in the folder `location.folder` and below; names are relative to it.

    Raises:
        NotFoundError: the location is the vault itself, used as a file.
    """

    def __init__(self, context: FileContext, location: ResolvedPath) -> None:
        if location.vault_path == "" and not location.used_as_folder:
            raise NotFoundError("The vault is a folder, not a file.")
        self._context = context
        self.location = location
        file_access = context.services.file_access
        self._may_enter = file_access.may_enter
        self._prefix = None
        if not location.is_outside:
            self._prefix = PurePath(location.folder).relative_to(file_access.root)

    def walk_limits(self, depth: int) -> WalkLimits:
        """Return the limits of a walk that leaves out the files and notes that the call may not see."""
        if self._prefix is None:
            return WalkLimits(
                depth, may_enter=self._may_enter, is_visible=lambda name: not self._hides_outside(name)
            )
        return WalkLimits(depth, is_visible=self._is_visible)

    def require_folder(self) -> None:
        """Check that the call may know of the folder; may scan every path, so call it in a thread.

        Raises:
            NotFoundError: everything in the folder is hidden, so the folder must seem not to exist.
        """
        if self._prefix is not None and self._hides_folder(self._prefix.as_posix()):
            raise NotFoundError(
                f"There is no folder {self.location.real_path}.", path=self.location.real_path
            )

    def _hides_folder(self, text: str) -> bool:
        return text not in ("", ".") and self._context.vault.hides_folder(NotePath.on_disk(text))

    def read(self, name: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            LimitError: the file is larger than 10 MiB.
            NotFoundError: the call can see no such file.
            InvalidPathError: it is not a regular file, or the path leads through a link.
            StorageError: the file can't be read.
        """
        try:
            is_outside = self._prefix is None
            content = (
                self._read_outside(name) if is_outside else self._context.vault.read(self._vault_path(name))
            )
        except NotFoundError:
            requested = (
                self.location.requested
                if name == self.location.name and not self.location.used_as_folder
                else name
            )
            raise NotFoundError(f"There is no file {requested}.", path=requested) from None
        if len(content) > MAX_FILE_BYTES:
            message = f"{name} is larger than {MAX_FILE_BYTES // 1024**2} MiB."
            raise LimitError(message, limit=MAX_FILE_BYTES, path=name)
        return content

    def _read_outside(self, name: str) -> bytes:
        """Return the bytes of a file outside the vault; a private note is reported as not found."""
        real_path = str(PurePath(self.location.folder, name))
        content = None
        if not self._hides_outside(name):
            content = read_file(real_path)
        # The file may have been replaced since the check.
        if content is None or (self._may_be_private(name) and is_private(content)):
            raise NotFoundError(f"There is no file {real_path}.", path=real_path)
        return content

    def _hides_outside(self, name: str) -> bool:
        """Return whether a file outside the vault is a private note, which is hidden as in the vault."""
        if not self._may_be_private(name):
            return False
        try:
            return is_private(read_start(str(PurePath(self.location.folder, name)), HEAD_BYTES + 1))
        except (NotFoundError, InvalidPathError):
            # Missing, a folder, or a link, which is not followed.
            return False
        except StorageError:
            return True

    def _may_be_private(self, name: str) -> bool:
        return PurePath(name).suffix.lower() in NOTE_SUFFIXES and self._context.vault.hides_private

    def is_from_web(self, name: str) -> bool:
        """Return whether a file is a note in the vault that may hold a web page; for errors, see `read`."""
        if self._prefix is None or not self._vault_path(name).is_note:
            return False
        return OpenNote(self._vault_path(name), self.read(name)).is_from_web

    def display_path(self, name: str) -> str:
        """Return a path that the caller can use: relative to the vault, or absolute."""
        base = PurePath(self.location.folder) if self._prefix is None else self._prefix
        path = base / name
        return to_printable(str(path) if self._prefix is None else path.as_posix())

    def _vault_path(self, name: str) -> NotePath:
        assert self._prefix is not None
        return NotePath.on_disk((self._prefix / name).as_posix())

    def _is_visible(self, name: str) -> bool:
        """Return whether the call may know of a file in the vault; reads a note that is not indexed."""
        path, context = self._vault_path(name), self._context
        if path.is_hidden or not context.vault.can_see(path) or context.vault.hides_folder(path):
            return False
        if not path.is_note or context.index.note(path) is not None:
            return True
        try:
            context.vault.read(path)
        except NotFoundError:
            return False
        except ScriptoriumError:
            # A folder, a link or an unreadable file: its name reveals no text of a note.
            return True
        return True


def to_printable(name: str) -> str:
    """Replace the undecodable bytes of a name, which JSON can't represent, with replacement characters."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
