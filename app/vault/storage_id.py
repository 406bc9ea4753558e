"""Opaque ids for the places where notes are stored.

In a vault that is a folder, the id of a note is its path. A note in a team's database has an id in that
database, and a note on another server has a URL. Each is one line of text:

    Claims/A.md             a file; `file:` before a path that looks like another kind
    db:4711/notes/42        a row of a database, by the id that the database assigned
    https://…, http://…     a URL
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from app.errors import InvalidParametersError, NotFoundError
from app.vault.path import NotePath

_FILE_PREFIX = "file:"
_DATABASE_PREFIX = "db:"
_URL_PREFIXES = ("https://", "http://")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")


class StorageKind(StrEnum):
    """The kinds of storage for notes."""

    FILE = "file"
    DATABASE = "database"
    URL = "url"


@dataclass(frozen=True, slots=True, order=True)
class StorageId:
    """The location of a note: `value` is a path in the vault, an id in a database, or a URL.

    `str()` returns the text that `parse` reads.
    """

    kind: StorageKind
    value: str

    @classmethod
    def of_file(cls, path: NotePath) -> StorageId:
        """Return the id of the note in the file at `path`."""
        return cls(StorageKind.FILE, path.text)

    @classmethod
    def parse(cls, text: str) -> StorageId:
        """Parse an id; text without the prefix of another kind is the path of a file.

        Raises:
            InvalidPathError: It is not a path in the vault.
            InvalidParametersError: The database id or URL is incomplete, or contains control characters or
                leading or trailing spaces.
        """
        if text.startswith(_DATABASE_PREFIX):
            return cls(StorageKind.DATABASE, _check_id(text.removeprefix(_DATABASE_PREFIX), text))
        if text.startswith(_URL_PREFIXES):
            return cls(StorageKind.URL, _check_id(text, text))
        return cls.of_file(NotePath.on_disk(text.removeprefix(_FILE_PREFIX)))

    @property
    def path(self) -> NotePath:
        """The path of the file.

        Raises:
            NotFoundError: It is not the id of a file, and this vault stores notes in files.
        """
        if self.kind is not StorageKind.FILE:
            message = f"Nothing is stored at {self}: this vault stores its notes as files."
            raise NotFoundError(message, storage_id=str(self), suggestions=[])
        return NotePath.on_disk(self.value)

    def __str__(self) -> str:
        match self.kind:
            case StorageKind.DATABASE:
                return f"{_DATABASE_PREFIX}{self.value}"
            case StorageKind.URL:
                return self.value
            case _:
                return f"{_FILE_PREFIX}{self.value}" if is_explicit(self.value) else self.value


def is_explicit(text: str) -> bool:
    """Return whether a text starts with the prefix of an id."""
    return text.startswith((_FILE_PREFIX, _DATABASE_PREFIX, *_URL_PREFIXES))


def _check_id(value: str, text: str) -> str:
    if not value or value in _URL_PREFIXES or _UNPRINTABLE.search(value) or value != value.strip():
        raise InvalidParametersError(f"{text!r} is not a storage id.", storage_id=text)
    return value
