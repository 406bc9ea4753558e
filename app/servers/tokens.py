"""The programs that may come in with a token: their names, and only the hashes of their tokens."""

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
"""What every token begins with, so that one that got into a file is recognised."""

_NAME_PATTERN = re.compile(r"[^\W_](?:[\w .()-]{0,58}[\w)])?")
_MAX_TOKENS = 200
_RESERVED_NAMES = frozenset(kind.value for kind in CallerKind) | {"you"}


class NamedClient(BaseModel):
    """A program that has a token; `made` in Unix seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    made: float


@dataclass(frozen=True, slots=True)
class ClientsChanged(Event):
    """A program was given a token, another one, or none any more; `gone` are names whose token is void."""

    names: tuple[str, ...]
    gone: tuple[str, ...] = ()


_FILE_ADAPTER = TypeAdapter(list[NamedClient])


class ClientTokens:
    """Who has a token. A token is shown once, when it is made; what is kept of it can't be used.

    A file that can't be read lets nobody in, and `problem` says so. `on_set` is called with create, renew or
    revoke and the program's name once that is kept.

    Args:
        folder: The vault's data folder.
        events: Told of changes.
        clock: Unix time in seconds.
    """

    def __init__(self, folder: Path, events: EventBus, clock: Callable[[], float] = time.time) -> None:
        self._file = folder / "clients.json"
        self._events = events
        self._clock = clock
        self.problem = ""
        self.on_set: Callable[[str, str], None] = lambda op, name: None
        self._clients: dict[str, NamedClient] = {}
        try:
            self._clients = {one.name: one for one in _FILE_ADAPTER.validate_json(self._file.read_bytes())}
        except FileNotFoundError:
            pass
        except (OSError, ValidationError) as error:
            self.problem = (
                f"The tokens of other programs can't be read, so none is let in ({_hash_name(error)})."
            )

    @property
    def clients(self) -> tuple[NamedClient, ...]:
        """The programs with a token, by name."""
        return tuple(sorted(self._clients.values(), key=lambda one: one.name.casefold()))

    def create(self, name: str) -> str:
        """A token for a new program called `name`; it can't be shown again.

        Raises:
            InvalidParametersError: it is no name, or a program has it.
            StorageError: it could not be kept; there is no such token then.
        """
        name = name.strip()
        if not _NAME_PATTERN.fullmatch(name) or name.casefold() in _RESERVED_NAMES:
            raise InvalidParametersError(
                "A program's name has up to 60 letters, digits, spaces, dots and hyphens.", name=name
            )
        if any(known.casefold() == name.casefold() for known in self._clients):
            raise InvalidParametersError(f"A program called {name} has a token already.", name=name)
        if len(self._clients) >= _MAX_TOKENS:
            raise InvalidParametersError(f"{_MAX_TOKENS} programs have a token already: take one back first.")
        token = self._issue(name)
        self.on_set("create", name)
        return token

    def renew(self, name: str) -> str:
        """Another token for the program; the one before is void from now on.

        Raises:
            NotFoundError: no program is called so.
            StorageError: it could not be kept; the old one holds.
        """
        self._known(name)
        token = self._issue(name, gone=(name,))
        self.on_set("renew", name)
        return token

    def revoke(self, name: str) -> None:
        """Take the program's token back.

        Raises:
            NotFoundError: no program is called so.
            StorageError: it could not be kept; the token holds.
        """
        self._known(name)
        self._save({known: one for known, one in self._clients.items() if known != name})
        self._events.publish(ClientsChanged(tuple(self._clients), (name,)))
        self.on_set("revoke", name)

    def authenticate(self, token: str) -> str | None:
        """The name of the program whose token this is; it takes as long for a wrong one."""
        hashed = _hash(token)
        found = None
        for one in self._clients.values():
            if hmac.compare_digest(one.sha256, hashed):
                found = one.name
        return found

    def _known(self, name: str) -> None:
        if name not in self._clients:
            raise NotFoundError(f"No program called {name} has a token.", name=name)

    def _issue(self, name: str, gone: tuple[str, ...] = ()) -> str:
        token = TOKEN_PREFIX + secrets.token_urlsafe(32)
        self._save({**self._clients, name: NamedClient(name=name, sha256=_hash(token), made=self._clock())})
        self._events.publish(ClientsChanged(tuple(self._clients), gone))
        return token

    def _save(self, clients: dict[str, NamedClient]) -> None:
        if self.problem:
            # Writing over a file that can't be read would take the tokens of all programs back unasked.
            set_aside(self._file)
            self.problem = ""
        write_private(self._file, _FILE_ADAPTER.dump_json(list(clients.values()), indent=1))
        self._clients = clients


def write_private(file: Path, content: bytes) -> None:
    """Write a file that only its owner may read, whole or not at all.

    Raises:
        StorageError: the disk refused.
    """
    try:
        write_atomic(file, content)
    except OSError as error:
        raise StorageError(f"{file.name} could not be written: {error.strerror}.", path=str(file)) from error


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _hash_name(error: Exception) -> str:
    return error.strerror or "error" if isinstance(error, OSError) else "it is damaged"
