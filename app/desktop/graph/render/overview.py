"""A small image of the whole graph for the minimap, drawn in a worker."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage

from app.desktop.graph.camera import Camera, fit_camera
from app.desktop.graph.node_style import rgb
from app.desktop.graph.render.edge_renderer import EdgeRenderer, image_pixels
from app.desktop.graph.scene import Scene
from app.graph import core_bindings
from app.graph.core_drawing import draw_discs
from app.graph.edge_style import Exposure
from app.graph.raster import FRAME_BUDGET, draw_edges

_MARGIN = 4.0
_EDGE_ALPHA = 0.12
_MIN_RADIUS = 0.8


@dataclass(frozen=True, eq=False, slots=True)
class GraphOverview:
    """An image of the whole graph.

    Args:
        image: The image, transparent where it is empty.
        area: The rectangle of the layout that it shows, in layout units.
    """

    image: QImage
    area: QRectF


class GraphOverviewRenderer:
    """Keeps an overview of one scene up to date, in the worker that draws links."""

    def __init__(self, scene: Scene, edges: EdgeRenderer) -> None:
        self._scene = scene
        self._edges = edges
        self._size = (0, 0)
        self._ratio = 1.0
        self._drawn_state: object = None
        self._running: Future[GraphOverview] | None = None
        self.overview: GraphOverview | None = None

    @property
    def is_busy(self) -> bool:
        """True if an overview is being drawn or is waiting to be collected."""
        return self._running is not None

    @property
    def is_outdated(self) -> bool:
        """True if an overview is requested and the scene has changed since the last drawing."""
        return min(self._size) > 0 and self._drawn_state != self._state()

    def request(self, width: int, height: int, ratio: float) -> None:
        """Request an overview of this size, in device-independent pixels; a size of 0 removes it."""
        self._size, self._ratio = (width, height), ratio
        if min(self._size) <= 0:
            self.overview = None

    def start(self) -> None:
        """Start drawing unless a drawing is in progress or nothing has changed."""
        if self._running is None and self.is_outdated:
            self._drawn_state = self._state()
            self._running = self._edges.run_in_worker(_create_drawing(self._scene, self._size, self._ratio))

    def collect(self) -> bool:
        """Adopt a finished overview; return whether there was one."""
        if self._running is None or not self._running.done():
            return False
        overview, self._running = self._running.result(), None
        self.overview = overview if min(self._size) > 0 else None
        return True

    def _state(self) -> tuple[object, ...]:
        scene = self._scene
        return scene.version, scene.theme.window, self._size, self._ratio


def _create_drawing(scene: Scene, size: tuple[int, int], ratio: float) -> Callable[[], GraphOverview]:
    """Return a function that draws the scene's current state."""
    compute_style, bodies, colors, order = scene.edge_style_factory(), scene.bodies, scene.colors, scene.order
    background = rgb(scene.theme.window)
    width, height = max(1, round(size[0] * ratio)), max(1, round(size[1] * ratio))

    def draw() -> GraphOverview:
        camera = fit_camera(bodies.at[bodies.opacity > 0.0], width, height, _MARGIN * ratio)
        view = scene.view(camera, width, height)
        view = replace(view, min_radius=_MIN_RADIUS * ratio)
        image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
        pixels = image_pixels(image)
        exposure = Exposure(_EDGE_ALPHA, 60.0, ratio, FRAME_BUDGET // 4)
        draw_edges(compute_style(), view.to_pixels(bodies.at), pixels, exposure)
        single_thread = core_bindings.WorkerThreads(1)
        draw_discs(bodies, colors, order, None, 1.0, view, background, ratio, pixels, single_thread)
        return GraphOverview(image, _area(camera, width, height))

    return draw


def _area(camera: Camera, width: int, height: int) -> QRectF:
    width_units, height_units = width / camera.scale, height / camera.scale
    return QRectF(camera.x - width_units / 2, camera.y - height_units / 2, width_units, height_units)
