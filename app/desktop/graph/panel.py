"""The graph panel of the open vault: follows the index, saves the layout and offers actions on nodes."""

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
from app.desktop.shell.command_registry import panel_title
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
_SCANNING_DEBOUNCE_MS = 1500
_RELAYOUT_DELAY_MS = 2500
_MIN_NEW_FOR_LAYOUT = 40
_NEW_SHARE_FOR_LAYOUT = 0.05
_USER_AUTHORS = ("You", "outside")


class GraphPanel(QWidget):
    """Shows the vault's graph.

    Signals:
        open_requested: A path, or the name of a missing note, and an empty fragment.
        action_requested: An action ("related", "rename", "delete", "ask", …), a path and an empty argument,
            like the files panel's signal.
        selected: The tuple of selected paths.
        search_requested: A query.
        state_changed: The return value of `state` changed.
        help_requested: The user asked for the graph's help page.
    """

    open_requested = Signal(str, str)
    action_requested = Signal(str, str, str)
    selected = Signal(object)
    search_requested = Signal(str)
    state_changed = Signal()
    help_requested = Signal()

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._theme = theme
        self._folder = Path(paths.vault_cache_folder(client.root))
        self._is_scanning = False
        self._is_settled = False
        self._added_count = 0
        self._changed_paths: set[str] = set()
        self._pending_updates = PendingUpdates()
        self._update_lock = asyncio.Lock()
        self._awaited_note = ""
        self.view = GraphView(theme.theme, self)
        self._queries = GraphQueries(client, self.view)
        self._analysis = GraphAnalysisController(client, self.view)
        self._semantic_layout = SemanticLayoutAvailability(client, self.view)
        self._exporter = GraphExport(self.view)
        self._menu = GraphMenu(client, self.view)
        self.setAccessibleName(panel_title("graph"))
        self.setFocusProxy(self.view)
        self.setMinimumWidth(240)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)
        self._update_timer = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self._update_timer.timeout.connect(self._refresh)
        self._idle_timer = QTimer(self, singleShot=True, interval=_RELAYOUT_DELAY_MS)
        self._idle_timer.timeout.connect(self._finish_first_layout)
        theme.changed.connect(self.view.set_theme)
        theme.changed.connect(self._apply_zoom)
        self._apply_zoom()
        self.view.open_requested.connect(lambda path: self.open_requested.emit(path, ""))
        self.view.selected.connect(self.selected)
        self.view.toolbar.help_requested.connect(self.help_requested)
        self.view.arranged.connect(self._save_layout)
        self.view.settings_changed.connect(self.state_changed)
        self._connect_menu()
        client.events.batch.connect(self._handle_events)
        self.loading_task = tasks.start(self.load(), owner=self, action=self.tr("show the graph"))

    def _apply_zoom(self) -> None:
        self.view.canvas.set_zoom(self._theme.zoom)

    def _connect_menu(self) -> None:
        menu = self._menu
        menu.open_requested.connect(self.view.open_requested)
        menu.action_requested.connect(lambda action, path: self.action_requested.emit(action, path, ""))
        menu.search_requested.connect(self.search_requested)
        menu.path_start_chosen.connect(self._analysis.start_path)
        menu.path_requested.connect(self._analysis.show_path)
        menu.suggestions_requested.connect(self._analysis.suggest_links)

    def state(self) -> dict[str, Any]:
        """Return the settings to save."""
        return self.view.settings_panel.settings.model_dump(mode="json")

    def restore(self, state: dict[str, Any]) -> None:
        """Apply the saved `state`, or the defaults; call it before a graph is shown."""
        settings = parse_graph_settings(state)
        self.view.settings_controller.restore(settings)
        self._queries.apply_settings(settings)

    def run_command(self, action: str) -> None:
        """Run a command: "find", "settings" (show or hide), "png" or "svg" (export)."""
        if action == "find":
            self.view.focus_find()
        elif action == "settings":
            self.view.toggle_settings()
        else:
            self._exporter.begin(action)

    async def load(self) -> None:
        """Show the graph in its saved layout, and place new nodes; index updates wait until it is done."""
        async with self._update_lock:
            await self._load()

    async def _load(self) -> None:
        graph = await self._build_graph()
        positions = await asyncio.to_thread(load_positions, self._folder, graph)
        communities = await asyncio.to_thread(load_communities, self._folder, graph)
        self._is_settled = positions is not None
        self._update_loading()
        if len(graph):
            await asyncio.to_thread(self.view.virtual_nodes.prepare, graph)
            self.view.set_graph(graph, positions, communities)
            self._idle_timer.start()
            if (
                positions is not None
                and self.view.settings_panel.settings.arrangement is not LayoutMode.FORCE
            ):
                self._analysis.apply_layout(self.view.settings_panel.settings.arrangement)

    def set_scanning(self, scanning: bool) -> None:
        """Set whether the vault is being scanned; during a scan, the graph is updated less often."""
        has_ended = self._is_scanning and not scanning
        self._is_scanning = scanning
        if scanning:
            self.view.set_loading(True)
        if has_ended:
            self._update_timer.start(_DEBOUNCE_MS)

    def _update_loading(self) -> None:
        """Show that the graph is loading if a scan is running or updates are waiting to be shown."""
        has_updates = bool(self._pending_updates) or self._update_timer.isActive()
        self.view.set_loading(self._is_scanning or has_updates)

    def show_note(self, path: str) -> None:
        """Select the active tab's note without moving the camera, as soon as it is in the graph."""
        self._awaited_note = path
        if path in self.view.graph().rows:
            self._awaited_note = ""
            self.view.select([path])

    def center_note(self, path: str) -> None:
        """Fly to a note and select it; a path that is not in the displayed graph is ignored."""
        self.view.fly_to(path)

    def filter_by(self, query: str) -> None:
        """Set the filter of the settings panel to `query`."""
        self.view.settings_controller.set(self.view.settings_panel.settings.updated(filter=query))

    def show_together(self, note_paths: Collection[str]) -> None:
        """Select these notes and fit the view to them."""
        self.view.select(note_paths)
        self.view.fit(note_paths)

    def set_search_results(self, note_paths: Collection[str]) -> None:
        """Dim or hide all nodes but a search's results; an empty collection ends the search."""
        self.view.set_filter(note_paths or None)

    def set_pending(self, note_paths: Collection[str]) -> None:
        """Set the notes that pending proposals would change; they glow, and all others are dimmed."""
        self.view.set_pending(note_paths)

    def shut_down(self) -> None:
        """Stop the graph's threads permanently."""
        self.view.shut_down()

    def hideEvent(self, event: QHideEvent) -> None:
        """Save the layout when the graph is hidden."""
        super().hideEvent(event)
        self._save_layout()

    async def _build_graph(self) -> Graph:
        """Load the index's graph data and build the graph in a thread."""
        data: GraphData = await self._client.run(lambda vault: vault.graph.data())
        return await asyncio.to_thread(build, data)

    def _refresh(self) -> None:
        if self.view.is_arranging:
            self._update_timer.start(_DEBOUNCE_MS)
            return
        tasks.start(self._update(), owner=self, action=self.tr("show the graph"))

    async def _update(self) -> None:
        async with self._update_lock:
            updates, self._pending_updates = self._pending_updates, PendingUpdates()
            try:
                await self._apply_update(updates)
            except BaseException:
                self._pending_updates.add_back(updates)
                raise
            self._update_loading()

    async def _apply_update(self, updates: PendingUpdates) -> None:
        """Compute and show an index update; compute it again if the graph was replaced in the meantime."""
        current: Graph | None = None
        while updates and current is not self.view.graph():
            current = self.view.graph()
            positions = self.view.positions().copy()
            graph, positions, renamed = await self._compute_update(current, positions, updates)
        if current is None or graph is current:
            return
        await asyncio.to_thread(self.view.virtual_nodes.prepare, graph)
        # An arrangement that started in the meantime is not interrupted; the update waits.
        if self.view.is_arranging:
            self._pending_updates.add_back(updates)
            self._update_timer.start(_DEBOUNCE_MS)
            return
        needs_layout = self._needs_layout(graph, current)
        self._added_count += _count_added(graph, current)
        if needs_layout:
            self._arrange_from_scratch(graph)
        else:
            self.view.update_graph(graph, renamed, positions)
        if self._awaited_note in graph.rows:
            self.show_note(self._awaited_note)
        self._queries.refresh()

    async def _compute_update(
        self, current: Graph, positions: Positions, updates: PendingUpdates
    ) -> tuple[Graph, Positions, dict[str, str]]:
        """Return the graph after an update, its positions and the renamed paths."""
        if updates.needs_rebuild(len(current)):
            renamed = dict(updates.renamed)
            graph = await self._build_graph()
            if not self._needs_layout(graph, current):  # A new layout replaces the positions.
                positions, _ = await asyncio.to_thread(transfer_positions, current, positions, graph, renamed)
            return graph, positions, renamed
        names = unresolved_neighbors(current, updates.touched)
        delta: GraphDelta = await self._client.run(
            lambda vault: vault.graph.delta(updates.touched, names, updates.renamed)
        )
        graph, positions = await asyncio.to_thread(advance, current, positions, delta)
        return graph, positions, dict(delta.renamed)

    def _needs_layout(self, graph: Graph, current: Graph) -> bool:
        """Return whether so many nodes are new that the whole graph needs a new layout."""
        has_doubled = len(graph) > 2 * len(current) + 8
        # During a scan, more notes arrive soon, so a new layout waits until there are many.
        share = 0.3 if self._is_scanning else _NEW_SHARE_FOR_LAYOUT
        return has_doubled or (
            not self._is_settled and self._has_outgrown_layout(graph, share, _count_added(graph, current))
        )

    def _has_outgrown_layout(self, graph: Graph, share: float, added: int = 0) -> bool:
        """Return whether over 40 nodes and links, and over `share` of the total, are new since the layout."""
        return self._added_count + added > max(_MIN_NEW_FOR_LAYOUT, share * (len(graph) + len(graph.edges)))

    def _arrange_from_scratch(self, graph: Graph) -> None:
        self._added_count = 0
        self.view.set_graph(graph, None)

    def _finish_first_layout(self) -> None:
        """Once the index has been idle for a while, improve the first layout if needed, and save it."""
        if (
            self._is_scanning
            or self.view.is_arranging
            or self._update_timer.isActive()
            or self._update_lock.locked()
        ):
            self._idle_timer.start()
            return
        if not self._is_settled and self._has_outgrown_layout(self.view.graph(), _NEW_SHARE_FOR_LAYOUT):
            self._arrange_from_scratch(self.view.graph())
        self._is_settled = True
        self._save_layout()
        self.view.warm_up()

    def _save_layout(self) -> None:
        graph, positions = self.view.graph(), self.view.positions()
        if self._is_settled and len(graph) and len(positions) == len(graph):
            communities = self.view.communities()
            if communities is not None and len(communities) != len(graph):
                communities = None
            saving = self._save(graph, positions.copy(), communities)
            tasks.start(saving, action=self.tr("save the graph's layout"))

    async def _save(self, graph: Graph, positions: Positions, communities: Communities | None) -> None:
        try:
            await asyncio.to_thread(save_positions, self._folder, graph, positions, communities)
        except OSError as error:
            log.warning("could not save the graph's layout: %s", error)

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, IndexRebuilt):
                self._pending_updates.mark_all()
            elif isinstance(event, IndexUpdated):
                self._pending_updates.add_paths(
                    path.text for path in (*event.changed, *event.removed, *event.relinked)
                )
                self._idle_timer.start()
                if not self._update_timer.isActive():
                    self._update_timer.start(_SCANNING_DEBOUNCE_MS if self._is_scanning else _DEBOUNCE_MS)
            elif isinstance(event, NotesChanged):
                self._record_changes(event)

    def _record_changes(self, event: NotesChanged) -> None:
        self._pending_updates.add_rename((source.text, target.text) for source, target in event.moved)
        if event.author not in _USER_AUTHORS:
            self._changed_paths |= {path.text for path in event.paths}
            self.view.set_changed(self._changed_paths)


def _count_added(graph: Graph, current: Graph) -> int:
    """Return how many more nodes and links the graph has than `current`."""
    return max(0, len(graph) - len(current)) + max(0, len(graph.links) - len(current.links))


def connect(panel: GraphPanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    # The graph has its own keys: moving through it must not move the focus to a note.
    panel.open_requested.connect(context.open_without_focus)
    panel.search_requested.connect(context.search)
    panel.action_requested.connect(context.run_note_command)
    panel.state_changed.connect(context.state_changed)
    panel.restore(context.saved_state("graph"))
    panel.set_scanning(context.is_scanning)
    panel.set_pending(context.pending_paths)
    context.register_state("graph", panel.state)
    context.note_shown.connect(panel.show_note)
    context.notes_found.connect(panel.set_search_results)
    context.scanning_changed.connect(panel.set_scanning)
    context.pending_changed.connect(panel.set_pending)
    context.center_requested.connect(panel.center_note)
    context.graph_filter_requested.connect(panel.filter_by)
    context.pair_requested.connect(panel.show_together)
    context.closing.connect(panel.shut_down)
