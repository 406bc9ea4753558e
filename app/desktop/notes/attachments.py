"""Add files to notes: their location and the links to them. Runs in the service thread."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from app.desktop.notes.folders import note_folders
from app.desktop.runtime.translation import translate
from app.errors import InvalidPathError, ScriptoriumError, StorageError
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.vault.note_templates import expand
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\/#^\[\]]')
# Embedded in the note; other files are linked.
_EMBEDDED_SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".avif"),
    *(".pdf", ".mp3", ".wav", ".ogg", ".m4a", ".flac", ".mp4", ".webm", ".mov", ".mkv"),
)
_MAX_NAME_TRIES = 1000
_MAX_FILE_BYTES = 64 * 1024 * 1024


async def add_attachment(vault: VaultService, note: NotePath, name: str, content: bytes) -> NotePath:
    """Write a new file to the attachment folder of `note`, never replacing one.

    Args:
        vault: The open vault.
        note: The note that links to the file.
        name: The file's name; characters that no file name may contain are removed.
        content: Its bytes.

    Returns:
        The path of the new file.

    Raises:
        StorageError, LimitError: Writing failed, or the file is too large; nothing was written.
    """
    folder = note_folders(vault).attachment_folder(note)
    for path in _candidate_paths(folder, name):
        if (existing := vault.notes.existing_path(path)) is not None:
            if vault.notes.stat(existing).size == len(content) and vault.notes.read(existing) == content:
                return existing
            continue
        outcome = await vault.call(Call.save(path, None, content, Caller.user()))
        if outcome.success:
            return path
        if vault.notes.existing_path(path) is None:
            raise StorageError(outcome.message, path=str(path))
    message = translate(
        "Attachments", "All names like {0} are taken in {1}. Rename the file, then try again."
    )
    raise StorageError(message.format(name, folder or translate("Attachments", "the vault")), path=name)


def image_name(vault: VaultService, note: NotePath, now: datetime) -> str:
    """Return the name of an image that is pasted into `note`, by the pattern in the settings."""
    pattern = vault.settings.current.editor.image_name
    return f"{expand(pattern, note.name, now).text.strip() or 'Pasted image'}.png"


def link_to(vault: VaultService, path: NotePath, source: NotePath, *, embed: bool | None = None) -> str:
    """Return the shortest wikilink from `source` to a file; media are embedded unless `embed` is given."""
    shown = path.suffix in _EMBEDDED_SUFFIXES if embed is None else embed
    return f"{'!' if shown else ''}[[{vault.notes.shortest(path, source)}]]"


async def link_files(vault: VaultService, note: NotePath, files: Iterable[Path]) -> list[str]:
    """Link to files on the disk; a file from outside the vault is first copied as an attachment.

    Raises:
        StorageError, LimitError: A file can't be read or written; earlier ones are in the vault.
    """
    links = []
    for file in files:
        path = vault_path_of(vault, file)
        if path is None:
            path = await add_attachment(vault, note, file.name, await asyncio.to_thread(_read_file, file))
        links.append(link_to(vault, path, note))
    return links


def vault_path_of(vault: VaultService, file: Path) -> NotePath | None:
    """Return the vault path of a file on the disk; None if it is outside, or in a hidden folder."""
    try:
        relative = file.resolve().relative_to(vault.root.resolve())
        path = NotePath.on_disk(relative.as_posix())
    except (ValueError, ScriptoriumError):
        return None
    return None if path.is_hidden or not vault.notes.exists(path) else path


def _candidate_paths(folder: str, name: str) -> Iterator[NotePath]:
    """Yield the paths to try, best first: the name itself, then with numbers."""
    clean = _UNSAFE.sub(" ", PurePath(name).name).strip(" .")
    stem, suffix = PurePath(clean).stem.strip(" .") or "File", PurePath(clean).suffix
    for number in range(_MAX_NAME_TRIES):
        numbered = f"{stem} {number}" if number else stem
        try:
            yield NotePath.parse(f"{folder}/{numbered}{suffix}" if folder else f"{numbered}{suffix}")
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
            message = translate("Attachments", "{0} is not a file.")
            raise StorageError(message.format(file.name), path=str(file))
        if file.stat().st_size > _MAX_FILE_BYTES:
            message = translate("Attachments", "{0} is larger than {1} MiB.")
            raise StorageError(message.format(file.name, _MAX_FILE_BYTES // 2**20), path=str(file))
        return file.read_bytes()
    except OSError as error:
        message = translate("Attachments", "{0} can't be read: {1}.")
        raise StorageError(message.format(file.name, error.strerror), path=str(file)) from error
