"""The open notes: up to two groups of tabs next to each other.

A group is a tab widget in a splitter. A note is open in at most one tab per group. Closing a tab asks about
unsaved text, and can be undone.

The handbook opens in a tab, too: one per group, which shows one page after another. Such a tab has no path,
so that no part of the window takes a page for a note. Tabs are found and restored by their address: the path
of the note, or the address of the page.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Protocol, cast

import shiboken6
from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QMenu, QSplitter, QStackedWidget, QTabBar, QTabWidget, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.help.addresses import is_page_address
from app.desktop.runtime import tasks
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.keymap import Keymap
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import EmptyState, ThemedButton
from app.errors import ScriptoriumError
from app.events import Event
from app.settings import Settings
from app.workspace import SettingsChanged

log = logging.getLogger(__name__)
_MAX_CLOSED_TABS = 50
_MIN_GROUP_WIDTH = 260
_CLOSE_BUTTON_SIZE = 20
_MIN_TAB_WIDTH = 132


class NotesAreaTab(Protocol):
    """The interface of a tab; `view.NoteView` and `handbook_tab.HandbookTab` implement it."""

    path: str
    open_requested: SignalInstance
    search_requested: SignalInstance
    title_changed: SignalInstance

    @property
    def address(self) -> str:
        """The path of the note, empty until it is loaded; or the address of the page."""
        ...

    async def open(self, address: str, fragment: str = "") -> None:
        """Show a note, at a heading, `^block`, `span=…`, `line=12` or `write=`; or a page, at a heading."""

    async def confirm_close(self) -> bool:
        """Save unsaved text or ask the user about it; return whether the tab may close."""
        ...

    def save_draft(self) -> None:
        """Keep unsaved text as a draft."""

    def take_focus(self) -> None:
        """Move focus to the text."""

    def run_command(self, command: str) -> None:
        """Run "save", "mode" (the next view mode), "find", "replace" or "links"."""


class NoteTab(NotesAreaTab, Protocol):
    """The interface of the tab of a note."""

    dirty_changed: SignalInstance
    action_requested: SignalInstance
    create_requested: SignalInstance


TabFactory = Callable[[VaultClient, ThemeSource, QWidget], QWidget]


class _TabBar(QTabBar):
    """A tab bar that scrolls instead of squeezing names; its close buttons scale with the zoom."""

    def __init__(self, theme: ThemeSource, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def minimumTabSizeHint(self, index: int) -> QSize:
        """Return the width of a short name with the close button."""
        size = self.tabSizeHint(index)
        return QSize(min(size.width(), round(_MIN_TAB_WIDTH * self._theme.zoom)), size.height())

    def tabInserted(self, index: int) -> None:
        """Size the close button of a new tab."""
        super().tabInserted(index)
        self._size_close_buttons()

    def changeEvent(self, event: QEvent) -> None:
        """Size the close buttons for a new zoom before the tabs are laid out."""
        if event.type() == QEvent.Type.StyleChange:
            self._size_close_buttons()
        super().changeEvent(event)

    def _size_close_buttons(self) -> None:
        # Qt has a fixed size for them, which a style sheet can't change.
        size = round(_CLOSE_BUTTON_SIZE * self._theme.zoom)
        for index in range(self.count()):
            if (button := self.tabButton(index, QTabBar.ButtonPosition.RightSide)) is not None:
                button.resize(size, size)


class _TabGroup(QTabWidget):
    """One group of tabs; a middle click closes a tab, a right click opens its menu."""

    def __init__(self, tabs: NoteTabs, theme: ThemeSource) -> None:
        super().__init__(tabs)
        self._tabs = tabs
        self.setTabBar(_TabBar(theme, self))
        self.setDocumentMode(True)
        self.setMovable(True)
        self.setTabsClosable(True)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        button = ThemedButton(theme, "question", self.tr("Help"), self)
        button.clicked.connect(tabs.help_requested)
        self.setCornerWidget(button, Qt.Corner.TopRightCorner)
        bar = self.tabBar()
        bar.setExpanding(False)
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        bar.customContextMenuRequested.connect(self._show_menu)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Close a tab with the middle button."""
        index = self.tabBar().tabAt(self.tabBar().mapFrom(self, event.position().toPoint()))
        if event.button() == Qt.MouseButton.MiddleButton and index >= 0:
            self.tabCloseRequested.emit(index)
        else:
            super().mousePressEvent(event)

    def _show_menu(self, position: QPoint) -> None:
        index = self.tabBar().tabAt(position)
        if index < 0:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Close"), lambda: self.tabCloseRequested.emit(index))
        menu.addAction(self.tr("Close others"), lambda: self._tabs.close_others(self, index))
        menu.addSeparator()
        menu.addAction(self.tr("Move to the other side"), lambda: self._tabs.move_across(self, index))
        menu.popup(self.tabBar().mapToGlobal(position))


