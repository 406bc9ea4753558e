"""The search panel: results as the user types, and query errors with their position."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QListView, QStackedWidget, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.desktop.search.delegate import SearchResultDelegate
from app.desktop.search.model import ROW_ROLE, SearchResultRow, SearchResultsModel
from app.desktop.search.query_error import QueryErrorView
from app.desktop.search.query_explanation import QueryExplanationView
from app.desktop.search.query_field import QueryField
from app.desktop.search.save_button import SaveSearchButton
from app.desktop.search.sort_button import SortButton
from app.desktop.search.start_page import SearchStartPage
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.item_opening import connect_open
from app.desktop.widgets.panel import EmptyState, Panel, ThemedButton
from app.errors import QueryError, TimeoutExpiredError
from app.events import Event
from app.index.records import IndexUpdated, SearchPage
from app.index.saved_searches import SavedSearch
from app.index.semantic_query import to_semantic_query

_TYPING_DELAY_MS = 25
_RESTING_DELAY_MS = 150
_SEMANTIC_DELAY_MS = 250  # Semantic search runs a model, which is too slow to run after each keystroke.
_UNFINISHED_DELAY_MS = 900
_FIRST_PAGE_SIZE, _PAGE_SIZE = 20, 50
_MAX_KEPT_HITS = 500
_MAX_MARKED_HITS = 5000


class SearchPanel(Panel):
    """A query field and its results.

    Signals:
        open_requested: A note's path and the fragment `line=N`, which is empty for a heading row.
        hits_changed: The paths of the hits, which the graph may highlight.
        filter_requested: A query to filter the graph by.
    """

    open_requested = Signal(str, str)
    hits_changed = Signal(object)
    filter_requested = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("search"), parent)
        self._client = client
        self._theme = theme
        self._page: SearchPage | None = None
        self._query = self._query_text = ""  # the last query, and the typed text that it was built from
        self._search_task: asyncio.Task[None] | None = None
        self._is_fetching = False
        self._should_focus_results = False
        self._build_title()
        self._build()
        self._search_timer = QTimer(self, singleShot=True, interval=_TYPING_DELAY_MS)
        self._connect()
        self._show_start()
        self.save_button.load()

    def search_saved(self, name: str) -> None:
        """Run the saved search with this name, if it exists."""
        tasks.start(self._run_saved(name), owner=self, action=self.tr("run the saved search"))

    async def _run_saved(self, name: str) -> None:
        searches = await self._client.run(lambda vault: vault.searches.list_searches())
        for saved in searches:
            if saved.name == name:
                self._search_saved(saved)

    def search(self, query: str) -> None:
        """Search for `query` now, as if it had been typed."""
        self.field.setText(query)
        self.focus_field()
        self._start_search()

    def focus_field(self) -> None:
        """Focus the field and select its text."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def _build_title(self) -> None:
        self.sort_button = SortButton(self._theme)
        self.save_button = SaveSearchButton(self._client, self._theme, self.sort_button)
        self.sort_button.changed.connect(self._start_search)
        self.explain_button = ThemedButton(self._theme, "tree-structure", self.tr("Explain this search"))
        self.explain_button.setCheckable(True)
        self.explain_button.toggled.connect(self._show_explanation)
        self.semantic_button = ThemedButton(
            self._theme, "circles-three", self.tr("Semantic search: find notes by meaning (Ctrl+M)")
        )
        self.semantic_button.setCheckable(True)
        self.semantic_button.toggled.connect(lambda _: self._start_search())
        key = QShortcut(QKeySequence("Ctrl+M"), self, self.semantic_button.toggle)
        key.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        for button in (self.save_button, self.sort_button, self.explain_button):
            self.title.add(button)

    def _build(self) -> None:
        self.field = QueryField(self._theme, self.tr("Search notes"))
        self.problem = QueryErrorView(self._theme)
        self.explanation = QueryExplanationView(self._theme)
        bar = QVBoxLayout()
        bar.setContentsMargins(8, 8, 8, 4)
        bar.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(2)
        row.addWidget(self.field, 1)
        row.addWidget(self.semantic_button)
        bar.addLayout(row)
        for widget in (self.problem, self.explanation):
            bar.addWidget(widget)
            widget.hide()
        self.model = SearchResultsModel(self)
        self._stack = QStackedWidget(self)
        self.list = _HitList(self._stack)
        self.list.setModel(self.model)
        self.list.setItemDelegate(SearchResultDelegate(self._theme, self.list))
        self.list.setAccessibleName(self.tr("Search results"))
        self.start_page = SearchStartPage(self._theme, self._stack)
        self.empty = EmptyState(
            self._theme,
            "magnifying-glass",
            self.tr("No matches"),
            self.tr("Try fewer or different words."),
            parent=self._stack,
        )
        for page in (self.start_page, self.list, self.empty):
            self._stack.addWidget(page)
        self.column.addLayout(bar)
        self.column.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self._search_timer.timeout.connect(self._start_search)
        self.field.textChanged.connect(self._schedule_search)
        self.field.returnPressed.connect(self._go_to_results)
        self.field.moved_down.connect(self._focus_first_row)
        client = self._client
        self.field.set_suggest(
            lambda text, cursor: client.run(lambda vault: vault.search.suggest(text, cursor))
        )
        connect_open(self.list, self._open)
        self.list.moved_up.connect(self.focus_field)
        bar = self.list.verticalScrollBar()
        bar.valueChanged.connect(self._fetch_near_end)
        bar.rangeChanged.connect(self._fetch_near_end)
        self.start_page.search_requested.connect(self._search_saved)
        self.start_page.example_chosen.connect(self._insert_example)
        self.start_page.command_requested.connect(self.save_button.run_command)
        self.start_page.filter_requested.connect(self.filter_requested)
        self.save_button.searches_changed.connect(self.start_page.show_searches)
        self._client.events.batch.connect(self._handle_events)

    def _schedule_search(self) -> None:
        self._should_focus_results = False
        if self._search_task is not None:
            self._search_task.cancel()
        self._search_timer.start(_SEMANTIC_DELAY_MS if self.semantic_button.isChecked() else _TYPING_DELAY_MS)

    def _start_search(self) -> None:
        self._search_timer.stop()
        if self._search_task is not None:
            self._search_task.cancel()
        self._search_task = tasks.start(self._search(), owner=self, action=self.tr("search"))

    async def _search(self) -> None:
        """Show the first hits for the field's text, then the details that take longer."""
        typed = self.field.text()
        try:
            query = self._effective_query(typed)
        except QueryError as error:
            await self._show_query_error(typed, error)
            return
        # The query is repeated after notes have changed: keep the scroll position.
        is_repeated = self._page is not None and query == self._query
        limit = (
            max(_FIRST_PAGE_SIZE, min(self.model.hit_count, _MAX_KEPT_HITS))
            if is_repeated
            else _FIRST_PAGE_SIZE
        )
        scroll_position = self.list.verticalScrollBar().value() if is_repeated else 0
        self._query, self._query_text = query, typed
        self.save_button.set_query(query)
        if not query.strip():
            self._show_start()
            return
        order, group = self.sort_button.order, self.sort_button.grouping
        try:
            page = await self._client.run(
                lambda vault: vault.search.search(query, limit, order=order, group=group, exact=False)
            )
        except QueryError as error:
            await self._show_query_error(typed if query == typed else "", error)
            return
        except TimeoutExpiredError as error:
            self.problem.show_error(query, None, error.message)
            return
        self._show(page)
        self.list.verticalScrollBar().setValue(scroll_position)
        await self._load_details(query, page)

    def _effective_query(self, typed: str) -> str:
        """Return the query for the typed text.

        Raises:
            QueryError: The text is not a valid query.
        """
        return to_semantic_query(typed) if self.semantic_button.isChecked() else typed

    async def _show_query_error(self, query: str, error: QueryError) -> None:
        """Show why `query` is invalid; an empty one means that the error is not in the typed text."""
        is_unfinished = bool(query) and error.data.get("position") == len(query)
        if is_unfinished and self.field.hasFocus():
            await asyncio.sleep(_UNFINISHED_DELAY_MS / 1000)  # canceled by further typing
        self._show_problem(query, error)

    async def _load_details(self, query: str, page: SearchPage) -> None:
        """Load the details that take longer: the hits in the graph, the total, and the explanation."""
        # Canceled by further typing, so that a large graph is not redrawn for each keystroke.
        await asyncio.sleep(_RESTING_DELAY_MS / 1000)
        self.hits_changed.emit(tuple(hit.path.text for hit in page.hits))
        with suppress(TimeoutExpiredError):  # The hits that are shown remain useful.
            if not page.exact:
                total = await self._client.run(lambda vault: vault.search.count(query))
                self._show_count(total)
            elif len(page.hits) < page.total <= _MAX_MARKED_HITS:
                paths = await self._client.run(lambda vault: vault.search.matching(query))
                self.hits_changed.emit(tuple(path.text for path in paths))
        if self.explain_button.isChecked():
            await self._explain(query)

    def _show(self, page: SearchPage) -> None:
        self._page = page
        self._clear_problem()
        self.model.show(page.hits, page.groups)
        self._show_count(page.total, exact=page.exact)
        self._stack.setCurrentWidget(self.list if page.hits else self.empty)
        if self._should_focus_results and page.hits:
            self._focus_first_row()
        self._should_focus_results = False

    def _show_count(self, total: int, *, exact: bool = True) -> None:
        count = PluralText("SearchPanel", "{0} note", "{0} notes")
        at_least = PluralText("SearchPanel", "{0}+ note", "{0}+ notes")
        self.title.set_count((count if exact else at_least).format(total))

    def _fetch_near_end(self) -> None:
        """Fetch the next page of hits before the user scrolls to the end."""
        bar, page = self.list.verticalScrollBar(), self._page
        is_near_end = bar.value() + 2 * bar.pageStep() >= bar.maximum()
        has_more = page is not None and (self.model.hit_count < page.total or not page.exact)
        if has_more and is_near_end and not self._is_fetching and self._stack.currentWidget() is self.list:
            self._is_fetching = True
            tasks.start(self._fetch(), owner=self, action=self.tr("search"))

    async def _fetch(self) -> None:
        page, query, offset = self._page, self._query, self.model.hit_count
        order, group = self.sort_button.order, self.sort_button.grouping
        try:
            next_page = await self._client.run(
                lambda vault: vault.search.search(
                    query, _PAGE_SIZE, offset, order=order, group=group, exact=False
                )
            )
            if page is self._page and page is not None:
                if not next_page.hits:
                    self._page = None
                self.model.append(next_page.hits, next_page.groups)
        finally:
            self._is_fetching = False
        self._fetch_near_end()  # more rows may fit, or there may be other hits now

    def _show_problem(self, query: str, error: QueryError) -> None:
        """Show the query with the position of the error; the earlier results stay."""
        position = error.data.get("position") if query else None
        self.problem.show_error(query, position if isinstance(position, int) else None, error.message)
        self.explanation.hide()
        self._mark_field(invalid=True)

    def _clear_problem(self) -> None:
        self.problem.hide()
        self.explanation.setVisible(self.explain_button.isChecked())
        self._mark_field(invalid=False)

    def _mark_field(self, *, invalid: bool) -> None:
        if self.field.property("invalid") != invalid:
            self.field.setProperty("invalid", invalid)
            self.field.style().polish(self.field)

    def _show_start(self) -> None:
        self._page = None
        self._clear_problem()
        self.explanation.hide()
        self.model.show(())
        self.title.set_count("")
        self._stack.setCurrentWidget(self.start_page)
        self.hits_changed.emit(())

    def _show_explanation(self, visible: bool) -> None:
        self.explanation.setVisible(visible and bool(self._query.strip()) and self.problem.isHidden())
        if visible and self._query.strip():
            tasks.start(self._explain(self._query), owner=self, action=self.tr("explain the search"))

    async def _explain(self, query: str) -> None:
        try:
            part = await self._client.run(lambda vault: vault.search.explain(query))
        except (QueryError, TimeoutExpiredError):
            return  # the search has already reported this
        if query == self._query:
            self.explanation.show_part(part)

    def _insert_example(self, example: str) -> None:
        """Append an example to the field's text."""
        text = self.field.text()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.setText(f"{text} {example}" if text.strip() else example)
        if example.endswith(":"):
            self.field.complete()

    def _search_saved(self, saved: SavedSearch) -> None:
        self.sort_button.choose(saved.order, saved.group)
        self.semantic_button.blockSignals(True)
        self.semantic_button.setChecked(False)  # a saved query already contains its operators
        self.semantic_button.blockSignals(False)
        self.search(f"{saved.query} ")

    def _go_to_results(self) -> None:
        """Move the focus to the hits for the typed text as soon as they are loaded."""
        if self._search_timer.isActive() or self._query_text != self.field.text():
            self._should_focus_results = True
            self._start_search()
        elif self.model.rows:
            self._focus_first_row()

    def _focus_first_row(self) -> None:
        view = self._stack.currentWidget()
        if isinstance(view, QListView):
            view.setFocus(Qt.FocusReason.TabFocusReason)
            first_row = 1 if view is self.start_page or (self.model.rows and self.model.rows[0].group) else 0
            view.setCurrentIndex(view.model().index(first_row, 0))

    def _open(self, index: QModelIndex) -> None:
        row: SearchResultRow = index.data(ROW_ROLE)
        if row.hidden_lines:
            tasks.start(self._expand(row, index.row()), owner=self, action=self.tr("list the lines"))
        elif row.group is None:
            fragment = f"line={row.snippet.line}" if row.snippet else ""
            self.open_requested.emit(row.hit.path.text, fragment)

    async def _expand(self, row: SearchResultRow, row_number: int) -> None:
        """Show all lines of a hit, and select the first new one."""
        query = self._query
        lines = await self._client.run(lambda vault: vault.search.lines(query, row.hit.path))
        self.model.expand(row.hit, lines)
        self.list.setCurrentIndex(self.model.index(row_number, 0))

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        """Repeat the search after changes in the vault, unless the user is in the results or typing."""
        is_in_use = self.list.hasFocus() or self._search_timer.isActive()
        should_repeat = bool(self.field.text().strip()) and self.isVisible() and not is_in_use
        if should_repeat and any(isinstance(event, IndexUpdated) for event in events):
            self._search_timer.start()


class _HitList(QListView):
    """The results list; Escape, and Up in the first row, return to the field."""

    moved_up = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit `moved_up` for Escape, and for Up in the first row."""
        is_first_row = self.currentIndex().row() <= 0
        if event.key() == Qt.Key.Key_Escape or (event.key() == Qt.Key.Key_Up and is_first_row):
            self.moved_up.emit()
        else:
            super().keyPressEvent(event)


def connect(panel: SearchPanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)
    panel.hits_changed.connect(context.notes_found)
    panel.filter_requested.connect(context.filter_graph)
    context.query_requested.connect(panel.search)
    context.saved_search_requested.connect(panel.search_saved)
    context.search_focus_requested.connect(panel.focus_field)
