"""GraphView: the vault as a graph that can be walked, searched, filtered and rearranged by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QImage, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.desktop.colors import Theme
from app.desktop.graph_view.camera import Camera, Insets, fitted
from app.desktop.graph_view.canvas import Canvas
from app.desktop.graph_view.find_box import FindBox
from app.desktop.graph_view.gestures import Gestures
from app.desktop.graph_view.keys import Keys
from app.desktop.graph_view.legend import Legend
from app.desktop.graph_view.local_graph import part_of
from app.desktop.graph_view.look import ColorBy, known_relations
from app.desktop.graph_view.overlay import style
from app.desktop.graph_view.toolbar import LocalBar, Toolbar
from app.graph.builder import apply, build_from, carry
from app.graph.model import Graph, GraphDelta, Positions

_CLOSE_SCALE = 26.0
_EDGE = 12
_NARROWEST_FIND, _WIDEST_FIND = 120, 220


class GraphView(QWidget):
    """Shows one `Graph`; nodes are named by their paths outside.

    `set_graph` without positions arranges the graph from scratch and shows it as it unfolds; `arranged`
    then says that there are positions worth keeping (`positions()`), as it does after a drag.

    Signals:
        open_requested: A path, on double click or Enter; of an unresolved node the name it stands for.
        selected: The tuple of selected paths, in the order of choosing.
        context_requested: A path and the place on the screen for its menu.
        arranged: The layout has come to rest.
    """

    open_requested = Signal(str)
    selected = Signal(object)
    context_requested = Signal(str, QPoint)
    arranged = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._whole: Graph = build_from((), ())
        self._whole_positions: Positions = np.empty((0, 2), dtype=np.float32)
        self._local: tuple[str, int] | None = None
        self.canvas = Canvas(theme, self)
        self.toolbar = Toolbar(theme, self)
        self.legend = Legend(self)
        self.find_box = FindBox(theme, self)
        self.local_bar = LocalBar(theme, self)
        self._gestures = Gestures(self.canvas)
        self._keys = Keys(self.canvas)
        self.setFocusProxy(self.canvas)
        self._connect()
        style(self, theme)
        self._describe()

    # The graph

    def graph(self) -> Graph:
        """The whole graph, also while a part of it is shown."""
        return self._whole

    def positions(self) -> Positions:
        """float32 (n, 2): where the nodes of `graph()` are."""
        return self._whole_positions if self._local else self.canvas.scene.positions

    def communities(self) -> NDArray[np.int64] | None:
        """int64 (n,): the communities of `graph()`; None where nobody has looked for them."""
        return None if self._local else self.canvas.scene.communities

    def warm_up(self) -> None:
        """Load beside the window what is needed to move nodes."""
        self.canvas.layout_thread.warm_up()

    @property
    def is_arranging(self) -> bool:
        """Whether a layout from scratch is on its way; another graph would end it half done."""
        return self.canvas.is_arranging

    def set_graph(
        self,
        graph: Graph,
        positions: Positions | None = None,
        communities: NDArray[np.int64] | None = None,
    ) -> None:
        """Show another graph.

        Args:
            graph: The graph.
            positions: float32 (n, 2), nan for nodes without a place; None arranges from scratch.
            communities: int64 (n,), -1 for none, as `communities()` gave them; None has them looked for.
        """
        self._leave_local()
        self._whole = graph
        self.canvas.set_graph(graph, positions, communities)
        self._graph_changed()

    def apply_delta(self, delta: GraphDelta) -> None:
        """Show what saved notes have changed; every other node stays where it is."""
        self.update_graph(apply(self._whole, delta), dict(delta.renamed))

    def update_graph(
        self, graph: Graph, renamed: Mapping[str, str] | None = None, places: Positions | None = None
    ) -> None:
        """Show the next state of the same vault: known nodes stay, new ones come beside their neighbours.

        `places` are those that `carry` gives, where somebody has computed them already.
        """
        positions = places if places is not None else carry(self._whole, self.positions(), graph, renamed)[0]
        self._whole = graph
        if self._local is None:
            self.canvas.replace_graph(graph, positions)
        else:
            self._whole_positions = positions
            path, depth = self._local
            path = (renamed or {}).get(path, path)
            if path not in graph.rows:
                self.show_whole()
            else:
                self._local = (path, depth)
                part = part_of(graph, path, depth)
                places, _ = carry(self.canvas.scene.graph, self.canvas.scene.positions, part, renamed)
                self.canvas.replace_graph(part, places)
        self._graph_changed()

    def arrange(self) -> None:
        """Lay the graph out from scratch."""
        self.canvas.set_graph(self.canvas.scene.graph, None)

    # Local graph

    def show_local(self, path: str, depth: int = 1) -> None:
        """Show only what is at most `depth` links from `path`, arranged on its own."""
        if path not in self._whole.rows:
            return
        if self._local is None:
            self._whole_positions = self.canvas.scene.positions.copy()
        self._local = (path, depth)
        self.canvas.set_graph(part_of(self._whole, path, depth), None)
        self.local_bar.show_for(self._whole.names[self._whole.rows[path]], depth)
        self._graph_changed()
        self.select([path])

    def show_whole(self) -> None:
        """Leave the local graph."""
        if self._local is None:
            return
        path = self._local[0]
        self._leave_local()
        self.canvas.set_graph(self._whole, self._whole_positions)
        self._graph_changed()
        self.select([path] if path in self._whole.rows else [])

    def _leave_local(self) -> None:
        self._local = None
        self.local_bar.hide()

    # What is chosen, found, lit

    def selection(self) -> tuple[str, ...]:
        """The selected paths, in the order of choosing."""
        return self.canvas.scene.selected_paths()

    def select(self, paths: Iterable[str]) -> None:
        """Select `paths`; unknown ones are left out."""
        self.canvas.scene.selection = self.canvas.scene.rows(paths)
        self.canvas.wake()
        self._selection_changed()

    def set_filter(self, paths: Collection[str] | None) -> None:
        """Keep `paths` and dim the rest (or hide it, as the user chose); None ends the filter."""
        self.canvas.scene.find(paths)
        self.canvas.refresh()

    def set_pending(self, paths: Collection[str]) -> None:
        """Let the nodes glow that a change would touch which waits for an answer."""
        self.canvas.scene.pending = set(paths)
        self.canvas.wake()

    def set_changed(self, paths: Collection[str]) -> None:
        """Mark the nodes that were changed in this session."""
        self.canvas.scene.changed = set(paths)
        self.canvas.wake()

    def highlight(self, paths: Collection[str], kind: str = "changed") -> None:
        """`set_pending` or `set_changed`, by the name of what is marked."""
        {"pending": self.set_pending, "changed": self.set_changed}[kind](paths)

    # The camera

    def fly_to(self, path: str) -> None:
        """Travel to a node, close enough to read its neighbours, and select it."""
        row = self.canvas.scene.graph.rows.get(path)
        if row is None:
            return
        x, y = self.canvas.scene.positions[row].tolist()
        scale = max(self.canvas.camera.scale, _CLOSE_SCALE)
        self.canvas.eye.fly(Camera(x, y, scale), self.canvas.width())
        self.canvas.touched()
        self.select([path])

    def fit(self, paths: Collection[str] | None = None) -> None:
        """Travel to where everything, or all of `paths`, is seen."""
        canvas = self.canvas
        rows = canvas.scene.rows(paths or ())
        if not rows:
            canvas.fit()
            return
        camera = fitted(canvas.scene.positions[rows], canvas.width(), canvas.height(), 120.0, canvas.insets)
        canvas.eye.fly(camera, canvas.width())
        canvas.touched()

    def zoom(self, factor: float) -> None:
        """Glide closer by `factor` at the middle."""
        width, height = self.canvas.width(), self.canvas.height()
        self.canvas.eye.zoom(factor, width / 2, height / 2, width, height)
        self.canvas.touched()

    # Looks

    def set_theme(self, theme: Theme) -> None:
        """Paint in other colours."""
        self._theme = theme
        self.canvas.set_theme(theme)
        self.toolbar.set_theme(theme)
        self.find_box.set_theme(theme)
        self.local_bar.set_theme(theme)
        style(self, theme)
        self._show_legend()

    def set_color_by(self, by: ColorBy | None) -> None:
        """What a node's colour says; None for what suits the vault."""
        self.canvas.scene.color_by = by
        self.canvas.scene.hidden_groups.clear()
        self.canvas.restyle()
        self._show_legend()

    def show_kind(self, kind: str, on: bool) -> None:
        """Show or hide "orphans", "unresolved" or "attachment" nodes."""
        if kind == "orphans":
            self.canvas.scene.hide_orphans = not on
            self.canvas.scene.refilter()
        else:
            self.canvas.scene.hide_kind(kind, not on)
        self.canvas.refresh()

    def picture(self, width: int, height: int, ratio: float = 1.0) -> QImage:
        """The graph as it is framed now, for export at any size."""
        return self.canvas.picture(width, height, ratio)

    # Inside

    def _connect(self) -> None:
        for source in (self._gestures, self._keys):
            source.opened.connect(lambda row: self.open_requested.emit(self._path(row)))
            source.chosen.connect(self._selection_changed)
        self._gestures.context.connect(lambda row, at: self.context_requested.emit(self._path(row), at))
        self.toolbar.zoomed.connect(self.zoom)
        self.toolbar.fit_asked.connect(lambda: self.fit())
        self.toolbar.arrange_asked.connect(self.arrange)
        self.toolbar.colored.connect(self.set_color_by)
        self.toolbar.shown.connect(self.show_kind)
        self.toolbar.filtered_hidden.connect(self._hide_filtered)
        self.legend.toggled.connect(self._toggle_group)
        self.legend.folded.connect(self._lay_out)
        self.find_box.found.connect(lambda row: self.fly_to(self._path(row)))
        self.local_bar.depth_changed.connect(lambda depth: self.show_local(self._local_path(), depth))
        self.local_bar.left.connect(self.show_whole)
        self.canvas.settled.connect(self.arranged)
        self.canvas.sorted.connect(self._show_legend)
        self.canvas.shown.connect(self._show_legend)

    def _path(self, row: int) -> str:
        return self.canvas.scene.graph.paths[row]

    def _local_path(self) -> str:
        return self._local[0] if self._local else ""

    def _hide_filtered(self, hide: bool) -> None:
        self.canvas.scene.hide_filtered = hide
        self.canvas.scene.refilter()
        self.canvas.refresh()

    def _toggle_group(self, key: str, on: bool) -> None:
        self.canvas.scene.hide_group(key, not on)
        self.canvas.refresh()
        self._show_legend()

    def _graph_changed(self) -> None:
        self.find_box.set_names(self.canvas.scene.graph.names)
        self._show_legend()
        self._selection_changed()

    def _selection_changed(self) -> None:
        self._describe()
        self.selected.emit(self.selection())

    def _describe(self) -> None:
        """Tell a screen reader what is shown and chosen."""
        scene = self.canvas.scene
        if not scene.selection:
            name = f"Graph of {len(scene.graph)} notes"
            words = "Arrow keys walk along the links, Enter opens, Escape clears, plus and minus zoom."
        else:
            row = scene.selection[-1]
            neighbours = scene.graph.neighbours(row)
            listed = ", ".join(scene.graph.names[each] for each in neighbours[:12].tolist())
            kind = scene.graph.types[row] if scene.graph.kinds[row] == "note" else scene.graph.kinds[row]
            name = f"{scene.graph.names[row]}, {kind}, {len(neighbours)} links"
            words = f"Linked with {listed}" if listed else "Linked with nothing"
            if len(scene.selection) > 1:
                name = f"{len(scene.selection)} selected, last {name}"
        self.canvas.setAccessibleName(name)
        self.canvas.setAccessibleDescription(words)

    def _show_legend(self) -> None:
        scene = self.canvas.scene
        relations = known_relations(scene.graph, scene.theme)
        ratio = self.devicePixelRatioF()
        self.legend.show_groups(scene.nodes.groups, relations, scene.hidden_groups, scene.theme, ratio)
        self.toolbar.show_coloring(scene.coloring)
        self._lay_out()

    def _lay_out(self) -> None:
        """The canvas fills the view, the rest floats in its corners."""
        self.canvas.setGeometry(self.rect())
        for widget in (self.toolbar, self.local_bar):
            widget.resize(widget.sizeHint())
        width, height = self.width(), self.height()
        beside = width - self.toolbar.width() - 3 * _EDGE
        self.find_box.setFixedWidth(max(_NARROWEST_FIND, min(_WIDEST_FIND, beside)))
        self.find_box.move(_EDGE, _EDGE)
        self.toolbar.move(width - self.toolbar.width() - _EDGE, _EDGE)
        self.local_bar.move((width - self.local_bar.width()) // 2, _EDGE + self._bar_line())
        small = width < 420 or height < 320
        self.legend.setVisible(not small and self.legend.count > 0)
        self.find_box.setVisible(beside >= _NARROWEST_FIND)
        below = 0
        if not small and self.legend.count:
            self.legend.arrange(width - 2 * _EDGE)
            self.legend.move(_EDGE, height - self.legend.height() - _EDGE)
            below = self.legend.height()
        above = 0 if height < 320 else self.toolbar.height() - _EDGE // 2
        self.canvas.keep_clear(Insets(0, above, 0, below))

    def _bar_line(self) -> int:
        """How far down the local bar stands: below the others where they leave it no room."""
        free = self.width() - self.find_box.width() - self.toolbar.width() - 4 * _EDGE
        middle = self.width() - 2 * (max(self.find_box.width(), self.toolbar.width()) + 2 * _EDGE)
        return 0 if self.local_bar.width() <= min(free, middle) else self.toolbar.height() + _EDGE // 2

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's call after a change of size."""
        super().resizeEvent(event)
        self._lay_out()

    def shutdown(self) -> None:
        """End the threads for good; the view stays as it was painted. Destruction does it too."""
        self.canvas.close_layers()

    def focus_find(self) -> None:
        """Put the cursor into the search box."""
        self.find_box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.find_box.selectAll()
