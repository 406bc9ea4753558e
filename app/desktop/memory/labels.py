"""Texts that the memory panel and its dialog share."""

from __future__ import annotations

from app.desktop.runtime.translation import translate
from app.memory.block import BlockType, Permission
from app.memory.schema import Schema


def type_label(block_type: BlockType) -> str:
    """Return the name of a type of memory blocks."""
    return {
        BlockType.CORE: translate("Memory", "Core"),
        BlockType.WORKING: translate("Memory", "Working"),
        BlockType.ARCHIVAL: translate("Memory", "Archived"),
        BlockType.LOG: translate("Memory", "Log"),
    }[block_type]


def format_label(schema: Schema) -> str:
    """Return the name of the format of a memory block's content."""
    return {
        "text": translate("Memory", "Text"),
        "map": translate("Memory", "Fields"),
        "list": translate("Memory", "List"),
        "log": translate("Memory", "Log"),
        "composite": translate("Memory", "Sections"),
    }[schema.kind]


def permission_label(permission: Permission) -> str:
    """Return the name of a permission for a memory block."""
    return {
        Permission.READ_ONLY: translate("Memory", "Read-only"),
        Permission.PARTNER: translate("Memory", "Ask (partner)"),
        Permission.HUMAN: translate("Memory", "Ask (human)"),
        Permission.APPEND: translate("Memory", "Append"),
        Permission.READ_WRITE: translate("Memory", "Read/write"),
        Permission.ADMIN: translate("Memory", "Admin"),
    }[permission]


def permission_description(permission: Permission) -> str:
    """Return what a permission lets an agent do with a memory block."""
    asks = translate("Memory", "The agent can read the block. Each change needs your approval.")
    return {
        Permission.READ_ONLY: translate("Memory", "The agent can read the block."),
        Permission.PARTNER: asks,
        Permission.HUMAN: asks,
        Permission.APPEND: translate("Memory", "The agent can read the block and add to it."),
        Permission.READ_WRITE: translate("Memory", "The agent can read and change the block."),
        Permission.ADMIN: translate(
            "Memory", "The agent can read and change the block, and delete it with your approval."
        ),
    }[permission]
