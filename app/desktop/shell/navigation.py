"""Back and forward through the visited notes and handbook pages, as in a browser."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

_MAX_HISTORY_ENTRIES = 200


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """The path of a note or the address of a handbook page, and a fragment.

    The fragment is a heading, `^block`, `line=12`, or empty.
    """

    path: str
    fragment: str = ""


class Navigation(QObject):
    """Opens notes and handbook pages, and keeps the history.

    Signals:
        open_requested: The path of a note or the address of a handbook page, and a fragment.
        changed: The availability of earlier or later entries may have changed.
    """

    open_requested = Signal(str, str)
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[HistoryEntry] = []
        self._index = -1

    @property
    def can_go_back(self) -> bool:
        """True if there is an earlier entry."""
        return self._index > 0

    @property
    def can_go_forward(self) -> bool:
        """True if there is a later entry."""
        return self._index < len(self._entries) - 1

    def open(self, path: str, fragment: str = "") -> None:
        """Go to a note or handbook page.

        Unless it is the current entry, add it and drop the entries after the current one.
        """
        entry = HistoryEntry(path, fragment)
        if self._index < 0 or self._entries[self._index] != entry:
            self._entries = [*self._entries[: self._index + 1], entry][-_MAX_HISTORY_ENTRIES:]
            self._index = len(self._entries) - 1
        self._emit_current()

    def record_visit(self, path: str) -> None:
        """Add a note or page that was opened in another way, for example by its tab, to the history."""
        if self._index < 0 or self._entries[self._index].path != path:
            self._entries = [*self._entries[: self._index + 1], HistoryEntry(path)][-_MAX_HISTORY_ENTRIES:]
            self._index = len(self._entries) - 1
            self.changed.emit()

    def back(self) -> None:
        """Go to the previous entry."""
        if self.can_go_back:
            self._index -= 1
            self._emit_current()

    def forward(self) -> None:
        """Go to the next entry."""
        if self.can_go_forward:
            self._index += 1
            self._emit_current()

    def rename_path(self, old_path: str, new_path: str) -> None:
        """Replace the path of a renamed note in the history."""
        self._entries = [
            replace(entry, path=new_path) if entry.path == old_path else entry for entry in self._entries
        ]

    def clear(self) -> None:
        """Clear the history."""
        self._entries, self._index = [], -1
        self.changed.emit()

    def _emit_current(self) -> None:
        entry = self._entries[self._index]
        self.changed.emit()
        self.open_requested.emit(entry.path, entry.fragment)
