"""Find in graph: type a few letters of a name, choose, and fly there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget

from app.desktop.colors import Theme
from app.desktop.icons import icon

_MOST = 12


class FindBox(QLineEdit):
    """`found` says the row of the name that was chosen; rows are those given to `set_names`."""

    found = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphFind")
        self.setPlaceholderText("Find in graph")
        self.setAccessibleName("Find a note in the graph")
        self.setClearButtonEnabled(True)
        self._names: list[str] = []
        self._listed = True
        self._model = QStringListModel(self)
        completer = QCompleter(self._model, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setMaxVisibleItems(_MOST)
        completer.activated.connect(self._choose)
        self.setCompleter(completer)
        self._glass = QAction(self)
        self.addAction(self._glass, QLineEdit.ActionPosition.LeadingPosition)
        self.textEdited.connect(lambda _text: self._list_names())
        self.returnPressed.connect(lambda: self._choose(self.text()))
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Draw the icon in other colours."""
        self._glass.setIcon(icon(theme, "magnifying-glass"))

    def set_names(self, names: Sequence[str]) -> None:
        """The names that can be found, in the order of their rows."""
        self._names = list(names)
        self._listed = False

    def _list_names(self) -> None:
        """Fill the list of proposals, which is only needed once somebody types."""
        if not self._listed:
            self._listed = True
            self._model.setStringList(sorted(set(self._names), key=lambda name: (len(name), name)))

    def _choose(self, text: str) -> None:
        wanted = text.strip().casefold()
        if not wanted:
            return
        folded = [name.casefold() for name in self._names]
        exact = [row for row, name in enumerate(folded) if name == wanted]
        starts = [row for row, name in enumerate(folded) if name.startswith(wanted)]
        inside = [row for row, name in enumerate(folded) if wanted in name]
        for rows in (exact, starts, inside):
            if rows:
                self.found.emit(rows[0])
                return

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's call for a key: Escape empties the box, then leaves it."""
        if event.key() == Qt.Key.Key_Escape:
            if self.text():
                self.clear()
            elif (parent := self.parentWidget()) is not None:
                parent.setFocus()
            return
        super().keyPressEvent(event)
