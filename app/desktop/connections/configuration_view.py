"""A view of the configuration that a program needs, with a button to copy it."""

from __future__ import annotations

from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.desktop.connections.configurations import (
    TARGETS,
    Configuration,
    ConnectionDetails,
    Target,
    Transport,
)
from app.desktop.runtime.translation import translate
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.plain_labels import wrapped_label


def fill_transports(box: QComboBox, target: Target) -> None:
    """List the target's transports in `box`, which is enabled only if there is a choice."""
    labels = {
        "stdio": translate("Connections", "Started by the program"),
        "http": translate("Connections", "Over HTTP, with a token"),
    }
    box.clear()
    for transport in target.transports:
        box.addItem(labels[transport], transport)
    box.setEnabled(len(target.transports) > 1)


class ConfigurationView(QWidget):
    """Shows a connection's configuration for the selected program and transport."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._connection: ConnectionDetails | None = None
        self.target = QComboBox()
        for target in TARGETS:
            self.target.addItem(translate("Connections", target.title), target)
        self.target.setToolTip(self.tr("Program to configure"))
        self.target.setAccessibleName(self.target.toolTip())
        self.transport = QComboBox()
        self.transport.setToolTip(self.tr("Connection type"))
        self.transport.setAccessibleName(self.transport.toolTip())
        self.copy_button = QPushButton(self.tr("Copy configuration"))
        self.copy_button.setProperty("role", "primary")
        self.copy_button.setToolTip(self.tr("Copy the configuration to the clipboard"))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName(self.tr("Configuration"))
        self.text.setTabChangesFocus(True)
        self.text.setMinimumHeight(round(40 * theme.zoom))
        self.status = wrapped_label(tone="muted")
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.target)
        row.addWidget(self.transport)
        row.addStretch(1)
        row.addWidget(self.copy_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self.status)
        column.addWidget(self.text, 1)
        self.target.currentIndexChanged.connect(self._list_transports)
        self.transport.currentIndexChanged.connect(self._show)
        self.copy_button.clicked.connect(self._copy)
        self._list_transports()

    def show_connection(
        self, connection: ConnectionDetails, transport: Transport | None = None, target: str = ""
    ) -> None:
        """Show this connection's configuration, for `target` and `transport` if they are known."""
        self._connection = connection
        ids = [choice.id for choice in TARGETS]
        if target in ids:
            self.target.setCurrentIndex(ids.index(target))
        if transport is not None and (index := self.transport.findData(transport)) >= 0:
            self.transport.setCurrentIndex(index)
        self._show()

    @property
    def configuration(self) -> Configuration | None:
        """The displayed configuration; None until a connection is shown."""
        target: Target = self.target.currentData()
        transport: Transport = self.transport.currentData()
        return target.build(self._connection, transport) if self._connection is not None else None

    def _list_transports(self) -> None:
        target: Target = self.target.currentData()
        previous = self.transport.currentData()
        self.transport.blockSignals(True)
        fill_transports(self.transport, target)
        self.transport.setCurrentIndex(max(0, self.transport.findData(previous)))
        self.transport.blockSignals(False)
        self._show()

    def _show(self, *_: object) -> None:
        configuration = self.configuration
        if configuration is None:
            return
        # Keep the selection and the scroll position unless the text changes.
        if configuration.text.rstrip("\n") != self.text.toPlainText():
            self.text.setPlainText(configuration.text.rstrip("\n"))
        self.status.setText(self._location_text(configuration))
        is_usable = self.transport.currentData() == "stdio" or bool(
            self._connection and self._connection.address
        )
        self.copy_button.setEnabled(is_usable)

    def _location_text(self, configuration: Configuration) -> str:
        connection = self._connection
        instruction = (
            self.tr("Add to {0}; keep the existing content.")
            if configuration.is_merged
            else self.tr("Run in {0}.")
        )
        parts = [instruction.format(configuration.destination)]
        if self.transport.currentData() == "http" and connection is not None:
            if not connection.address:
                parts = [self.tr("The server is off, so there is no address yet.")]
            elif not connection.token and "input:" not in configuration.text:
                parts.append(self.tr("Replace the placeholder with the token. If you lost it, renew it."))
            elif connection.token and "input:" in configuration.text:
                parts.append(self.tr("VS Code asks for the token and stores it securely."))
        return " ".join(parts)

    def _copy(self) -> None:
        configuration = self.configuration
        if configuration is not None:
            QGuiApplication.clipboard().setText(configuration.text)
            self.status.setText(self.tr("Copied. {0}").format(self._location_text(configuration)))
