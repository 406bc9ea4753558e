"""A completion list under the cursor of a text field."""

from __future__ import annotations

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QListView, QPlainTextEdit

_MAX_WIDTH, _MIN_WIDTH = 480, 220


class NamePopup(QCompleter):
    """Shows names for `field`; `chosen` carries the selected name.

    The field passes every key to `handle_key` first: while the list is open, Enter and Tab pick a name, and
    Escape closes it.
    """

    chosen = Signal(str)

    def __init__(self, field: QPlainTextEdit) -> None:
        super().__init__(field)
        self._field = field
        self._names = QStringListModel(self)
        self._list = QListView()
        self._list.setObjectName("popup")
        self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setModel(self._names)
        self.setPopup(self._list)
        self.setWidget(field)
        self.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self.activated.connect(lambda name: self.chosen.emit(name) if isinstance(name, str) else None)

    def show_names(self, names: list[str]) -> None:
        """Show these names, or close the list if there are none."""
        self._names.setStringList(names)
        if not names or not self._field.hasFocus():
            self.close_list()
            return
        area = self._field.cursorRect()
        area.setWidth(min(_MAX_WIDTH, max(_MIN_WIDTH, self._list.sizeHintForColumn(0) + 40)))
        self.complete(area)
        self._list.setCurrentIndex(self._names.index(0, 0))

    @property
    def is_open(self) -> bool:
        """True if the list is shown."""
        return self._list.isVisible()

    def close_list(self) -> None:
        """Hide the list."""
        self._list.hide()

    def handle_key(self, event: QKeyEvent) -> bool:
        """Handle the key if the list is open; return whether it was handled."""
        if not self._list.isVisible():
            return False
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            name = self._list.currentIndex().data()
            self.close_list()
            if name:
                self.chosen.emit(name)
            return True
        if event.key() == Qt.Key.Key_Escape:
            self.close_list()
            return True
        return False
