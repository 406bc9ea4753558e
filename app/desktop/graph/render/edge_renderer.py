"""Renders all links into a picture in a worker; the last picture stays until the next one is ready.

While the camera moves, the last picture is moved and scaled with it, so a frame costs one blit. The worker
draws the next pictures as fast as it can, and a sharp one right after the motion.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage

from app.desktop.graph.camera import Camera
from app.graph.core_bindings import WorkerThreads
from app.graph.edge_style import EdgeStyle, Exposure
from app.graph.model import Positions
from app.graph.raster import FRAME_BUDGET, draw_edges

T = TypeVar("T")

MARGIN_SHARE = 0.1
_FAST_THREADS = max(1, min(4, (os.cpu_count() or 1) - 1))


@dataclass(frozen=True, eq=False)
class EdgeRenderRequest:
    """A request for a picture.

    Args:
        look: Computes the links' look in the thread that draws.
        positions: The positions of all nodes, which must not be changed afterwards.
        camera: The camera.
        width: The width of the view in pixels.
        height: The height of the view in pixels.
        ratio: Device pixels per pixel.
        alpha: The opacity of one link.
        moving: Rows whose links are left out because they are drawn live.
        hurried: True if a sample at one device pixel per pixel is enough, because the next picture comes
            soon.
        margin: How far the picture reaches beyond the view on each side, as a share of it, so that a pan does
            not show its edge at once.
    """

    look: Callable[[], EdgeStyle]
    positions: Positions
    camera: Camera
    width: int
    height: int
    ratio: float
    alpha: float
    moving: NDArray[np.int64] | None = None
    hurried: bool = False
    margin: float = MARGIN_SHARE


@dataclass(frozen=True, eq=False)
class EdgeImage:
    """A finished picture, its memory as uint8 (height, width, 4), and its request."""

    image: QImage
    pixels: NDArray[np.uint8]
    request: EdgeRenderRequest
    ratio: float


@dataclass(slots=True)
class _FullQualityJob:
    """A picture in full quality that is being drawn."""

    is_wanted: bool = True


class EdgeRenderer:
    """Draws one request at a time; of the waiting requests only the newest is kept.

    A hurried request cancels a sharp picture, which is out of date and would delay it. So a sharp one can be
    started as soon as nothing moves.
    """

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="graph edges")
        # All pictures share these threads, because every new thread allocates memory of its own. During
        # motion one core is left to the GUI.
        self._all, self._some = WorkerThreads(), WorkerThreads(_FAST_THREADS)
        self._useless: Future[EdgeImage | None] | None = None
        self._running: Future[EdgeImage | None] | None = None
        self._sharp: _FullQualityJob | None = None
        self._waiting: EdgeRenderRequest | None = None
        self.picture: EdgeImage | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """Return whether a picture is due."""
        return self._running is not None

    def request(self, request: EdgeRenderRequest) -> None:
        """Request a picture."""
        if self._closed:
            return
        if self._running is not None:
            self._waiting = request
            if self._sharp is not None and request.hurried:
                self._sharp.is_wanted = False
            return
        self._sharp = None if request.hurried else _FullQualityJob()
        self._running = self._worker.submit(self._draw, request, self._sharp)

    @property
    def ready(self) -> bool:
        """Return whether a picture is ready to collect."""
        return self._running is not None and self._running.done()

    def collect(self) -> bool:
        """Take over a finished picture; return whether there was one."""
        if self._running is None or not self._running.done():
            return False
        done, self._running = self._running, None
        picture = done.result()
        if picture is not None and done is not self._useless:
            self.picture = picture
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self.request(waiting)
        return picture is not None

    def draw_now(self, request: EdgeRenderRequest) -> None:
        """Draw in the calling thread, for exports and still pictures."""
        self.picture = self._draw(request, None)

    def _draw(self, request: EdgeRenderRequest, sharp: _FullQualityJob | None) -> EdgeImage | None:
        workers = self._some if request.hurried else self._all
        return _draw_edges(request, workers, lambda: sharp is None or sharp.is_wanted)

    def discard(self) -> None:
        """Discard all pictures because another graph is shown."""
        self.picture, self._waiting, self._useless = None, None, self._running

    def run_in_worker(self, work: Callable[[], T]) -> Future[T]:
        """Run a function in the worker between two pictures."""
        return self._worker.submit(work)

    def close(self) -> None:
        """Stop the worker; later requests are ignored."""
        self._closed = True
        self._running = self._waiting = None
        self._worker.shutdown(cancel_futures=True)
        self._all.close()
        self._some.close()


def image_pixels(image: QImage) -> NDArray[np.uint8]:
    """Return the memory of a 32-bit image, uint8 (height, width, 4), valid as long as the image."""
    return np.frombuffer(image.bits(), dtype=np.uint8).reshape(image.height(), image.width(), 4)


def _draw_edges(
    request: EdgeRenderRequest, workers: WorkerThreads, is_wanted: Callable[[], bool]
) -> EdgeImage | None:
    """Return the picture, or None if it was cancelled."""
    ratio = 1.0 if request.hurried else request.ratio
    whole = 1 + 2 * request.margin
    width, height = math.ceil(request.width * whole * ratio), math.ceil(request.height * whole * ratio)
    camera = Camera(request.camera.x, request.camera.y, request.camera.scale * ratio)
    hidden = None
    if request.moving is not None and len(request.moving):
        hidden = np.zeros(len(request.positions), dtype=bool)
        hidden[request.moving] = True
    at = camera.to_screen(request.positions, width, height)
    budget = FRAME_BUDGET if request.hurried else None
    exposure = Exposure(request.alpha, 60.0 + 5.0 * request.camera.scale, ratio, budget)
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    pixels = image_pixels(image)
    draw_edges(request.look(), at, pixels, exposure, hidden, workers, is_wanted)
    return EdgeImage(image, pixels, request, ratio) if is_wanted() else None


def image_rect(picture: EdgeImage, camera: Camera, width: float, height: float) -> QRectF:
    """Return where a picture lies under `camera`, in pixels of a view of that size."""
    made = picture.request
    zoom = camera.scale / made.camera.scale
    broad = picture.image.width() / picture.ratio * zoom
    tall = picture.image.height() / picture.ratio * zoom
    x = width / 2 + (made.camera.x - camera.x) * camera.scale - broad / 2
    y = height / 2 + (made.camera.y - camera.y) * camera.scale - tall / 2
    return QRectF(x, y, broad, tall)
