"""A link from the local server's settings to the connection page."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app.desktop.shell.command_registry import panel_title
from app.desktop.widgets.plain_labels import wrapped_label


class ConnectionsLink(QFrame):
    """Links to the page that manages programs, their tokens and permissions."""

    def __init__(
        self, has_vault: bool, show_connections: Callable[[], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setProperty("searchKeywords", self.tr("connections programs clients tokens configuration"))
        text = self.tr("Manage programs, their tokens and permissions in Connections.")
        no_vault_text = self.tr("Open a vault to connect programs. Each vault has its own tokens.")
        label = wrapped_label(text if has_vault else no_vault_text, "muted")
        self.button = QPushButton(panel_title("connections"))
        self.button.setToolTip(self.tr("Close the settings and show Connections"))
        self.button.setEnabled(has_vault)
        self.button.setAutoDefault(False)
        self.button.clicked.connect(show_connections)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(16)
        row.addWidget(label, 1)
        row.addWidget(self.button)
