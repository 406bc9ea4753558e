"""The main window: creates its parts and connects them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QSize
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from app.desktop.bridge import ServiceThread, VaultClient
from app.desktop.help.addresses import is_page_address
from app.desktop.runtime import tasks
from app.desktop.runtime.imports import import_in_steps
from app.desktop.shell.actions import Actions
from app.desktop.shell.banners import Banners
from app.desktop.shell.command_palette import CommandPalette
from app.desktop.shell.command_registry import PANELS, Command, PanelSpec, resolve
from app.desktop.shell.error_banner import ErrorBanner
from app.desktop.shell.folder_drop import FolderDropFilter
from app.desktop.shell.keymap import Keymap
from app.desktop.shell.navigation import Navigation
from app.desktop.shell.palette_controller import PaletteController
from app.desktop.shell.sample_vault import sample_vault
from app.desktop.shell.status_bar import StatusBar
from app.desktop.shell.welcome import Welcome
from app.desktop.shell.window_state import WindowState
from app.desktop.theme.theme import ThemeSource
from app.desktop.vault_lifecycle import Opener, VaultLifecycle
from app.desktop.widgets import dialogs
from app.settings import Settings, UpdateSettings, save_settings
from app.settings.recent import RecentVaults

if TYPE_CHECKING:
    from app.desktop.shell.update_check import UpdateCheck
    from app.desktop.vault_controller import VaultController

UPDATE_LIBRARIES = ("app.web.updates",)
SETTINGS_LIBRARIES = (
    "app.agent.acp.presets",
    "app.external.http_transport",
    "app.messages.bluesky",
    "app.web.network",
    "app.web.updates",
)
SETTINGS_MODULES = ("app.desktop.settings.dialog", "app.desktop.settings.dialog_factory")


class MainWindow(QMainWindow):
    """The main window; `ended` is set once the user has closed it and nothing is left unsaved.

    Args:
        service: The running service thread.
        settings: The loaded settings; the window saves changes to them.
        theme: The current theme.
        opener: Opens a vault in the service thread.
        panels: The panels of an open vault.
    """

    def __init__(
        self,
        service: ServiceThread,
        settings: Settings,
        theme: ThemeSource,
        opener: Opener,
        panels: Iterable[PanelSpec] = PANELS,
    ) -> None:
        super().__init__()
        self.ended = asyncio.Event()
        self.settings = settings
        self.theme = theme
        self._service = service
        self._updates: UpdateCheck | None = None
        self.recent = RecentVaults()
        self.session = VaultLifecycle(service, settings, self.recent, opener, theme, self)
        self.navigation = Navigation(self)
        self.view: VaultController | None = None
        self._view_task: asyncio.Task[None] | None = None
        self._panels = tuple(panels)
        self._window_state = WindowState.of_window()
        self._settings_task: asyncio.Task[None] | None = None
        self._build()
        self._connect()
        self._restore_geometry()

    def open_folder(self, root: Path, *, read_only: bool = False, confirmed: bool = False) -> None:
        """Open the vault in `root` in place of the current one.

        With `confirmed`, the user is not asked about a folder that is not a vault yet.
        """
        tasks.start(self._switch(root, read_only, confirmed), action=self.tr("open {0}").format(root.name))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close the vault, save the geometry and set `ended`, unless the user keeps unsaved text."""
        event.ignore()
        if not self.ended.is_set():
            tasks.start(self._close_window(), action=self.tr("close the window"))

    def _build(self) -> None:
        self.setWindowTitle("Scriptorium")
        self.setMinimumSize(640, 420)
        self.welcome = Welcome(self.theme, self.recent)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.welcome)
        self.banners = Banners(self.theme)
        container = QWidget()
        column = QVBoxLayout(container)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banners)
        column.addWidget(self.stack, 1)
        self.setCentralWidget(container)
        self.status = StatusBar(self.theme)
        self.setStatusBar(self.status)
        keymap = Keymap(self.settings.shortcuts)
        self.menu = Actions(self, self._run_command, keymap)
        self.menu.check("theme", self.settings.general.theme)
        self.palette_controller = PaletteController(CommandPalette(self.theme, container), self.menu, self)
        self.folder_drops = FolderDropFilter(self)
        self.failures = ErrorBanner(self.banners, self)
        for problem in (*self.settings.problems, *keymap.problems):
            self.banners.show_message(f"notice:{problem}", problem, "warning")

    def _connect(self) -> None:
        session, status, welcome = self.session, self.status, self.welcome
        session.opening.connect(lambda name: status.showMessage(self.tr("Opening {0}…").format(name)))
        session.opened.connect(self._show_vault)
        session.closing.connect(self._remove_view)
        session.closed.connect(self._show_welcome)
        session.progress.connect(status.show_scan)
        session.scanned.connect(status.show_scanned)
        # Show the graph before the text of the notes is indexed.
        session.progress.connect(lambda progress: self._set_scanning(progress.phase != "words"))
        session.scanned.connect(lambda _: self._set_scanning(False))
        session.stopped.connect(status.hide_scan)
        session.stopped.connect(lambda: self._set_scanning(False))
        status.stop_scan_requested.connect(session.stop_scan)
        status.problems_requested.connect(lambda: self.menu.run("show-problems"))
        status.grants_requested.connect(self.show_grants)
        welcome.open_requested.connect(lambda path: self.open_folder(Path(path)))
        welcome.pick_requested.connect(self.pick_folder)
        welcome.sample_requested.connect(self.open_sample)
        self.folder_drops.dropped.connect(lambda path: self.open_folder(Path(path)))
        self.folder_drops.hover_changed.connect(welcome.set_hovered)
        self.navigation.changed.connect(self._update_navigation)
        self.palette_controller.note_chosen.connect(self.navigation.open)
        self.palette_controller.note_requested.connect(self._create_note)
        self.palette_controller.tool_chosen.connect(self._call_tool)
        self.palette_controller.search_chosen.connect(
            lambda name: self.view.context.run_saved_search(name) if self.view is not None else None
        )

    def _run_command(self, command: Command) -> None:
        arguments = (command.argument,) if command.argument else ()
        resolve(command.target)(self, *arguments)

    def _show_vault(self, client: VaultClient) -> None:
        # A slow import, but the session has already run it in a thread.
        from app.desktop.vault_controller import VaultController

        view = VaultController(client, self.theme, self._panels, self.navigation, self.banners, self)
        view.command.connect(self._run_page_command)
        view.notice.connect(lambda text: self.banners.show_message(f"notice:{text}", text, "warning"))
        view.settings_change_requested.connect(self._change_settings)
        view.grants_changed.connect(self.status.show_grants)
        view.index_changed.connect(self.status.refresh)
        view.word_count_changed.connect(self.status.show_word_count)
        view.done.connect(lambda text: self.status.showMessage(text, 6000))
        view.embedding_progressed.connect(self.status.embedding.show_embedding)
        view.cost_changed.connect(self.status.show_cost)
        self.status.pause_embedding_requested.connect(view.pause_embedding)
        self.status.resume_embedding_requested.connect(view.resume_embedding)
        view.lost.connect(self._show_vault_lost)
        view.found.connect(lambda: self.banners.clear("lost"))
        self.session.scanned.connect(view.feed.record_scan)
        self.view = view
        self.stack.addWidget(view.page)
        self.stack.setCurrentWidget(view.page)
        self.folder_drops.watch(view.page)
        self.palette_controller.set_client(client)
        self.status.clearMessage()
        self.status.set_client(client, self.session.read_only)
        self.menu.set_has_vault(True)
        self.setWindowTitle(f"{client.name} – Scriptorium")
        self._window_state.save(vault=str(client.root))
        self.banners.clear("lost")
        view.note_shown.connect(self._update_note_commands)
        self._update_note_commands()
        self.session.wait_until_shown = view.wait_until_loaded
        # The first progress report of a scan may arrive late.
        self._set_scanning(not client.is_indexed)
        self._view_task = tasks.start(view.begin(), action=self.tr("show the vault"))

    def _remove_view(self) -> None:
        view, self.view = self.view, None
        if self._view_task is not None:
            self._view_task.cancel()
            self._view_task = None
        if view is not None:
            self.palette_controller.set_client(None)
            self.status.set_client(None)
            self.navigation.clear()
            self.stack.removeWidget(view.page)
            view.close_panels()

    def _show_welcome(self) -> None:
        if self.view is None:
            self.menu.set_has_vault(False)
            self.welcome.refresh()
            self.stack.setCurrentWidget(self.welcome)
            self.status.clearMessage()
            self.setWindowTitle("Scriptorium")

    async def _switch(self, root: Path, read_only: bool, confirmed: bool) -> None:
        if self.view is None or await self.view.confirm_close():
            await self.session.open(root, read_only=read_only, confirmed=confirmed)

    async def _close_vault(self) -> bool:
        if self.view is not None and not await self.view.confirm_close():
            return False
        await self.session.close()
        return True

    def close_vault(self) -> None:
        """Close the vault; the next launch shows the welcome page."""

        async def close() -> None:
            if await self._close_vault():
                self._window_state.save(vault="")

        tasks.start(close(), action=self.tr("close the vault"))

    async def _close_window(self) -> None:
        if await self._close_vault():
            self._window_state.save(geometry=bytes(self.saveGeometry().toBase64().data()).decode())
            self.ended.set()

    def keep_drafts(self) -> None:
        """Save unsaved text as drafts, which are offered at the next launch."""
        if self.view is not None and self.view.notes is not None:
            self.view.notes.save_drafts()

    def last_vault(self) -> Path | None:
        """Return the last opened vault; None if the user closed it or its folder does not exist."""
        text = self._window_state.text("vault")
        return Path(text) if text and Path(text).is_dir() else None

    def _restore_geometry(self) -> None:
        geometry = QByteArray.fromBase64(self._window_state.text("geometry").encode())
        if not self.restoreGeometry(geometry):
            available = QApplication.primaryScreen().availableSize()
            self.resize(QSize(1440, 900).boundedTo(available * 0.92))

    def pick_folder(self) -> None:
        """Ask for a folder and open it as a vault."""

        async def pick() -> None:
            title = self.tr("Open a folder of notes")
            folder = await dialogs.pick_folder(self, title, start=self.recent.default_folder)
            if folder is not None:
                await self._switch(folder, read_only=False, confirmed=False)

        tasks.start(pick(), action=self.tr("open the folder"))

    def open_sample(self, *, read_only: bool = False) -> None:
        """Open the user's own copy of the sample vault."""
        tasks.start(self._switch_to_sample(read_only), action=self.tr("open the sample vault"))

    async def _switch_to_sample(self, read_only: bool) -> None:
        await self._switch(await asyncio.to_thread(sample_vault), read_only=read_only, confirmed=True)

    def _create_note(self, name: str) -> None:
        if self.view is not None:
            self.view.commands.create(name)

    def _call_tool(self, name: str) -> None:
        if self.view is not None:
            tasks.start(self.view.commands.call_with_form(name), action=self.tr("run the tool"))

    def show_grants(self) -> None:
        """Show the auto-approve rules."""
        if self.view is not None:
            tasks.start(self.view.show_grants(), action=self.tr("list the auto-approve rules"))

    def _run_page_command(self, command: str) -> None:
        name, _, section = command.partition(":")
        if name == "settings" and section:
            self.show_settings(section)
        elif name == "help":
            self.show_help(section)
        elif name == "tool":
            self._call_tool(section)
        else:
            self.menu.run(name)

    def show_handbook(self) -> None:
        """Open the handbook at the page of the panel in focus, or at its first page."""
        self.show_help(f"panel:{self.view.page.panel_in_focus()}" if self.view is not None else "")

    def show_help(self, page: str) -> None:
        """Open the handbook at `page`, in a tab next to the notes, or in a dialog if no vault is open."""
        if self.view is not None:
            self.view.show_help(page)
            return
        from app.desktop.help.dialog import open_help  # Imports the tools, which are not needed at startup.

        work = open_help(self, self.theme, page, self.menu)
        tasks.start(work, action=self.tr("show the handbook"))

    def begin_updates(self) -> None:
        """Check for a new version if it is enabled and due; ask once whether to enable it."""
        tasks.start(self._begin_updates(), action=self.tr("check for updates"))

    async def _begin_updates(self) -> None:
        await (await self._update_check()).begin()

    def check_for_updates(self) -> None:
        """Check for a new version now."""
        tasks.start(self._check_for_updates(), action=self.tr("check for updates"))

    async def _check_for_updates(self) -> None:
        await (await self._update_check()).check_now()

    async def _update_check(self) -> UpdateCheck:
        if self._updates is None:
            # Imports the web client, which is not needed at startup.
            await import_in_steps(UPDATE_LIBRARIES, ("app.desktop.shell.update_check",))
            from app.desktop.shell.update_check import UpdateCheck

            self._updates = UpdateCheck(
                self._service, self.banners, self.theme, lambda: self.settings, self._set_updates, self
            )
        return self._updates

    def _set_updates(self, updates: UpdateSettings) -> None:
        self._apply_settings(self.settings.model_copy(update={"updates": updates}))

    def show_settings(self, section: str = "general") -> None:
        """Show the settings at a section, unless they are already open."""
        if self._settings_task is None or self._settings_task.done():
            self._settings_task = tasks.start(
                self._run_settings_dialog(section), action=self.tr("show the settings")
            )

    async def _run_settings_dialog(self, section: str) -> None:
        # Not needed at startup.
        await import_in_steps(SETTINGS_LIBRARIES, SETTINGS_MODULES)
        from app.desktop.settings.dialog_factory import create_settings_dialog

        dialog = create_settings_dialog(self.settings, self.theme, self.session.client, self)
        dialog.show_section(section)
        dialog.changed.connect(self._apply_settings)
        dialog.command_requested.connect(self.menu.run)
        await dialogs.run_dialog(dialog)

    def _apply_settings(self, settings: Settings) -> None:
        try:
            save_settings(settings)
            self.settings = self.session.settings = settings
            self.menu.set_keymap(Keymap(settings.shortcuts))
        finally:
            # A click on a theme has already checked it, even if the settings can't be saved.
            self.menu.check("theme", self.settings.general.theme)
        if self.session.client is not None:
            work = self.session.client.run(lambda vault: vault.settings.apply(settings))
            tasks.start(work, action=self.tr("apply the settings"))
        self.theme.set(settings.general.theme, settings.general.zoom)

    def _change_settings(self, change: Callable[[Settings], Settings]) -> None:
        if (changed := change(self.settings)) != self.settings:
            self._apply_settings(changed)

    def change_general(self, **values: object) -> None:
        """Change and save fields of the general settings."""
        general = self.settings.general.model_copy(update=values)
        self._apply_settings(self.settings.model_copy(update={"general": general}))

    def set_zoom(self, zoom: float) -> None:
        """Scale the interface by a factor of 0.7 to 2.5 and save the scale; 1 is the normal size."""
        self.change_general(zoom=round(min(2.5, max(0.7, zoom)), 2))

    def _show_vault_lost(self) -> None:
        text = self.tr(
            "The vault folder is missing: unplugged, unmounted or moved. Open notes stay open, and "
            "unsaved text is kept. Scriptorium reconnects when the folder is back."
        )
        self.banners.show_message("lost", text, "danger")

    def _set_scanning(self, is_scanning: bool) -> None:
        if self.view is not None:
            self.view.context.set_scanning(is_scanning)

    def _update_note_commands(self, *_: object) -> None:
        # Use only an existing view: creating one here would delay the layout of the page.
        notes = self.view.page.notes if self.view is not None else None
        tab = notes.current if notes is not None else None
        self.menu.set_open_tab(tab is not None, is_note=tab is not None and not is_page_address(tab.address))
        self.menu.by_id["reopen-tab"].setEnabled(notes is not None and notes.can_reopen)
        self._update_navigation()

    def _update_navigation(self) -> None:
        has_vault = self.view is not None
        self.menu.by_id["back"].setEnabled(has_vault and self.navigation.can_go_back)
        self.menu.by_id["forward"].setEnabled(has_vault and self.navigation.can_go_forward)
