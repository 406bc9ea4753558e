"""The error tree: errors carry data, each front end words them.

ScriptoriumError (type "internal")
├── NotFoundError            "not_found"          nothing has that name
├── AmbiguousError           "ambiguous"          several notes have it
├── PermissionDeniedError    "permission_denied"  a rule, the level of a category, or no approver
├── InvalidParametersError   "invalid_parameters" an argument is not what the tool takes
│   ├── InvalidPathError                          a path that leaves the vault or no file system takes
│   └── QueryError                                a search that cannot be read, with its position
├── ConflictError            "conflict"           the file is not what the change was made for
├── TimeoutExpiredError      "timeout"
├── LimitError               "limit"              too many, too large, too deep
├── NetworkError             "network"            a server can't be reached, or failed
└── StorageError             "storage"            the disk said no
    ├── UnreadableNoteError                       bytes that are not UTF-8, or too large to parse
    ├── VaultLostError                            the vault's folder is gone
    └── VaultBusyError                            another process owns the vault

`type` is the word a tool's caller sees; `data` is what helps it to go on.
"""

from __future__ import annotations

from typing import ClassVar


class ScriptoriumError(Exception):
    """Something went wrong that the app has a word for.

    Args:
        message: One plain sentence: what happened and what was kept.
        data: JSON-like values that help the caller to go on (candidates, the current hash, …).
    """

    type: ClassVar[str] = "internal"

    def __init__(self, message: str, **data: object) -> None:
        super().__init__(message)
        self.message = message
        self.data = data

    @property
    def has_outside_text(self) -> bool:
        """Whether it holds words of a server or program outside (`said`), which are not to be trusted."""
        return bool(self.data.get("said"))

    def as_dict(self) -> dict[str, object]:
        """Return the error as a tool's caller sees it: `type`, `message` and the data."""
        return {**self.data, "type": self.type, "message": self.message}


class NotFoundError(ScriptoriumError):
    """Nothing has that name; `suggestions` are near misses."""

    type = "not_found"


class AmbiguousError(ScriptoriumError):
    """Several notes have that name; `candidates` are their paths."""

    type = "ambiguous"


class PermissionDeniedError(ScriptoriumError):
    """The gate did not let it through for a reason that is not the user's answer."""

    type = "permission_denied"


class InvalidParametersError(ScriptoriumError):
    """An argument is not what the tool takes."""

    type = "invalid_parameters"


class InvalidPathError(InvalidParametersError):
    """A path that leaves the vault, or that some file system would not keep; `path` is the text."""


class QueryError(InvalidParametersError):
    """A search that cannot be read; `position` (characters) and `expected` say where and what."""


class ConflictError(ScriptoriumError):
    """The file is not what the change was made for; `path`, `expected_hash`, `current_hash`."""

    type = "conflict"


class TimeoutExpiredError(ScriptoriumError):
    """It took longer than it may."""

    type = "timeout"


class LimitError(ScriptoriumError):
    """Too many, too large or too deep; `limit` is the bound."""

    type = "limit"


class NetworkError(ScriptoriumError):
    """A server can't be reached, or answered with an error of its own; `status` where it gave one."""

    type = "network"


class StorageError(ScriptoriumError):
    """The disk said no; nothing was half written."""

    type = "storage"


class UnreadableNoteError(StorageError):
    """The note's bytes cannot be edited without loss; it is left as it is."""


class VaultLostError(StorageError):
    """The vault's folder is gone (unplugged, unmounted, deleted)."""


class VaultBusyError(StorageError):
    """Another process owns the vault; `owner` describes it."""
