"""Files that are added to notes: their location and the links to them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from app.errors import InvalidPathError, ScriptoriumError, StorageError
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.vault.note_templates import expand
from app.vault.path import NotePath
from app.vault.safe_fs import MAX_FILE_BYTES
from app.workspace.note_folders import note_folders

if TYPE_CHECKING:
    from app.toolkit.runner import ToolRunner
    from app.workspace.service.notes import NoteService
    from app.workspace.service.settings import SettingsService

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\/#^\[\]]')
# Embedded in the note; other files are linked.
_EMBEDDED_SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".avif"),
    *(".pdf", ".mp3", ".wav", ".ogg", ".m4a", ".flac", ".mp4", ".webm", ".mov", ".mkv"),
)
_MAX_NAME_TRIES = 1000


class AttachmentService:
    """Adds files to the vault at `root`, and creates links to them."""

    def __init__(self, root: Path, notes: NoteService, settings: SettingsService, runner: ToolRunner) -> None:
        self._root = root
        self._notes = notes
        self._settings = settings
        self._runner = runner

    async def add(self, note: NotePath, name: str, content: bytes) -> NotePath:
        """Write a new file to the attachment folder of `note`, under a free name.

        Args:
            note: The note that links to the file.
            name: The file's name; characters that file names or links can't contain become spaces.
            content: Its bytes.

        Returns:
            The path of the new file, or of one that has this name and content.

        Raises:
            StorageError: Writing failed, the file is too large, or no name is free; nothing was written.
            InvalidPathError: The attachment folder in the settings is not a valid path.
        """
        folders = note_folders(self._settings.current.editor, self._notes.obsidian_settings())
        folder = folders.attachment_folder(note)
        for path in _candidate_paths(folder, name):
            if (existing := self._notes.existing_path(path)) is not None:
                is_same_size = self._notes.stat(existing).size == len(content)
                if is_same_size and self._notes.read(existing) == content:
                    return existing
                continue
            outcome = await self._runner.run(Call.save(path, None, content, Caller.user()))
            if outcome.success:
                return path
            if self._notes.existing_path(path) is None:
                raise StorageError(outcome.message, path=str(path))
        raise StorageError(
            f"All names like {name} are taken in {folder or 'the vault'}. Rename the file, then try again.",
            path=name,
        )

    def image_name(self, note: NotePath, now: datetime) -> str:
        """Return a file name for an image pasted into `note`, from the pattern in the settings."""
        pattern = self._settings.current.editor.image_name
        return f"{expand(pattern, note.name, now).text.strip() or 'Pasted image'}.png"

    def link(self, path: NotePath, source: NotePath, *, embed: bool | None = None) -> str:
        """Return the shortest wikilink from `source` to a file; by default, media and PDFs are embedded."""
        is_embedded = path.suffix in _EMBEDDED_SUFFIXES if embed is None else embed
        return f"{'!' if is_embedded else ''}[[{self._notes.shortest(path, source)}]]"

    async def link_files(self, note: NotePath, files: Iterable[Path]) -> list[str]:
        """Return links to files on the disk; a file outside the vault is first copied as an attachment.

        Raises:
            StorageError: A file can't be read or written; earlier ones are in the vault.
            InvalidPathError: The attachment folder in the settings is not a valid path.
        """
        links = []
        for file in files:
            path = self._path_of(file)
            if path is None:
                path = await self.add(note, file.name, await asyncio.to_thread(_read_file, file))
            links.append(self.link(path, note))
        return links

    def _path_of(self, file: Path) -> NotePath | None:
        """Return the vault path of a file on the disk; None if it is outside the vault, hidden or missing."""
        try:
            relative = file.resolve().relative_to(self._root.resolve())
            path = NotePath.on_disk(relative.as_posix())
        except (ValueError, ScriptoriumError):
            return None
        return None if path.is_hidden or not self._notes.exists(path) else path


def _candidate_paths(folder: str, name: str) -> Iterator[NotePath]:
    """Yield the paths to try, best first: the name itself, then with numbers."""
    clean_name = _UNSAFE.sub(" ", PurePath(name).name).strip(" .")
    stem, suffix = PurePath(clean_name).stem.strip(" .") or "File", PurePath(clean_name).suffix
    for number in range(_MAX_NAME_TRIES):
        numbered_stem = f"{stem} {number}" if number else stem
        try:
            yield NotePath.parse(
                f"{folder}/{numbered_stem}{suffix}" if folder else f"{numbered_stem}{suffix}"
            )
        except InvalidPathError:
            # A device name, or a name that is too long.
            yield NotePath.parse(f"{folder}/File {number}{suffix}" if folder else f"File {number}{suffix}")


def _read_file(file: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        StorageError: It is a folder, too large, or can't be read.
    """
    try:
        if not file.is_file():
            raise StorageError(f"{file.name} is not a file.", path=str(file))
        if file.stat().st_size > MAX_FILE_BYTES:
            message = f"{file.name} is larger than {MAX_FILE_BYTES // 2**20} MiB."
            raise StorageError(message, path=str(file))
        return file.read_bytes()
    except OSError as error:
        raise StorageError(
            f"{file.name} can't be read: {error.strerror or error}.", path=str(file)
        ) from error
