"""The image that a frame is composed on, in device pixels: links, nodes and what is painted over them.

With the C core links and nodes are written into its memory; without it Qt paints them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage, QPainter

from app.desktop.graph.node_style import rgb
from app.desktop.graph.render.edge_renderer import image_pixels, image_rect
from app.desktop.graph.render.overlay_painter import (
    FrameState,
    paint_empty,
    paint_over,
    paint_under,
)
from app.graph.core_drawing import composite, draw_discs

_DIMMED_OPACITY = 0.14
_MAX_BRIGHT_NODES = (
    15_000  # If a node has more neighbors, only the largest are drawn: the others would hide one another.
)


class _CachedFrame:
    """The part that several frames in a row share, while only labels appear and disappear.

    It is copied when it is painted for the second time, so that frames that all differ cost nothing more. The
    last one without a hovered node is kept: dimmed, it lies under what is lit.
    """

    def __init__(self) -> None:
        self._image: QImage | None = None
        self._content: tuple[object, ...] = ()
        self._at_rest: QImage | None = None
        self._undimmed_state: tuple[object, ...] = ()

    def put(self, frame: FrameState, image: QImage) -> bool:
        """Write it to `image` if it matches `frame`; return whether it did."""
        if _is_at_rest(frame):
            pixels = self.at_rest(frame, image)
        else:
            same = self._image is not None and _are_same(frame.content, self._content)
            pixels = _pixels_if_sized(self._image, image) if same else None
        if pixels is None:
            return False
        image_pixels(image)[...] = pixels
        return True

    def take(self, frame: FrameState, image: QImage) -> None:
        """Keep the painted frame if it was painted before or may be painted again."""
        content = frame.content
        self._image = image.copy() if _may_stay(frame) or _are_same(content, self._content) else None
        self._content = content
        if self._image is not None and _is_at_rest(frame):
            self._at_rest, self._undimmed_state = self._image, frame.undimmed_state

    def at_rest(self, frame: FrameState, image: QImage) -> NDArray[np.uint8] | None:
        """Return the same frame without dimming, uint8 (h, w, 4); None if there is none of that size."""
        if self._at_rest is None or not _are_same(frame.undimmed_state, self._undimmed_state):
            return None
        return _pixels_if_sized(self._at_rest, image)


def _is_at_rest(frame: FrameState) -> bool:
    return frame.dim <= 0.0 and frame.scene.hovered < 0


def _may_stay(frame: FrameState) -> bool:
    """Return whether nothing changes any more: hover fades have ended and the links are sharp."""
    picture = frame.picture
    is_sharp = picture is not None and not picture.request.hurried and picture.request.camera == frame.camera
    return frame.dim >= 1.0 or (is_sharp and frame.dim <= 0.0 and frame.held is None)


def _pixels_if_sized(kept: QImage | None, image: QImage) -> NDArray[np.uint8] | None:
    return image_pixels(kept) if kept is not None and kept.size() == image.size() else None


def _are_same(some: tuple[object, ...], others: tuple[object, ...]) -> bool:
    """Return whether all are identical; arrays are compared by identity."""
    return len(some) == len(others) and all(
        one is other or (not (isinstance(one, np.ndarray) or isinstance(other, np.ndarray)) and one == other)
        for one, other in zip(some, others, strict=True)
    )


class Framebuffer:
    """Paints frames; its image is reused for the next frame of the same size."""

    def __init__(self) -> None:
        self._image = QImage()
        self._kept = _CachedFrame()

    def paint(self, frame: FrameState, ratio: float, *, still: bool = False) -> QImage:
        """Paint everything from back to front; the returned image is valid until the next call.

        Args:
            frame: The frame.
            ratio: Device pixels per pixel.
            still: True for a picture, in which labels appear without fading.
        """
        width, height = max(1, round(frame.width * ratio)), max(1, round(frame.height * ratio))
        if (self._image.width(), self._image.height()) != (width, height):
            self._image = QImage(width, height, QImage.Format.Format_RGB32)
        self._image.setDevicePixelRatio(ratio)
        if not len(frame.scene.graph):
            self._image.fill(QColor(frame.scene.theme.window))
            painter = QPainter(self._image)
            paint_empty(painter, frame)
            painter.end()
            return self._image
        if not self._kept.put(frame, self._image):
            self._paint_all_but_names(frame, ratio)
            self._kept.take(frame, self._image)
        self._paint_names(frame, ratio, still)
        return self._image

    def _paint_all_but_names(self, frame: FrameState, ratio: float) -> None:
        order, lit = frame.scene.order, frame.lit
        at_rest = None if lit is None else self._kept.at_rest(frame, self._image)
        if at_rest is not None and lit is not None:
            color, pixels = rgb(frame.scene.theme.window), image_pixels(self._image)
            composite(at_rest, (0.0, 0.0), 1.0, _undimmed(frame), color, pixels, None)
            order, lit = np.ascontiguousarray(order[lit[order] > 0][-_MAX_BRIGHT_NODES:]), None
        else:
            self._lay_links(frame, ratio)
        painter = QPainter(self._image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_under(painter, self._image, frame)
        self._draw_nodes(frame, ratio, order, lit)
        paint_over(painter, frame)
        painter.end()

    def _lay_links(self, frame: FrameState, ratio: float) -> None:
        """Draw the background and the picture of the links under this camera."""
        ground, picture = QColor(frame.scene.theme.window), frame.picture
        if picture is None:
            self._image.fill(ground)
            return
        area = image_rect(picture, frame.camera, frame.width, frame.height)
        zoom = area.width() * ratio / picture.image.width()
        corner = (area.x() * ratio, area.y() * ratio)
        color = rgb(frame.scene.theme.window)
        # Treat a zoom of almost 1 as 1: whole pixels are ten times as fast.
        zoom = 1.0 if abs(zoom - 1.0) < 1e-5 else zoom
        composite(picture.pixels, corner, zoom, _undimmed(frame), color, image_pixels(self._image), None)

    def _draw_nodes(
        self,
        frame: FrameState,
        ratio: float,
        order: NDArray[np.int32],
        lit: NDArray[np.uint8] | None,
    ) -> None:
        """Draw the rows `order`, small nodes first, so that hubs lie on top."""
        scene = frame.scene
        ground = rgb(scene.theme.window)
        view = frame.view.scaled(ratio)
        bodies, colors = scene.bodies, scene.colors
        pixels = image_pixels(self._image)
        draw_discs(bodies, colors, order, lit, _undimmed(frame), view, ground, ratio, pixels, None)

    def _paint_names(self, frame: FrameState, ratio: float, still: bool) -> None:
        """Draw the labels on device pixels: they stay sharp, and are copied rather than scaled."""
        frame.name()
        if still:
            frame.labels.finish()
        self._image.setDevicePixelRatio(1.0)
        frame.labels.paint(self._image, frame.scene, frame.view.scaled(ratio))
        self._image.setDevicePixelRatio(ratio)


def _undimmed(frame: FrameState) -> float:
    """Return the remaining opacity of nodes that are not lit."""
    return 1.0 - (1.0 - _DIMMED_OPACITY) * frame.dim
