"""The bar above the page: the address of the local server and its interfaces."""

from __future__ import annotations

from PySide6.QtCore import QDateTime, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QWidget

from app.desktop.connections.queries import ConnectionsOverview
from app.desktop.runtime.translation import PluralText
from app.desktop.theme.theme import Theme, ThemeSource, icon
from app.desktop.widgets.panel import ElidedLabel, ThemedButton
from app.servers.server_state import RejectedTokens


class ServerBar(QWidget):
    """Shows the server's state; `switched` carries the name of a setting and its new value."""

    switched = Signal(str, bool)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._source = theme
        self._shown: ConnectionsOverview | None = None
        self._mark = QLabel()
        self.status = ElidedLabel()
        self.copy = ThemedButton(theme, "copy", self.tr("Copy the server's address"), size=16)
        self.copy.clicked.connect(self._copy)
        self.mcp = QCheckBox(self.tr("MCP server"))
        self.mcp.setToolTip(self.tr("Programs with a token can call tools at /mcp. You approve changes."))
        self.http_api = QCheckBox(self.tr("HTTP API"))
        self.http_api.setToolTip(self.tr("The same tools at /api/v1, for programs with a token"))
        self.mcp.toggled.connect(lambda on: self.switched.emit("mcp", on))
        self.http_api.toggled.connect(lambda on: self.switched.emit("http_api", on))
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(14, 5, 6, 5)
        row.setSpacing(8)
        row.addWidget(self._mark)
        row.addWidget(self.status)
        row.addWidget(self.copy)
        row.addStretch(1)
        row.addWidget(self.mcp)
        row.addWidget(self.http_api)
        theme.changed.connect(self._draw)

    def add(self, widget: QWidget) -> None:
        """Add `widget` at the right."""
        self._row.addWidget(widget)

    def show_overview(self, shown: ConnectionsOverview) -> None:
        """Show the state of the server."""
        self._shown = shown
        self.status.setText(self._status_text(shown))
        self.copy.setVisible(bool(shown.server.address))
        for box, on in ((self.mcp, shown.settings.mcp), (self.http_api, shown.settings.http_api)):
            box.blockSignals(True)
            box.setChecked(on)
            box.blockSignals(False)
        self._draw(self._source.theme)

    def _status_text(self, shown: ConnectionsOverview) -> str:
        if shown.read_only:
            return self.tr("The vault is open read-only, so other programs can't use it.")
        if not shown.server.port:
            closed = self.tr("The local server is off. Only this window can use the vault.")
            return shown.server.problem or closed
        text = self.tr("Listening at {0}, for this computer only").format(shown.server.address)
        if shown.server.port != shown.server.wanted_port:
            text += self.tr("; port {0} was in use").format(shown.server.wanted_port)
        if not shown.settings.mcp and not shown.settings.http_api:
            text += self.tr("; MCP and the HTTP API are off")
        if shown.server.refused is not None:
            text += f"; {self._refused(shown.server.refused)}"
        return f"{text}. {shown.server.problem}" if shown.server.problem else text

    def _refused(self, refused: RejectedTokens) -> str:
        at = QDateTime.fromSecsSinceEpoch(round(refused.at)).time().toString("HH:mm")
        who = f" ({refused.says})" if refused.says else ""
        return PluralText(
            "ServerBar",
            "{0} request with a wrong token was rejected, most recently at {1}{2}",
            "{0} requests with a wrong token were rejected, most recently at {1}{2}",
        ).format(refused.count, at, who)

    def _draw(self, theme: Theme) -> None:
        if (shown := self._shown) is None:
            return
        bad = bool(shown.server.problem) or not shown.server.port
        side = round(16 * self._source.zoom)
        symbol, color = ("warning-circle", theme.warning) if bad else ("check-circle", theme.success)
        mark = icon(theme, symbol, color)
        self._mark.setPixmap(mark.pixmap(QSize(side, side)))
        self._mark.setAlignment(Qt.AlignmentFlag.AlignVCenter)

    def _copy(self) -> None:
        if self._shown is not None and self._shown.server.address:
            QGuiApplication.clipboard().setText(self._shown.server.address)
