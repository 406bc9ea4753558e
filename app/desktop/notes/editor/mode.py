"""Modes of a note view and its editor."""

from __future__ import annotations

from enum import StrEnum


class EditorMode(StrEnum):
    """How the editor shows a note: as a live preview, or as its source."""

    LIVE = "live"
    SOURCE = "source"


class ViewMode(StrEnum):
    """The mode of a note view. Ctrl+E switches to the next one, in this order."""

    LIVE = "live"
    SOURCE = "source"
    READING = "reading"

    @property
    def next_mode(self) -> ViewMode:
        """The mode after this one; after the last, the first."""
        modes = list(ViewMode)
        return modes[(modes.index(self) + 1) % len(modes)]
