"""The updates row in the settings: the current version, and a button to check for a new one."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app import __version__
from app.desktop.widgets.plain_labels import wrapped_label
from app.settings import UpdateSettings
from app.web.updates import update_source


class UpdatesRow(QFrame):
    """Shows the version and the source of updates; `check_requested` is emitted for an immediate check."""

    check_requested = Signal()

    def __init__(self, settings: UpdateSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setProperty("searchKeywords", self.tr("updates version release check now"))
        self.status = wrapped_label(tone="muted")
        self.button = QPushButton(self.tr("Check now"))
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self.check_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(16)
        row.addWidget(self.status, 1)
        row.addWidget(self.button)
        self.show_settings(settings)

    def show_settings(self, settings: UpdateSettings) -> None:
        """Show the current source."""
        source = update_source(settings)
        if source.is_known:
            address = self.tr("Update address: {0}").format(source.address)
        else:
            address = self.tr(
                "This build has no update address. To check for updates, enter the address and the "
                "release key of its publisher."
            )
        self.status.setText(self.tr("This is version {0}. {1}").format(__version__, address))
        self.button.setEnabled(source.is_known)
