"""The graph's search box: type part of a name, choose a note, and the camera flies there."""

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
    """A search field; `chosen` carries the chosen name's row: its index in the names given to `set_names`."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, self.tr("Find in graph"), parent)
        self.setObjectName("graphFind")
        self.setToolTip(self.tr("Go to a note by name (F)"))
        self.setAccessibleName(self.tr("Find a note in the graph"))
        self._names: Sequence[str] = ()
        self._folders: Sequence[str] = ()
        self._casefolded_names: list[str] = []
        self._listed_rows: list[int] = []
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
        """Set the names that can be found, in the order of their rows, and their folders."""
        self._names, self._folders, self._casefolded_names = names, folders, []

    @property
    def suggestions(self) -> list[str]:
        """The listed suggestions."""
        return self._model.stringList()

    def rows_for(self, text: str) -> list[int]:
        """Return the rows of names that match `text`: exact matches, then prefixes, then other substrings.

        Within each kind, shorter names come first.
        """
        typed = text.strip().casefold()
        if not typed:
            return []
        if len(self._casefolded_names) != len(self._names):
            self._casefolded_names = [name.casefold() for name in self._names]
        matches = [
            (0 if name == typed else 1 if name.startswith(typed) else 2, len(name), row)
            for row, name in enumerate(self._casefolded_names)
            if typed in name
        ]
        matches.sort()
        return [row for _, _, row in matches]

    def _update_matches(self, text: str) -> None:
        rows = self.rows_for(text)
        self._listed_rows = rows[:_MAX_MATCHES]
        name_counts = Counter(self._names[row] for row in self._listed_rows)
        self._model.setStringList(
            [self._label(row, name_counts[self._names[row]] > 1) for row in self._listed_rows]
        )
        if not self._listed_rows:
            self.popup.hide()
            return
        area = self.rect()
        area.setWidth(max(area.width(), 46 * self.fontMetrics().averageCharWidth()))
        self._completer.complete(area)

    def _label(self, row: int, with_folder: bool) -> str:
        folder = self._folders[row] if with_folder and row < len(self._folders) else ""
        return f"{self._names[row]}  ·  {folder}" if folder else self._names[row]

    def _accept(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self._listed_rows):
            row = self._listed_rows[index.row()]
            self.popup.hide()
            self.setText(self._names[row])
            self.chosen.emit(row)

    def _enter(self) -> None:
        """Choose the highlighted suggestion, otherwise the best match."""
        if self.popup.isVisible() and self.popup.currentIndex().isValid():
            self._accept(self.popup.currentIndex())
            return
        self.popup.hide()
        if rows := self.rows_for(self.text()):
            self.chosen.emit(rows[0])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the focus to the graph on Escape in an empty field; otherwise, handle the key as usual."""
        parent = self.parentWidget()
        if event.key() == Qt.Key.Key_Escape and not self.text() and parent is not None:
            parent.setFocus()
        else:
            super().keyPressEvent(event)
