"""Show and copy the configuration that a program needs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.desktop.connections.configurations import TARGETS, Configuration, ConnectionDetails, Target, Way
from app.desktop.theme.theme import ThemeSource


class ConfigurationView(QWidget):
    """The configuration of one connection, for the chosen program and connection type."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._connection: ConnectionDetails | None = None
        self.target = QComboBox()
        for one in TARGETS:
            self.target.addItem(one.title, one)
        self.target.setToolTip(self.tr("Program to configure"))
        self.target.setAccessibleName(self.target.toolTip())
        self.way = QComboBox()
        self.way.setToolTip(self.tr("Connection type"))
        self.way.setAccessibleName(self.way.toolTip())
        self.copy = QPushButton(self.tr("Copy configuration"))
        self.copy.setProperty("role", "primary")
        self.copy.setToolTip(self.tr("Copy the configuration to the clipboard"))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName(self.tr("Configuration"))
        self.text.setTabChangesFocus(True)
        self.text.setMinimumHeight(round(40 * theme.zoom))
        self.status = QLabel()
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.status.setProperty("tone", "muted")
        self.status.setWordWrap(True)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.target)
        row.addWidget(self.way)
        row.addStretch(1)
        row.addWidget(self.copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self.status)
        column.addWidget(self.text, 1)
        self.target.currentIndexChanged.connect(self._list_connection_types)
        self.way.currentIndexChanged.connect(self._show)
        self.copy.clicked.connect(self._copy)
        self._list_connection_types()

    def show_connection(
        self, connection: ConnectionDetails, way: Way | None = None, target: str = ""
    ) -> None:
        """Show the configuration of this connection, initially for `target` and `way` if given."""
        self._connection = connection
        ids = [one.id for one in TARGETS]
        if target in ids:
            self.target.setCurrentIndex(ids.index(target))
        if way is not None and (at := self.way.findData(way)) >= 0:
            self.way.setCurrentIndex(at)
        self._show()

    @property
    def configuration(self) -> Configuration | None:
        """The shown configuration."""
        target: Target = self.target.currentData()
        way: Way = self.way.currentData()
        return target.make(self._connection, way) if self._connection is not None else None

    def _list_connection_types(self) -> None:
        target: Target = self.target.currentData()
        before = self.way.currentData()
        names = {"stdio": self.tr("starts Scriptorium"), "http": self.tr("over HTTP, with a token")}
        self.way.blockSignals(True)
        self.way.clear()
        for way in target.ways:
            self.way.addItem(names[way], way)
        self.way.setCurrentIndex(max(0, self.way.findData(before)))
        self.way.setEnabled(len(target.ways) > 1)
        self.way.blockSignals(False)
        self._show()

    def _show(self, *_: object) -> None:
        configuration = self.configuration
        if configuration is None:
            return
        # Keep the selection and the scroll position unless the text changes.
        if configuration.text.rstrip("\n") != self.text.toPlainText():
            self.text.setPlainText(configuration.text.rstrip("\n"))
        self.status.setText(self._location_text(configuration))
        usable = self.way.currentData() == "stdio" or bool(self._connection and self._connection.address)
        self.copy.setEnabled(usable)

    def _location_text(self, configuration: Configuration) -> str:
        connection = self._connection
        place = (
            self.tr("Add to {0}; keep the existing content.") if configuration.merged else self.tr("For {0}.")
        )
        parts = [place.format(configuration.place)]
        if self.way.currentData() == "http" and connection is not None:
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
