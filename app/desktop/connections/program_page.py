"""One program: its identity, permissions, calls and configuration."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QTabWidget, QVBoxLayout, QWidget

from app.desktop.connections.calls import CallList
from app.desktop.connections.configuration_view import ConfigurationView
from app.desktop.connections.configurations import ConnectionDetails, Transport
from app.desktop.connections.labels import session_lines, state_label, token_label
from app.desktop.connections.profile_editor import ProfileEditor
from app.desktop.connections.queries import ClientProgram, ConnectionsOverview
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ElidedLabel
from app.desktop.widgets.plain_labels import wrapped_label
from app.launch import installed_command
from app.settings import CallerProfile
from app.vault.invisible_chars import escape_hidden

_MAX_SHOWN_SESSIONS = 2


class ProgramPage(QWidget):
    """Shows a program; `renew_requested` and `remove_requested` carry it."""

    renew_requested = Signal(object)
    remove_requested = Signal(object)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.program: ClientProgram | None = None
        self._command = installed_command()
        self._theme = theme
        self.name = ElidedLabel()
        self.name.setProperty("textSize", "strong")
        self.state = QLabel()
        self.state.setProperty("tone", "muted")
        self.facts = wrapped_label(tone="muted")
        self.taint_label = wrapped_label(
            self.tr(
                "This program has read untrusted text (from the web or another tool), so each of its changes"
                " needs your approval."
            ),
            "warning",
        )
        self.renew_button = QPushButton()
        self.remove_button = QPushButton(self.tr("Remove…"))
        self.remove_button.setToolTip(self.tr("Revoke its token and delete its permissions"))
        self.permissions = ProfileEditor(theme)
        self.no_profile = wrapped_label(
            self.tr("Several programs share this name. Set their permissions in the settings."), "muted"
        )
        self.no_profile.setContentsMargins(14, 10, 14, 10)
        self.calls = CallList(theme)
        self.configuration = ConfigurationView(theme)
        self.tabs = QTabWidget()
        self._build()
        self.renew_button.clicked.connect(lambda: self.renew_requested.emit(self.program))
        self.remove_button.clicked.connect(lambda: self.remove_requested.emit(self.program))

    def show_program(self, program: ClientProgram, overview: ConnectionsOverview) -> None:
        """Show the current state of a program; if it is already shown, keep edits in progress."""
        is_same_program = self.program is not None and self.program.name == program.name
        self.program = program
        self.name.setText(escape_hidden(program.name))
        self.state.setText(state_label(program))
        lines = session_lines(program)
        hidden_count = len(lines) - _MAX_SHOWN_SESSIONS
        shown_lines = [
            *lines[:_MAX_SHOWN_SESSIONS],
            *([self.tr("and {0} more").format(hidden_count)] if hidden_count > 0 else []),
        ]
        self.facts.setText("\n".join([*shown_lines, token_label(program)]))
        self.facts.setToolTip("\n".join(lines))
        self.taint_label.setVisible(program.is_tainted)
        has_token = program.token_created is not None
        self.renew_button.setText(self.tr("Renew token…") if has_token else self.tr("Create token…"))
        self.renew_button.setToolTip(
            self.tr("The current token stops working")
            if has_token
            else self.tr("For programs that connect over HTTP")
        )
        self.remove_button.setVisible(has_token or program.profile is not None)
        self.renew_button.setVisible(program.can_have_profile)
        self.permissions.setVisible(program.can_have_profile)
        self.no_profile.setVisible(not program.can_have_profile)
        self.permissions.show_choices(overview.choices)
        self.permissions.show_profile(program.profile or CallerProfile(caller=program.name))
        self.calls.show_for(program.name)
        transport: Transport | None = None if is_same_program else ("http" if has_token else "stdio")
        self.configuration.show_connection(self.connection(program, overview), transport)

    def connection(
        self, program: ClientProgram, overview: ConnectionsOverview, token: str = ""
    ) -> ConnectionDetails:
        """Return the values for a program's configuration."""
        return ConnectionDetails(overview.vault, program.name, self._command, overview.server.address, token)

    def _build(self) -> None:
        title_row = QHBoxLayout()
        title_row.setSpacing(8)
        title_row.addWidget(self.name)
        title_row.addWidget(self.state)
        title_row.addStretch(1)
        title_row.addWidget(self.renew_button)
        title_row.addWidget(self.remove_button)
        header = QVBoxLayout()
        header.setContentsMargins(14, 8, 14, 6)
        header.setSpacing(4)
        header.addLayout(title_row)
        header.addWidget(self.facts)
        header.addWidget(self.taint_label)
        permissions_page = QWidget()
        column = QVBoxLayout(permissions_page)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.no_profile)
        column.addWidget(self.permissions, 1)
        configuration_page = QWidget()
        row = QVBoxLayout(configuration_page)
        row.setContentsMargins(14, 10, 14, 10)
        row.addWidget(self.configuration)
        self.tabs.setDocumentMode(True)
        # The pages scroll or shrink, so that the panel does not squeeze the rest of the window.
        self.tabs.setMinimumHeight(round(130 * self._theme.zoom))
        self.tabs.addTab(permissions_page, self.tr("Permissions"))
        self.tabs.addTab(self.calls, self.tr("Calls"))
        self.tabs.addTab(configuration_page, self.tr("Configuration"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(header)
        layout.addWidget(self.tabs, 1)
