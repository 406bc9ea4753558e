"""The canvas: holds the scene, the camera and the layers, and renders frames while something moves.

Frames are rendered only while something is animated, or while an image or positions are pending. A worker
renders the links to an image; nodes and labels are painted in every frame, so they are always sharp.
"""

from __future__ import annotations

import time
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.desktop.graph.analysis.community_finder import CommunityFinder
from app.desktop.graph.animation import CameraAnimation, Fade
from app.desktop.graph.camera import Camera, Insets, fit_camera, free_size
from app.desktop.graph.highlight_mixin import HighlightMixin
from app.desktop.graph.layout_thread import LayoutThread, combine_stops
from app.desktop.graph.render.edge_renderer import MARGIN_SHARE
from app.desktop.graph.render.frame_timer import FrameTimer
from app.desktop.graph.render.labels import LabelRenderer
from app.desktop.graph.render.layers import Layers, Motion, draw_static_image
from app.desktop.graph.render.overview import GraphOverview, GraphOverviewRenderer
from app.desktop.graph.scene import Scene
from app.desktop.theme.colors import Theme
from app.graph.force_params import ForceParams
from app.graph.layout_fitting import sunflower_positions
from app.graph.model import Graph, Positions

_TOUCH_TIMEOUT_S = 0.02
_START_SPACING = 2.5
# Highlights of more nodes than this do not fade, because each frame would draw all of their links.
_MAX_FADED_NODES = 20_000
_SELECTION_MARGIN = 120.0


