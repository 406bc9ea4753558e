"""Where the user has been: back and forward through notes, as in a browser."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

_MAX_HISTORY = 200


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A note's path and what of it: a heading, `^block`, `line=12`, or nothing."""

    path: str
    fragment: str = ""


class Navigation(QObject):
    """Takes wishes to open a note and keeps the way that was gone; `go` carries path and fragment."""

    go = Signal(str, str)
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._places: list[HistoryEntry] = []
        self._at = -1

    @property
    def can_go_back(self) -> bool:
        """Whether there is a place before this one."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a place that was gone back from."""
        return self._at < len(self._places) - 1

    def open(self, path: str, fragment: str = "") -> None:
        """Go to a note; the places that were gone back from are forgotten."""
        place = HistoryEntry(path, fragment)
        if self._at < 0 or self._places[self._at] != place:
            self._places = [*self._places[: self._at + 1], place][-_MAX_HISTORY:]
            self._at = len(self._places) - 1
        self._arrive()

    def record_visit(self, path: str) -> None:
        """Note that the user went to `path` by another way (a tab), without opening it again."""
        if self._at < 0 or self._places[self._at].path != path:
            self._places = [*self._places[: self._at + 1], HistoryEntry(path)][-_MAX_HISTORY:]
            self._at = len(self._places) - 1
            self.changed.emit()

    def back(self) -> None:
        """Go to the place before."""
        if self.can_go_back:
            self._at -= 1
            self._arrive()

    def forward(self) -> None:
        """Go to the place after."""
        if self.can_go_forward:
            self._at += 1
            self._arrive()

    def rename_path(self, old: str, new: str) -> None:
        """A note has another path now."""
        self._places = [HistoryEntry(new, p.fragment) if p.path == old else p for p in self._places]

    def clear(self) -> None:
        """Forget the way: another vault."""
        self._places, self._at = [], -1
        self.changed.emit()

    def _arrive(self) -> None:
        place = self._places[self._at]
        self.changed.emit()
        self.go.emit(place.path, place.fragment)
