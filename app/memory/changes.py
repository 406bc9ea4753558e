"""Changes to the memory as change sets: blocks and entries as bytes, before and after. Pure."""

from __future__ import annotations

from dataclasses import replace

from app.memory.block import Block
from app.memory.entry import Entry
from app.memory.projection import project
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Update

PLACE = "memory"
"""The place of the change sets of the memory."""


def created(block: Block, summary: str = "") -> ChangeSet:
    """Make a block."""
    change = Create(block.path, project(block))
    return ChangeSet.of(change, summary=summary or f"New block {block.label}", place=PLACE)


def edited(before: Block, after: Block, summary: str = "") -> ChangeSet:
    """Make of a block another one of the same label."""
    change = change_of(before, after)
    return ChangeSet.of(change, summary=summary or f"Edit the block {before.label}", place=PLACE)


def change_of(before: Block, after: Block) -> FileChange:
    """The single change; a block that is not kept yet is made by it."""
    if not before.kept:
        return Create(before.path, project(replace(after, kept=True)))
    return Update(before.path, project(before), project(after))


def deleted(block: Block, summary: str = "") -> ChangeSet:
    """Take a block away."""
    change = Delete(block.path, project(block))
    return ChangeSet.of(change, summary=summary or f"Delete the block {block.label}", place=PLACE)


def inserted(entry: Entry) -> ChangeSet:
    """Keep an entry in the archive."""
    return ChangeSet.of(Create(entry.path, entry.data), summary="Remember in the archive", place=PLACE)
