"""Programs that can connect with a token: their names, and the hashes of their tokens."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.errors import InvalidParametersError, NotFoundError, StorageError
from app.events import Event, EventBus
from app.permissions.caller import CallerKind
from app.storage.files import write_atomic
from app.storage.quarantine import set_aside

TOKEN_PREFIX = "scriptorium_"
"""Prefix of every token, so that secret scanners recognize a leaked one."""

_NAME_PATTERN = re.compile(r"[^\W_](?:[\w .()-]{0,58}[\w)])?")
_MAX_TOKENS = 200
_RESERVED_NAMES = frozenset(kind.value for kind in CallerKind) | {"you"}


class NamedClient(BaseModel):
    """A program with a token: the token's hash, and its creation time (`made`) in Unix seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    made: float


@dataclass(frozen=True, slots=True)
class ClientsChanged(Event):
    """A token was created, renewed or revoked.

    `names` are all programs with a token; `revoked_names` are those whose previous token is no longer valid.
    """

    names: tuple[str, ...]
    revoked_names: tuple[str, ...] = ()


_FILE_ADAPTER = TypeAdapter(list[NamedClient])


class ClientTokens:
    """The programs with a token. A token is shown once, when it is created; only its hash is stored.

    If the file can't be read, no program can connect, and `problem` explains why. `on_set` is called with
    “create”, “renew” or “revoke” and the program's name after the file is written.

    Args:
        folder: The vault's data folder.
        events: Publishes changes.
    """

    def __init__(self, folder: Path, events: EventBus) -> None:
        self._file = folder / "clients.json"
        self._events = events
        self.problem = ""
        self.on_set: Callable[[str, str], None] = lambda op, name: None
        self._clients: dict[str, NamedClient] = {}
        try:
            self._clients = {
                client.name: client for client in _FILE_ADAPTER.validate_json(self._file.read_bytes())
            }
        except FileNotFoundError:
            pass
        except (OSError, ValidationError) as error:
            self.problem = (
                f"The tokens of other programs can't be read ({_error_label(error)}), so none can connect. "
                "Create new tokens for them."
            )

    @property
    def clients(self) -> tuple[NamedClient, ...]:
        """The programs with a token, sorted by name."""
        return tuple(sorted(self._clients.values(), key=lambda client: client.name.casefold()))

    def create(self, name: str) -> str:
        """Create a token for a new program; it can't be shown again.

        Raises:
            InvalidParametersError: the name is not valid or is taken, or there are too many tokens.
            StorageError: the file can't be written; no token was created.
        """
        name = name.strip()
        if not _NAME_PATTERN.fullmatch(name) or name.casefold() in _RESERVED_NAMES:
            raise InvalidParametersError(
                "A program's name starts with a letter or digit, has at most 60 letters, digits, spaces, "
                "dots and hyphens, and is not a reserved word such as “you”. Choose another name.",
                name=name,
            )
        if any(known.casefold() == name.casefold() for known in self._clients):
            raise InvalidParametersError(f"A program called {name} already has a token.", name=name)
        if len(self._clients) >= _MAX_TOKENS:
            raise InvalidParametersError(f"{_MAX_TOKENS} programs already have a token. Revoke one first.")
        token = self._issue(name)
        self.on_set("create", name)
        return token

    def renew(self, name: str) -> str:
        """Create another token for a program; the old one is no longer valid.

        Raises:
            NotFoundError: there is no such program.
            StorageError: the file can't be written; the old token stays valid.
        """
        self._check_known(name)
        token = self._issue(name, revoked_names=(name,))
        self.on_set("renew", name)
        return token

    def revoke(self, name: str) -> None:
        """Revoke a program's token.

        Raises:
            NotFoundError: there is no such program.
            StorageError: the file can't be written; the token stays valid.
        """
        self._check_known(name)
        self._save({known: client for known, client in self._clients.items() if known != name})
        self._events.publish(ClientsChanged(tuple(self._clients), (name,)))
        self.on_set("revoke", name)

    def authenticate(self, token: str) -> str | None:
        """Return the name of the program that a token belongs to, or None, in constant time."""
        token_hash = _hash(token)
        name = None
        for client in self._clients.values():
            if hmac.compare_digest(client.sha256, token_hash):
                name = client.name
        return name

    def _check_known(self, name: str) -> None:
        if name not in self._clients:
            raise NotFoundError(f"No program called {name} has a token.", name=name)

    def _issue(self, name: str, revoked_names: tuple[str, ...] = ()) -> str:
        token = TOKEN_PREFIX + secrets.token_urlsafe(32)
        self._save({**self._clients, name: NamedClient(name=name, sha256=_hash(token), made=time.time())})
        self._events.publish(ClientsChanged(tuple(self._clients), revoked_names))
        return token

    def _save(self, clients: dict[str, NamedClient]) -> None:
        if self.problem:
            # Overwriting an unreadable file would revoke the tokens of all programs unasked.
            try:
                set_aside(self._file)
            except OSError as error:
                message = f"{self._file.name} could not be set aside: {error.strerror or error}."
                raise StorageError(message, path=str(self._file)) from error
        write_private(self._file, _FILE_ADAPTER.dump_json(list(clients.values()), indent=1))
        self._clients, self.problem = clients, ""


def write_private(file: Path, content: bytes) -> None:
    """Atomically write a file that only its owner can read.

    Raises:
        StorageError: the file can't be written.
    """
    try:
        write_atomic(file, content)
    except OSError as error:
        raise StorageError(
            f"The app's data folder can't be written to: {error.strerror or error}.", path=str(file)
        ) from error


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _error_label(error: Exception) -> str:
    return error.strerror or "disk error" if isinstance(error, OSError) else "the file is damaged"
