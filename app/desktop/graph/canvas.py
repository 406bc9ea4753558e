"""The canvas holds the scene, the camera and the layers, and runs frames while something moves.

Frames run only while the camera moves, a fade runs, or a picture or positions are due. A worker draws the
links into a picture; nodes and labels are painted in every frame, so they are always sharp.
"""

from __future__ import annotations

import time

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
from app.desktop.graph.render.layers import Layers, Motion, draw_still
from app.desktop.graph.render.overview import GraphOverview, GraphOverviewRenderer
from app.desktop.graph.scene import Scene
from app.desktop.theme.colors import Theme
from app.graph.force_params import ForceParams
from app.graph.layout_fitting import sunflower_positions
from app.graph.model import Graph, Positions

_TOUCH_TIMEOUT_S = 0.02
_START_SPACING = 2.5
# With more lit links a hover has no fade, because each of its frames would draw them all.
_MAX_FADED_LINKS = 20_000


class Canvas(HighlightMixin):
    """Paints the scene.

    Signals:
        settled: An arrangement or a drag has ended.
        moved: The camera has moved.
        sorted: Communities were found, so colors changed.
        shown: Another graph is in the scene; overlays can update their position.
        overview_changed: The small picture of the whole graph changed.
    """

    shown = Signal()
    settled = Signal()
    moved = Signal()
    sorted = Signal()
    overview_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Scene(theme), parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(160, 120)
        self.eye = CameraAnimation()
        self.layers = Layers(self.scene, self.font(), self.devicePixelRatioF())
        self._finder = CommunityFinder(self.scene, self.layers.edges)
        self._overviews = GraphOverviewRenderer(self.scene, self.layers.edges)
        self.layout_thread = LayoutThread()
        self.loads_for_pointer = False
        self.destroyed.connect(combine_stops(self.layout_thread.stop, self.layers.close))
        self.dim = Fade()
        self.glow = 0.0
        self.lit: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.rubber_band: QRectF | None = None
        self.held: NDArray[np.int64] | None = None
        self._closed = False
        self.insets = Insets()
        self.forces = ForceParams()
        self._following = self._untouched = True
        self._unfolding = False
        self._stale = True
        self._moving = self._rough = False
        self._touched_at = 0.0
        self._frames = FrameTimer(self, self._frame, self._waits)
        self.marked.connect(self._show_marks)

    @property
    def labels(self) -> LabelRenderer:
        """The label renderer."""
        return self.layers.labels

    # The graph

    def set_graph(
        self, graph: Graph, positions: Positions | None, found: NDArray[np.int64] | None = None
    ) -> None:
        """Show `graph` at `positions` (nan rows find a place), or arrange it from scratch.

        `found` are its communities if they are known; otherwise they are computed when the colors need them.
        """
        self.layers.edges.discard()
        if positions is not None and not np.isnan(positions).any():
            start = positions.copy()
        else:
            # Start with an even disc until the layout has better places: at one point all nodes would be
            # one dot.
            start = sunflower_positions(len(graph), _START_SPACING)
        self.scene.set_graph(graph, start, found=found)
        self.shown.emit()
        self.layers.renew()
        self._clear_rows()
        self._moving = True
        self.layout_thread.start(graph, positions, aspect=self.page_aspect(), forces=self.forces)
        self.eye.set(self.fit_camera())
        self._unfolding = self._following = positions is None
        self._untouched = True
        self.sort()
        self.refresh()

    def replace_graph(self, graph: Graph, positions: Positions) -> None:
        """Show the next state of the same graph; the camera stays."""
        before = self.scene.graph
        self.scene.set_graph(graph, positions.copy(), again=True)
        self.layers.replace(before)
        self._clear_rows()
        places = None if self._unfolding else positions
        self.layout_thread.start(graph, places, aspect=self.page_aspect(), forces=self.forces)
        self.sort()
        self.refresh()

    def _show_marks(self, redraw: bool) -> None:
        """Update after the marks of nodes changed."""
        self.layers.resize()
        self._light_path()
        self._stale = self._stale or redraw
        self.run_frames()

    def _clear_rows(self) -> None:
        """Clear row numbers, which are invalid in another graph."""
        self.dim.value = self.dim.aim = 0.0
        self.lit = np.empty(0, dtype=np.int32)
        self.held = None
        self._light_path()

    def set_zoom(self, zoom: float) -> None:
        """Apply the zoom of the interface."""
        if zoom != self.layers.zoom:
            self.layers.renew(zoom=zoom)
            self.run_frames()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self.scene.theme = theme
        self.restyle()
        self.layers.renew()

    def restyle(self) -> None:
        """Update after colors or their meaning changed."""
        self.scene.restyle()
        self.sort()
        self.refresh()

    def sort(self) -> None:
        """Find communities if the colors need them; `sorted` is emitted when they are found."""
        if self._finder.begin():
            self.run_frames()

    def set_forces(self, forces: ForceParams) -> None:
        """Relax all nodes under other forces."""
        self.forces = forces
        self.layout_thread.set_forces(forces)
        self._moving = True
        self.run_frames()

    def refresh(self) -> None:
        """Request a new picture after nodes or links changed."""
        self._stale = True
        self.run_frames()

    def run_frames(self) -> None:
        """Run frames until nothing moves."""
        if self._closed or not self._frames.isActive():
            self.update()
        if not self._closed:
            self._frames.wake()

    # The camera

    @property
    def is_arranging(self) -> bool:
        """Return whether a layout from scratch is in progress."""
        return self._unfolding

    @property
    def camera(self) -> Camera:
        """The current camera."""
        return self.eye.camera

    def fit_camera(self) -> Camera:
        """Return the camera that shows every visible node."""
        scene = self.scene
        shown = scene.positions if scene.is_whole else scene.positions[scene.strength > 0.0]
        return fit_camera(shown, self.width(), self.height(), insets=self.insets)

    def fit(self) -> None:
        """Move to where everything is visible, and keep it visible when the size changes."""
        self.eye.fly(self.fit_camera(), self.width())
        self.mark_touched()
        self._untouched = True

    def center_on(self, x: float, y: float) -> None:
        """Center a place given in layout units at the current scale."""
        self.eye.set(Camera(x, y, self.camera.scale))
        self.mark_touched()

    def viewport(self) -> QRectF:
        """Return the visible rectangle of the layout, in layout units."""
        across, down = self.width() / self.camera.scale, self.height() / self.camera.scale
        return QRectF(self.camera.x - across / 2, self.camera.y - down / 2, across, down)

    def keep_clear(self, insets: Insets) -> None:
        """Set what overlays cover; a view that the user has not moved fits the graph into the rest."""
        if insets != self.insets:
            self.insets = insets
            self._refit()

    def _refit(self) -> None:
        if self._untouched and self.held is None:
            self.eye.set(self.fit_camera())
            self.refresh()

    def page_aspect(self) -> float:
        """Return width by height of the room for an arrangement; 1 while it is unknown."""
        across, down = free_size(self.width(), self.height(), self.insets)
        return across / down if self.isVisible() else 1.0

    def _show_strays(self) -> None:
        """Fit the graph again if nodes left a view that the user has not moved."""
        if not self._untouched or self.held is not None or self.eye.moving:
            return
        shown = self.scene.positions[self.scene.strength > 0.0]
        at = self.camera.to_screen(shown, self.width(), self.height())
        if len(at) and ((at < 0).any() or (at > (self.width(), self.height())).any()):
            self.eye.fly(self.fit_camera(), self.width())

    def mark_touched(self) -> None:
        """Stop following the arrangement because the user moved the camera."""
        self._following = self._untouched = False
        self._touched_at = time.perf_counter()
        self.refresh()
        self.moved.emit()

    # Frames

    def hover(self, row: int) -> None:
        """Light up a node and its neighbors; -1 ends it."""
        if row == self.scene.hovered:
            return
        self.scene.hovered = row
        many = len(self.lit) > _MAX_FADED_LINKS
        if row >= 0:
            self.lit = self.scene.lit()
        self.dim.aim = 1.0 if row >= 0 else 0.0
        self._light_path()
        if many or len(self.lit) > _MAX_FADED_LINKS:
            self.dim.value = self.dim.aim
        self.run_frames()

    def _light_path(self) -> None:
        """Keep the nodes on the path bright while no node is hovered."""
        path = self.scene.marks.path
        if path and self.scene.hovered < 0:
            self.lit = np.array(path, dtype=np.int32)
            self.dim.aim = 1.0
        elif not path and self.scene.hovered < 0:
            self.dim.aim = 0.0

    def _waits(self) -> bool:
        """Return whether a frame could show nothing but a picture that is not ready."""
        edges = self.layers.edges
        return edges.busy and not edges.ready and (self._arranging or not (self._moving or self._stirs()))

    def _frame(self) -> None:
        passed = self._frames.passed()
        if self.eye.moving:
            self.eye.advance(passed)
            self._stale = True
            self._touched_at = time.perf_counter()
            self.moved.emit()
        self.dim.advance(passed)
        self.labels.advance(passed)
        self.glow = (self.glow + passed * 0.7) % 1.0
        fresh = self.layers.edges.collect()
        self._take_positions(fresh)
        if self._finder.collect():
            self._stale = True
            self.sorted.emit()
        hurried = self._is_touched or (self._moving and self.held is None)
        if self._stale or (self._rough and not hurried):
            self._request(hurried)
        self._update_overview(hurried)
        if fresh or not self._arranging:
            self.update()
        if not self._busy():
            self._frames.stop()

    def _busy(self) -> bool:
        working = self.layers.edges.busy or self._finder.busy or self._overviews.busy
        moving = self._moving or self._stirs() or self._stale or self._rough
        return moving or working or self.layout_thread.busy

    def _stirs(self) -> bool:
        """Return whether anything other than nodes and links is animated."""
        breathing = bool(self.scene.pending or self.scene.marks.breathing) and self.isVisible()
        return self.eye.moving or self.dim.moving or self.labels.fading or breathing

    def _take_positions(self, fresh: bool) -> None:
        """Take the newest positions; while everything moves they wait for the picture of the links."""
        if self._arranging and not fresh:
            return
        newest = self.layout_thread.take_positions()
        if newest is not None and len(newest) == len(self.scene.graph):
            self.scene.move(newest)
            if self._following:
                self.eye.set(self.fit_camera())
            self._moving = True
            if self.held is None:
                self._stale = True
        elif self._moving and not self.layout_thread.busy:
            self._moving = self._unfolding = False
            self._show_strays()
            self.held = None
            self._following = False
            self._stale = True
            self.settled.emit()

    @property
    def _arranging(self) -> bool:
        """Return whether everything moves, so that frames wait for the links."""
        return self._moving and self.held is None and self.layers.edges.busy and not self._is_touched

    def _request(self, hurried: bool) -> None:
        """Request the links' picture of the current state; during motion a sample of links is enough."""
        self._stale, self._rough = False, hurried
        if not self.size().isEmpty():
            size = (self.width(), self.height())
            margin = MARGIN_SHARE if self._is_touched or not hurried else 0.0
            self.layers.edges.request(self.layers.request(self.camera, size, self.held, hurried, margin))

    @property
    def _is_touched(self) -> bool:
        """Return whether the camera moved within the last frames."""
        return self.eye.moving or time.perf_counter() - self._touched_at < _TOUCH_TIMEOUT_S

    # The overview

    @property
    def overview(self) -> GraphOverview | None:
        """The small picture of the whole graph, if it was requested and is drawn."""
        return self._overviews.overview

    def want_overview(self, width: int, height: int) -> None:
        """Request a picture of the whole graph of this size in pixels at a ratio of one; 0 and 0 end it."""
        self._overviews.request(width, height, self.devicePixelRatioF())
        self.run_frames()

    def _update_overview(self, hurried: bool) -> None:
        if self._overviews.collect():
            self.overview_changed.emit()
        if not hurried and not self._moving:
            self._overviews.begin()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a frame."""
        if self.layers.ratio != self.devicePixelRatioF():
            self.layers.renew(ratio=self.devicePixelRatioF())
            self.refresh()
        motion = Motion(self.dim.value, self.lit, self.held, self.glow, self.rubber_band)
        image = self.layers.paint(self.camera, (self.width(), self.height()), motion)
        with QPainter(self) as painter:
            painter.drawImage(QPointF(0, 0), image)

    def picture(self, width: int, height: int, ratio: float = 1.0) -> QImage:
        """Return the current view drawn at once in full quality, at any size; see `still_picture`."""
        factor = min(width / max(self.width(), 1), height / max(self.height(), 1))
        camera = Camera(self.camera.x, self.camera.y, self.camera.scale * factor)
        return draw_still(self.scene, self.font(), camera, (width, height), ratio, self.layers.zoom)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the graph into the new size unless the user has moved the view."""
        super().resizeEvent(event)
        self._refit()
        self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        """Redraw the labels after a change of font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.layers.renew(self.font())
            self.run_frames()

    def close_layers(self) -> None:
        """Stop the worker and the layout; no frames run afterwards."""
        self._closed = True
        self._finder.close()
        self._frames.stop()
        self.layout_thread.stop()
        self.layers.close()
