"""Names beside nodes: the weightiest first, never one over another, fading in and out.

A name is drawn once into a small pixmap with a halo in the background's colour, and blitted from then on.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPixmap

_LONGEST = 34
_KEPT = 1200
_SMALLEST_NAMED = 3.3
_CELL = 48.0
_BUDGET_SECONDS = 0.003
_FADE_SECONDS = 0.09

_SIDES = ("below", "above", "right", "left")
_SMALLEST_AVOIDED = 3.0
_MOST_AVOIDED = 260
_INSISTENT = 10

Box = tuple[float, float, float, float]


class Labels:
    """Chooses, places and paints the names of one graph."""

    def __init__(self, names: Sequence[str], font: QFont, text: str, halo: str, ratio: float) -> None:
        self._names = names
        self._font = font
        self._text, self._halo, self._ratio = text, halo, ratio
        self._pixmaps: OrderedDict[tuple[str, int], QPixmap] = OrderedDict()
        self._shown: dict[int, float] = {}
        self._aims: dict[int, float] = {}
        self._sides: dict[int, int] = {}
        self.placed: dict[int, Box] = {}
        self._spent = 0.0
        self._behind = False
        self.hurried = True
        self.sizes: list[int] = [12] * len(names)

    def rename(self, names: Sequence[str], rows: Mapping[int, int]) -> None:
        """Another state of the graph: its names, and the new row of each old one that is still there."""
        self._names = names
        self._shown = {rows[row]: seen for row, seen in self._shown.items() if row in rows}
        self._aims, self.placed, self._sides = {}, {}, {}

    @property
    def fading(self) -> bool:
        """Whether a name is still on its way in or out."""
        leaving = any(row not in self._aims for row in self._shown)
        coming = any(self._shown.get(row, 0.0) != aim for row, aim in self._aims.items())
        return self._behind or leaving or coming

    def place(
        self,
        at: NDArray[np.float32],
        radii: NDArray[np.float32],
        weight: NDArray[np.float32],
        opacity: NDArray[np.float32],
        forced: Sequence[int],
        size: tuple[int, int],
    ) -> None:
        """Choose which names are shown, and where.

        Args:
            at: float32 (n, 2), nodes in pixels.
            radii: float32 (n,), in pixels.
            weight: float32 (n,), the heavier is named first.
            opacity: float32 (n,), of the nodes; faint ones are not named.
            forced: Rows to be named before all others, however small they are.
            size: Of the view, in pixels.
        """
        width, height = size
        room = max(14, width * height // 12_000)
        inside = (at[:, 0] > -40) & (at[:, 0] < width + 40) & (at[:, 1] > -10) & (at[:, 1] < height + 4)
        named = inside & (opacity > 0.45) & (radii >= _SMALLEST_NAMED)
        candidates = np.flatnonzero(named)
        liking = weight.copy()
        liking[[row for row, seen in self._shown.items() if seen > 0.3]] *= 1.6
        ranked = candidates[np.argsort(-liking[candidates], kind="stable")][: room * 4].tolist()
        taken, discs = _Taken(), _Taken()
        seen = np.flatnonzero(inside & (opacity > 0.45) & (radii >= _SMALLEST_AVOIDED))
        for row in seen[np.argsort(-radii[seen], kind="stable")][:_MOST_AVOIDED].tolist():
            discs.add(_disc(float(at[row, 0]), float(at[row, 1]), float(radii[row])))
        self._spent, self._behind = 0.0, False
        self.placed = {}
        self._aims = {}
        first = [row for row in forced if inside[row]]
        for row in [*first, *ranked]:
            if row in self.placed or len(self.placed) >= room + len(first):
                continue
            radius = float(radii[row])
            if not self._ready(row, patient=row in first):
                continue
            insistent = row in first or len(self.placed) < _INSISTENT
            disc = (float(at[row, 0]), float(at[row, 1]), radius)
            box = self._spot(row, disc, taken, discs, width, insistent)
            if box is not None:
                taken.add(box)
                self.placed[row] = box
                growing = min(1.0, (radius - _SMALLEST_NAMED) / 1.2 + 0.5)
                self._aims[row] = 1.0 if row in first else growing * float(opacity[row])

    def advance(self, passed: float) -> None:
        """Let `passed` seconds go by for the fades."""
        share = 1 - 0.5 ** (passed / _FADE_SECONDS)
        for row in {*self._shown, *self._aims}:
            aim, now = self._aims.get(row, 0.0), self._shown.get(row, 0.0)
            value = aim if abs(aim - now) < 0.04 else now + (aim - now) * share
            if value or row in self._aims:
                self._shown[row] = value
            else:
                self._shown.pop(row, None)

    def finish(self) -> None:
        """End all fades at once."""
        self._shown = dict(self._aims)

    def paint(self, painter: QPainter, at: NDArray[np.float32], radii: NDArray[np.float32]) -> None:
        """Draws the names that are shown, where their nodes are now."""
        for row, opacity in self._shown.items():
            if opacity <= 0.0 or row >= len(at):
                continue
            pixmap = self._pixmap(row, self.sizes[row])
            width = pixmap.width() / self._ratio
            painter.setOpacity(opacity)
            height = pixmap.height() / self._ratio
            x, y, radius = float(at[row, 0]), float(at[row, 1]), float(radii[row])
            corner = _corner(x, y, radius, width, height, self._sides.get(row, 0))
            painter.drawPixmap(QPointF(*corner), pixmap)
        painter.setOpacity(1.0)

    def _ready(self, row: int, *, patient: bool) -> bool:
        """Whether the name is drawn, or may be: a frame has a few milliseconds for new names."""
        if patient or (self._names[row], self.sizes[row]) in self._pixmaps or not self.hurried:
            return True
        if self._spent > _BUDGET_SECONDS:
            self._behind = True
            return False
        began = time.perf_counter()
        self._pixmap(row, self.sizes[row])
        self._spent += time.perf_counter() - began
        return True

    def _spot(
        self,
        row: int,
        disc: tuple[float, float, float],
        taken: _Taken,
        discs: _Taken,
        width: int,
        insistent: bool,
    ) -> Box | None:
        """Where a name goes: the side it has, else another one; an insistent name may lie on nodes.

        No name is cut off by a rim of the view, unless its node is.
        """
        last = self._sides.get(row, 0)
        sides = (last, *(side for side in range(len(_SIDES)) if side != last))
        boxes = [self._box(row, *disc, side) for side in sides]
        inside = disc[2] < disc[0] < width - disc[2]
        for side, box in zip(sides, boxes, strict=True):
            if inside and (box[0] < 0 or box[2] > width):
                continue
            if taken.free(box) and discs.free(box):
                self._sides[row] = side
                return box
        if insistent and taken.free(below := self._box(row, *disc, 0)):
            self._sides[row] = 0
            return below
        return None

    def _box(self, row: int, x: float, y: float, radius: float, side: int) -> Box:
        pixmap = self._pixmap(row, self.sizes[row])
        width, height = pixmap.width() / self._ratio, pixmap.height() / self._ratio
        left, top = _corner(x, y, radius, width, height, side)
        return (left, top, left + width, top + height)

    def _pixmap(self, row: int, pixels: int) -> QPixmap:
        key = (self._names[row], pixels)
        pixmap = self._pixmaps.get(key)
        if pixmap is None:
            pixmap = self._pixmaps[key] = self._drawn(self._names[row], pixels)
            if len(self._pixmaps) > _KEPT:
                self._pixmaps.popitem(last=False)
        else:
            self._pixmaps.move_to_end(key)
        return pixmap

    def _drawn(self, name: str, pixels: int) -> QPixmap:
        font = QFont(self._font)
        font.setPixelSize(pixels)
        if pixels >= 14:
            font.setWeight(QFont.Weight.DemiBold)
        text = name if len(name) <= _LONGEST else name[: _LONGEST - 1].rstrip() + "…"
        metrics = QFontMetricsF(font)
        pad = 3.0
        width, height = metrics.horizontalAdvance(text) + 2 * pad, metrics.height() + 2
        pixmap = QPixmap(int(np.ceil(width * self._ratio)), int(np.ceil(height * self._ratio)))
        pixmap.setDevicePixelRatio(self._ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        outline = QPainterPath()
        outline.addText(QPointF(pad, metrics.ascent() + 1), font, text)
        halo = QColor(self._halo)
        halo.setAlphaF(0.82)
        pen = QPen(halo, 3.2)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(outline, pen)
        painter.setFont(font)
        painter.setPen(QColor(self._text))
        painter.drawText(QPointF(pad, metrics.ascent() + 1), text)
        painter.end()
        return pixmap


def _corner(
    x: float, y: float, radius: float, width: float, height: float, side: int
) -> tuple[float, float]:
    """The left upper corner of a name at a side of its disc."""
    if side == 0:
        return x - width / 2, y + radius + 0.5
    if side == 1:
        return x - width / 2, y - radius - height + 1.5
    return (x + radius - 0.5 if side == 2 else x - radius - width + 0.5), y - height / 2


def _disc(x: float, y: float, radius: float) -> Box:
    """The box in a disc that no name is to cover; its rim may be touched."""
    inner = radius * 0.8
    return (x - inner, y - inner, x + inner, y + inner)


def label_sizes(radii: NDArray[np.float32]) -> list[int]:
    """Font sizes in pixels of the names of nodes with those radii (layout units): hubs have larger ones."""
    return [int(each) for each in np.clip(10.4 + 2.6 * radii, 11, 15)]


class _Taken:
    """Boxes that are taken, in coarse cells."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[Box]] = {}

    def free(self, box: Box) -> bool:
        """Whether `box` touches none."""
        for cell in _cells(box):
            for other in self._cells.get(cell, ()):
                if box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]:
                    return False
        return True

    def add(self, box: Box) -> None:
        """Take `box`."""
        for cell in _cells(box):
            self._cells.setdefault(cell, []).append(box)


def _cells(box: Box) -> list[tuple[int, int]]:
    columns = range(int(box[0] // _CELL), int(box[2] // _CELL) + 1)
    lines = range(int(box[1] // _CELL), int(box[3] // _CELL) + 1)
    return [(column, line) for column in columns for line in lines]
