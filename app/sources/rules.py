"""What agents may do with files of a folder outside: glob rules, first match wins, read-only by default.

| permission       | read | append | overwrite | create | delete |
|------------------|------|--------|-----------|--------|--------|
| read_only        | yes  | no     | no        | no     | no     |
| partner, human   | yes  | asks   | asks      | asks   | no     |
| append           | yes  | asks   | no        | asks   | no     |
| read_write       | yes  | asks   | asks      | asks   | no     |
| admin            | yes  | asks   | asks      | asks   | asks   |

Nothing outside the vault is written without a question: the rules say what may be asked for at all. Rules of
an agent narrow what the source gives, and never widen it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from app.memory.block import Permission
from app.sources.config import FileRule, FolderConfig
from app.vault.changes import Create, Delete, FileChange, Move, Update
from app.vault.globs import Glob, word_matches
from app.vault.path import NotePath


class FileAction(StrEnum):
    """What is done to a file."""

    READ = "read"
    APPEND = "append"
    OVERWRITE = "overwrite"
    CREATE = "create"
    DELETE = "delete"


Effect = Literal["allow", "ask", "deny"]

_READS = frozenset({FileAction.READ})
_WRITES = _READS | {FileAction.APPEND, FileAction.OVERWRITE, FileAction.CREATE}
TABLE: Mapping[Permission, frozenset[FileAction]] = {
    Permission.READ_ONLY: _READS,
    Permission.PARTNER: _WRITES,
    Permission.HUMAN: _WRITES,
    Permission.APPEND: _READS | {FileAction.APPEND, FileAction.CREATE},
    Permission.READ_WRITE: _WRITES,
    Permission.ADMIN: _WRITES | {FileAction.DELETE},
}
"""What may be asked for; reading is free."""

_RANK = {
    Permission.READ_ONLY: 0,
    Permission.APPEND: 1,
    Permission.PARTNER: 2,
    Permission.HUMAN: 2,
    Permission.READ_WRITE: 3,
    Permission.ADMIN: 4,
}


@dataclass(frozen=True, slots=True)
class FileVerdict:
    """Whether a change may be, and by which permission."""

    effect: Effect
    reason: str


class FileRules:
    """The rules of one folder."""

    def __init__(self, kept: FolderConfig) -> None:
        self._kept = kept

    def permission(self, path: NotePath, agent: str) -> Permission:
        """What the agent may do with the file: the least that the source and the agent's rules give."""
        found = _first_match(self._kept.rules, path) or Permission.READ_ONLY
        for one in self._kept.agents:
            if word_matches(one.agent, agent):
                narrowed = _first_match(one.rules, path)
                if narrowed is not None and _RANK[narrowed] < _RANK[found]:
                    found = narrowed
        return found

    def judge(self, change: FileChange, agent: str) -> FileVerdict:
        """Whether the agent may make this change to a file."""
        operation = operation_of(change)
        permission = self.permission(change.path, agent)
        if operation in TABLE[permission]:
            return FileVerdict(
                "ask", f"the folder is outside the vault, and {change.path} is {permission.value}"
            )
        words = f"{change.path} is {permission.value} in {self._kept.name}: no {operation.value}"
        return FileVerdict("deny", words)


def allows(permission: Permission, operation: FileAction) -> bool:
    """Whether the operation may be asked for at all."""
    return operation in TABLE[permission]


def operation_of(change: FileChange) -> FileAction:
    """What a change does; one that only adds to the end appends, a move takes the file away."""
    match change:
        case Create():
            return FileAction.CREATE
        case Delete() | Move():
            return FileAction.DELETE
        case Update():
            return FileAction.APPEND if change.after.startswith(change.before) else FileAction.OVERWRITE


def _first_match(rules: Iterable[FileRule], path: NotePath) -> Permission | None:
    return next((rule.permission for rule in rules if _glob(rule.glob).matches(path)), None)


@lru_cache(maxsize=1024)
def _glob(text: str) -> Glob:
    return Glob(text)
