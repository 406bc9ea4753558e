"""The modes of a note view and of its editor."""

from __future__ import annotations

from enum import StrEnum


class EditorMode(StrEnum):
    """The editor shows the source as a live preview, or verbatim."""

    LIVE = "live"
    SOURCE = "source"


class ViewMode(StrEnum):
    """The mode of a note view. Ctrl+E switches to the next one in this order."""

    LIVE = "live"
    SOURCE = "source"
    READING = "reading"

    @property
    def next_mode(self) -> ViewMode:
        """The mode after this one; after the last, the first."""
        modes = list(ViewMode)
        return modes[(modes.index(self) + 1) % len(modes)]
