"""The graph view: shows the vault as a graph that can be navigated, searched, filtered and rearranged."""

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
from app.desktop.graph.camera import Camera
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
    """Shows one `Graph`; its interface identifies nodes by their paths.

    `set_graph` without positions arranges the graph from scratch and shows the layout while it unfolds.

    Signals:
        open_requested: A path, on double-click or Enter; for a missing note its name.
        selected: The tuple of selected paths in order of selection.
        context_requested: A path (empty for the background) and the screen position for its menu.
        export_requested: "png" or "svg".
        arranged: A layout or a drag has ended, so `positions()` are worth saving.
        settings_changed: The new `GraphSettings`.
    """

    open_requested = Signal(str)
    selected = Signal(object)
    context_requested = Signal(str, QPoint)
    export_requested = Signal(str)
    arranged = Signal()
    settings_changed = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = Canvas(theme, self)
        self.annotations = Annotations(theme, self.canvas)
        self.legend = Legend(self)
        self.minimap = Minimap(theme, self.canvas)
        self.find_box = FindBox(theme, self)
        self.toolbar = Toolbar(theme, self)
        self.local_bar = LocalBar(theme, self)
        self.neighbors = NeighborList(theme, self)
        self.settings_panel = GraphSettingsPanel(theme, self)
        self.toast = Toast(self)
        self._components = ViewComponents(
            self.canvas,
            self.annotations,
            self.legend,
            self.minimap,
            self.find_box,
            self.toolbar,
            self.local_bar,
            self.neighbors,
            self.settings_panel,
            self.toast,
        )
        self.virtual_nodes = VirtualNodes()
        self.appearance = Appearance(self.canvas)
        self.layout_switch = LayoutSwitch(self.canvas, self.annotations)
        self.settings_controller = GraphSettingsController(
            self._components, self.appearance, self.layout_switch, self.virtual_nodes
        )
        self._displayed = DisplayedGraph(self.canvas, self.layout_switch, self.virtual_nodes)
        self._gestures = Gestures(self.canvas)
        self._keyboard = KeyboardNavigation(self.canvas)
        self.setFocusProxy(self.canvas)
        self._connect()
        self._describe()

    # The graph

    def graph(self) -> Graph:
        """Return the whole graph, even while a local graph is shown."""
        return self._displayed.whole_graph

    def positions(self) -> Positions:
        """Return the positions of `graph()` in the force layout, float32 (n, 2), whatever layout is shown."""
        return self._displayed.positions()

    def communities(self) -> NDArray[np.int64] | None:
        """Return the communities of `graph()`, int64 (n,); None if unknown or in a local graph."""
        return self._displayed.communities()

    def warm_up(self) -> None:
        """Load the libraries for dragging, in a thread, as soon as the pointer is over the graph."""
        self.canvas.warms_up_on_hover = True
        if self.canvas.underMouse():
            self.canvas.layout_thread.warm_up()

    @property
    def is_arranging(self) -> bool:
        """True if a layout from scratch is in progress; showing another graph would cancel it."""
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
        self._displayed.show_graph(graph, positions, communities)
        self.local_bar.hide()
        self._handle_graph_change()

    def update_graph(
        self, graph: Graph, renamed: Mapping[str, str] | None = None, positions: Positions | None = None
    ) -> None:
        """Show the next state of the same vault: known nodes stay, new ones appear next to their neighbors.

        Args:
            graph: The next state.
            renamed: New path by old path.
            positions: float32 (n, 2), the result of `transfer_positions` for `positions()`; None to compute
                it here.
        """
        self._displayed.update_graph(graph, renamed, positions)
        self.local_bar.setVisible(self.is_local)
        self._handle_graph_change()

    def refresh_virtual_nodes(self) -> None:
        """Update after tags or suggestions appeared or disappeared."""
        self.update_graph(self.graph())

    def arrange(self) -> None:
        """Arrange the displayed graph from scratch in the force layout."""
        self.layout_switch.reset()
        self.canvas.set_graph(self.canvas.scene.graph, None)
        self._handle_graph_change()

    # Local graph

    def show_local(self, paths: str | Sequence[str], depth: int = 1) -> None:
        """Show only the neighborhood of one or more paths, in a layout of its own; see `extract_subgraph`.

        The start nodes are selected. If none of the paths is in the graph, nothing changes.
        """
        starts = (paths,) if isinstance(paths, str) else tuple(paths)
        name = self._displayed.show_local(starts, depth)
        if name is None:
            return
        names = self.tr("{0} and {1} more").format(name, len(starts) - 1)
        self.local_bar.show_for(names if starts[1:] else name, depth)
        self._handle_graph_change()
        self.select(starts)

    def show_whole_graph(self) -> None:
        """Leave the local graph; its start nodes stay selected."""
        if not self._displayed.local:
            return
        paths = self._displayed.local[0]
        self._displayed.show_whole_graph()
        self.local_bar.hide()
        self._handle_graph_change()
        self.select(paths)

    @property
    def is_local(self) -> bool:
        """True if a local graph is shown."""
        return self._displayed.local is not None

    # Selection and highlights

    def selection(self) -> tuple[str, ...]:
        """Return the selected paths in order of selection."""
        return self.canvas.scene.selected_paths()

    def select(self, paths: Iterable[str]) -> None:
        """Select `paths`; unknown ones are ignored."""
        self.canvas.scene.selection = self.canvas.scene.rows(paths)
        self.canvas.run_frames()
        self._handle_selection_change()

    def set_filter(self, paths: Collection[str] | None) -> None:
        """Set a search's matches, and dim or hide the rest based on the settings; None ends the search."""
        self.appearance.set_search_result(paths)

    def set_groups(self, groups: Sequence[QueryGroup], matches: Sequence[Collection[str]]) -> None:
        """Color the matches of each group's query."""
        self.appearance.set_queries(groups, matches)
        self.update_legend()

    def set_pending(self, paths: Collection[str]) -> None:
        """Set the nodes that pending proposals would change: they glow, and all others are dimmed."""
        self.canvas.scene.pending = set(paths)
        self.appearance.set_pending(paths)

    def set_changed(self, paths: Collection[str]) -> None:
        """Mark these nodes as changed in this session."""
        self.canvas.scene.changed = set(paths)
        self.canvas.run_frames()

    # The camera

    def fly_to(self, path: str) -> None:
        """Fly to a node, close enough to read its neighbors, and select it; an unknown path is ignored."""
        row = self.canvas.scene.graph.rows.get(path)
        if row is None:
            return
        x, y = self.canvas.scene.positions[row].tolist()
        scale = max(self.canvas.camera.scale, _FLY_TO_SCALE)
        self.canvas.camera_animation.fly(Camera(x, y, scale), self.canvas.width())
        self.canvas.mark_touched()
        self.select([path])

    def fit(self, paths: Collection[str] | None = None) -> None:
        """Fly to the view that shows every visible node, or all of `paths`.

        Until the user moves it, the view is fitted again when its size changes.
        """
        self.canvas.fit(paths or ())

    def zoom(self, factor: float) -> None:
        """Zoom by `factor` around the center; a factor below 1 zooms out."""
        canvas = self.canvas
        center = canvas.width() / 2, canvas.height() / 2
        canvas.camera_animation.zoom(factor, *center, canvas.width(), canvas.height())
        canvas.mark_touched()

    # Appearance

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self._components.set_theme(theme)
        self.appearance.set_theme(theme)
        self.update_legend()

    def set_loading(self, loading: bool) -> None:
        """Set whether an empty graph says that it is loading or that it has no notes."""
        self.canvas.scene.is_loading = loading
        if not len(self.canvas.scene.graph):
            self.canvas.refresh()

    def set_color_by(self, color_by: ColorBy | None) -> None:
        """Set the property that determines colors, None for the default, and show hidden groups again."""
        self.canvas.scene.color_by = color_by
        self.canvas.scene.hidden_groups.clear()
        self.canvas.restyle()
        self.update_legend()

    # Signals and overlays

    def _connect(self) -> None:
        for source in (self._gestures, self._keyboard):
            source.open_requested.connect(lambda row: self.open_requested.emit(self._path(row)))
            source.selection_changed.connect(self._handle_selection_change)
        self._gestures.menu_requested.connect(
            lambda row, position: self.context_requested.emit(self._path(row), position)
        )
        self._gestures.lasso_changed.connect(self.annotations.show_outline)
        toolbar = self.toolbar
        toolbar.zoomed.connect(self.zoom)
        toolbar.fit_requested.connect(lambda: self.fit())
        toolbar.list_requested.connect(self.toggle_neighbors)
        toolbar.settings_requested.connect(self.toggle_settings)
        toolbar.lasso_toggled.connect(self.set_lasso_active)
        toolbar.export_requested.connect(self.export_requested)
        self._keyboard.action_requested.connect(self._run_key_action)
        self.neighbors.closed.connect(self.toggle_neighbors)
        self.neighbors.chosen.connect(self._choose_neighbor)
        self.neighbors.open_requested.connect(lambda row: self.open_requested.emit(self._path(row)))
        self.neighbors.leave_requested.connect(lambda: self.canvas.setFocus())
        self.settings_panel.closed.connect(self.toggle_settings)
        self.legend.toggled.connect(self._set_group_visible)
        self.settings_controller.changed.connect(self.settings_changed)
        self.settings_controller.color_by_changed.connect(self.set_color_by)
        self.settings_controller.virtual_nodes_changed.connect(self.refresh_virtual_nodes)
        self.settings_panel.layout_section.rearrange_requested.connect(self.arrange)
        for signal in (
            self.legend.resized,
            self.toast.visibility_changed,
            self.layout_switch.changed,
            self.settings_controller.overlays_changed,
        ):
            signal.connect(self.lay_out)
        self.find_box.chosen.connect(lambda row: self.fly_to(self._path(row)))
        self.local_bar.depth_changed.connect(self._change_depth)
        self.local_bar.leave_requested.connect(self.show_whole_graph)
        self.canvas.settled.connect(self.arranged)
        self.canvas.communities_found.connect(self.update_legend)
        self.canvas.graph_shown.connect(self.update_legend)

    def _run_key_action(self, action: str) -> None:
        """Run an action of `KeyboardNavigation.action_requested`."""
        actions: dict[str, Callable[[], object]] = {
            "list": self.toggle_neighbors,
            "settings": self.toggle_settings,
            "find": self.focus_find,
            "minimap": self.settings_controller.toggle_minimap,
            "pause": self.settings_controller.toggle_pause,
            "lasso": lambda: self.set_lasso_active(not self._gestures.is_lasso_active),
        }
        actions[action]()

    def set_lasso_active(self, active: bool) -> None:
        """Turn the lasso on or off: while it is on, a drag selects nodes."""
        self._gestures.set_lasso_active(active)
        self.toolbar.lasso.setChecked(active)

    def toggle_neighbors(self) -> None:
        """Show the selected node's links as a list and focus it, or hide the list."""
        self._show_side_panel(self.neighbors, self.neighbors.isHidden())

    def toggle_settings(self) -> None:
        """Show the graph settings and focus them, or hide them."""
        self._show_side_panel(self.settings_panel, self.settings_panel.isHidden())

    def _show_side_panel(self, panel: QWidget, visible: bool) -> None:
        """Show or hide a side panel, hide the other one, and move the focus."""
        for side_panel in (self.neighbors, self.settings_panel):
            side_panel.setVisible(visible and side_panel is panel)
        self.toolbar.list.setChecked(not self.neighbors.isHidden())
        self.toolbar.settings.setChecked(not self.settings_panel.isHidden())
        self.lay_out()
        self._list_neighbors()
        (panel if visible else self.canvas).setFocus()

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
        self.show_local(self._displayed.local[0] if self._displayed.local else (), depth)

    def _set_group_visible(self, key: str, visible: bool) -> None:
        if not self.appearance.set_entry_hidden(key, not visible):
            self.canvas.scene.set_group_hidden(key, not visible)
            self.canvas.refresh()
        self.update_legend()

    def _handle_graph_change(self) -> None:
        graph = self.canvas.scene.graph
        self.find_box.set_names(graph.names, graph.folders)
        self.appearance.reapply()
        self.settings_controller.update_for_graph()
        self.update_legend()
        self._handle_selection_change()

    def _handle_selection_change(self) -> None:
        self._describe()
        self._list_neighbors()
        self.selected.emit(self.selection())

    def _describe(self) -> None:
        """Set the accessible description of the graph and its selection."""
        name, description = accessible_text(self.canvas.scene)
        self.canvas.setAccessibleName(name)
        self.canvas.setAccessibleDescription(description)

    def update_legend(self) -> None:
        """Update the legend and place the overlays."""
        scene = self.canvas.scene
        entries, hidden = self.appearance.entries()
        relations = colored_relations(scene.graph, scene.theme)
        self.legend.show_groups(
            entries,
            relations,
            hidden,
            scene.theme,
            self.devicePixelRatioF(),
            self.appearance.size_description,
        )
        self.lay_out()

    def lay_out(self) -> None:
        """Place all overlays."""
        place_overlays(self._components, self.size())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the overlays for the new size."""
        super().resizeEvent(event)
        self.lay_out()

    def shut_down(self) -> None:
        """Stop the threads permanently, as destroying the view does; the last image stays visible."""
        self.layout_switch.animation.stop()
        self.canvas.close_layers()

    def focus_find(self) -> None:
        """Focus the search box."""
        self.find_box.setFocus(Qt.FocusReason.ShortcutFocusReason)
