"""Build the memory's change sets from blocks and archive entries. Pure functions."""

from __future__ import annotations

from dataclasses import replace

from app.memory.block import Block
from app.memory.entry import ArchiveEntry
from app.memory.serialization import serialize_block
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Update

MEMORY_PLACE = "memory"
"""The memory's store name in change sets and in the journal."""


def create_block(block: Block, summary: str = "") -> ChangeSet:
    """Return the change set that creates a block."""
    change = Create(block.path, serialize_block(block))
    return ChangeSet.of(change, summary=summary or f"Create the block {block.label}", place=MEMORY_PLACE)


def edit_block(before: Block, after: Block, summary: str = "") -> ChangeSet:
    """Return the change set that stores a block's new state; it creates a block that is not stored yet."""
    change = block_change(before, after)
    return ChangeSet.of(change, summary=summary or f"Edit the block {before.label}", place=MEMORY_PLACE)


def block_change(before: Block, after: Block) -> FileChange:
    """Return the change from `before` to `after`: a creation if `before` is not stored yet."""
    if not before.is_stored:
        return Create(before.path, serialize_block(replace(after, is_stored=True)))
    return Update(before.path, serialize_block(before), serialize_block(after))


def delete_block(block: Block) -> ChangeSet:
    """Return the change set that deletes a block."""
    change = Delete(block.path, serialize_block(block))
    return ChangeSet.of(change, summary=f"Delete the block {block.label}", place=MEMORY_PLACE)


def insert_entry(entry: ArchiveEntry) -> ChangeSet:
    """Return the change set that adds an entry to the archive."""
    return ChangeSet.of(
        Create(entry.path, entry.data), summary="Add an entry to the archive", place=MEMORY_PLACE
    )
