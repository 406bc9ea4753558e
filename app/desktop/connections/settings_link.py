"""A link from the settings of the local server to the connection page."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget


class ConnectionsLink(QFrame):
    """Explains where programs, their tokens and permissions are managed, and links there."""

    def __init__(self, has_vault: bool, go: Callable[[], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setAccessibleDescription(self.tr("connections programs clients tokens configuration"))
        here = self.tr("Manage programs, their tokens and permissions in Connections.")
        without = self.tr("Open a vault to connect programs. Each vault has its own tokens.")
        label = QLabel(here if has_vault else without)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setProperty("tone", "muted")
        label.setWordWrap(True)
        self.button = QPushButton(self.tr("Connections"))
        self.button.setToolTip(self.tr("Close the settings and show Connections"))
        self.button.setEnabled(has_vault)
        self.button.setAutoDefault(False)
        self.button.clicked.connect(go)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(16)
        row.addWidget(label, 1)
        row.addWidget(self.button)
