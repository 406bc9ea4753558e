"""Modes of a note view and its editor."""

from __future__ import annotations

from enum import StrEnum


class EditorMode(StrEnum):
    """The display of a note in the editor: a live preview, or the source."""

    LIVE = "live"
    SOURCE = "source"


class ViewMode(StrEnum):
    """The mode of a note view. A command switches to the next one, in this order."""

    LIVE = "live"
    SOURCE = "source"
    READING = "reading"

    @property
    def next_mode(self) -> ViewMode:
        """The mode after this one; after the last, the first."""
        modes = list(ViewMode)
        return modes[(modes.index(self) + 1) % len(modes)]
