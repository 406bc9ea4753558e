"""The search box of the graph: type a part of a name, choose a note, and the camera flies there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QListView, QWidget

from app.desktop.theme.colors import Theme
from app.desktop.widgets.panel import SearchField

_VISIBLE_ROWS = 12
_MAX_MATCHES = 200


class FindBox(SearchField):
    """A search field; `found` carries the row of the chosen name, as given to `set_names`."""

    found = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, self.tr("Find in graph"), parent)
        self.setObjectName("graphFind")
        self.setToolTip(self.tr("Go to a note by name (F)"))
        self.setAccessibleName(self.tr("Find a note in the graph"))
        self._names: Sequence[str] = ()
        self._folders: Sequence[str] = ()
        self._folded: list[str] = []
        self._listed: list[int] = []
        self._model = QStringListModel(self)
        self._completer = QCompleter(self._model, self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setMaxVisibleItems(_VISIBLE_ROWS)
        popup = self.popup = QListView()
        popup.setObjectName("popup")
        popup.setUniformItemSizes(True)
        popup.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        popup.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        popup.setAccessibleName(self.tr("Matching notes"))
        self._completer.setPopup(popup)
        self._completer.setWidget(self)
        popup.clicked.connect(self._accept)
        self.textEdited.connect(self._update_matches)
        self.returnPressed.connect(self._enter)

    def set_names(self, names: Sequence[str], folders: Sequence[str] = ()) -> None:
        """Set the names that can be found, in the order of their rows, and their positions."""
        self._names, self._folders, self._folded = names, folders, []

    @property
    def offered(self) -> list[str]:
        """The suggestions, which are visible only while something is typed."""
        return self._model.stringList()

    def rows_for(self, text: str) -> list[int]:
        """Return the rows of names that match `text`: equal first, then by prefix, then by substring."""
        wanted = text.strip().casefold()
        if not wanted:
            return []
        if len(self._folded) != len(self._names):
            self._folded = [name.casefold() for name in self._names]
        hits = [
            (0 if name == wanted else 1 if name.startswith(wanted) else 2, len(name), row)
            for row, name in enumerate(self._folded)
            if wanted in name
        ]
        hits.sort()
        return [row for _, _, row in hits]

    def _update_matches(self, text: str) -> None:
        rows = self.rows_for(text)
        self._listed = rows[:_MAX_MATCHES]
        doubles = Counter(self._names[row] for row in self._listed)
        self._model.setStringList([self._line(row, doubles[self._names[row]] > 1) for row in self._listed])
        if not self._listed:
            self.popup.hide()
            return
        area = self.rect()
        area.setWidth(max(area.width(), 46 * self.fontMetrics().averageCharWidth()))
        self._completer.complete(area)

    def _line(self, row: int, with_place: bool) -> str:
        place = self._folders[row] if with_place and row < len(self._folders) else ""
        return f"{self._names[row]}  ·  {place}" if place else self._names[row]

    def _accept(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self._listed):
            row = self._listed[index.row()]
            self.popup.hide()
            self.setText(self._names[row])
            self.found.emit(row)

    def _enter(self) -> None:
        """Choose the best match on Enter in the field; Enter on a suggestion is handled by the list."""
        if self.popup.isVisible() and self.popup.currentIndex().isValid():
            self._accept(self.popup.currentIndex())
            return
        self.popup.hide()
        if rows := self.rows_for(self.text()):
            self.found.emit(rows[0])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear the field when Escape is pressed, or leave it if it is empty."""
        parent = self.parentWidget()
        if event.key() == Qt.Key.Key_Escape and not self.text() and parent is not None:
            parent.setFocus()
        else:
            super().keyPressEvent(event)
