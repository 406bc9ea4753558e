"""Access control for memory blocks: every change is judged by its effect on the block.

| permission       | read | append | overwrite | delete |
|------------------|------|--------|-----------|--------|
| read_only        | yes  | no     | no        | no     |
| partner, human   | yes  | asks   | asks      | no     |
| append           | yes  | yes    | no        | no     |
| read_write       | yes  | yes    | yes       | no     |
| admin            | yes  | yes    | yes       | asks   |

An agent that may read a block may pin it and choose its lines; one that may overwrite it may archive it.
With `partner` and `human`, archiving needs approval. Sharing a block requires permission to overwrite it and
approval, and no agent can grant more than it has. Other parts of the header and read-only fields can only be
changed with `admin`, after approval. None of this restricts the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, TypeVar, cast

from app.memory.block import Block, BlockType, Permission
from app.memory.content import Content
from app.memory.schema import CompositeSchema, ListSchema, LogSchema, MapSchema, Schema, TextSchema

T = TypeVar("T")
Effect = Literal["allow", "ask", "deny"]


class BlockOperation(StrEnum):
    """An operation on a block.

    VIEW changes the agent's own view. GOVERN changes another agent's view, a read-only field or a part of
    the header that no other operation covers.
    """

    READ = "read"
    VIEW = "pin"
    APPEND = "append"
    OVERWRITE = "overwrite"
    ARCHIVE = "archive"
    SHARE = "share"
    GOVERN = "govern"
    DELETE = "delete"
    CREATE = "create"


_ALLOW: Effect = "allow"
_ASK: Effect = "ask"
_DENY: Effect = "deny"
_Row = dict[BlockOperation, Effect]
_READS: _Row = {BlockOperation.READ: _ALLOW, BlockOperation.VIEW: _ALLOW}
_ASKS: _Row = {
    **_READS,
    BlockOperation.APPEND: _ASK,
    BlockOperation.OVERWRITE: _ASK,
    BlockOperation.ARCHIVE: _ASK,
    BlockOperation.SHARE: _ASK,
}
_WRITES: _Row = {
    **_READS,
    BlockOperation.APPEND: _ALLOW,
    BlockOperation.OVERWRITE: _ALLOW,
    BlockOperation.ARCHIVE: _ALLOW,
    BlockOperation.SHARE: _ASK,
}

TABLE: Mapping[Permission, Mapping[BlockOperation, Effect]] = {
    Permission.READ_ONLY: _READS,
    Permission.PARTNER: _ASKS,
    Permission.HUMAN: _ASKS,
    Permission.APPEND: {**_READS, BlockOperation.APPEND: _ALLOW},
    Permission.READ_WRITE: _WRITES,
    Permission.ADMIN: {**_WRITES, BlockOperation.GOVERN: _ASK, BlockOperation.DELETE: _ASK},
}
"""Operations that are not listed are denied."""

_RANK = {
    Permission.READ_ONLY: 0,
    Permission.PARTNER: 1,
    Permission.HUMAN: 1,
    Permission.APPEND: 2,
    Permission.READ_WRITE: 3,
    Permission.ADMIN: 4,
}
_SEVERITY: Sequence[Effect] = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class BlockVerdict:
    """A verdict on a change: its effect, and the reason to show in the approval dialog and the log."""

    effect: Effect
    reason: str


def table_effect(operation: BlockOperation, permission: Permission | None) -> Effect:
    """Look up an operation in the table; without a permission, everything is denied."""
    return _DENY if permission is None else TABLE[permission].get(operation, _DENY)


def authorize_change(before: Block | None, after: Block | None, agent: str) -> BlockVerdict:
    """Decide whether the agent may make this change.

    If `before` is None, the change is a creation; if `after` is None, it is a deletion.
    """
    if before is None:
        return _authorize_new(after, agent)
    permission = before.permission_of(agent)
    if permission is None:
        # The label is not mentioned: an agent that may not read a block must not learn that it exists.
        return BlockVerdict(_DENY, f"a block of another agent is not shared with {agent}")
    verdicts = [
        BlockVerdict(table_effect(operation, permission), _reason(operation, permission, before))
        for operation in change_operations(before, after, agent)
    ]
    if after is not None and (problem := _find_excess_grant(before, after, permission)):
        verdicts.append(BlockVerdict(_DENY, problem))
    return max(
        verdicts,
        key=lambda verdict: _SEVERITY.index(verdict.effect),
        default=BlockVerdict(_ALLOW, "no change"),
    )


def _authorize_new(after: Block | None, agent: str) -> BlockVerdict:
    if after is None or after.owner != agent:
        return BlockVerdict(_DENY, f"{agent} can create blocks only for itself")
    if after.shares or set(after.views) - {agent}:
        return BlockVerdict(_ASK, f"the new block {after.label!r} is shared with other agents")
    if _RANK[after.permission] > _RANK[Permission.READ_WRITE] or after.type is BlockType.CORE:
        return BlockVerdict(
            _ASK,
            f"the new block {after.label!r} has the type {after.type} and the permission {after.permission}",
        )
    if after.permission in (Permission.PARTNER, Permission.HUMAN):
        return BlockVerdict(_ASK, f"the new block {after.label!r} has the permission {after.permission}")
    return BlockVerdict(_ALLOW, "a new block in its own memory")


def _find_excess_grant(before: Block, after: Block, own_permission: Permission) -> str:
    for agent, granted in after.shares.items():
        if granted != before.shares.get(agent) and _RANK[granted] > _RANK[own_permission]:
            return f"an agent with the permission {own_permission} can't grant {granted}"
    return ""


def _reason(operation: BlockOperation, permission: Permission, block: Block) -> str:
    return f"{operation.value}: the block {block.label!r} has the permission {permission.value}"


# Operations of a change


def change_operations(before: Block, after: Block | None, agent: str) -> frozenset[BlockOperation]:
    """Return every operation of a change; a change to `agent`'s own view counts as VIEW."""
    if after is None:
        return frozenset({BlockOperation.DELETE})
    operations: set[BlockOperation] = set()
    if before.views != after.views:
        is_own_view = before.with_view(agent, after.view_of(agent)).views == after.views
        operations.add(BlockOperation.VIEW if is_own_view else BlockOperation.GOVERN)
    if before.shares != after.shares:
        operations.add(BlockOperation.SHARE)
    if before.type != after.type:
        is_archiving = after.type is BlockType.ARCHIVAL and before.type is not BlockType.CORE
        is_restoring = before.type is BlockType.ARCHIVAL and after.type is BlockType.WORKING
        operations.add(BlockOperation.ARCHIVE if is_archiving or is_restoring else BlockOperation.GOVERN)
    if before.description != after.description or before.origin != after.origin:
        operations.add(BlockOperation.OVERWRITE)
    if _governed_parts(before) != _governed_parts(after):
        return frozenset({*operations, BlockOperation.GOVERN, BlockOperation.OVERWRITE})
    return frozenset(operations | set(_content_operations(before.schema, before.content, after.content)))


