"""The connection page: the local server, the programs that may connect, their permissions and calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QSplitter,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.desktop.activity.model import ActivityModel
from app.desktop.bridge import VaultClient
from app.desktop.connections import queries
from app.desktop.connections.configurations import Transport
from app.desktop.connections.dialogs import NewProgramDialog, SetUpDialog
from app.desktop.connections.labels import access_label, state_label
from app.desktop.connections.program_page import ProgramPage
from app.desktop.connections.queries import ClientProgram, ConnectionsOverview
from app.desktop.connections.server_bar import ServerBar
from app.desktop.runtime import tasks
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.panel import EmptyState, Panel, ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.errors import ScriptoriumError
from app.events import Event
from app.servers.client_registry import CallStageChanged, ClientGone, ClientSeen
from app.servers.server_state import LocalServerStateChanged, TokenRefused
from app.servers.tokens import ClientsChanged
from app.settings import CallerProfile, Settings
from app.vault.invisible_chars import escape_hidden
from app.workspace import SettingsChanged

if TYPE_CHECKING:
    from app.workspace import VaultService

_NAME_ROLE = Qt.ItemDataRole.UserRole
_DEBOUNCE_MS = 150
_CLIENT_EVENTS = (ClientSeen, ClientGone, CallStageChanged)
_SETUP_EVENTS = (LocalServerStateChanged, TokenRefused, ClientsChanged, SettingsChanged)


class ConnectionsPanel(Panel):
    """Lists the programs, and shows the permissions and calls of the selected one on the right.

    `settings_change_requested` carries a function from the current settings to the changed ones,
    `review_requested` the id of an approval request, `entry_requested` the number of an audit entry,
    `log_requested` a program's name.
    """

    settings_change_requested = Signal(object)
    review_requested = Signal(str)
    entry_requested = Signal(int)
    log_requested = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("connections"), parent)
        self._client = client
        self._theme = theme
        self._is_loaded = False
        self._needs_choices = False  # True if the choices for profiles must be read again.
        self._pending_selection = ""  # the program to select when it is listed
        self.overview: ConnectionsOverview | None = None
        self.title.hide()  # The tab above shows the panel's name; the bar below shows the server's address.
        self.add_button = ThemedButton(theme, "plus", self.tr("Connect a program…"))
        self.add_button.clicked.connect(self.add_program)
        self.bar = ServerBar(theme)
        self.bar.add(self.add_button)
        self.notice = wrapped_label(tone="danger")
        self.notice.setContentsMargins(14, 0, 14, 6)
        self.notice.hide()
        self.table = self._build_table()
        self._page: ProgramPage | None = None
        self._feed: ActivityModel | None = None
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self.empty = EmptyState(
            theme,
            "broadcast",
            self.tr("No connected programs"),
            self.tr(
                "Let Claude, Cursor, VS Code or any other MCP client work with these notes. You "
                "review each change before it is written."
            ),
            (self.tr("Connect a program…"), self.add_program),
        )
        self._stack = QStackedWidget()
        self._reload_timer = QTimer(self, interval=_DEBOUNCE_MS, singleShot=True)
        self._reload_timer.timeout.connect(self._reload)
        self._build()
        self._connect()

    def showEvent(self, event: QShowEvent) -> None:
        """Reload the state, including the choices for profiles, when the page is shown."""
        super().showEvent(event)
        self._needs_choices = True
        self._reload()

    def set_feed(self, feed: ActivityModel) -> None:
        """Show the programs' calls from this feed."""
        self._feed = feed
        if self._page is not None:
            self._page.calls.set_feed(feed)

    @property
    def page(self) -> ProgramPage:
        """The details page, created on first use."""
        if self._page is None:
            self._page = self._build_page()
        return self._page

    async def load(self) -> None:
        """Load and show the current state of the server and the programs."""
        self._is_loaded = True
        choices = self.overview.choices if self.overview is not None and not self._needs_choices else None
        self._needs_choices = False
        overview = await self._client.run(lambda vault: queries.read_overview(vault, choices))
        selected = self.selected
        self.overview = overview
        self.bar.show_overview(overview)
        self.table.blockSignals(True)
        self.table.clear()
        for program in overview.programs:
            self.table.addTopLevelItem(self._create_row(program, overview))
        self.table.blockSignals(False)
        self._stack.setCurrentIndex(1 if overview.programs else 0)
        self.add_button.setEnabled(not overview.read_only)
        if self._pending_selection in (program.name for program in overview.programs):
            self.choose(self._pending_selection)
            self._pending_selection = ""
        elif overview.programs:
            self.choose(selected.name if selected is not None else overview.programs[0].name)

    @property
    def selected(self) -> ClientProgram | None:
        """The selected program."""
        row = self.table.currentItem()
        name = row.data(0, _NAME_ROLE) if row is not None else None
        programs = self.overview.programs if self.overview is not None else ()
        return next((program for program in programs if program.name == name), None)

    def choose(self, name: str) -> None:
        """Select and show the program with this name, or else the first one; do nothing if there are none."""
        if self.overview is None or not self.overview.programs:
            return
        names = [program.name for program in self.overview.programs]
        row = names.index(name) if name in names else 0
        self.table.setCurrentIndex(self.table.model().index(row, 0))
        self.page.show_program(self.overview.programs[row], self.overview)

    def _create_row(self, program: ClientProgram, overview: ConnectionsOverview) -> QTreeWidgetItem:
        access = access_label(program.profile, overview.choices.categories)
        row = QTreeWidgetItem([escape_hidden(program.name), state_label(program), access])
        theme = self._theme.theme
        color = theme.success if program.sessions else theme.faint
        row.setIcon(0, icon(theme, "desktop" if program.token_created is None else "key", color))
        row.setToolTip(0, escape_hidden(program.self_description) or escape_hidden(program.name))
        row.setToolTip(2, access)
        row.setData(0, _NAME_ROLE, program.name)
        return row

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        if not (self._is_loaded and self.isVisible()):
            return
        self._needs_choices |= any(isinstance(event, _SETUP_EVENTS) for event in events)
        if self._needs_choices or any(isinstance(event, _CLIENT_EVENTS) for event in events):
            self._reload_timer.start()

    def _reload(self) -> None:
        tasks.start(self.load(), owner=self, action=self.tr("show the connections"))

    def _apply_theme(self, _: Theme) -> None:
        if self._is_loaded:
            self._reload()

    def add_program(self) -> None:
        """Ask which program to connect, then show its configuration."""
        self._start(self._add_program(), self.tr("connect the program"))

    async def _add_program(self) -> None:
        name = problem = ""
        while True:
            sheet = NewProgramDialog(self._theme, self.window(), name, problem)
            if await dialogs.run_dialog(sheet) != int(QDialog.DialogCode.Accepted):
                return
            name, target, transport, token = sheet.name.text().strip(), sheet.target, sheet.transport, ""
            try:
                if transport == "http":
                    token = await self._client.run(partial(queries.create_token, name=name))
                elif not ClientProgram(name).can_have_profile:
                    problem = self.tr("“{0}” can't be used as a program name.").format(name)
                    continue
            except ScriptoriumError as error:
                problem = error.message
                continue
            break
        if target.id == "curl":
            self._set_server_option("http_api", True)
        elif transport == "http":
            self._set_server_option("mcp", True)
        self._add_profile(name)
        await self._show_configuration(ClientProgram(name), token, target.id)

    def _add_profile(self, name: str) -> None:
        """Add the program with the default permissions to the settings, unless it has permissions."""

        def add(settings: Settings) -> Settings:
            if name in queries.named_profiles(settings):
                return settings
            return queries.with_profile(settings, CallerProfile(caller=name))

        self.settings_change_requested.emit(add)

    async def _show_configuration(self, program: ClientProgram, token: str, target: str = "") -> None:
        self._pending_selection = program.name
        if token:
            # Wait until the server has started: without an address, the dialog would show it as off.
            await self._client.run(lambda vault: vault.connections.begin())
        await self.load()
        if self.overview is not None:
            connection = self.page.connection(program, self.overview, token)
            transport: Transport = "http" if token else "stdio"
            sheet = SetUpDialog(connection, transport, target, self._theme, self.window())
            await dialogs.run_dialog(sheet)
            await self.load()

    async def _renew(self, program: ClientProgram) -> None:
        if program.token_created is not None:
            title = self.tr("Renew the token for {0}?").format(escape_hidden(program.name))
            text = self.tr("The current token stops working immediately, and pending requests are withdrawn.")
            if not await dialogs.confirm(self.window(), title, text, self.tr("Renew token")):
                return
        token = await self._run_or_show_error(partial(queries.renew_token, name=program.name))
        if token:
            await self._show_configuration(program, token)

    async def _remove(self, program: ClientProgram) -> None:
        title = self.tr("Remove {0}?").format(escape_hidden(program.name))
        text = self.tr(
            "Its token stops working immediately, its pending requests are withdrawn, and its permissions are"
            " deleted."
        )
        is_confirmed = await dialogs.confirm(
            self.window(), title, text, self.tr("Remove"), is_destructive=True
        )
        if is_confirmed and await self._run_or_show_error(partial(_revoke_token, program.name)) is not None:
            self.settings_change_requested.emit(
                lambda settings: queries.without_profile(settings, program.name)
            )
            await self.load()

    async def _run_or_show_error(self, work: Callable[..., str]) -> str | None:
        """Run an operation on the vault; if it fails, show the error and return None."""
        # Not at the end: another operation may have failed in the meantime.
        self.notice.hide()
        try:
            return await self._client.run(work)
        except ScriptoriumError as error:
            self.notice.setText(error.message)
            self.notice.show()
            return None

    def _set_server_option(self, name: str, enabled: bool) -> None:
        self.settings_change_requested.emit(
            lambda settings: queries.with_servers(settings, **{name: enabled})
        )

    def _save_profile(self, profile: CallerProfile) -> None:
        self.settings_change_requested.emit(lambda settings: queries.with_profile(settings, profile))

    def _connect(self) -> None:
        self.bar.switched.connect(self._set_server_option)
        self.table.currentItemChanged.connect(self._show_chosen)
        self._client.events.batch.connect(self._handle_events)
        self._theme.changed.connect(self._apply_theme)

    def _build_page(self) -> ProgramPage:
        page = ProgramPage(self._theme, self._splitter)
        if self._feed is not None:
            page.calls.set_feed(self._feed)
        page.permissions.changed.connect(self._save_profile)
        page.renew_requested.connect(
            lambda program: self._start(self._renew(program), self.tr("create the token"))
        )
        page.remove_requested.connect(
            lambda program: self._start(self._remove(program), self.tr("remove the program"))
        )
        page.calls.review_requested.connect(self.review_requested)
        page.calls.entry_requested.connect(self.entry_requested)
        page.calls.log_requested.connect(self.log_requested)
        self._splitter.addWidget(page)
        self._splitter.setSizes([round(460 * self._theme.zoom), round(640 * self._theme.zoom)])
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 2)
        return page

    def _show_chosen(self, *_: object) -> None:
        if (program := self.selected) is not None and self.overview is not None:
            self.page.show_program(program, self.overview)

    def _build(self) -> None:
        self._splitter.addWidget(self.table)
        self._splitter.setChildrenCollapsible(False)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self._splitter)
        self.column.addWidget(self.bar)
        self.column.addWidget(self.notice)
        self.column.addWidget(self._stack, 1)

    def _build_table(self) -> QTreeWidget:
        table = QTreeWidget()
        table.setHeaderLabels([self.tr("Program"), self.tr("State"), self.tr("Permissions")])
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setAccessibleName(self.tr("Programs that may use this vault"))
        table.header().setStretchLastSection(False)
        table.header().setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        table.setColumnWidth(0, round(150 * self._theme.zoom))
        table.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        table.setMinimumWidth(round(260 * self._theme.zoom))
        return table


def _revoke_token(name: str, vault: VaultService) -> str:
    queries.revoke_token(vault, name)
    return name


def connect(panel: ConnectionsPanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)
    panel.set_feed(cast("ActivityModel", context.feed))
    panel.entry_requested.connect(context.show_audit_entry)
    panel.log_requested.connect(context.show_audit_caller)
    panel.review_requested.connect(context.review_requested)
    panel.settings_change_requested.connect(context.settings_change_requested)
