"""Labels for sources, their states and permissions."""

from __future__ import annotations

from app.desktop.runtime.translation import translate
from app.memory.block import Permission
from app.sources.source import SourceState

KIND_ICONS = {"files": "folder-open", "vault": "notebook", "folder": "folder-notch-open", "feed": "rss"}


def kind_label(kind: str) -> str:
    """Return the label of a source's kind."""
    return {
        "files": translate("Sources", "Folder for agents"),
        "vault": translate("Sources", "Changes in this vault"),
        "folder": translate("Sources", "Changes in a folder"),
        "feed": translate("Sources", "Feed"),
    }[kind]


def state_label(state: SourceState) -> str:
    """Return the label of a source's state."""
    return {
        SourceState.ACTIVE: translate("Sources", "active"),
        SourceState.PAUSED: translate("Sources", "paused"),
        SourceState.FAILED: translate("Sources", "problem"),
    }[state]


def permission_label(permission: Permission) -> str:
    """Return a short label for the agents' file permission."""
    return {
        Permission.READ_ONLY: translate("Sources", "Read-only"),
        Permission.APPEND: translate("Sources", "Append and create"),
        Permission.PARTNER: translate("Sources", "Edit, confirmed twice (partner)"),
        Permission.HUMAN: translate("Sources", "Edit, confirmed twice (human)"),
        Permission.READ_WRITE: translate("Sources", "Edit and create"),
        Permission.ADMIN: translate("Sources", "Edit, create and delete"),
    }[permission]