class NoteTabs(QWidget):
    """The groups of tabs in a splitter.

    Signals:
        open_requested: The path of a note, and a fragment; or the address of a page, and a heading. From a
            tab, or for a tab to reopen.
        search_requested, create_requested: Forwarded from the notes.
        tool_requested: The name of a tool, from its page of the handbook.
        action_requested: A command and a path, from a note or `request_command`.
        shown: The path of the active note; empty if there is none, or a page is active.
        help_requested: The user clicked the help button.
    """

    open_requested = Signal(str, str)
    search_requested = Signal(str)
    action_requested = Signal(str, str)
    create_requested = Signal(str)
    tool_requested = Signal(str)
    shown = Signal(str)
    help_requested = Signal()

    def __init__(
        self, client: VaultClient, theme: ThemeSource, create_note: TabFactory, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._client = client
        self._theme = theme
        self._create_note = create_note
        self._closed_addresses: list[str] = []
        # A tab has no address until its note is loaded; meanwhile, a double click requests the note again.
        self._opening: dict[NotesAreaTab, str] = {}
        self._groups: list[_TabGroup] = []
        self.setObjectName("panel")
        self.setAccessibleName(panel_title("notes"))
        self._stack = QStackedWidget(self)
        self.splitter = QSplitter(Qt.Orientation.Horizontal, self._stack)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self._empty_state = EmptyState(theme, "file-text", "", "", parent=self._stack)
        self._describe_empty_state(client.settings)
        client.events.batch.connect(self._handle_events)
        self._stack.addWidget(self._empty_state)
        self._stack.addWidget(self.splitter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._stack)
        self._active_group = self._add_group()

    def _describe_empty_state(self, settings: Settings) -> None:
        if shortcut := Keymap(settings.shortcuts).text("go-note"):
            text = self.tr(
                "Double-click a node in the graph, click a file, or press {0} to find a note by name."
            ).format(shortcut)
        else:
            text = self.tr("Double-click a node in the graph, or click a file.")
        self._empty_state.set_message(self.tr("No note is open"), text)

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, SettingsChanged):
                self._describe_empty_state(event.settings)

    @property
    def current(self) -> NotesAreaTab | None:
        """The active tab of the most recently used group; None if no note or page is open."""
        widget = self._active_group.currentWidget()
        return cast("NotesAreaTab", widget) if widget is not None else None

    @property
    def address(self) -> str:
        """The address of the active tab; empty if there is none, or while it opens another note or page."""
        tab = self.current
        return tab.address if tab is not None and tab not in self._opening else ""

    def tabs(self) -> tuple[NotesAreaTab, ...]:
        """Return the open tabs, group by group."""
        return tuple(
            cast("NotesAreaTab", group.widget(index))
            for group in self._groups
            for index in range(group.count())
        )

    async def open(self, address: str, fragment: str = "", *, in_other_group: bool = False) -> None:
        """Show a note in its tab of the active group, or a page in the tab of the handbook; or in a new tab.

        Args:
            address: The path of the note, or the address of the page.
            fragment: Where to scroll to; see `NotesAreaTab.open`.
            in_other_group: Whether to use the other group, created if needed; ignored while the active one is
                empty.

        Raises:
            NotFoundError: The note or page does not exist; no tab is added.
            StorageError: The note or page can't be read; no tab is added.
        """
        if in_other_group and self._active_group.count():
            self._active_group = self._groups[1] if len(self._groups) > 1 else self._add_group()
        group = self._active_group
        existing = self._find_tab(group, address)
        tab = existing or self._add_tab(group, address)
        self._opening[tab] = address
        try:
            if existing is None:
                await asyncio.sleep(0)  # Let the window process events between creating and showing the view.
            group.setCurrentWidget(cast("QWidget", tab))
            self._stack.setCurrentWidget(self.splitter)
            await tab.open(address, fragment)
        except BaseException:
            # If the tab or the vault is closed in the meantime, the tab is deleted.
            if existing is None and shiboken6.isValid(tab) and shiboken6.isValid(group):
                self._remove(group, cast("QWidget", tab))
            raise
        finally:
            # The tab of the handbook may have been asked for another page in the meantime.
            if self._opening.get(tab) == address:
                del self._opening[tab]
        # The user may have chosen another tab in the meantime.
        if shiboken6.isValid(tab) and tab is self.current:
            self.shown.emit(tab.path)

    async def close_current(self) -> bool:
        """Close the active tab; return whether it is closed."""
        return await self._close(self._active_group, self._active_group.currentIndex())

    async def confirm_close(self) -> bool:
        """Save unsaved text or ask the user about it; return whether all notes may close.

        The tabs stay open.
        """
        for tab in self.tabs():
            if not await tab.confirm_close():
                return False
        return True

    def save_drafts(self) -> None:
        """Keep the unsaved text of every note as a draft, without asking."""
        for tab in self.tabs():
            tab.save_draft()

    def close_others(self, group: _TabGroup, keep: int) -> None:
        """Start closing all tabs of `group` except the one at index `keep`, until the user cancels."""
        current = self._tabs_of(group)[keep]

        async def close() -> None:
            for tab in self._tabs_of(group):
                index = group.indexOf(cast("QWidget", tab))
                if tab is not current and not await self._close(group, index):
                    return

        tasks.start(close(), owner=self, action=self.tr("close the tabs"))

    def move_across(self, group: _TabGroup, index: int) -> None:
        """Move a tab to the other group, creating the group if needed.

        If the other group has a tab of the same note, show that tab and close this one. The other tab of the
        handbook shows the same page then.
        """
        widget, text = cast("QWidget", group.widget(index)), group.tabText(index)
        address = cast("NotesAreaTab", widget).address
        other_group = next((g for g in self._groups if g is not group), None) or self._add_group()
        existing = self._find_tab(other_group, address) if address else None
        if existing is not None:
            other_group.setCurrentWidget(cast("QWidget", existing))
            self._active_group = other_group
            if existing.address != address:
                tasks.start(self.open(address), owner=self, action=self.tr("open the page"))
            self._start_closing(group, index)
            return
        other_group.setCurrentIndex(other_group.addTab(widget, text))
        self._active_group = other_group
        self._remove_if_empty(group)

    def split(self) -> None:
        """Show the active note or page in the other group, which is created if needed.

        Its tab moves there; if it is the only tab, the note or page is opened there a second time.
        """
        if self._active_group.count() > 1 or (self._active_group.count() == 1 and len(self._groups) > 1):
            self.move_across(self._active_group, self._active_group.currentIndex())
        elif self.current is not None:
            address = self.current.address
            tasks.start(self.open(address, in_other_group=True), owner=self, action=self.tr("open the note"))

    def take_focus(self) -> None:
        """Move focus to the text of the active tab."""
        if self.current is not None:
            self.current.take_focus()

    def run_command(self, command: str) -> None:
        """Run a command in the active tab; see `NotesAreaTab.run_command`."""
        if self.current is not None:
            self.current.run_command(command)

    def request_command(self, command: str) -> None:
        """Request a menu command for the active note."""
        if self.current is not None and self.current.path:
            self.action_requested.emit(command, self.current.path)

    @property
    def can_reopen(self) -> bool:
        """True if a closed tab can be reopened."""
        return bool(self._closed_addresses)

    def reopen(self) -> None:
        """Reopen the tab that was closed last."""
        if self._closed_addresses:
            self.open_requested.emit(self._closed_addresses.pop(), "")

    def step(self, by: int) -> None:
        """Go to the next (1) or the previous (-1) tab of the active group, wrapping around."""
        if count := self._active_group.count():
            self._active_group.setCurrentIndex((self._active_group.currentIndex() + by) % count)

    def state(self) -> dict[str, Any]:
        """Return the open tabs by group, the active one and the splitter's sizes, to restore them later."""
        groups = [[tab.address for tab in self._tabs_of(group) if tab.address] for group in self._groups]
        front = self.current.address if self.current is not None else ""
        return {"groups": groups, "front": front, "sizes": self.splitter.sizes()}

    async def restore(self, state: dict[str, Any]) -> None:
        """Open the notes and pages in `state`; those that can't be opened are skipped."""
        groups = [[str(address) for address in group] for group in state.get("groups", []) if group]
        for group_index, addresses in enumerate(groups[:2]):
            needs_other_group = group_index > 0
            for address in addresses:
                try:
                    await self.open(address, in_other_group=needs_other_group)
                    needs_other_group = False
                except ScriptoriumError as error:
                    log.info("a tab of the last session was not reopened: %s", error)
        front = state.get("front")
        for group in self._groups:
            for tab in self._tabs_of(group):
                if tab.address == front:
                    self._active_group = group
                    group.setCurrentWidget(cast("QWidget", tab))
        if len(self._groups) > 1 and len(state.get("sizes", [])) == len(self._groups):
            self.splitter.setSizes([int(size) for size in state["sizes"]])

    def _tabs_of(self, group: _TabGroup) -> tuple[NotesAreaTab, ...]:
        return tuple(cast("NotesAreaTab", group.widget(index)) for index in range(group.count()))

    def _add_group(self) -> _TabGroup:
        group = _TabGroup(self, self._theme)
        self._groups.append(group)
        group.setMinimumWidth(round(_MIN_GROUP_WIDTH * self._theme.zoom))
        self.splitter.addWidget(group)
        self.splitter.setSizes([1000] * len(self._groups))
        group.tabCloseRequested.connect(lambda index: self._start_closing(group, index))
        group.currentChanged.connect(lambda _: self._activate(group))
        group.tabBarClicked.connect(lambda _: self._activate(group))
        return group

    def _find_tab(self, group: _TabGroup, address: str) -> NotesAreaTab | None:
        """Return the tab for a note, or for any page of the handbook; None if the group has no such tab."""

        def is_for(tab: NotesAreaTab) -> bool:
            are_pages = is_page_address(address) and is_page_address(tab.address)
            return are_pages or address in (tab.address, self._opening.get(tab))

        return next((tab for tab in self._tabs_of(group) if is_for(tab)), None)

    def _add_tab(self, group: _TabGroup, address: str) -> NotesAreaTab:
        # Create it in its final parent: reparenting a populated widget would restyle everything in it.
        parent = group.findChild(QStackedWidget) or group
        if is_page_address(address):
            from app.desktop.notes.handbook_tab import HandbookTab  # Not needed at startup.

            handbook = HandbookTab(self._client, self._theme, parent)
            handbook.tool_requested.connect(self.tool_requested)
            widget: QWidget = handbook
        else:
            widget = self._create_note(self._client, self._theme, parent)
            note = cast("NoteTab", widget)
            note.action_requested.connect(self.action_requested)
            note.create_requested.connect(self.create_requested)
            note.dirty_changed.connect(lambda dirty: self._update_title(widget, dirty=dirty))
        tab = cast("NotesAreaTab", widget)
        index = group.addTab(widget, self.tr("Opening…"))
        group.tabBar().setTabToolTip(index, "")
        tab.open_requested.connect(self.open_requested)
        tab.search_requested.connect(self.search_requested)
        tab.title_changed.connect(lambda title: self._update_title(widget, title=title))
        return tab

    def _update_title(self, widget: QWidget, title: str | None = None, dirty: bool | None = None) -> None:
        for group in self._groups:
            if (index := group.indexOf(widget)) >= 0:
                current = group.tabText(index).removeprefix("● ").replace("&&", "&")
                was_dirty = group.tabText(index).startswith("● ")
                text = (title if title is not None else current).replace("&", "&&")
                group.setTabText(index, f"● {text}" if (was_dirty if dirty is None else dirty) else text)
                group.setTabToolTip(index, cast("NotesAreaTab", widget).path)

    def _activate(self, group: _TabGroup) -> None:
        if group.count():
            self._active_group = group
            page, focused = group.currentWidget(), self.window().focusWidget()
            if self.current is not None and focused is not None and page.isAncestorOf(focused):
                self.current.take_focus()  # Qt moves the focus from a hidden tab to the first button.
            self.shown.emit(self.current.path if self.current is not None else "")

    def _start_closing(self, group: _TabGroup, index: int) -> None:
        tasks.start(self._close(group, index), owner=self, action=self.tr("close the tab"))

    async def _close(self, group: _TabGroup, index: int) -> bool:
        widget = group.widget(index)
        if widget is None:
            return True
        tab = cast("NotesAreaTab", widget)
        if not await tab.confirm_close():
            return False
        # While its text was being saved, the tab may have been moved, or closed by a second click.
        if not shiboken6.isValid(widget):
            return True
        current_group = next((other for other in self._groups if other.indexOf(widget) >= 0), None)
        if current_group is not None:
            if tab.address:
                self._closed_addresses = [*self._closed_addresses, tab.address][-_MAX_CLOSED_TABS:]
            self._remove(current_group, widget)
        return True

    def _remove(self, group: _TabGroup, widget: QWidget) -> None:
        if (index := group.indexOf(widget)) >= 0:
            group.removeTab(index)
        widget.deleteLater()
        self._remove_if_empty(group)

    def _remove_if_empty(self, group: _TabGroup) -> None:
        if group.count():
            return
        if len(self._groups) > 1:
            self._groups.remove(group)
            group.hide()
            group.deleteLater()
            self._active_group = self._groups[0]
            self._activate(self._active_group)
        if not self.tabs():
            self._stack.setCurrentIndex(0)
            self.shown.emit("")