class Canvas(HighlightMixin):
    """Paints the scene.

    Signals:
        settled: A layout or a drag has ended.
        camera_moved: The camera has moved.
        communities_found: Communities were found, so colors changed.
        graph_shown: A different graph is in the scene.
        overview_changed: The thumbnail of the whole graph has changed.
    """

    graph_shown = Signal()
    settled = Signal()
    camera_moved = Signal()
    communities_found = Signal()
    overview_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Scene(theme), parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(160, 120)
        self.camera_animation = CameraAnimation()
        self.layers = Layers(self.scene, self.font(), self.devicePixelRatioF())
        self._community_finder = CommunityFinder(self.scene, self.layers.edges)
        self._overview_renderer = GraphOverviewRenderer(self.scene, self.layers.edges)
        self.layout_thread = LayoutThread()
        self.warms_up_on_hover = False
        self.destroyed.connect(combine_stops(self.layout_thread.stop, self.layers.close))
        self.dim = Fade()
        self.glow_phase = 0.0
        self.bright_rows: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.rubber_band: QRectF | None = None
        self.dragged_rows: NDArray[np.int64] | None = None
        self._is_closed = False
        self.insets = Insets()
        self.forces = ForceParams()
        self._follows_layout = self._is_untouched = True
        self._fitted_paths: tuple[str, ...] = ()
        self._is_arranging = False
        self._is_stale = True
        self._nodes_are_moving = self._edges_are_draft = False
        self._touched_at = 0.0
        self._frames = FrameTimer(self, self._run_frame, self._is_waiting_for_edges)
        self.highlights_changed.connect(self._show_highlights)

    @property
    def labels(self) -> LabelRenderer:
        """The label renderer."""
        return self.layers.labels

    # The graph

    def set_graph(
        self, graph: Graph, positions: Positions | None, communities: NDArray[np.int64] | None = None
    ) -> None:
        """Show `graph` at `positions` (nodes at NaN are placed), or arrange it from scratch.

        If `communities` are not given, they are computed when the colors need them.
        """
        self.layers.edges.discard()
        self._is_untouched, self._fitted_paths = True, ()
        if positions is not None and not np.isnan(positions).any():
            start_positions = positions.copy()
        else:
            # Start with an evenly filled disc until the layout has better positions; otherwise all
            # nodes would overlap.
            start_positions = sunflower_positions(len(graph), _START_SPACING)
        self.scene.set_graph(graph, start_positions, communities=communities)
        self.graph_shown.emit()
        self.layers.renew()
        self._clear_rows()
        self._nodes_are_moving = True
        self.layout_thread.start(graph, positions, aspect=self.page_aspect(), forces=self.forces)
        self.camera_animation.set(self.fit_camera())
        self._is_arranging = self._follows_layout = positions is None
        self.find_communities()
        self.refresh()
        # Scheduled frames wait for the image of the links, which takes a long time to draw at first.
        self.update()

    def replace_graph(self, graph: Graph, positions: Positions) -> None:
        """Show the next state of the same graph; the camera stays where it is."""
        previous_graph = self.scene.graph
        self.scene.set_graph(graph, positions.copy(), is_update=True)
        self.layers.replace(previous_graph)
        self._clear_rows()
        start_positions = None if self._is_arranging else positions
        self.layout_thread.start(graph, start_positions, aspect=self.page_aspect(), forces=self.forces)
        self.find_communities()
        self.refresh()

    def _show_highlights(self, redraw: bool) -> None:
        """Update after a change to the highlights of nodes."""
        self.layers.resize()
        self._light_path()
        self._is_stale = self._is_stale or redraw
        self.run_frames()

    def _clear_rows(self) -> None:
        """Clear the row numbers of the previous graph."""
        self.dim.value = self.dim.target = 0.0
        self.bright_rows = np.empty(0, dtype=np.int32)
        self.dragged_rows = None
        self._light_path()

    def set_zoom(self, zoom: float) -> None:
        """Apply the interface's zoom factor."""
        if zoom != self.layers.zoom:
            self.layers.renew(zoom=zoom)
            self.run_frames()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self.scene.theme = theme
        self.restyle()
        self.layers.renew()

    def restyle(self) -> None:
        """Update after a change to colors or their meaning."""
        self.scene.restyle()
        self.find_communities()
        self.refresh()

    def find_communities(self) -> None:
        """Find communities if the colors need them; `communities_found` is emitted afterwards."""
        if self._community_finder.start():
            self.run_frames()

    def set_forces(self, forces: ForceParams) -> None:
        """Relax the layout with new forces."""
        self.forces = forces
        self.layout_thread.set_forces(forces)
        self._nodes_are_moving = True
        self.run_frames()

    def refresh(self) -> None:
        """Request a new image after a change to nodes or links."""
        self._is_stale = True
        self.run_frames()

    def run_frames(self) -> None:
        """Render frames until nothing moves."""
        if self._is_closed or not self._frames.isActive():
            self.update()
        if not self._is_closed:
            self._frames.ensure_started()

    # The camera

    @property
    def is_arranging(self) -> bool:
        """True if a layout from scratch is in progress."""
        return self._is_arranging

    @property
    def camera(self) -> Camera:
        """The current camera."""
        return self.camera_animation.camera

    def fit_camera(self) -> Camera:
        """Return the camera that shows all visible nodes, or the nodes that were fitted last."""
        scene, size = self.scene, (self.width(), self.height())
        if rows := scene.rows(self._fitted_paths):
            return fit_camera(scene.positions[rows], *size, _SELECTION_MARGIN, self.insets)
        visible = scene.positions if scene.is_whole else scene.positions[scene.strength > 0.0]
        return fit_camera(visible, *size, insets=self.insets)

    def fit(self, paths: Collection[str] = ()) -> None:
        """Fly to the view that shows all visible nodes, or those at `paths`.

        The view stays fitted when its size changes, until the user moves it.
        """
        self._fitted_paths = tuple(paths)
        self.camera_animation.fly(self.fit_camera(), self.width())
        self.mark_touched()
        self._is_untouched = True

    def center_on(self, x: float, y: float) -> None:
        """Center a position (layout units) at the current scale."""
        self.camera_animation.set(Camera(x, y, self.camera.scale))
        self.mark_touched()

    def viewport(self) -> QRectF:
        """Return the visible rectangle of the layout, in layout units."""
        width, height = self.width() / self.camera.scale, self.height() / self.camera.scale
        return QRectF(self.camera.x - width / 2, self.camera.y - height / 2, width, height)

    def keep_clear(self, insets: Insets) -> None:
        """Set the parts that overlays cover; a view that the user has not moved is fitted again."""
        if insets != self.insets:
            self.insets = insets
            self._refit()

    def _refit(self) -> None:
        if self._is_untouched and self.dragged_rows is None:
            self.camera_animation.set(self.fit_camera())
            self.refresh()

    def page_aspect(self) -> float:
        """Return the aspect ratio (width by height) available to a layout; 1 while the canvas is hidden."""
        width, height = free_size(self.width(), self.height(), self.insets)
        return width / height if self.isVisible() else 1.0

    def _refit_if_outside(self) -> None:
        """Fit the whole graph again if nodes have left a view that the user has not moved."""
        shows_whole = self._is_untouched and not self._fitted_paths
        if not shows_whole or self.dragged_rows is not None or self.camera_animation.is_moving:
            return
        visible = self.scene.positions[self.scene.strength > 0.0]
        pixels = self.camera.to_screen(visible, self.width(), self.height())
        if len(pixels) and ((pixels < 0).any() or (pixels > (self.width(), self.height())).any()):
            self.camera_animation.fly(self.fit_camera(), self.width())

    def mark_touched(self) -> None:
        """Record that the camera was moved, so that it no longer follows the layout; emit `camera_moved`."""
        self._follows_layout = self._is_untouched = False
        self._touched_at = time.perf_counter()
        self.refresh()
        self.camera_moved.emit()

    # Frames

    def hover(self, row: int) -> None:
        """Highlight a node and its neighbors; -1 ends the highlight."""
        if row == self.scene.hovered:
            return
        self.scene.hovered = row
        had_many_nodes = len(self.bright_rows) > _MAX_FADED_NODES
        if row >= 0:
            self.bright_rows = self.scene.bright_rows()
        self.dim.target = 1.0 if row >= 0 else 0.0
        self._light_path()
        if had_many_nodes or len(self.bright_rows) > _MAX_FADED_NODES:
            self.dim.value = self.dim.target
        self.run_frames()

    def _light_path(self) -> None:
        """Highlight the nodes on the path while no node is hovered."""
        path = self.scene.highlights.path
        if path and self.scene.hovered < 0:
            self.bright_rows = np.array(path, dtype=np.int32)
            self.dim.target = 1.0
        elif not path and self.scene.hovered < 0:
            self.dim.target = 0.0

    def _is_waiting_for_edges(self) -> bool:
        """Return whether a frame would have nothing new to show until the links are drawn."""
        edges = self.layers.edges
        return (
            edges.is_busy
            and not edges.is_ready
            and (self._is_everything_moving or not (self._nodes_are_moving or self._is_animating()))
        )

    def _run_frame(self) -> None:
        elapsed = self._frames.elapsed()
        if self.camera_animation.is_moving:
            self.camera_animation.advance(elapsed)
            self._is_stale = True
            self._touched_at = time.perf_counter()
            self.camera_moved.emit()
        self.dim.advance(elapsed)
        self.labels.advance(elapsed)
        self.glow_phase = (self.glow_phase + elapsed * 0.7) % 1.0
        has_new_edges = self.layers.edges.collect()
        self._take_positions(has_new_edges)
        if self._community_finder.collect():
            self._is_stale = True
            self.communities_found.emit()
        is_hurried = self._is_touched or (self._nodes_are_moving and self.dragged_rows is None)
        if self._is_stale or (self._edges_are_draft and not is_hurried):
            self._request_edges(is_hurried)
        self._update_overview(is_hurried)
        if has_new_edges or not self._is_everything_moving:
            self.update()
        if not self._has_work():
            self._frames.stop()

    def _has_work(self) -> bool:
        is_working = (
            self.layers.edges.is_busy or self._community_finder.is_busy or self._overview_renderer.is_busy
        )
        is_moving = self._nodes_are_moving or self._is_animating() or self._is_stale or self._edges_are_draft
        return is_moving or is_working or self.layout_thread.is_busy

    def _is_animating(self) -> bool:
        """Return whether anything other than nodes and links is animated."""
        is_pulsating = bool(self.scene.pending or self.scene.highlights.is_pulsating) and self.isVisible()
        return self.camera_animation.is_moving or self.dim.is_moving or self.labels.is_fading or is_pulsating

    def _take_positions(self, has_new_edges: bool) -> None:
        """Take the newest positions; while all nodes move, they wait for the image of the links."""
        if self._is_everything_moving and not has_new_edges:
            return
        newest = self.layout_thread.take_positions()
        if newest is not None and len(newest) == len(self.scene.graph):
            self.scene.move(newest)
            if self._follows_layout:
                self.camera_animation.set(self.fit_camera())
            self._nodes_are_moving = True
            if self.dragged_rows is None:
                self._is_stale = True
        elif self._nodes_are_moving and not self.layout_thread.is_busy:
            self._nodes_are_moving = self._is_arranging = False
            self._refit_if_outside()
            self.dragged_rows = None
            self._follows_layout = False
            self._is_stale = True
            self.settled.emit()

    @property
    def _is_everything_moving(self) -> bool:
        """True if all nodes move, so that frames wait for the image of the links."""
        return (
            self._nodes_are_moving
            and self.dragged_rows is None
            and self.layers.edges.is_busy
            and not self._is_touched
        )

    def _request_edges(self, is_hurried: bool) -> None:
        """Request the image of the links; during motion, a sample of the links is enough."""
        self._is_stale, self._edges_are_draft = False, is_hurried
        if not self.size().isEmpty():
            size = (self.width(), self.height())
            margin = MARGIN_SHARE if self._is_touched or not is_hurried else 0.0
            self.layers.edges.request(
                self.layers.create_edge_request(self.camera, size, self.dragged_rows, is_hurried, margin)
            )

    @property
    def _is_touched(self) -> bool:
        """True if the camera is moving or was moved within the last 20 ms."""
        return self.camera_animation.is_moving or time.perf_counter() - self._touched_at < _TOUCH_TIMEOUT_S

    # The overview

    @property
    def overview(self) -> GraphOverview | None:
        """The thumbnail of the whole graph, if it was requested and has been drawn."""
        return self._overview_renderer.overview

    def request_overview(self, width: int, height: int) -> None:
        """Request a thumbnail of the whole graph at this size, in logical pixels; (0, 0) stops this."""
        self._overview_renderer.request(width, height, self.devicePixelRatioF())
        self.run_frames()

    def _update_overview(self, is_hurried: bool) -> None:
        if self._overview_renderer.collect():
            self.overview_changed.emit()
        if not is_hurried and not self._nodes_are_moving:
            self._overview_renderer.start()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a frame."""
        if self.layers.ratio != self.devicePixelRatioF():
            self.layers.renew(ratio=self.devicePixelRatioF())
            self.refresh()
        motion = Motion(
            self.dim.value, self.bright_rows, self.dragged_rows, self.glow_phase, self.rubber_band
        )
        image = self.layers.paint(self.camera, (self.width(), self.height()), motion)
        with QPainter(self) as painter:
            painter.drawImage(QPointF(0, 0), image)

    def picture(self, width: int, height: int, ratio: float = 1.0) -> QImage:
        """Return the current view in full quality at any size; see `draw_static_image`."""
        factor = min(width / max(self.width(), 1), height / max(self.height(), 1))
        camera = Camera(self.camera.x, self.camera.y, self.camera.scale * factor)
        return draw_static_image(self.scene, self.font(), camera, (width, height), ratio, self.layers.zoom)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the graph to the new size unless the user has moved the view."""
        super().resizeEvent(event)
        self._refit()
        self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        """Redraw the labels after the font has changed."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.layers.renew(self.font())
            self.run_frames()

    def close_layers(self) -> None:
        """Stop the worker and the layout; no frames are rendered afterwards."""
        self._is_closed = True
        self._community_finder.close()
        self._frames.stop()
        self.layout_thread.stop()
        self.layers.close()
