"""Open an item of a view with one click or Enter."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView


def connect_open(view: QAbstractItemView, open_item: Callable[[QModelIndex], None]) -> None:
    """Call `open_item` once for each click on an item, and for Enter on the current one.

    `activated` is not used: some styles emit it after each click, others after a double-click, whose first
    click has already been handled.
    """

    def open_current() -> None:
        if (index := view.currentIndex()).isValid():
            open_item(index)

    view.clicked.connect(open_item)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        shortcut = QShortcut(QKeySequence(key), view)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(open_current)
