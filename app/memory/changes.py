"""Changes to the memory as change sets: blocks and entries as bytes, before and after. Pure."""

from __future__ import annotations

from dataclasses import replace

from app.memory.block import Block
from app.memory.entry import ArchiveEntry
from app.memory.serialization import serialize_block
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Update

MEMORY_PLACE = "memory"
"""The place of the change sets of the memory."""


def create_block(block: Block, summary: str = "") -> ChangeSet:
    """Make a block."""
    change = Create(block.path, serialize_block(block))
    return ChangeSet.of(change, summary=summary or f"New block {block.label}", place=MEMORY_PLACE)


def edit_block(before: Block, after: Block, summary: str = "") -> ChangeSet:
    """Make of a block another one of the same label."""
    change = block_change(before, after)
    return ChangeSet.of(change, summary=summary or f"Edit the block {before.label}", place=MEMORY_PLACE)


def block_change(before: Block, after: Block) -> FileChange:
    """The single change; a block that is not kept yet is made by it."""
    if not before.kept:
        return Create(before.path, serialize_block(replace(after, kept=True)))
    return Update(before.path, serialize_block(before), serialize_block(after))


def delete_block(block: Block, summary: str = "") -> ChangeSet:
    """Take a block away."""
    change = Delete(block.path, serialize_block(block))
    return ChangeSet.of(change, summary=summary or f"Delete the block {block.label}", place=MEMORY_PLACE)


def insert_entry(entry: ArchiveEntry) -> ChangeSet:
    """Keep an entry in the archive."""
    return ChangeSet.of(Create(entry.path, entry.data), summary="Remember in the archive", place=MEMORY_PLACE)
