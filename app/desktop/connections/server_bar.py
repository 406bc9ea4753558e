"""The bar above the connection page: the local server's state and its interfaces."""

from __future__ import annotations

from PySide6.QtCore import QDateTime, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QWidget

from app.desktop.connections.queries import ConnectionsOverview
from app.desktop.runtime.translation import PluralText
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ElidedLabel, ThemedButton
from app.servers.server_state import RejectedTokens


class ServerBar(QWidget):
    """Shows the server's state; `switched` carries the name of a setting and its new value."""

    switched = Signal(str, bool)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._overview: ConnectionsOverview | None = None
        self._icon = QLabel()
        self.status = ElidedLabel()
        self.copy_button = ThemedButton(theme, "copy", self.tr("Copy the server's address"), size=16)
        self.copy_button.clicked.connect(self._copy)
        self.mcp = QCheckBox(self.tr("MCP server"))
        self.mcp.setToolTip(self.tr("Programs with a token can call tools at /mcp. You approve changes."))
        self.http_api = QCheckBox(self.tr("HTTP API"))
        self.http_api.setToolTip(self.tr("The same tools at /api/v1, for programs with a token"))
        self.mcp.toggled.connect(lambda enabled: self.switched.emit("mcp", enabled))
        self.http_api.toggled.connect(lambda enabled: self.switched.emit("http_api", enabled))
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(14, 5, 6, 5)
        row.setSpacing(8)
        row.addWidget(self._icon)
        row.addWidget(self.status)
        row.addWidget(self.copy_button)
        row.addStretch(1)
        row.addWidget(self.mcp)
        row.addWidget(self.http_api)
        theme.changed.connect(self._draw_icon)

    def add(self, widget: QWidget) -> None:
        """Add `widget` at the right end."""
        self._row.addWidget(widget)

    def show_overview(self, overview: ConnectionsOverview) -> None:
        """Show the server's state and which of its interfaces are on."""
        self._overview = overview
        self.status.setText(self._status_text(overview))
        self.copy_button.setVisible(bool(overview.server.address))
        for box, enabled in ((self.mcp, overview.settings.mcp), (self.http_api, overview.settings.http_api)):
            box.blockSignals(True)
            box.setChecked(enabled)
            box.blockSignals(False)
        self._draw_icon(self._theme.theme)

    def _status_text(self, overview: ConnectionsOverview) -> str:
        if overview.read_only:
            return self.tr("The vault is open read-only, so other programs can't use it.")
        if not overview.server.port:
            off_text = self.tr("The local server is off. Only this window can use the vault.")
            return overview.server.problem or off_text
        text = self.tr("Listening on {0} (this computer only)").format(overview.server.address)
        if overview.server.port != overview.server.wanted_port:
            text += self.tr("; port {0} was in use").format(overview.server.wanted_port)
        if not overview.settings.mcp and not overview.settings.http_api:
            text += self.tr("; MCP and the HTTP API are off")
        if overview.server.refused is not None:
            text += f"; {self._rejection_text(overview.server.refused)}"
        return f"{text}. {overview.server.problem}" if overview.server.problem else text

    def _rejection_text(self, refused: RejectedTokens) -> str:
        time = QDateTime.fromSecsSinceEpoch(round(refused.time)).time().toString("HH:mm")
        caller = f" ({refused.claimed_name})" if refused.claimed_name else ""
        return PluralText(
            "ServerBar",
            "{0} request with an invalid token was rejected, most recently at {1}{2}",
            "{0} requests with an invalid token were rejected, most recently at {1}{2}",
        ).format(refused.count, time, caller)

    def _draw_icon(self, theme: Theme) -> None:
        if (overview := self._overview) is None:
            return
        has_problem = bool(overview.server.problem) or not overview.server.port
        size = round(16 * self._theme.zoom)
        icon_name, color = (
            ("warning-circle", theme.warning) if has_problem else ("check-circle", theme.success)
        )
        self._icon.setPixmap(icon(theme, icon_name, color).pixmap(QSize(size, size)))
        self._icon.setAlignment(Qt.AlignmentFlag.AlignVCenter)

    def _copy(self) -> None:
        if self._overview is not None and self._overview.server.address:
            QGuiApplication.clipboard().setText(self._overview.server.address)
