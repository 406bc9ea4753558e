"""Search: results while typing, with the lines they are in; a bad query shows where it is bad."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel, QListView, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.desktop import tasks
from app.desktop.bridge import VaultClient
from app.desktop.hits import ROW_ROLE, HitPainter, Hits, Row
from app.desktop.panel import EmptyState, Panel, SearchField, ThemedButton
from app.desktop.theme import ThemeSource, code_font
from app.errors import QueryError
from app.events import Event
from app.index.records import IndexUpdated, SearchPage, WordsIndexed

_TYPING_MS = 120
_PAGE = 50


class SearchPanel(Panel):
    """A field and its results.

    `open_requested` carries a note's path and the fragment `line=N`; `found` the paths of all shown hits,
    which the graph may mark.
    """

    open_requested = Signal(str, str)
    found = Signal(object)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._client = client
        self._theme = theme
        self._round = 0
        self.title.set_text(self.tr("Search"))
        self.setAccessibleName(self.tr("Search"))
        help_button = ThemedButton(theme, "question", self.tr("What a search can say"))
        help_button.clicked.connect(self._show_help)
        self.title.add(help_button)
        self._build()
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self._start)
        self.field.textChanged.connect(lambda: self._typing.start())
        self.field.returnPressed.connect(self._enter)
        self.list.activated.connect(self._open)
        self.list.clicked.connect(self._open)
        self.more.clicked.connect(self._append)
        client.events.batch.connect(self._notice)
        self._show_help()

    def search(self, query: str) -> None:
        """Search for `query` now, as if it had been typed."""
        self.field.setText(query)
        self.focus_field()
        self._typing.stop()
        self._start()

    def focus_field(self) -> None:
        """Give the field the focus, with its text marked."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _build(self) -> None:
        self.field = SearchField(self._theme, self.tr("Search notes"))
        self.error = QLabel()
        self.error.setProperty("tone", "danger")
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        self.error.setWordWrap(True)
        self.where = QLabel()
        self.where.setTextFormat(Qt.TextFormat.PlainText)
        self.where.setProperty("tone", "danger")
        self.explained = QLabel()
        self.explained.setProperty("tone", "faint")
        self.explained.setWordWrap(True)
        bar = QVBoxLayout()
        bar.setContentsMargins(8, 8, 8, 4)
        bar.setSpacing(6)
        for widget in (self.field, self.where, self.error, self.explained):
            bar.addWidget(widget)
            widget.setVisible(widget is self.field)
        self.model = Hits(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(HitPainter(self._theme, self.list))
        self.list.setAccessibleName(self.tr("Search results"))
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.more = QPushButton(self.tr("Show more"))
        self.more.setProperty("role", "quiet")
        self.more.hide()
        self.empty = EmptyState(self._theme, "magnifying-glass", "", "")
        self._stack = QStackedWidget()
        self._stack.addWidget(self.list)
        self._stack.addWidget(self.empty)
        self.column.addLayout(bar)
        self.column.addWidget(self._stack, 1)
        self.column.addWidget(self.more)

    def _start(self) -> None:
        tasks.start(self._search(), owner=self, what=self.tr("search"))

    async def _search(self) -> None:
        """Search for what the field says; an answer that comes after a newer question is dropped."""
        query = self.field.text().strip()
        self._round += 1
        mine = self._round
        if not query:
            self._show_help()
            return
        try:
            page = await self._client.run(lambda workspace: workspace.index.search(query, limit=_PAGE))
        except QueryError as error:
            if mine == self._round:
                self._show_error(query, error)
            return
        if mine == self._round:
            self._show(page)

    def _append(self) -> None:
        tasks.start(self._next_page(), owner=self, what=self.tr("search"))

    async def _next_page(self) -> None:
        query, mine = self.field.text().strip(), self._round
        shown = sum(row.snippet is None for row in self.model.rows)
        page = await self._client.run(
            lambda workspace: workspace.index.search(query, limit=_PAGE, offset=shown)
        )
        if mine == self._round:
            self.model.append(page.hits)
            self.more.setVisible(bool(page.hits) and shown + len(page.hits) < page.total)

    def _show(self, page: SearchPage) -> None:
        self._clear_error()
        self.model.show(page.hits)
        self.title.set_count(f"{page.total:,}")
        self.explained.setText(page.explained)
        self.explained.setVisible(bool(page.explained))
        self.more.setVisible(len(page.hits) < page.total)
        if page.hits:
            self._stack.setCurrentWidget(self.list)
        else:
            self.empty.say(self.tr("Nothing found"), self.tr("No note matches. Try fewer or other words."))
            self._stack.setCurrentWidget(self.empty)
        self.found.emit(tuple(hit.path.text for hit in page.hits))

    def _show_error(self, query: str, error: QueryError) -> None:
        """Show the query with a caret under the place; what was found before stays."""
        position = error.data.get("position")
        if isinstance(position, int):
            start = max(0, position - 16)
            lead = "…" if start else ""
            caret = " " * (len(lead) + position - start) + "^"
            self.where.setFont(code_font(self._theme.zoom))
            self.where.setText(f"{lead}{query[start : position + 16]}\n{caret}")
        self.where.setVisible(isinstance(position, int))
        self.error.setText(error.message)
        self.error.show()
        self.explained.hide()
        self._mark_field(invalid=True)

    def _clear_error(self) -> None:
        self.error.hide()
        self.where.hide()
        self._mark_field(invalid=False)

    def _mark_field(self, invalid: bool) -> None:
        if self.field.property("invalid") != invalid:
            self.field.setProperty("invalid", invalid)
            self.field.style().polish(self.field)

    def _show_help(self) -> None:
        self._clear_error()
        self.model.show(())
        self.title.set_count("")
        self.explained.hide()
        self.more.hide()
        self.empty.say(
            self.tr("Search all notes"),
            self.tr(
                "Words must all occur. Use \"exact words\", OR, -without and (groups), "
                "tag:project, path:folder, file:name, [property:value]."
            ),
        )
        self._stack.setCurrentWidget(self.empty)
        self.found.emit(())

    def _enter(self) -> None:
        if self._typing.isActive() or not self.model.rows:
            self._typing.stop()
            self._start()
        else:
            self.list.setFocus()
            self.list.setCurrentIndex(self.model.index(0, 0))

    def _open(self, index: QModelIndex) -> None:
        row: Row = index.data(ROW_ROLE)
        fragment = f"line={row.snippet.line}" if row.snippet else ""
        self.open_requested.emit(row.hit.path.text, fragment)

    def _notice(self, events: tuple[Event, ...]) -> None:
        """Results follow the vault while nobody is in them."""
        in_use = self.list.hasFocus() or self._typing.isActive()
        follows = bool(self.field.text().strip()) and self.isVisible() and not in_use
        if follows and any(isinstance(event, IndexUpdated | WordsIndexed) for event in events):
            self._typing.start()
