"""Render all links into an image in a worker; the last image stays until the next one is ready.

While the camera moves, the last image is moved and scaled with it, so a frame costs one blit. The worker
draws drafts as fast as it can, and a full-quality image as soon as the motion ends.
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
_MAX_DRAFT_THREADS = max(1, min(4, (os.cpu_count() or 1) - 1))


@dataclass(frozen=True, eq=False)
class EdgeRenderRequest:
    """A request for an image.

    Args:
        compute_style: Computes the links' style in the drawing thread.
        positions: The positions of all nodes, which must not be changed afterwards.
        camera: The camera.
        width: The width of the view in pixels.
        height: The height of the view in pixels.
        ratio: Device pixels per pixel.
        alpha: The opacity of one link.
        omitted_rows: Rows whose links are omitted because they are drawn in each frame.
        is_draft: True if a sample at one device pixel per pixel is enough, because another image will follow.
        margin: The margin around the view, as a share of its size, so that a short pan does not show the
            image's edge.
    """

    compute_style: Callable[[], EdgeStyle]
    positions: Positions
    camera: Camera
    width: int
    height: int
    ratio: float
    alpha: float
    omitted_rows: NDArray[np.int64] | None = None
    is_draft: bool = False
    margin: float = MARGIN_SHARE


@dataclass(frozen=True, eq=False)
class EdgeImage:
    """A finished image, its pixel data as uint8 (height, width, 4), its request, and its ratio."""

    image: QImage
    pixels: NDArray[np.uint8]
    request: EdgeRenderRequest
    ratio: float


@dataclass(slots=True)
class _FullQualityJob:
    """A full-quality image that is being drawn; the worker stops when it is no longer wanted."""

    is_wanted: bool = True


class EdgeRenderer:
    """Draws one request at a time; only the newest waiting request is kept.

    A draft cancels a full-quality image, which is out of date and would delay it. So a full-quality image can
    be started as soon as the motion ends.
    """

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="graph edges")
        # All images share these threads, because every new thread allocates memory. Drafts leave one core
        # for the GUI.
        self._all_threads, self._draft_threads = WorkerThreads(), WorkerThreads(_MAX_DRAFT_THREADS)
        self._outdated: Future[EdgeImage | None] | None = None
        self._running: Future[EdgeImage | None] | None = None
        self._full_quality: _FullQualityJob | None = None
        self._next_request: EdgeRenderRequest | None = None
        self.latest_image: EdgeImage | None = None
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """True if an image is being drawn or is waiting to be collected."""
        return self._running is not None

    def request(self, request: EdgeRenderRequest) -> None:
        """Request an image; it replaces a waiting request."""
        if self._is_closed:
            return
        if self._running is not None:
            self._next_request = request
            if self._full_quality is not None and request.is_draft:
                self._full_quality.is_wanted = False
            return
        self._full_quality = None if request.is_draft else _FullQualityJob()
        self._running = self._worker.submit(self._draw, request, self._full_quality)

    @property
    def is_ready(self) -> bool:
        """True if an image is ready to collect."""
        return self._running is not None and self._running.done()

    def collect(self) -> bool:
        """Adopt a finished image unless it was discarded, and start the next request.

        Returns:
            True if an image was finished, even a discarded one; false if none was, or if it was cancelled.
        """
        if self._running is None or not self._running.done():
            return False
        finished, self._running = self._running, None
        edge_image = finished.result()
        if edge_image is not None and finished is not self._outdated:
            self.latest_image = edge_image
        if self._next_request is not None:
            next_request, self._next_request = self._next_request, None
            self.request(next_request)
        return edge_image is not None

    def draw_now(self, request: EdgeRenderRequest) -> None:
        """Draw in the calling thread, for exports and still images."""
        self.latest_image = self._draw(request, None)

    def _draw(self, request: EdgeRenderRequest, full_quality: _FullQualityJob | None) -> EdgeImage | None:
        threads = self._draft_threads if request.is_draft else self._all_threads
        return _draw_edges(request, threads, lambda: full_quality is None or full_quality.is_wanted)

    def discard(self) -> None:
        """Discard the latest image, a waiting request, and the result of a running one."""
        self.latest_image, self._next_request, self._outdated = None, None, self._running

    def run_in_worker(self, work: Callable[[], T]) -> Future[T]:
        """Run a function in the worker between two images.

        Raises:
            RuntimeError: The renderer is closed.
        """
        return self._worker.submit(work)

    def close(self) -> None:
        """Stop the worker and wait until it ends; later requests are ignored."""
        self._is_closed = True
        self._running = self._next_request = None
        self._worker.shutdown(cancel_futures=True)
        self._all_threads.close()
        self._draft_threads.close()


def image_pixels(image: QImage) -> NDArray[np.uint8]:
    """Return the pixel data of a 32-bit image, uint8 (height, width, 4), valid while the image exists."""
    return np.frombuffer(image.bits(), dtype=np.uint8).reshape(image.height(), image.width(), 4)


def _draw_edges(
    request: EdgeRenderRequest, threads: WorkerThreads, is_wanted: Callable[[], bool]
) -> EdgeImage | None:
    """Return the image, or None if it was cancelled."""
    ratio = 1.0 if request.is_draft else request.ratio
    share_with_margins = 1 + 2 * request.margin
    width = math.ceil(request.width * share_with_margins * ratio)
    height = math.ceil(request.height * share_with_margins * ratio)
    camera = Camera(request.camera.x, request.camera.y, request.camera.scale * ratio)
    hidden = None
    if request.omitted_rows is not None and len(request.omitted_rows):
        hidden = np.zeros(len(request.positions), dtype=bool)
        hidden[request.omitted_rows] = True
    pixel_positions = camera.to_screen(request.positions, width, height)
    budget = FRAME_BUDGET if request.is_draft else None
    exposure = Exposure(request.alpha, 60.0 + 5.0 * request.camera.scale, ratio, budget)
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    pixels = image_pixels(image)
    draw_edges(request.compute_style(), pixel_positions, pixels, exposure, hidden, threads, is_wanted)
    return EdgeImage(image, pixels, request, ratio) if is_wanted() else None


def image_rect(edge_image: EdgeImage, camera: Camera, width: float, height: float) -> QRectF:
    """Return the rectangle of an image under `camera`, in pixels of a view of that size."""
    request = edge_image.request
    zoom = camera.scale / request.camera.scale
    image_width = edge_image.image.width() / edge_image.ratio * zoom
    image_height = edge_image.image.height() / edge_image.ratio * zoom
    x = width / 2 + (request.camera.x - camera.x) * camera.scale - image_width / 2
    y = height / 2 + (request.camera.y - camera.y) * camera.scale - image_height / 2
    return QRectF(x, y, image_width, image_height)
