"""The handbook view: a searchable list of the pages, and the page, rendered like a note."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.desktop.help.addresses import page_address
from app.desktop.help.handbook import HelpPage
from app.desktop.help.pages import ABOUT, SHORTCUTS, page_id, shortcuts_page
from app.desktop.shell.keymap import Keymap
from app.desktop.theme.app_icon import app_icon
from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.item_opening import connect_open
from app.desktop.widgets.panel import ElidedLabel, SearchField, ThemedButton
from app.desktop.widgets.reading_view import ReadingView, Rendered
from app.desktop.widgets.web_address import open_address
from app.errors import NotFoundError
from app.vault.markdown.render import render
from app.vault.markdown.render_values import NoteTarget, RenderColors

_ID_ROLE = Qt.ItemDataRole.UserRole
_TOOL = "tool:"
_ICON = "drawing:app-icon"
_ICON_SIZE = 64
_CONTENTS_WIDTH = 220
_ITEM_HEIGHT = 28
# A narrower view shows either the list or the page.
_MIN_WIDTH_FOR_BOTH = 560
_MAX_WIDTH = 16_777_215  # Qt's own limit


class HandbookView(QWidget):
    """Shows one page at a time; the owner decides what happens when the user chooses another.

    Args:
        theme: The current theme.
        can_run: Whether tools can be run, because a vault is open.
        parent: The parent.

    Signals:
        open_requested: The address of a page, and a heading.
        search_requested: A query for the notes of the vault.
        tool_requested: The name of a tool that the user wants to run with its form.

    Attributes:
        current: The id of the page; empty if none is current.
        page_column: The column of the page, in which an owner may place a bar.
        header_row: The row above the list and the page, in which an owner may place buttons.
    """

    open_requested = Signal(str, str)
    search_requested = Signal(str)
    tool_requested = Signal(str)

    def __init__(self, theme: ThemeSource, can_run: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.current = ""
        self._pages: dict[str, HelpPage] = {}
        self._theme = theme
        self._can_run = can_run
        self._is_wide = False
        self._build()
        self._connect()
        theme.changed.connect(self._apply_theme)

    def _build(self) -> None:
        theme = self._theme
        self.header = QWidget(self)
        self.header.setObjectName("panelTitle")
        self.header.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.contents_button = ThemedButton(theme, "list", self.tr("Contents"), self.header)
        self.contents_button.setCheckable(True)
        self._title_label = ElidedLabel(parent=self.header)
        badge = QLabel(self.tr("Read-only"), self.header)
        badge.setProperty("badge", "quiet")
        self.header_row = QHBoxLayout(self.header)
        self.header_row.setContentsMargins(4, 4, 12, 4)
        self.header_row.setSpacing(2)
        self.header_row.addWidget(self.contents_button)
        self.header_row.addWidget(self._title_label)
        self.header_row.addStretch(1)
        self.header_row.addWidget(badge, 0, Qt.AlignmentFlag.AlignVCenter)
        self.contents = QWidget(self)
        self.contents.setObjectName("page")
        self.contents.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.search = SearchField(theme, self.tr("Search the handbook"), self.contents)
        self.list = QListWidget(self.contents)
        self.list.setObjectName("sections")
        self.list.setAccessibleName(self.tr("Pages"))
        contents_column = QVBoxLayout(self.contents)
        contents_column.setContentsMargins(12, 12, 12, 12)
        contents_column.setSpacing(8)
        contents_column.addWidget(self.search)
        contents_column.addWidget(self.list, 1)
        self._body = QWidget(self)
        self.page = ReadingView(theme, self._body)
        self.page.setAccessibleName(self.tr("Page"))
        self.run_button = QPushButton(self.tr("Run tool…"), self._body)
        self.run_button.setEnabled(self._can_run)
        self.run_button.setToolTip("" if self._can_run else self.tr("Open a vault first"))
        self.run_button.hide()
        self.page_column = QVBoxLayout(self._body)
        self.page_column.setContentsMargins(0, 0, 0, 0)
        self.page_column.setSpacing(0)
        self.page_column.addWidget(self.page, 1)
        run_row = QHBoxLayout()
        run_row.setContentsMargins(12, 0, 12, 0)
        run_row.addStretch(1)
        run_row.addWidget(self.run_button)
        self.page_column.addLayout(run_row)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.contents)
        row.addWidget(self._body, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addLayout(row, 1)
        self._fit()

    def _connect(self) -> None:
        self.contents_button.toggled.connect(lambda _: self._fit())
        self.search.textChanged.connect(self._filter_pages)
        self.search.returnPressed.connect(lambda: self._open_item(self.list.currentItem()))
        connect_open(self.list, lambda index: self._open_item(self.list.itemFromIndex(index)))
        self.page.note_clicked.connect(self._request)
        self.page.tag_clicked.connect(lambda tag: self.search_requested.emit(f"tag:{tag}"))
        self.page.web_clicked.connect(lambda address: open_address(self, address))
        self.run_button.clicked.connect(lambda: self.tool_requested.emit(self.current.removeprefix(_TOOL)))

    def set_pages(self, pages: Iterable[HelpPage]) -> None:
        """Replace the pages; those of a group are together. If the current page is gone, none is current."""
        self._pages = {page.id: page for page in pages}
        if self.current not in self._pages:
            self.current = ""
            self.run_button.hide()
        self.list.clear()
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
        self._filter_pages(self.search.text())

    def _add(self, item: QListWidgetItem) -> None:
        item.setSizeHint(self._item_size())
        self.list.addItem(item)

    def _item_size(self) -> QSize:
        return QSize(0, round(_ITEM_HEIGHT * self._theme.zoom))

    def _apply_theme(self, _theme: Theme) -> None:
        for row in range(self.list.count()):
            self.list.item(row).setSizeHint(self._item_size())
        self._fit()
        self.refresh()

    def show_keymap(self, keymap: Keymap) -> None:
        """List these shortcuts on their page, which `refresh` or `show_page` renders."""
        self._pages[SHORTCUTS] = replace(self._pages[SHORTCUTS], text=shortcuts_page(keymap))

    @property
    def title(self) -> str:
        """The title of the page; empty if none is current."""
        return self._pages[self.current].title if self.current else ""

    def has_page(self, page: str) -> bool:
        """Return whether there is a page with this id."""
        return page in self._pages

    def show_page(self, page: str, heading: str = "") -> None:
        """Show the page with this id, at a heading.

        Raises:
            NotFoundError: There is no such page.
        """
        if page not in self._pages:
            raise NotFoundError(self.tr("The handbook has no page named {0}.").format(page), name=page)
        self.current = page
        self._title_label.setText(self.title)
        self.run_button.setVisible(page.startswith(_TOOL))
        self._select_current()
        self.reveal_page()
        self.refresh()
        if heading:
            self.page.go_to(heading)

    def reveal_page(self) -> None:
        """Hide the list if it hides the page."""
        if not self._is_wide:
            self.contents_button.setChecked(False)

    def take_focus(self) -> None:
        """Move focus to the page, or to the search if the list hides the page."""
        (self.search if self._body.isHidden() else self.page).setFocus()

    def refresh(self) -> None:
        """Render the page again, in the colors of the current theme."""
        if not self.current:
            return
        theme = self._theme.theme
        html = render(self._pages[self.current].text, self._resolve, RenderColors.of(theme))
        images: dict[str, QImage] = {}
        if self.current == ABOUT:
            html = f'<p><img src="{_ICON}"></p>{html}'
            image = app_icon(theme).pixmap(2 * _ICON_SIZE).toImage()
            image.setDevicePixelRatio(image.width() / _ICON_SIZE)
            images[_ICON] = image
        self.page.show_rendered(Rendered(html, images), page_address(self.current))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the list next to the page if both fit, or one of them."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        is_wide = self.width() >= round(_MIN_WIDTH_FOR_BOTH * self._theme.zoom)
        if is_wide != self._is_wide:
            self._is_wide = is_wide
            self.contents_button.setChecked(is_wide)
        shows_contents = self.contents_button.isChecked()
        self.contents.setMaximumWidth(round(_CONTENTS_WIDTH * self._theme.zoom) if is_wide else _MAX_WIDTH)
        self.contents.setVisible(shows_contents)
        self._body.setVisible(is_wide or not shows_contents)

    def _items(self) -> tuple[QListWidgetItem, ...]:
        """Return the items of pages, without the headings of groups."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return tuple(item for item in items if item.data(_ID_ROLE))

    def _select_current(self) -> None:
        item = next(item for item in self._items() if item.data(_ID_ROLE) == self.current)
        # A link may lead to a page that the search has filtered out.
        if item.isHidden():
            self.search.clear()
        self.list.setCurrentItem(item)

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
        if words:
            self.list.setCurrentRow(-1 if best_item is None else self.list.row(best_item))
        elif self.current:
            self._select_current()

    def _open_item(self, item: QListWidgetItem | None) -> None:
        if item is not None and item.data(_ID_ROLE):
            self._request(item.data(_ID_ROLE))

    def _request(self, page: str, heading: str = "") -> None:
        self.open_requested.emit(page_address(page), heading)

    def _resolve(self, name: str) -> NoteTarget | None:
        target = page_id(self._pages.values(), name)
        return NoteTarget(target) if target else None


def _is_titled(item: QListWidgetItem, words: Sequence[str]) -> bool:
    return all(word in item.text().casefold() for word in words)
