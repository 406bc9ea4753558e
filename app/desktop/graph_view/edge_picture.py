"""The picture of all links, drawn beside the GUI and shown until the next one is ready.

While the camera moves the last picture is moved and scaled with it, so a frame costs one blit; the next
picture follows as fast as the worker can, and the sharp one right after the motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from app.desktop.graph_view.camera import Camera
from app.graph.model import Positions
from app.graph.raster import EdgeLook, Exposure, draw_edges, pixels_in_a_hurry

T = TypeVar("T")

_MARGIN = 0.1


@dataclass(frozen=True, eq=False)
class Request:
    """What a picture is to show.

    Args:
        look: The links.
        positions: Of all nodes, not changed by anybody afterwards.
        camera: From where.
        width: Of the view, in pixels.
        height: Of the view, in pixels.
        ratio: Device pixels per pixel.
        alpha: Opacity of one link.
        moving: Rows whose links are left out (they are drawn live).
        hurried: Whether a sample at one pixel per pixel will do, because the next picture comes soon.
    """

    look: EdgeLook
    positions: Positions
    camera: Camera
    width: int
    height: int
    ratio: float
    alpha: float
    moving: NDArray[np.int64] | None = None
    hurried: bool = False


@dataclass(frozen=True, eq=False)
class Picture:
    """A finished picture and what it shows."""

    image: QImage
    request: Request
    ratio: float


class EdgePainter:
    """Draws one request at a time; of those that wait only the newest is kept."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="graph edges")
        self._running: Future[Picture] | None = None
        self._waiting: Request | None = None
        self.picture: Picture | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a picture is to come."""
        return self._running is not None

    def ask(self, request: Request) -> None:
        """Have a picture drawn."""
        if self._closed:
            return
        if self._running is not None:
            self._waiting = request
            return
        self._running = self._worker.submit(_draw, request)

    def collect(self) -> bool:
        """Take over a finished picture; whether there was one."""
        if self._running is None or not self._running.done():
            return False
        self.picture = self._running.result()
        self._running = None
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self.ask(waiting)
        return True

    def draw_now(self, request: Request) -> None:
        """Draw in this thread: for export and for a still picture."""
        self.picture = _draw(request)

    def forget(self) -> None:
        """Another graph comes: the picture at hand and those on the way are of no use."""
        self.picture, self._waiting = None, None

    def aside(self, work: Callable[[], T]) -> Future[T]:
        """Have something else done in the worker, between two pictures."""
        return self._worker.submit(work)

    def close(self) -> None:
        """End the worker; pictures asked for later are not drawn."""
        self._closed = True
        self._running = self._waiting = None
        self._worker.shutdown(cancel_futures=True)


def _draw(request: Request) -> Picture:
    """The picture, a margin larger than the view so that a pan does not bare its rim at once."""
    ratio = 1.0 if request.hurried else request.ratio
    width = math.ceil(request.width * (1 + 2 * _MARGIN) * ratio)
    height = math.ceil(request.height * (1 + 2 * _MARGIN) * ratio)
    camera = Camera(request.camera.x, request.camera.y, request.camera.scale * ratio)
    hidden = None
    if request.moving is not None and len(request.moving):
        hidden = np.zeros(len(request.positions), dtype=bool)
        hidden[request.moving] = True
    at = camera.to_screen(request.positions, width, height)
    budget = pixels_in_a_hurry() if request.hurried else None
    exposure = Exposure(request.alpha, 60.0 + 5.0 * request.camera.scale, ratio, budget)
    pixels = draw_edges(request.look, at, width, height, exposure, hidden)
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied).copy()
    return Picture(image, request, ratio)


def show(painter: QPainter, picture: Picture, camera: Camera, width: int, height: int) -> None:
    """Paints a picture where it belongs under `camera`."""
    made = picture.request
    zoom = camera.scale / made.camera.scale
    broad = picture.image.width() / picture.ratio * zoom
    tall = picture.image.height() / picture.ratio * zoom
    x = width / 2 + (made.camera.x - camera.x) * camera.scale - broad / 2
    y = height / 2 + (made.camera.y - camera.y) * camera.scale - tall / 2
    painter.drawImage(QRectF(x, y, broad, tall), picture.image)
