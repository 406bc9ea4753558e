"""The help dialog: a searchable list of pages, and the page, rendered like a note."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from app.desktop.help.handbook import HelpPage, example_names
from app.desktop.help.pages import ABOUT, FIRST, help_pages, page_id
from app.desktop.theme.app_icon import app_icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.dialogs import resize_within_screen
from app.desktop.widgets.panel import SearchField, ThemedButton
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES
from app.vault.markdown.render import render
from app.vault.markdown.render_values import NoteTarget, RenderColors

if TYPE_CHECKING:
    from app.desktop.bridge import VaultClient
    from app.workspace import VaultService

_ID_ROLE = Qt.ItemDataRole.UserRole
_ICON = "app-icon"
_ICON_SIZE = 64


async def open_help(
    window: QWidget,
    theme: ThemeSource,
    client: VaultClient | None,
    page: str,
    run_tool: Callable[[str], None],
) -> None:
    """Show the help in a new dialog, with the tools and note names of the open vault if there is one.

    Args:
        window: The window that the help belongs to.
        theme: The current theme.
        client: The open vault, or None.
        page: An id, a title, or `panel:` and the id of a panel; an unknown one shows the first page.
        run_tool: Called with the name of a tool that the user wants to run with its form.

    Raises:
        OSError: A page can't be read.
        ValueError: A page of the handbook is invalid.
    """
    if client is not None:
        pages = await client.run(_pages_of)
    else:
        pages = await asyncio.to_thread(lambda: help_pages(ToolRegistry(CATEGORIES, CATALOG)))
    dialog = HelpDialog(pages, theme, client is not None, window, page_id(pages, page) or FIRST)
    dialog.tool_requested.connect(run_tool)
    dialog.show()


def _pages_of(vault: VaultService) -> tuple[HelpPage, ...]:
    return help_pages(vault.tools, example_names(vault))


class HelpDialog(QDialog):
    """Shows `pages`; not modal, so that it can stay open next to the window.

    `tool_requested` carries the name of a tool that the user wants to run with its form.

    Args:
        pages: The pages, with those of each group together.
        theme: The current theme.
        can_run: True if tools can be run, because a vault is open.
        parent: The window.
        first: The id of the page to show first.
    """

    tool_requested = Signal(str)

    def __init__(
        self,
        pages: Sequence[HelpPage],
        theme: ThemeSource,
        can_run: bool,
        parent: QWidget | None = None,
        first: str = FIRST,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Help"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._pages = {page.id: page for page in pages}
        self._theme = theme
        self._can_run = can_run
        self._visited: list[str] = []
        self._position = -1
        self.search = SearchField(theme, self.tr("Search help"))
        self.list = QListWidget()
        self.list.setObjectName("sections")
        self.list.setAccessibleName(self.tr("Pages"))
        self.page = QTextBrowser()
        self.page.setOpenLinks(False)
        self.page.setAccessibleName(self.tr("Page"))
        self.page.anchorClicked.connect(self._open_link)
        self.back_button = ThemedButton(theme, "arrow-left", self.tr("Back (Alt+Left)"))
        self.back_button.clicked.connect(lambda: self._step(-1))
        self.forward_button = ThemedButton(theme, "arrow-right", self.tr("Forward (Alt+Right)"))
        self.forward_button.clicked.connect(lambda: self._step(1))
        for keys, button in (("Alt+Left", self.back_button), ("Alt+Right", self.forward_button)):
            QShortcut(QKeySequence(keys), self, button.click)
        self.run_button = QPushButton(self.tr("Run tool…"))
        self.run_button.clicked.connect(lambda: self.tool_requested.emit(self.current.removeprefix("tool:")))
        self._fill_list()
        self._build()
        self.show_page(first)
        self._show()
        self.search.textChanged.connect(self._filter_pages)
        self.list.currentItemChanged.connect(lambda *_: self._show())
        theme.changed.connect(self._show)
        resize_within_screen(self, round(900 * theme.zoom), round(640 * theme.zoom))
        self.search.setFocus()

    @property
    def current(self) -> str:
        """The id of the current page; empty for none."""
        item = self.list.currentItem()
        return str(item.data(_ID_ROLE)) if item is not None and item.data(_ID_ROLE) else ""

    def show_page(self, target: str) -> None:
        """Show the page with the id `target`; an unknown one is ignored."""
        for row in range(self.list.count()):
            if self.list.item(row).data(_ID_ROLE) == target:
                # A link may lead to a page that the search has filtered out.
                if self.list.item(row).isHidden():
                    self.search.clear()
                self.list.setCurrentRow(row)

    def _fill_list(self) -> None:
        group = ""
        for page in self._pages.values():
            if page.group != group:
                group = page.group
                heading = QListWidgetItem(group)
                heading.setFlags(Qt.ItemFlag.NoItemFlags)
                bold = self.list.font()
                bold.setBold(True)
                heading.setFont(bold)
                self._add(heading)
            item = QListWidgetItem(f"   {page.title.replace('_', ' ')}")
            item.setData(_ID_ROLE, page.id)
            self._add(item)

    def _add(self, item: QListWidgetItem) -> None:
        item.setSizeHint(QSize(0, round(28 * self._theme.zoom)))
        self.list.addItem(item)

    def _build(self) -> None:
        sidebar = QWidget()
        sidebar.setObjectName("page")
        sidebar.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        sidebar.setFixedWidth(round(240 * self._theme.zoom))
        column = QVBoxLayout(sidebar)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        right = QVBoxLayout()
        right.setContentsMargins(20, 12, 12, 12)
        navigation = QHBoxLayout()
        navigation.setSpacing(2)
        navigation.addWidget(self.back_button)
        navigation.addWidget(self.forward_button)
        navigation.addStretch(1)
        right.addLayout(navigation)
        right.addWidget(self.page, 1)
        right.addWidget(self.run_button, 0, Qt.AlignmentFlag.AlignRight)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(sidebar)
        layout.addLayout(right, 1)
        self.page.setFrameShape(QTextBrowser.Shape.NoFrame)

    def _show(self) -> None:
        page = self._pages.get(self.current)
        if page is not None:
            if not self._visited or self._visited[self._position] != page.id:
                self._visited[self._position + 1 :] = [page.id]
                self._position += 1
            text = render(page.text, self._resolve, RenderColors.of(self._theme.theme))
            if page.id == ABOUT:
                text = f'<p><img src="{_ICON}" width="{_ICON_SIZE}" height="{_ICON_SIZE}"></p>{text}'
                pixmap = app_icon(self._theme.theme).pixmap(2 * _ICON_SIZE)
                self.page.document().addResource(
                    QTextDocument.ResourceType.ImageResource.value, QUrl(_ICON), pixmap
                )
            self.page.setHtml(text)
        self.back_button.setEnabled(self._position > 0)
        self.forward_button.setEnabled(self._position < len(self._visited) - 1)
        is_tool = self.current.startswith("tool:")
        self.run_button.setVisible(is_tool)
        self.run_button.setEnabled(self._can_run)
        self.run_button.setToolTip("" if self._can_run else self.tr("Open a vault first"))

    def _filter_pages(self, text: str) -> None:
        """List the pages that contain all words; select the first, preferring matches in titles."""
        words = text.casefold().split()
        heading: QListWidgetItem | None = None
        best_item: QListWidgetItem | None = None
        for row in range(self.list.count()):
            item = self.list.item(row)
            if not item.data(_ID_ROLE):
                heading = item
                heading.setHidden(bool(words))
                continue
            page = self._pages[item.data(_ID_ROLE)]
            page_text = f"{page.title} {page.title.replace('_', ' ')} {page.text}".casefold()
            is_match = all(word in page_text for word in words)
            item.setHidden(not is_match)
            if is_match and heading is not None:
                heading.setHidden(False)
            is_in_title = all(word in page.title.casefold() for word in words)
            if is_match and (
                best_item is None or (is_in_title and words and not _is_titled(best_item, words))
            ):
                best_item = item
        if words and best_item is not None:
            self.list.setCurrentItem(best_item)

    def _resolve(self, name: str) -> NoteTarget | None:
        target = page_id(self._pages.values(), name)
        return NoteTarget(target) if target else None

    def _open_link(self, url: QUrl) -> None:
        """Open another page or a heading; pages have no other links."""
        if url.scheme() == "note":
            self.show_page(url.path(QUrl.ComponentFormattingOption.FullyDecoded))
        if url.hasFragment():
            self.page.scrollToAnchor(url.fragment(QUrl.ComponentFormattingOption.FullyDecoded))

    def _step(self, offset: int) -> None:
        if 0 <= self._position + offset < len(self._visited):
            self._position += offset
            self.show_page(self._visited[self._position])


def _is_titled(item: QListWidgetItem, words: Sequence[str]) -> bool:
    return all(word in item.text().casefold() for word in words)
