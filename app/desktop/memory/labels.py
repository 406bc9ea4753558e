"""Texts that the memory panel and its dialog share."""

from __future__ import annotations

from app.desktop.runtime.translation import translate
from app.memory.block import Permission


def permission_label(permission: Permission) -> str:
    """Return the name of a permission for a memory block."""
    return {
        Permission.READ_ONLY: translate("Memory", "Read-only"),
        Permission.PARTNER: translate("Memory", "Partner"),
        Permission.HUMAN: translate("Memory", "Human"),
        Permission.APPEND: translate("Memory", "Append"),
        Permission.READ_WRITE: translate("Memory", "Read/write"),
        Permission.ADMIN: translate("Memory", "Admin"),
    }[permission]
