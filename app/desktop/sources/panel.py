"""The sources panel: folders that agents may work in, and feeds and changes that agents are notified of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QMenu,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate
from app.desktop.shell.command_registry import panel_title
from app.desktop.sources.details import SourceDetails
from app.desktop.sources.edit_dialog import SourceDialog
from app.desktop.sources.labels import KIND_ICONS, state_label
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.panel import EmptyState, Panel, ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.errors import ScriptoriumError
from app.events import Event
from app.sources.config import (
    MAX_NAME_CHARS,
    FeedConfig,
    FolderConfig,
    FolderStreamConfig,
    SourceConfig,
    VaultStreamConfig,
)
from app.sources.source import Notified, SourceInfo, SourcesChanged, SourceState
from app.sources.sources import new_id

if TYPE_CHECKING:
    from app.workspace import VaultService

_ID_ROLE = Qt.ItemDataRole.UserRole


class SourcesPanel(Panel):
    """Lists sources, with the details of the selected one on the right.

    `open_requested` carries the path of a changed note, and an empty fragment.
    """

    open_requested = Signal(str, str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("sources"), parent)
        self._client = client
        self._theme = theme
        self.sources: tuple[SourceInfo, ...] = ()
        self.add_button = ThemedButton(theme, "plus", self.tr("Add source"))
        self.add_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.add_button.setMenu(self._build_menu())
        self.title.add(self.add_button)
        self.notice = wrapped_label(tone="danger")
        self.notice.setContentsMargins(14, 6, 14, 6)
        self.notice.hide()
        self.column.addWidget(self.notice)
        self.table = self._build_table()
        self.details = SourceDetails(theme)
        self._connect_details()
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.table)
        split.addWidget(self.details)
        split.setSizes([round(340 * theme.zoom), round(660 * theme.zoom)])
        split.setStretchFactor(1, 1)
        split.setChildrenCollapsible(False)
        self.empty = EmptyState(
            theme,
            "broadcast",
            self.tr("No sources yet"),
            self.tr(
                "Add a folder outside the vault to let agents work on its files under your rules. Follow "
                "a feed, a folder or this vault to notify agents of changes."
            ),
            (self.tr("Add a folder…"), self.add_folder),
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(split)
        self.column.addWidget(self._stack, 1)
        client.events.batch.connect(self._handle_events)
        theme.changed.connect(self._reload)
        self._reload()

    async def load(self) -> None:
        """Load and show the current sources."""
        self.sources = await self._client.run(lambda vault: vault.sources.list_sources())
        selected = self.selected
        self.table.blockSignals(True)
        self.table.clear()
        for info in self.sources:
            self.table.addTopLevelItem(self._create_row(info))
        self.table.blockSignals(False)
        self.title.set_count(f"{len(self.sources):,}" if self.sources else "")
        self._stack.setCurrentIndex(1 if self.sources else 0)
        if self.sources:
            self.choose(selected.id if selected is not None else self.sources[0].id)

    @property
    def selected(self) -> SourceInfo | None:
        """The selected source; None if none is selected."""
        row = self.table.currentItem()
        source_id = row.data(0, _ID_ROLE) if row is not None else None
        return next((info for info in self.sources if info.id == source_id), None)

    def choose(self, source_id: str) -> None:
        """Select a source and show its details; an unknown id selects the first source."""
        ids = [info.id for info in self.sources]
        row = ids.index(source_id) if source_id in ids else 0
        self.table.setCurrentIndex(self.table.model().index(row, 0))
        self.details.show_source(self.sources[row])

    def _create_row(self, info: SourceInfo) -> QTreeWidgetItem:
        unread = f"{info.waiting:,}" if info.waiting else ""
        row = QTreeWidgetItem([info.name, state_label(info.state), unread])
        theme = self._theme.theme
        color = theme.danger if info.state is SourceState.FAILED else None
        row.setIcon(0, icon(theme, KIND_ICONS[info.config.kind], color))
        row.setToolTip(0, info.detail or info.name)
        row.setToolTip(1, info.problem)
        row.setData(0, _ID_ROLE, info.id)
        row.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return row

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        if any(isinstance(event, SourcesChanged | Notified) for event in events):
            self._reload()

    def _reload(self) -> None:
        tasks.start(self.load(), owner=self, action=self.tr("show the sources"))

    def add_folder(self) -> None:
        """Ask for a folder and add it, so that agents may work on its files."""
        self._start(self._add_folder(), self.tr("add a folder"))

    def follow_folder(self) -> None:
        """Ask for a folder and notify agents of changes in it."""
        self._start(self._follow_folder(), self.tr("follow a folder"))

    def follow_feed(self) -> None:
        """Ask for a feed's address and notify agents of new items."""
        self._start(self._follow_feed(), self.tr("follow a feed"))

    def follow_vault(self) -> None:
        """Notify agents of changes in the vault."""
        config = VaultStreamConfig(id=new_id("vault"), name=self.tr("This vault"))
        self._start(self._add(config), self.tr("follow this vault"))

    async def _add_folder(self) -> None:
        title = self.tr("Choose a folder for agents")
        if (folder := await dialogs.pick_folder(self.window(), title)) is not None:
            config = FolderConfig(id=new_id("files"), name=_folder_name(folder), folder=str(folder))
            await self._add(config)

    async def _follow_folder(self) -> None:
        folder = await dialogs.pick_folder(self.window(), self.tr("Choose a folder to follow"))
        if folder is not None:
            config = FolderStreamConfig(id=new_id("folder"), name=_folder_name(folder), folder=str(folder))
            await self._add(config)

    async def _follow_feed(self) -> None:
        text = self.tr("Address of an RSS or Atom feed. The feed is checked every hour.")
        url = await dialogs.prompt_text(
            self.window(),
            self.tr("Follow a feed"),
            text,
            "https://",
            accept_label=self.tr("Follow"),
            check=_address_problem,
        )
        if url is not None:
            host = urlsplit(url).hostname or url
            await self._add(FeedConfig(id=new_id("feed"), name=host[:MAX_NAME_CHARS], url=url))

    async def _add(self, config: SourceConfig) -> None:
        if await self._run_or_show_error(lambda vault: vault.sources.add(config)):
            await self.load()
            self.choose(config.id)

    async def _edit(self, config: SourceConfig) -> None:
        """Ask for the settings until they are saved or the user cancels."""
        problem = ""
        while True:
            dialog = SourceDialog(config, self._theme, self.window(), problem)
            if await dialogs.run_dialog(dialog) != int(QDialog.DialogCode.Accepted):
                return
            config = dialog.config
            try:
                await self._client.run(partial(_change_source, config))
            except ScriptoriumError as error:
                problem = error.message
                continue
            await self.load()
            return

    async def _remove(self, info: SourceInfo) -> None:
        text = self.tr("No files are deleted, and agents keep what they have loaded.")
        title = self.tr("Remove {0}?").format(info.name)
        if await dialogs.confirm(self.window(), title, text, self.tr("Remove")):
            await self._run_or_show_error(lambda vault: vault.sources.remove(info.id))
            await self.load()

    async def _run_or_show_error(self, work: Callable[[VaultService], Awaitable[object]]) -> bool:
        """Run an operation on the vault; if it fails, show the error and return False."""
        # Not at the end: another operation may have failed in the meantime.
        self.notice.hide()
        try:
            await self._client.run(work)
        except ScriptoriumError as error:
            self.notice.setText(error.message)
            self.notice.show()
            return False
        return True

    def _connect_details(self) -> None:
        details = self.details
        details.note_requested.connect(lambda path: self.open_requested.emit(path, ""))
        details.remove_requested.connect(
            lambda info: self._start(self._remove(info), self.tr("remove the source"))
        )
        details.pause_requested.connect(
            lambda info: self._run_change(
                lambda vault: vault.sources.set_paused(info.id, not info.config.paused)
            )
        )
        details.check_requested.connect(
            lambda info: self._run_change(lambda vault: vault.sources.check_feed(info.id))
        )
        details.edit_requested.connect(
            lambda info: self._start(self._edit(info.config), self.tr("change the source"))
        )
        details.changed.connect(lambda config: self._run_change(lambda vault: vault.sources.change(config)))

    def _run_change(self, work: Callable[[VaultService], Awaitable[object]]) -> None:
        async def run() -> None:
            await self._run_or_show_error(work)
            await self.load()

        self._start(run(), self.tr("change the source"))

    def _build_menu(self) -> QMenu:
        menu = QMenu(self)
        for label, slot in (
            (self.tr("Folder for agents…"), self.add_folder),
            (self.tr("Changes in a folder…"), self.follow_folder),
            (self.tr("Feed…"), self.follow_feed),
            (self.tr("Changes in this vault"), self.follow_vault),
        ):
            menu.addAction(label).triggered.connect(slot)
        return menu

    def _build_table(self) -> QTreeWidget:
        table = QTreeWidget()
        table.setHeaderLabels([self.tr("Source"), self.tr("State"), self.tr("Unread")])
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setAccessibleName(panel_title("sources"))
        table.header().setStretchLastSection(False)
        table.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.setColumnWidth(1, round(90 * self._theme.zoom))
        table.setColumnWidth(2, round(84 * self._theme.zoom))
        table.setMinimumWidth(round(290 * self._theme.zoom))
        table.currentItemChanged.connect(self._show_selected)
        return table

    def _show_selected(self, *_: object) -> None:
        if (info := self.selected) is not None:
            self.details.show_source(info)


def _folder_name(folder: Path) -> str:
    return (folder.name or str(folder))[:MAX_NAME_CHARS]


def _address_problem(url: str) -> str:
    """Return why a feed can't have this address, or "" if it can."""
    try:
        _ = urlsplit(url).hostname
        FeedConfig(id="feed", name="feed", url=url)
    except ValueError:
        return translate("SourcesPanel", "This address is malformed or too long.")
    return ""


async def _change_source(config: SourceConfig, vault: VaultService) -> None:
    await vault.sources.change(config)
