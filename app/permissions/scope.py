"""What an operation is and how far it reaches, computed by the gate from the proposal itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.vault.changes import VAULT
from app.vault.path import NotePath


class Operation(StrEnum):
    """The type of an operation; the most severe of a change set's parts is the whole's."""

    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    ADMINISTRATIVE = "administrative"
    EXECUTE = "execute"
    NETWORK = "network"


class ScopeKind(StrEnum):
    """How far it reaches."""

    READ_IN_SCOPE = "read_in_scope"
    READ_OUT_OF_SCOPE = "read_out_of_scope"
    WRITE_CREATE = "write_create"
    WRITE_UPDATE = "write_update"
    WRITE_DELETE = "write_delete"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Scope:
    """What is touched: vault paths, bytes after, notes that link to what is deleted, files in all.

    `outside` names folders outside the vault that a read reaches. `what` says an administrative,
    execute or network operation in words. `place` says whose documents `paths` are: the vault's (empty),
    or those of another store, which `where` names for people.
    """

    kind: ScopeKind
    paths: tuple[NotePath, ...] = ()
    size: int = 0
    backlinks: tuple[NotePath, ...] = ()
    files: int = 0
    outside: tuple[str, ...] = ()
    what: str = ""
    place: str = VAULT
    where: str = ""
