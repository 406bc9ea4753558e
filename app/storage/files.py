"""Small files written atomically: a crash or power failure leaves the old content or the new one.

A `DurableFile` also has a copy of its last good version. If the file is unreadable, it is set aside under a
dated name, and the copy takes its place.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from app.storage.private import make_private_folder
from app.storage.quarantine import Damage, set_aside

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DurableFile(Generic[T]):
    """A small file and the parser of its content.

    Attributes:
        path: The file.
        store: The name of its content, as the subject of a sentence: "The list of sources".
        parse: Parses the content; raises ValueError, TypeError or KeyError if it is invalid.
        make_empty: Returns the value for a missing file, or for an unreadable one without a good copy.
        consequence: A sentence about the consequence of losing the file.
        keeps_backup: Whether a copy of the last good version is kept in the same folder.
    """

    path: Path
    store: str
    parse: Callable[[bytes], T]
    make_empty: Callable[[], T]
    consequence: str = ""
    keeps_backup: bool = True

    @property
    def backup(self) -> Path:
        """The path of the last good version."""
        return self.path.with_name(f"{self.path.stem}.last-good{self.path.suffix}")

    def load(self, *, writable: bool = True) -> tuple[T, str]:
        """Read the file.

        Args:
            writable: Whether this process owns the file. If not, a damaged file stays in place.

        Returns:
            The value, and a message for the user about a problem, or "".
        """
        try:
            content = self.path.read_bytes()
            value = self.parse(content)
        except FileNotFoundError:
            return self.make_empty(), ""
        except READ_ERRORS as error:
            return self._recover(_error_text(error), writable)
        if writable:
            self._back_up(content)
        return value, ""

    def save(self, content: bytes) -> None:
        """Write the file, and then the copy of the last good version; a failure to copy is only logged.

        Raises:
            OSError: the file can't be written; the old file is kept.
        """
        write_atomic(self.path, content)
        self._back_up(content)

    def last_good(self) -> T | None:
        """Return the last good version, or None if there is no readable one."""
        try:
            return self.parse(self.backup.read_bytes()) if self.keeps_backup else None
        except READ_ERRORS:
            return None

    def set_aside(self, reason: str) -> Damage:
        """Rename the file to a dated name and return the damage; if that fails, the file stays in place."""
        try:
            return Damage(self.store, self.path, reason, set_aside(self.path))
        except OSError as error:
            log.warning("%s could not be set aside: %s", self.path, error)
            return Damage(self.store, self.path, reason, self.path)

    def _recover(self, reason: str, writable: bool) -> tuple[T, str]:
        damage = self.set_aside(reason) if writable else Damage(self.store, self.path, reason, self.path)
        log.warning("%s", damage.message)
        value = self.last_good()
        if value is None:
            return self.make_empty(), f"{damage.message} {self.consequence}".strip()
        is_restored = writable and self._restore_backup()
        ending = "was restored" if is_restored else "is in effect"
        return value, f"{damage.message} The last good version {ending}."

    def _restore_backup(self) -> bool:
        try:
            write_atomic(self.path, self.backup.read_bytes())
        except OSError as error:
            log.warning("%s could not be written: %s", self.path, error)
            return False
        return True

    def _back_up(self, content: bytes) -> None:
        if not self.keeps_backup:
            return
        try:
            if not self.backup.exists() or self.backup.read_bytes() != content:
                write_atomic(self.backup, content)
        except OSError as error:
            log.warning("%s could not be written: %s", self.backup, error)


READ_ERRORS = (OSError, ValueError, TypeError, KeyError, RecursionError)
"""The errors that reading and parsing a file can raise."""


def _error_text(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    # A validation error has many lines and quotes the file.
    return "it is not valid JSON" if isinstance(error, json.JSONDecodeError) else "it is damaged"


def to_json(value: object, *, indent: int | None = 1) -> bytes:
    """Serialize a value as JSON in UTF-8 with a final newline; lone surrogates are escaped."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent)
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent).encode("ascii") + b"\n"


def write_atomic(path: Path, content: bytes | bytearray | memoryview, *, durable: bool = True) -> None:
    """Write a private file atomically: a crash leaves the old content or the new one.

    Args:
        path: The file; its folder is created if missing.
        content: The complete new content.
        durable: Wait until the content is on disk. Otherwise, a power failure may leave an empty file, which
            is acceptable for derived data.

    Raises:
        OSError: The disk failed; the old file is kept, unless only the folder's sync failed.
    """
    if not path.parent.is_dir():
        make_private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(path.parent)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces `path` if nothing fails, for the user's exports.

    The caller creates the file. Unlike with `write_atomic`, it has the usual permissions, and any library may
    write it.

    Raises:
        OSError: The file can't be written; an existing file is unchanged.
    """
    temporary = path.with_name(f".{path.stem[:40]}-{secrets.token_hex(6)}{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Sync a folder so that a new name is on the disk; Windows needs no such call."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
