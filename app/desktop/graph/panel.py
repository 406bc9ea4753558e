"""The graph panel of the open vault: follows the index, keeps the layout and offers actions on nodes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import paths
from app.desktop.bridge import VaultClient
from app.desktop.graph.analysis_controller import GraphAnalysisController
from app.desktop.graph.export import GraphExport
from app.desktop.graph.menus import GraphMenu
from app.desktop.graph.queries import GraphQueries
from app.desktop.graph.semantic_availability import SemanticLayoutAvailability
from app.desktop.graph.settings.model import LayoutMode, parse_graph_settings
from app.desktop.graph.view import GraphView
from app.desktop.runtime import tasks
from app.desktop.shell.panel_context import PanelContext
from app.desktop.theme.theme import ThemeSource
from app.events import Event
from app.graph.builder import build
from app.graph.incremental_update import advance
from app.graph.model import Graph, GraphDelta, Positions
from app.graph.pending_updates import PendingUpdates, unresolved_neighbors
from app.graph.position_transfer import transfer_positions
from app.graph.positions import Communities, load_communities, load_positions, save_positions
from app.index.records import GraphData, IndexRebuilt, IndexUpdated
from app.vault.store import NotesChanged

log = logging.getLogger(__name__)
_DEBOUNCE_MS = 120
_READING_DEBOUNCE_MS = 1500
_RELAYOUT_DELAY_MS = 2500
_MIN_NEW_FOR_LAYOUT = 40
_NEW_SHARE_FOR_LAYOUT = 0.05
_USER_AUTHORS = ("You", "outside")


class GraphPanel(QWidget):
    """Shows the vault's graph.

    `open_requested` carries a note's path, or the name of a missing one, and an empty fragment.
    `act_requested` carries an action ("related", "rename", "delete", "ask", …) and a path, as that of the
    files panel does; `selected` the tuple of selected paths; `search_requested` a query; `kept` is emitted
    when `state` changed.
    """

    open_requested = Signal(str, str)
    act_requested = Signal(str, str, str)
    selected = Signal(object)
    search_requested = Signal(str)
    kept = Signal()
    help_requested = Signal()

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._theme = theme
        self._folder = Path(paths.vault_cache_folder(client.root))
        self._reading = False
        self._is_settled = False
        self._added = 0
        self._changed: set[str] = set()
        self._news = PendingUpdates()
        self._updating = asyncio.Lock()
        self._front = ""
        self.view = GraphView(theme.theme, self)
        self._queries = GraphQueries(client, self.view)
        self._analysis = GraphAnalysisController(client, self.view)
        self._meaning = SemanticLayoutAvailability(client, self.view)
        self._export = GraphExport(self.view)
        self._menu = GraphMenu(client, self.view)
        self.setAccessibleName(self.tr("Graph"))
        self.setFocusProxy(self.view)
        self.setMinimumWidth(240)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)
        self._settle = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self._settle.timeout.connect(self._refresh)
        self._quiet = QTimer(self, singleShot=True, interval=_RELAYOUT_DELAY_MS)
        self._quiet.timeout.connect(self._come_to_rest)
        theme.changed.connect(self.view.set_theme)
        theme.changed.connect(self._apply_zoom)
        self._apply_zoom()
        self.view.open_requested.connect(lambda path: self.open_requested.emit(path, ""))
        self.view.selected.connect(self.selected)
        self.view.toolbar.help_asked.connect(self.help_requested)
        self.view.arranged.connect(self._save_layout)
        self.view.choices_changed.connect(self.kept)
        self._connect_menu()
        client.events.batch.connect(self._handle_events)
        self.filling = tasks.start(self.load(), owner=self, what=self.tr("show the graph"))

    def _apply_zoom(self) -> None:
        self.view.canvas.set_zoom(self._theme.zoom)

    def _connect_menu(self) -> None:
        menu = self._menu
        menu.open_requested.connect(self.view.open_requested)
        menu.act.connect(lambda what, path: self.act_requested.emit(what, path, ""))
        menu.searched.connect(self.search_requested)
        menu.path_from.connect(self._analysis.begin_path)
        menu.path_between.connect(self._analysis.ask_path)
        menu.suggest_for.connect(self._analysis.ask_suggestions)

    def state(self) -> dict[str, Any]:
        """The settings to keep for the next start."""
        return self.view.sheet.choices.model_dump(mode="json")

    def restore(self, state: dict[str, Any]) -> None:
        """Apply the kept `state` or the defaults; called before a graph is shown."""
        choices = parse_graph_settings(state)
        self.view.chosen.restore(choices)
        self._queries.restore(choices)

    def run_command(self, what: str) -> None:
        """Run a command: "find", "sheet" (show or hide it), or export a "png" or "svg"."""
        if what == "find":
            self.view.focus_find()
        elif what == "sheet":
            self.view.toggle_sheet()
        else:
            self._export.begin(what)

    async def load(self) -> None:
        """Show the graph at its saved positions and arrange the rest; index updates wait until it is done."""
        async with self._updating:
            await self._load()

    async def _load(self) -> None:
        graph = await self._graph()
        places = await asyncio.to_thread(load_positions, self._folder, graph)
        communities = await asyncio.to_thread(load_communities, self._folder, graph)
        self._is_settled = places is not None
        self.view.set_loading(self._reading)
        if len(graph):
            await asyncio.to_thread(self.view.decoration.prepare, graph)
            self.view.set_graph(graph, places, communities)
            self._quiet.start()
            if places is not None and self.view.sheet.choices.arrangement is not LayoutMode.FORCE:
                self._analysis.arrange(self.view.sheet.choices.arrangement)

    def set_reading(self, reading: bool) -> None:
        """Set whether the vault is being read; the graph then updates in larger steps."""
        ended = self._reading and not reading
        self._reading = reading
        if reading:
            self.view.set_loading(True)
        if ended:
            self._settle.start(_DEBOUNCE_MS)

    def show_note(self, path: str) -> None:
        """Mark the note in the front tab without moving the camera; a new note as soon as it exists."""
        self._front = path
        if path in self.view.graph().rows:
            self._front = ""
            self.view.select([path])

    def center_note(self, path: str) -> None:
        """Fly to a note."""
        self.view.fly_to(path)

    def filter_by(self, query: str) -> None:
        """Filter by a search, as the filter in the settings panel does."""
        self.view.chosen.set(self.view.sheet.choices.updated(filter=query))

    def show_together(self, paths: Collection[str]) -> None:
        """Select these notes and move to where all of them are visible."""
        self.view.select(paths)
        self.view.fit(paths)

    def set_found(self, found: Collection[str]) -> None:
        """Keep the results of a search bright; no results end it."""
        self.view.set_filter(found or None)

    def set_pending(self, touched: Collection[str]) -> None:
        """Let the notes glow that pending requests would change."""
        self.view.set_pending(touched)

    def shut_down(self) -> None:
        """Stop the layout's thread."""
        self.view.shutdown()

    def hideEvent(self, event: QHideEvent) -> None:
        """Save the layout when the graph is hidden."""
        super().hideEvent(event)
        self._save_layout()

    async def _graph(self) -> Graph:
        """Return the graph of the index, built in a thread."""
        data: GraphData = await self._client.run(lambda vault: vault.graph.data())
        return await asyncio.to_thread(build, data)

    def _refresh(self) -> None:
        if self.view.is_arranging:
            self._settle.start(_DEBOUNCE_MS)
            return
        tasks.start(self._update(), owner=self, what=self.tr("show the graph"))

    async def _update(self) -> None:
        async with self._updating:
            news, self._news = self._news, PendingUpdates()
            try:
                await self._apply_update(news)
            except BaseException:
                self._news.add_back(news)
                raise
            self.view.set_loading(self._reading)

    async def _apply_update(self, news: PendingUpdates) -> None:
        """Show an index update; the cost depends on its size, not on that of the vault."""
        shown: Graph | None = None
        while news and shown is not self.view.graph():
            shown = self.view.graph()
            places = self.view.positions().copy()
            graph, places, renamed = await self._after(shown, places, news)
        if shown is None or graph is shown:
            return
        await asyncio.to_thread(self.view.decoration.prepare, graph)
        # An arrangement that started meanwhile is not interrupted; the update waits.
        if self.view.is_arranging:
            self._news.add_back(news)
            self._settle.start(_DEBOUNCE_MS)
            return
        wants_layout = self._wants_layout(graph, shown)
        self._added += _more(graph, shown)
        if wants_layout:
            self._arrange(graph)
        else:
            self.view.update_graph(graph, renamed, places)
        if self._front in graph.rows:
            self.show_note(self._front)
        self._queries.refresh()

    async def _after(
        self, shown: Graph, places: Positions, news: PendingUpdates
    ) -> tuple[Graph, Positions, dict[str, str]]:
        """Return the graph after an update, its positions and the renamed paths."""
        if news.needs_rebuild(len(shown)):
            renamed = dict(news.renamed)
            graph = await self._graph()
            if not self._wants_layout(graph, shown):  # else no place of today is needed
                places, _ = await asyncio.to_thread(transfer_positions, shown, places, graph, renamed)
            return graph, places, renamed
        names = unresolved_neighbors(shown, news.touched)
        delta: GraphDelta = await self._client.run(
            lambda vault: vault.graph.delta(news.touched, names, news.renamed)
        )
        graph, places = await asyncio.to_thread(advance, shown, places, delta)
        return graph, places, dict(delta.renamed)

    def _wants_layout(self, graph: Graph, shown: Graph) -> bool:
        """Return whether so much is new that the whole graph needs a new layout."""
        grown = len(graph) > 2 * len(shown) + 8
        # While the vault is read, more notes follow soon: a new layout waits until many have arrived.
        share = 0.3 if self._reading else _NEW_SHARE_FOR_LAYOUT
        return grown or (not self._is_settled and self._is_heap(graph, share, _more(graph, shown)))

    def _is_heap(self, graph: Graph, share: float, more: int = 0) -> bool:
        """Return whether most nodes and links arrived after the current layout was computed."""
        return self._added + more > max(_MIN_NEW_FOR_LAYOUT, share * (len(graph) + len(graph.edges)))

    def _arrange(self, graph: Graph) -> None:
        self._added = 0
        self.view.set_graph(graph, None)

    def _come_to_rest(self) -> None:
        """Arrange a vault that was read for the first time, once the index has been quiet for a while."""
        if self._reading or self.view.is_arranging or self._settle.isActive() or self._updating.locked():
            self._quiet.start()
            return
        if not self._is_settled and self._is_heap(self.view.graph(), _NEW_SHARE_FOR_LAYOUT):
            self._arrange(self.view.graph())
        self._is_settled = True
        self._save_layout()
        self.view.warm_up()

    def _save_layout(self) -> None:
        graph, places = self.view.graph(), self.view.positions()
        if self._is_settled and len(graph) and len(places) == len(graph):
            communities = self.view.communities()
            if communities is not None and len(communities) != len(graph):
                communities = None
            work = self._save(graph, places.copy(), communities)
            tasks.start(work, what=self.tr("keep the graph's layout"))

    async def _save(self, graph: Graph, places: Positions, communities: Communities | None) -> None:
        try:
            await asyncio.to_thread(save_positions, self._folder, graph, places, communities)
        except OSError as error:
            log.warning("the graph's layout could not be kept: %s", error)

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, IndexRebuilt):
                self._news.mark_all()
            elif isinstance(event, IndexUpdated):
                self._news.add_paths(path.text for path in (*event.changed, *event.removed, *event.relinked))
                self._quiet.start()
                if not self._settle.isActive():
                    self._settle.start(_READING_DEBOUNCE_MS if self._reading else _DEBOUNCE_MS)
            elif isinstance(event, NotesChanged):
                self._record_changes(event)

    def _record_changes(self, event: NotesChanged) -> None:
        self._news.add_rename((old.text, new.text) for old, new in event.moved)
        if event.author not in _USER_AUTHORS:
            self._changed |= {path.text for path in event.paths}
            self.view.set_changed(self._changed)


def _more(graph: Graph, shown: Graph) -> int:
    """Return how many nodes and links were added."""
    return max(0, len(graph) - len(shown)) + max(0, len(graph.links) - len(shown.links))


def connect(panel: GraphPanel, context: PanelContext) -> None:
    """Connect the panel with the window and the other panels."""
    # The graph has its own keys: moving along it must not move the focus to a note.
    panel.open_requested.connect(context.open_without_focus)
    panel.search_requested.connect(context.search)
    panel.act_requested.connect(context.run_note_command)
    panel.kept.connect(context.state_changed)
    panel.restore(context.saved_state("graph"))
    panel.set_reading(context.reading)
    panel.set_pending(context.pending_paths)
    context.register_state("graph", panel.state)
    context.note_shown.connect(panel.show_note)
    context.notes_found.connect(panel.set_found)
    context.reading_changed.connect(panel.set_reading)
    context.pending_changed.connect(panel.set_pending)
    context.center_requested.connect(panel.center_note)
    context.graph_filter_requested.connect(panel.filter_by)
    context.pair_requested.connect(panel.show_together)
    context.closing.connect(panel.shut_down)
