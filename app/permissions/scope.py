"""The type and scope of an operation, computed by the gate from the proposal itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.vault.changes import VAULT
from app.vault.path import NotePath


class Operation(StrEnum):
    """The type of an operation; a change set has the type of its most severe part."""

    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    ADMINISTRATIVE = "administrative"
    EXECUTE = "execute"
    NETWORK = "network"


class ScopeKind(StrEnum):
    """The kind of a scope. ADMIN covers all effects outside the notes except reads."""

    READ_IN_SCOPE = "read_in_scope"
    READ_OUT_OF_SCOPE = "read_out_of_scope"
    WRITE_CREATE = "write_create"
    WRITE_UPDATE = "write_update"
    WRITE_DELETE = "write_delete"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of an operation: `paths`, the number of `files`, and their `size` in bytes after a change.

    `backlinks` are the notes that lose the target of a link. `outside` names folders outside the vault that a
    read reaches. `description` is the summary of the changes, or the text of an effect. `store_id` is the
    store that holds `paths`: the vault (empty) or another store, whose display name is `store_name`.
    """

    kind: ScopeKind
    paths: tuple[NotePath, ...] = ()
    size: int = 0
    backlinks: tuple[NotePath, ...] = ()
    files: int = 0
    outside: tuple[str, ...] = ()
    description: str = ""
    store_id: str = VAULT
    store_name: str = ""
