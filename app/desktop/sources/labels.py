"""Labels for sources, their state and the permissions for their files."""

from __future__ import annotations

import time

from PySide6.QtCore import QCoreApplication, QLocale

from app.memory.block import Permission
from app.sources.source import SourceState

SYMBOLS = {"files": "folder-open", "vault": "notebook", "folder": "folder-notch-open", "feed": "rss"}


def _tr(text: str) -> str:
    return QCoreApplication.translate("Sources", text)


def kind_label(kind: str) -> str:
    """Return the label of a source's kind."""
    return {
        "files": _tr("Folder for agents"),
        "vault": _tr("Changes in this vault"),
        "folder": _tr("Changes in a folder"),
        "feed": _tr("Feed"),
    }[kind]


def state_label(state: SourceState) -> str:
    """Return the state of a source."""
    return {
        SourceState.ACTIVE: _tr("active"),
        SourceState.PAUSED: _tr("paused"),
        SourceState.FAILED: _tr("problem"),
    }[state]


def permission_label(permission: Permission) -> str:
    """Return a short label for the permissions of agents on files."""
    return {
        Permission.READ_ONLY: _tr("Read-only"),
        Permission.APPEND: _tr("Append and create"),
        Permission.PARTNER: _tr("Edit, with a second confirmation (partner)"),
        Permission.HUMAN: _tr("Edit, with a second confirmation (human)"),
        Permission.READ_WRITE: _tr("Edit and create"),
        Permission.ADMIN: _tr("Edit, create and delete"),
    }[permission]


def format_time(at: float) -> str:
    """Return a short time: the time of day for today, else the date."""
    moment = time.localtime(at)
    today = time.localtime()
    if moment[:3] == today[:3]:
        return time.strftime("%H:%M", moment)
    shown = QLocale().monthName(moment.tm_mon, QLocale.FormatType.ShortFormat)
    year = "" if moment.tm_year == today.tm_year else f" {moment.tm_year}"
    return f"{moment.tm_mday} {shown}{year}"
