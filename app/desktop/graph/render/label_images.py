"""Labels as small images, drawn in a thread because loading a font can take a long time.

A label is drawn once, with a halo in the background's color, and then copied.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPainterPath, QPen

from app.desktop.graph.render.edge_renderer import image_pixels
from app.graph.core_drawing import stamp

_MAX_LABEL_CHARS = 34
_MAX_CACHED_IMAGES = 1200
_PADDING = 3.0
_MIN_BOLD_SIZE = 14

Key = tuple[str, int]


@dataclass(frozen=True)
class LabelStyle:
    """The look of labels: font, colors as "#rrggbb", device pixels per pixel, and interface zoom."""

    font: QFont
    text: str
    halo: str
    ratio: float
    zoom: float = 1.0


@dataclass(frozen=True, eq=False, slots=True)
class LabelImage:
    """A drawn label, its pixel data as uint8 (height, width, 4), and its size in device pixels."""

    image: QImage
    pixels: NDArray[np.uint8]
    size: tuple[int, int]


class LabelImages:
    """Images by name and size in pixels at a zoom of one; missing ones are drawn by a thread.

    `request` replaces the list of missing images, so that images that are no longer needed are not drawn.
    """

    def __init__(self, style: LabelStyle) -> None:
        self._style = style
        self._condition = threading.Condition()
        self._images: OrderedDict[Key, LabelImage] = OrderedDict()
        self._requested_keys: list[Key] = []
        self._is_closed = False
        self._thread: threading.Thread | None = None

    @property
    def style(self) -> LabelStyle:
        """The style of labels."""
        return self._style

    def set_style(self, style: LabelStyle) -> None:
        """Set the style of labels; drawn and requested ones are discarded."""
        with self._condition:
            self._style = style
            self._images.clear()
            self._requested_keys = []

    def get(self, name: str, pixels: int) -> LabelImage | None:
        """Return a label's image; None if it has not been drawn yet."""
        with self._condition:
            image = self._images.get((name, pixels))
            if image is not None:
                self._images.move_to_end((name, pixels))
            return image

    def draw_now(self, name: str, pixels: int) -> LabelImage:
        """Return a label's image, drawn in the calling thread if it is missing."""
        image = self.get(name, pixels)
        if image is None:
            image = draw_label(name, pixels, self._style)
            self._store((name, pixels), image, self._style)
        return image

    def request(self, keys: Sequence[Key]) -> None:
        """Draw these labels, in this order, and no others."""
        with self._condition:
            self._requested_keys = list(keys)
            if self._is_closed or not self._requested_keys:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="graph names", daemon=True)
                self._thread.start()
            self._condition.notify()

    def close(self) -> None:
        """Stop the thread permanently and wait until it ends."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._is_closed and not self._requested_keys:
                    self._condition.wait()
                if self._is_closed:
                    return
                key, style = self._requested_keys.pop(0), self._style
            if self.get(*key) is None:
                self._store(key, draw_label(*key, style), style)

    def _store(self, key: Key, image: LabelImage, style: LabelStyle) -> None:
        with self._condition:
            if style is not self._style:
                return
            self._images[key] = image
            if len(self._images) > _MAX_CACHED_IMAGES:
                self._images.popitem(last=False)


def draw_label(name: str, pixels: int, style: LabelStyle) -> LabelImage:
    """Return a label's image in device pixels, with no pixel ratio set; a long name is truncated."""
    font = QFont(style.font)
    font.setPixelSize(round(pixels * style.zoom))
    if pixels >= _MIN_BOLD_SIZE:
        font.setWeight(QFont.Weight.DemiBold)
    text = name if len(name) <= _MAX_LABEL_CHARS else name[: _MAX_LABEL_CHARS - 1].rstrip() + "…"
    metrics = QFontMetricsF(font)
    width, height = metrics.horizontalAdvance(text) + 2 * _PADDING, metrics.height() + 2
    image = QImage(
        int(np.ceil(width * style.ratio)),
        int(np.ceil(height * style.ratio)),
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.scale(style.ratio, style.ratio)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    outline = QPainterPath()
    outline.addText(QPointF(_PADDING, metrics.ascent() + 1), font, text)
    halo = QColor(style.halo)
    halo.setAlphaF(0.82)
    pen = QPen(halo, 3.2)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.strokePath(outline, pen)
    painter.setFont(font)
    painter.setPen(QColor(style.text))
    painter.drawText(QPointF(_PADDING, metrics.ascent() + 1), text)
    painter.end()
    # An image keeps its painting resources, which are twenty times as large as a label; its copy does not.
    copy = image.copy()
    return LabelImage(copy, image_pixels(copy), (copy.width(), copy.height()))


def draw_labels(
    labels: Sequence[LabelImage], corners: NDArray[np.int32], opacities: NDArray[np.float32], image: QImage
) -> None:
    """Draw labels over an opaque image.

    Args:
        labels: The images of the labels.
        corners: int32 (k, 2), the pixel of each upper left corner.
        opacities: float32 (k,), the opacity of each label.
        image: An image in device pixels, with no pixel ratio set.
    """
    stamp([label.pixels for label in labels], corners, opacities, image_pixels(image))