def _governed_parts(block: Block) -> Block:
    """Return the block without the parts that agents may change without GOVERN."""
    return replace(block, content="", views={}, shares={}, origin={}, description="", type=BlockType.WORKING)


def _content_operations(schema: Schema, before: object, after: object) -> Iterable[BlockOperation]:
    if before == after:
        return
    match schema:
        case TextSchema():
            yield _append_or_overwrite(str(before), str(after), str.startswith)
        case ListSchema() | LogSchema():
            yield _append_or_overwrite(
                cast("tuple[object, ...]", before), cast("tuple[object, ...]", after), _starts_with
            )
        case MapSchema():
            yield from _map_operations(schema, before, after)
        case CompositeSchema():
            sections_before, sections_after = (
                cast("Mapping[str, Content]", before),
                cast("Mapping[str, Content]", after),
            )
            for section in schema.sections:
                section_operations = set(
                    _content_operations(
                        section.content, sections_before[section.name], sections_after[section.name]
                    )
                )
                yield from section_operations
                if section_operations and section.read_only:
                    yield BlockOperation.GOVERN


def _map_operations(schema: MapSchema, before: object, after: object) -> Iterable[BlockOperation]:
    values_before, values_after = cast("Mapping[str, object]", before), cast("Mapping[str, object]", after)
    for field in schema.fields:
        value_before, value_after = values_before.get(field.name), values_after.get(field.name)
        if value_before == value_after:
            continue
        if field.read_only:
            yield BlockOperation.GOVERN
        are_lists = isinstance(value_before, tuple) and isinstance(value_after, tuple)
        is_append = are_lists and _starts_with(value_after, value_before)  # type: ignore[arg-type]
        yield BlockOperation.APPEND if is_append else BlockOperation.OVERWRITE


def _starts_with(items: tuple[object, ...], start: tuple[object, ...]) -> bool:
    return items[: len(start)] == start


def _append_or_overwrite(before: T, after: T, starts_with: Callable[[T, T], bool]) -> BlockOperation:
    return BlockOperation.APPEND if starts_with(after, before) else BlockOperation.OVERWRITE
