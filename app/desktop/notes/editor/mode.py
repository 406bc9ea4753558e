"""The modes of a note view and of the editor in it."""

from __future__ import annotations

from enum import StrEnum


class EditorMode(StrEnum):
    """How the editor shows the source: as a live preview, or each line as it is written."""

    LIVE = "live"
    SOURCE = "source"


class ViewMode(StrEnum):
    """What a note view shows. Ctrl+E goes from one to the next in this order."""

    LIVE = "live"
    SOURCE = "source"
    READING = "reading"

    @property
    def next_mode(self) -> ViewMode:
        """The mode that follows."""
        modes = list(ViewMode)
        return modes[(modes.index(self) + 1) % len(modes)]
