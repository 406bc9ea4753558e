"""GraphView shows the vault as a graph that can be navigated, searched, filtered and rearranged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.desktop.graph.accessibility import accessible_text
from app.desktop.graph.annotations import Annotations
from app.desktop.graph.appearance import Appearance
from app.desktop.graph.camera import Camera, fit_camera
from app.desktop.graph.canvas import Canvas
from app.desktop.graph.displayed_graph import DisplayedGraph
from app.desktop.graph.interaction.gestures import Gestures
from app.desktop.graph.interaction.keyboard import KeyboardNavigation, bring_into_view
from app.desktop.graph.layout_switch import LayoutSwitch
from app.desktop.graph.node_style import ColorBy, colored_relations
from app.desktop.graph.overlay_layout import place_overlays
from app.desktop.graph.overlays.find_box import FindBox
from app.desktop.graph.overlays.legend import Legend
from app.desktop.graph.overlays.minimap import Minimap
from app.desktop.graph.overlays.neighbor_list import NeighborList
from app.desktop.graph.overlays.toast import Toast
from app.desktop.graph.overlays.toolbar import LocalBar, Toolbar
from app.desktop.graph.settings.model import QueryGroup
from app.desktop.graph.settings_controller import GraphSettingsController
from app.desktop.graph.settings_panel import GraphSettingsPanel
from app.desktop.graph.view_components import ViewComponents
from app.desktop.graph.virtual_nodes import VirtualNodes
from app.desktop.theme.colors import Theme
from app.graph.model import Graph, Positions

_FLY_TO_SCALE = 26.0


class GraphView(QWidget):
    """Shows one `Graph`; its interface names nodes by their paths.

    `set_graph` without positions arranges the graph from scratch and shows it as it unfolds; `arranged` then
    reports that `positions()` are worth saving, as it does after a drag.

    Signals:
        open_requested: A path, on double-click or Enter; for a missing note its name.
        selected: The tuple of selected paths in order of selection.
        context_requested: A path (empty for the background) and the screen position for its menu.
        export_requested: "png" or "svg".
        arranged: The layout has settled.
        choices_changed: The `Choices` of the settings panel, after every edit.
    """

    open_requested = Signal(str)
    selected = Signal(object)
    context_requested = Signal(str, QPoint)
    export_requested = Signal(str)
    arranged = Signal()
    choices_changed = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.canvas = Canvas(theme, self)
        self.annotations = Annotations(theme, self.canvas)
        self.legend = Legend(self)
        self.minimap = Minimap(theme, self.canvas)
        self.find_box = FindBox(theme, self)
        self.toolbar = Toolbar(theme, self)
        self.local_bar = LocalBar(theme, self)
        self.neighbors = NeighborList(theme, self)
        self.sheet = GraphSettingsPanel(theme, self)
        self.note = Toast(self)
        self._parts = ViewComponents(
            self.canvas,
            self.annotations,
            self.legend,
            self.minimap,
            self.find_box,
            self.toolbar,
            self.local_bar,
            self.neighbors,
            self.sheet,
            self.note,
        )
        self.decoration = VirtualNodes()
        self.appearance = Appearance(self.canvas)
        self.arranging = LayoutSwitch(self.canvas, self.annotations)
        self.chosen = GraphSettingsController(self._parts, self.appearance, self.arranging, self.decoration)
        self._shown = DisplayedGraph(self.canvas, self.arranging, self.decoration)
        self._gestures = Gestures(self.canvas)
        self._keys = KeyboardNavigation(self.canvas)
        self.setFocusProxy(self.canvas)
        self._connect()
        self._describe()

    # The graph

    def graph(self) -> Graph:
        """Return the whole graph, also while a part of it is shown."""
        return self._shown.whole

    def positions(self) -> Positions:
        """Return the positions of `graph()` by links, float32 (n, 2), also in another arrangement."""
        return self._shown.positions()

    def communities(self) -> NDArray[np.int64] | None:
        """Return the communities of `graph()`, int64 (n,); None if they were not computed."""
        return self._shown.communities()

    def warm_up(self) -> None:
        """Load in a thread what dragging nodes needs, once the pointer is over the graph."""
        self.canvas.loads_for_pointer = True
        if self.canvas.underMouse():
            self.canvas.layout_thread.warm_up()

    @property
    def is_arranging(self) -> bool:
        """Return whether a layout from scratch is in progress; showing another graph would cancel it."""
        return self.canvas.is_arranging

    def set_graph(
        self,
        graph: Graph,
        positions: Positions | None = None,
        communities: NDArray[np.int64] | None = None,
    ) -> None:
        """Show another graph.

        Args:
            graph: The new graph.
            positions: float32 (n, 2), nan for nodes without a position; None arranges from scratch.
            communities: int64 (n,), -1 for none, as `communities()` returned them; None to compute them.
        """
        self._shown.show_graph(graph, positions, communities)
        self.local_bar.hide()
        self._graph_changed()

    def update_graph(
        self, graph: Graph, renamed: Mapping[str, str] | None = None, places: Positions | None = None
    ) -> None:
        """Show the next state of the same vault: known nodes stay, new ones appear next to their neighbors.

        `places` are the positions that `carry` returned for `positions()`, if they were computed already.
        """
        self._shown.update_graph(graph, renamed, places)
        self.local_bar.setVisible(self.is_local)
        self._graph_changed()

    def redecorate(self) -> None:
        """Update after tags or suggestions appeared or disappeared."""
        self.update_graph(self.graph())

    def arrange(self) -> None:
        """Arrange the graph from scratch by its links."""
        self.arranging.reset()
        self.canvas.set_graph(self.canvas.scene.graph, None)
        self._graph_changed()

    # Local graph

    def show_local(self, paths: str | Sequence[str], depth: int = 1) -> None:
        """Show only what is at most `depth` links from one or several paths, arranged separately."""
        listed = (paths,) if isinstance(paths, str) else tuple(paths)
        name = self._shown.show_local(listed, depth)
        if name is None:
            return
        several = self.tr("{0} and {1} more").format(name, len(listed) - 1)
        self.local_bar.show_for(several if listed[1:] else name, depth)
        self._graph_changed()
        self.select(listed)

    def show_whole(self) -> None:
        """Leave the local graph."""
        if not self._shown.local:
            return
        paths = self._shown.local[0]
        self._shown.show_whole()
        self.local_bar.hide()
        self._graph_changed()
        self.select(paths)

    @property
    def is_local(self) -> bool:
        """Return whether only a part is shown."""
        return self._shown.local is not None

    # Selection and highlights

    def selection(self) -> tuple[str, ...]:
        """Return the selected paths in order of selection."""
        return self.canvas.scene.selected_paths()

    def select(self, paths: Iterable[str]) -> None:
        """Select `paths`; unknown ones are ignored."""
        self.canvas.scene.selection = self.canvas.scene.rows(paths)
        self.canvas.run_frames()
        self._selection_changed()

    def set_filter(self, paths: Collection[str] | None) -> None:
        """Keep the results of a search and dim or hide the rest, as the user chose; None ends it."""
        self.appearance.find(paths)

    def set_groups(self, groups: Sequence[QueryGroup], found: Sequence[Collection[str]]) -> None:
        """Color what each group's query finds."""
        self.appearance.set_queries(groups, found)
        self.show_legend()

    def set_pending(self, paths: Collection[str]) -> None:
        """Let the nodes glow that a pending change would touch, and dim all others."""
        self.canvas.scene.pending = set(paths)
        self.appearance.await_answer(paths)

    def set_changed(self, paths: Collection[str]) -> None:
        """Mark the nodes that changed in this session."""
        self.canvas.scene.changed = set(paths)
        self.canvas.run_frames()

    # The camera

    def fly_to(self, path: str) -> None:
        """Fly to a node, close enough to read its neighbors, and select it."""
        row = self.canvas.scene.graph.rows.get(path)
        if row is None:
            return
        x, y = self.canvas.scene.positions[row].tolist()
        scale = max(self.canvas.camera.scale, _FLY_TO_SCALE)
        self.canvas.eye.fly(Camera(x, y, scale), self.canvas.width())
        self.canvas.mark_touched()
        self.select([path])

    def fit(self, paths: Collection[str] | None = None) -> None:
        """Move to where everything, or all of `paths`, is visible."""
        canvas = self.canvas
        if not (rows := canvas.scene.rows(paths or ())):
            canvas.fit()
            return
        camera = fit_camera(
            canvas.scene.positions[rows], canvas.width(), canvas.height(), 120.0, canvas.insets
        )
        canvas.eye.fly(camera, canvas.width())
        canvas.mark_touched()

    def zoom(self, factor: float) -> None:
        """Zoom in by `factor` around the center."""
        canvas = self.canvas
        middle = canvas.width() / 2, canvas.height() / 2
        canvas.eye.zoom(factor, *middle, canvas.width(), canvas.height())
        canvas.mark_touched()

    # Looks

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self._theme = theme
        self._parts.set_theme(theme)
        self.appearance.set_theme(theme)
        self.show_legend()

    def set_loading(self, loading: bool) -> None:
        """Set what an empty graph says: that it is loading, or that there are no notes."""
        self.canvas.scene.is_loading = loading
        if not len(self.canvas.scene.graph):
            self.canvas.refresh()

    def set_color_by(self, by: ColorBy | None) -> None:
        """Set the property that colors show; None for the vault's default."""
        self.canvas.scene.color_by = by
        self.canvas.scene.hidden_groups.clear()
        self.canvas.restyle()
        self.show_legend()

    # Helpers

    def _connect(self) -> None:
        for source in (self._gestures, self._keys):
            source.opened.connect(lambda row: self.open_requested.emit(self._path(row)))
            source.chosen.connect(self._selection_changed)
        self._gestures.context.connect(lambda row, at: self.context_requested.emit(self._path(row), at))
        self._gestures.outlined.connect(self.annotations.show_outline)
        bar = self.toolbar
        bar.zoomed.connect(self.zoom)
        bar.fit_asked.connect(lambda: self.fit())
        bar.list_asked.connect(self.toggle_neighbors)
        bar.sheet_asked.connect(self.toggle_sheet)
        bar.lasso_turned.connect(self.take_lasso)
        bar.exported.connect(self.export_requested)
        self._keys.asked.connect(self._run_key_action)
        self.neighbors.closed.connect(self.toggle_neighbors)
        self.neighbors.chosen.connect(self._choose_neighbor)
        self.neighbors.opened.connect(lambda row: self.open_requested.emit(self._path(row)))
        self.neighbors.left.connect(lambda: self.canvas.setFocus())
        self.sheet.closed.connect(self.toggle_sheet)
        self.legend.toggled.connect(self._toggle_group)
        self.chosen.changed.connect(self.choices_changed)
        self.chosen.colored.connect(self.set_color_by)
        self.chosen.decorated.connect(self.redecorate)
        self.sheet.arrange.rearrange_requested.connect(self.arrange)
        for moved in (self.legend.folded, self.note.turned, self.arranging.changed, self.chosen.resized):
            moved.connect(self.lay_out)
        self.find_box.found.connect(lambda row: self.fly_to(self._path(row)))
        self.local_bar.depth_changed.connect(self._change_depth)
        self.local_bar.left.connect(self.show_whole)
        self.canvas.settled.connect(self.arranged)
        self.canvas.sorted.connect(self.show_legend)
        self.canvas.shown.connect(self.show_legend)

    def _run_key_action(self, what: str) -> None:
        """Run the action of a key on the canvas."""
        deeds: dict[str, Callable[[], object]] = {
            "list": self.toggle_neighbors,
            "sheet": self.toggle_sheet,
            "find": self.focus_find,
            "minimap": self.chosen.toggle_minimap,
            "pause": self.chosen.toggle_pause,
            "lasso": lambda: self.take_lasso(not self._gestures.lassoing),
        }
        deeds[what]()

    def take_lasso(self, on: bool) -> None:
        """Let a drag select by a lasso, or move the view as usual."""
        self._gestures.take_lasso(on)
        self.toolbar.lasso.setChecked(on)

    def toggle_neighbors(self) -> None:
        """Show the links of the selected node as a list with the focus in it; or hide it."""
        self._show_side(self.neighbors, self.neighbors.isHidden())

    def toggle_sheet(self) -> None:
        """Show the settings of the graph with the focus in them; or hide them."""
        self._show_side(self.sheet, self.sheet.isHidden())

    def _show_side(self, part: QWidget, shown: bool) -> None:
        """Show one side panel at a time."""
        for each in (self.neighbors, self.sheet):
            each.setVisible(shown and each is part)
        self.toolbar.list.setChecked(not self.neighbors.isHidden())
        self.toolbar.sheet.setChecked(not self.sheet.isHidden())
        self.lay_out()
        self._list_neighbors()
        (part if shown else self.canvas).setFocus()

    def _list_neighbors(self) -> None:
        scene = self.canvas.scene
        if not self.neighbors.isHidden():
            self.neighbors.follow(scene.graph, scene.selection[-1] if scene.selection else -1)

    def _choose_neighbor(self, row: int) -> None:
        self.select([self._path(row)])
        bring_into_view(self.canvas, row)

    def _path(self, row: int) -> str:
        return self.canvas.scene.graph.paths[row] if row >= 0 else ""

    def _change_depth(self, depth: int) -> None:
        self.show_local(self._shown.local[0] if self._shown.local else (), depth)

    def _toggle_group(self, key: str, on: bool) -> None:
        if not self.appearance.hide(key, not on):
            self.canvas.scene.hide_group(key, not on)
            self.canvas.refresh()
        self.show_legend()

    def _graph_changed(self) -> None:
        graph = self.canvas.scene.graph
        self.find_box.set_names(graph.names, graph.folders)
        self.appearance.graph_changed()
        self.chosen.graph_changed()
        self.show_legend()
        self._selection_changed()

    def _selection_changed(self) -> None:
        self._describe()
        self._list_neighbors()
        self.selected.emit(self.selection())

    def _describe(self) -> None:
        """Set the accessible description of the graph and its selection."""
        name, words = accessible_text(self.canvas.scene)
        self.canvas.setAccessibleName(name)
        self.canvas.setAccessibleDescription(words)

    def show_legend(self) -> None:
        """Show the current meaning of the colors."""
        scene = self.canvas.scene
        entries, hidden = self.appearance.entries()
        relations = colored_relations(scene.graph, scene.theme)
        look = scene.theme, self.devicePixelRatioF(), self.appearance.size_words
        self.legend.show_groups(entries, relations, hidden, *look)
        self.lay_out()

    def lay_out(self) -> None:
        """Place all overlays."""
        place_overlays(self._parts, self.size())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the overlays in the new size."""
        super().resizeEvent(event)
        self.lay_out()

    def shutdown(self) -> None:
        """Stop the threads for good; the view keeps its last picture. Destroying the view does it, too."""
        self.arranging.glide.stop()
        self.canvas.close_layers()

    def focus_find(self) -> None:
        """Focus the search box."""
        self.find_box.setFocus(Qt.FocusReason.ShortcutFocusReason)
