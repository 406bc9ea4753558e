"""The strip above a request while others wait: position, navigation, and a button to review them all."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QToolButton, QWidget

from app.desktop.approval.queued_request import QueuedRequest
from app.desktop.runtime.translation import translate, translate_text
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.permissions.request_labels import request_title


class QueueStrip(QFrame):
    """Shows the position in the queue ("1 of 7") and a menu of the requests.

    Hidden unless several requests wait. `chosen` carries the position (from 0) of the request to show.
    `batch_requested` is emitted when the user wants to review all requests together.
    """

    chosen = Signal(int)
    batch_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.setProperty("tone", "info")
        self._position = 0
        self.previous_button = _tool_button(translate("Approval", "Previous request (Alt+Left)"), "Alt+Left")
        self.next_button = _tool_button(translate("Approval", "Next request (Alt+Right)"), "Alt+Right")
        self.previous_button.setIcon(icon(theme, "caret-left"))
        self.next_button.setIcon(icon(theme, "caret-right"))
        self.list_button = _tool_button(translate("Approval", "Pending requests"))
        self.list_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self)
        self.list_button.setMenu(self.menu)
        self.batch_button = QPushButton()
        self.batch_button.setProperty("role", "quiet")
        self.batch_button.setAutoDefault(False)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 4, 12, 4)
        layout.setSpacing(4)
        for widget in (self.previous_button, self.list_button, self.next_button):
            layout.addWidget(widget)
        layout.addStretch(1)
        layout.addWidget(self.batch_button)
        self.previous_button.clicked.connect(lambda: self.chosen.emit(self._position - 1))
        self.next_button.clicked.connect(lambda: self.chosen.emit(self._position + 1))
        self.batch_button.clicked.connect(lambda: self.batch_requested.emit())

    def show_queue(self, items: Sequence[QueuedRequest], position: int) -> None:
        """Show that the request at `position` (from 0) of `items` is open."""
        self._position = position
        self.setVisible(len(items) > 1)
        self.previous_button.setEnabled(position > 0)
        self.next_button.setEnabled(position < len(items) - 1)
        self.list_button.setText(translate("Approval", "{0} of {1}").format(position + 1, len(items)) + "  ▾")
        self.list_button.setAccessibleName(
            translate("Approval", "Request {0} of {1}: show all").format(position + 1, len(items))
        )
        self.batch_button.setText(translate("Approval", "Review all {0} together…").format(len(items)))
        self.batch_button.setAccessibleName(self.batch_button.text())
        self.menu.clear()
        group = QActionGroup(self.menu)
        for number, item in enumerate(items):
            title = translate_text(request_title(item.request))
            action = self.menu.addAction(f"{number + 1}.  {title}".replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(number == position)
            group.addAction(action)
            action.triggered.connect(lambda _=False, number=number: self.chosen.emit(number))


def _tool_button(name: str, shortcut: str = "") -> QToolButton:
    button = QToolButton()
    button.setToolTip(name)
    button.setAccessibleName(name)
    if shortcut:
        button.setShortcut(shortcut)
    return button
