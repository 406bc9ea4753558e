"""The app's errors, which carry data so that each front end can word them.

ScriptoriumError (type "internal")
├── NotFoundError            "not_found"          nothing has that name
├── AmbiguousError           "ambiguous"          several notes or parts of notes match
├── PermissionDeniedError    "permission_denied"  a rule, a category's level, or no approver
├── InvalidParametersError   "invalid_parameters" an argument is not valid for the tool
│   ├── InvalidPathError                          a path outside the vault or not valid on every system
│   └── QueryError                                an invalid search query, with its position
├── ConflictError            "conflict"           the current state does not allow the change
├── TimeoutExpiredError      "timeout"
├── LimitError               "limit"              too many, too large, too deep, too often
├── NetworkError             "network"            a server failed or can't be reached
└── StorageError             "storage"            the disk failed
    ├── UnreadableNoteError                       the bytes are not UTF-8 text
    ├── VaultLostError                            the vault's folder is gone
    └── VaultBusyError                            another process owns the vault, or it is open read-only

Other modules define further subclasses. A tool's caller receives `type`; `data` helps it to continue.
"""

from __future__ import annotations

from typing import ClassVar

NOTHING_CHANGED = "Nothing was changed."


class ScriptoriumError(Exception):
    """The base class of errors that the app reports to callers.

    Args:
        message: A plain sentence: what happened and what is safe.
        data: JSON-like values that help the caller to continue (candidates, the current hash, …).
    """

    type: ClassVar[str] = "internal"

    def __init__(self, message: str, **data: object) -> None:
        super().__init__(message)
        self.message = message
        self.data = data

    @property
    def reason(self) -> str:
        """The message as a reason why a change leaves something out, where other things do change."""
        return self.message.removesuffix(NOTHING_CHANGED).rstrip()

    @property
    def has_outside_text(self) -> bool:
        """True if the error quotes an outside server or program (`said`), whose text is untrusted."""
        return bool(self.data.get("said"))

    def as_dict(self) -> dict[str, object]:
        """Return the error as a tool's caller receives it: `type`, `message` and the data."""
        return {**self.data, "type": self.type, "message": self.message}


class NotFoundError(ScriptoriumError):
    """Nothing has that name; `suggestions`, if given, are similar names."""

    type = "not_found"


class AmbiguousError(ScriptoriumError):
    """Several notes, files or parts of a note match; `candidates` lists them."""

    type = "ambiguous"


class PermissionDeniedError(ScriptoriumError):
    """The call is not allowed, for a reason other than the user's answer."""

    type = "permission_denied"


class InvalidParametersError(ScriptoriumError):
    """An argument is not valid for the tool."""

    type = "invalid_parameters"


class InvalidPathError(InvalidParametersError):
    """A path is outside the vault or not valid on every file system; `path` is the path as given."""


class QueryError(InvalidParametersError):
    """A search query is invalid; `position` (characters) and `expected` describe the problem."""


class ConflictError(ScriptoriumError):
    """The current state does not allow the change.

    If a file differs from the proposal's old state, the data has `path`, `expected_hash` and `current_hash`.
    """

    type = "conflict"


class TimeoutExpiredError(ScriptoriumError):
    """The operation timed out."""

    type = "timeout"


class LimitError(ScriptoriumError):
    """A limit is exceeded: too many, too large, too deep or too often; `limit` is the bound, if any."""

    type = "limit"


class NetworkError(ScriptoriumError):
    """A server can't be reached or returned an error; `status` is the HTTP status if there is one."""

    type = "network"


class StorageError(ScriptoriumError):
    """The disk failed; no file was partially written."""

    type = "storage"


class UnreadableNoteError(StorageError):
    """A note or another file is not UTF-8 text, so it can't be edited without loss; it stays unchanged."""


class VaultLostError(StorageError):
    """The vault's folder is missing (unplugged, unmounted, deleted)."""


class VaultBusyError(StorageError):
    """Another process owns the vault (`owner`, if given, describes it), or the vault is open read-only."""


ERROR_TYPES = (ScriptoriumError.type, *(kind.type for kind in ScriptoriumError.__subclasses__()))
"""The values of `type`; the subclasses in other modules use them, too."""
