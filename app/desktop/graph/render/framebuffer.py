"""The image that a frame is composed on, in device pixels: links, nodes, overlays and labels.

The C core draws links, nodes and labels into the image's memory; Qt paints the rest.
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

# If a node has more neighbors, only the largest are drawn: the others would hide one another.
_MAX_BRIGHT_NODES = 15_000


class _CachedFrame:
    """The layers of a frame below its labels, which may stay the same while only labels fade.

    They are copied when they are final or are painted for the second time, so that a sequence of different
    frames incurs no extra cost. The last frame without a hovered node is kept as the dimmed background for
    when a node is hovered.
    """

    def __init__(self) -> None:
        self._image: QImage | None = None
        self._content: tuple[object, ...] = ()
        self._undimmed_image: QImage | None = None
        self._undimmed_content: tuple[object, ...] = ()

    def restore(self, frame: FrameState, image: QImage) -> bool:
        """Copy the cached layers to `image` if they match `frame`; return whether they did."""
        if _is_undimmed(frame):
            pixels = self.undimmed_pixels(frame, image)
        else:
            is_cached = self._image is not None and _are_equal(frame.content, self._content)
            pixels = _pixels_of_same_size(self._image, image) if is_cached else None
        if pixels is None:
            return False
        image_pixels(image)[...] = pixels
        return True

    def store(self, frame: FrameState, image: QImage) -> None:
        """Cache the painted layers if they were painted before or may be painted again."""
        content = frame.content
        self._image = image.copy() if _is_final(frame) or _are_equal(content, self._content) else None
        self._content = content
        if self._image is not None and _is_undimmed(frame):
            self._undimmed_image, self._undimmed_content = self._image, frame.undimmed_content

    def undimmed_pixels(self, frame: FrameState, image: QImage) -> NDArray[np.uint8] | None:
        """Return the layers without dimming, uint8 (h, w, 4); None if none of that size are cached."""
        if self._undimmed_image is None or not _are_equal(frame.undimmed_content, self._undimmed_content):
            return None
        return _pixels_of_same_size(self._undimmed_image, image)


def _is_undimmed(frame: FrameState) -> bool:
    return frame.dim <= 0.0 and frame.scene.hovered < 0


def _is_final(frame: FrameState) -> bool:
    """Return whether the layers are final: fully dimmed, or undimmed with the links at full quality."""
    edge_image = frame.edge_image
    is_sharp = (
        edge_image is not None
        and not edge_image.request.is_draft
        and edge_image.request.camera == frame.camera
    )
    return frame.dim >= 1.0 or (is_sharp and frame.dim <= 0.0 and frame.dragged_rows is None)


def _pixels_of_same_size(cached: QImage | None, image: QImage) -> NDArray[np.uint8] | None:
    return image_pixels(cached) if cached is not None and cached.size() == image.size() else None


def _are_equal(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    """Return whether two contents are equal; arrays are compared by identity."""
    return len(first) == len(second) and all(
        left is right
        or (not (isinstance(left, np.ndarray) or isinstance(right, np.ndarray)) and left == right)
        for left, right in zip(first, second, strict=True)
    )


class Framebuffer:
    """Paints frames; its image is reused for the next frame of the same size."""

    def __init__(self) -> None:
        self._image = QImage()
        self._cache = _CachedFrame()

    def paint(self, frame: FrameState, ratio: float, *, is_static: bool = False) -> QImage:
        """Paint everything from back to front; the returned image is valid until the next call.

        Args:
            frame: The frame.
            ratio: Device pixels per pixel.
            is_static: True for a still image, in which labels appear without fading.
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
        if not self._cache.restore(frame, self._image):
            self._paint_without_labels(frame, ratio)
            self._cache.store(frame, self._image)
        self._paint_labels(frame, ratio, is_static)
        return self._image

    def _paint_without_labels(self, frame: FrameState, ratio: float) -> None:
        order, bright_mask = frame.scene.order, frame.bright_mask
        undimmed_pixels = None if bright_mask is None else self._cache.undimmed_pixels(frame, self._image)
        if undimmed_pixels is not None and bright_mask is not None:
            color, pixels = rgb(frame.scene.theme.window), image_pixels(self._image)
            composite(undimmed_pixels, (0.0, 0.0), 1.0, frame.dimmed_opacity, color, pixels, None)
            order, bright_mask = (
                np.ascontiguousarray(order[bright_mask[order] > 0][-_MAX_BRIGHT_NODES:]),
                None,
            )
        else:
            self._paint_links(frame, ratio)
        painter = QPainter(self._image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_under(painter, self._image, frame)
        self._draw_nodes(frame, ratio, order, bright_mask)
        paint_over(painter, frame)
        painter.end()

    def _paint_links(self, frame: FrameState, ratio: float) -> None:
        """Draw the background and the image of the links as seen by this camera."""
        background, edge_image = QColor(frame.scene.theme.window), frame.edge_image
        if edge_image is None:
            self._image.fill(background)
            return
        area = image_rect(edge_image, frame.camera, frame.width, frame.height)
        zoom = area.width() * ratio / edge_image.image.width()
        corner = (area.x() * ratio, area.y() * ratio)
        color = rgb(frame.scene.theme.window)
        # Treat a zoom of almost 1 as 1: copying whole pixels is ten times as fast.
        zoom = 1.0 if abs(zoom - 1.0) < 1e-5 else zoom
        composite(
            edge_image.pixels, corner, zoom, frame.dimmed_opacity, color, image_pixels(self._image), None
        )

    def _draw_nodes(
        self,
        frame: FrameState,
        ratio: float,
        order: NDArray[np.int32],
        bright_mask: NDArray[np.uint8] | None,
    ) -> None:
        """Draw the rows in `order`, small nodes first, so that hubs are on top."""
        scene = frame.scene
        background = rgb(scene.theme.window)
        viewport = frame.view.scaled(ratio)
        bodies, colors = scene.bodies, scene.colors
        pixels = image_pixels(self._image)
        draw_discs(
            bodies,
            colors,
            order,
            bright_mask,
            frame.dimmed_opacity,
            viewport,
            background,
            ratio,
            pixels,
            None,
        )

    def _paint_labels(self, frame: FrameState, ratio: float, is_static: bool) -> None:
        """Draw the labels on device pixels: they stay sharp, and are copied rather than scaled."""
        frame.place_labels()
        if is_static:
            frame.labels.finish()
        self._image.setDevicePixelRatio(1.0)
        frame.labels.paint(self._image, frame.scene, frame.view.scaled(ratio))
        self._image.setDevicePixelRatio(ratio)
