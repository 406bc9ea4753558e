"""Agents' permissions for files outside the vault: glob rules, first match wins, read-only by default.

| permission       | read | append | overwrite | create | delete |
|------------------|------|--------|-----------|--------|--------|
| read_only        | yes  | no     | no        | no     | no     |
| partner, human   | yes  | asks   | asks      | asks   | no     |
| append           | yes  | asks   | no        | asks   | no     |
| read_write       | yes  | asks   | asks      | asks   | no     |
| admin            | yes  | asks   | asks      | asks   | asks   |

Nothing outside the vault is written without approval: the rules determine what can be requested at all.
An agent's rules can only restrict those of the source.
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
    """An operation on a file."""

    READ = "read"
    APPEND = "append"
    OVERWRITE = "overwrite"
    CREATE = "create"
    DELETE = "delete"


_READS = frozenset({FileAction.READ})
_WRITES = _READS | {FileAction.APPEND, FileAction.OVERWRITE, FileAction.CREATE}
_ALLOWED_ACTIONS: Mapping[Permission, frozenset[FileAction]] = {
    Permission.READ_ONLY: _READS,
    Permission.PARTNER: _WRITES,
    Permission.HUMAN: _WRITES,
    Permission.APPEND: _READS | {FileAction.APPEND, FileAction.CREATE},
    Permission.READ_WRITE: _WRITES,
    Permission.ADMIN: _WRITES | {FileAction.DELETE},
}
"""The operations that can be requested; reading needs no approval."""

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
    """The decision on a change, with its reason."""

    effect: Literal["ask", "deny"]
    reason: str


class FileRules:
    """The rules of one folder."""

    def __init__(self, config: FolderConfig) -> None:
        self._config = config

    def permission(self, path: NotePath, agent: str) -> Permission:
        """Return the agent's permission for a file: the lowest of the source's and the agent's rules."""
        permission = _first_match(self._config.rules, path) or Permission.READ_ONLY
        for agent_rules in self._config.agents:
            if word_matches(agent_rules.agent, agent):
                agent_permission = _first_match(agent_rules.rules, path)
                if agent_permission is not None and _RANK[agent_permission] < _RANK[permission]:
                    permission = agent_permission
        return permission

    def evaluate(self, change: FileChange, agent: str) -> FileVerdict:
        """Decide whether the agent may make this change."""
        operation = _required_action(change)
        permission = self.permission(change.path, agent)
        if operation in _ALLOWED_ACTIONS[permission]:
            return FileVerdict(
                "ask", f"the folder is outside the vault, and {change.path} is {permission.value}"
            )
        reason = (
            f"{change.path} is {permission.value} in {self._config.name}, so {operation.value} is not allowed"
        )
        return FileVerdict("deny", reason)


def allows(permission: Permission, operation: FileAction) -> bool:
    """Return whether the operation can be requested at all."""
    return operation in _ALLOWED_ACTIONS[permission]


def _required_action(change: FileChange) -> FileAction:
    """Return the operation that a change needs: appending for text added at the end, deletion for a move."""
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
