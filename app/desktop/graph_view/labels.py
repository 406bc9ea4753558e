"""Names beside nodes: the weightiest first, never one over another, fading in and out.

A name whose picture is still being drawn comes some frames later.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage, QPainter

from app.desktop.graph_view.name_images import Key, NameImages

_SMALLEST_NAMED = 3.3
_CELL = 48.0
_PLACED_EVERY = 0.04
_FADE_SECONDS = 0.09

_SIDES = ("below", "above", "right", "left")
_SMALLEST_AVOIDED = 3.0
_MOST_AVOIDED = 260
_INSISTENT = 10
_MOST_WANTED = 90

Box = tuple[float, float, float, float]


class Labels:
    """Chooses, places and paints the names of one graph."""

    def __init__(self, names: Sequence[str], images: NameImages) -> None:
        self._names = names
        self._images = images
        self._shown: dict[int, float] = {}
        self._aims: dict[int, float] = {}
        self._sides: dict[int, int] = {}
        self.placed: dict[int, Box] = {}
        self._missing: list[Key] = []
        self._late = False
        self._placed_for: Hashable = None
        self._placed_at = 0.0
        self.hurried = True
        self.sizes: list[int] = [12] * len(names)

    def rename(self, names: Sequence[str], rows: Mapping[int, int]) -> None:
        """Another state of the graph: its names, and the new row of each old one that is still there."""
        self._names = names
        self._shown = {rows[row]: seen for row, seen in self._shown.items() if row in rows}
        self._aims, self.placed, self._sides = {}, {}, {}
        self._placed_for = None

    @property
    def fading(self) -> bool:
        """Whether a name is still on its way in or out."""
        leaving = any(row not in self._aims for row in self._shown)
        coming = any(self._shown.get(row, 0.0) != aim for row, aim in self._aims.items())
        return bool(self._missing) or self._late or leaving or coming

    def due(self, what: Hashable) -> bool:
        """Whether names are to be placed anew, now that the frame shows `what`.

        While it moves they are not placed in every frame: they travel with their nodes in between.
        """
        if what == self._placed_for and not self._missing:
            self._late = False
            return False
        now = time.perf_counter()
        self._late = self.hurried and now - self._placed_at < _PLACED_EVERY
        if self._late:
            return False
        self._placed_for, self._placed_at = what, now
        return True

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
        self._missing = []
        self.placed = {}
        self._aims = {}
        first = [row for row in forced if inside[row]]
        for row in [*first, *ranked]:
            if row in self.placed or len(self.placed) >= room + len(first):
                continue
            radius = float(radii[row])
            image = self._image(row)
            if image is None:
                self._missing.append((self._names[row], self.sizes[row]))
                continue
            wide, high = image.deviceIndependentSize().toTuple()
            insistent = row in first or len(self.placed) < _INSISTENT
            disc = (float(at[row, 0]), float(at[row, 1]), radius)
            box = self._spot(row, disc, (wide, high), taken, discs, width, insistent)
            if box is not None:
                taken.add(box)
                self.placed[row] = box
                growing = min(1.0, (radius - _SMALLEST_NAMED) / 1.2 + 0.5)
                self._aims[row] = 1.0 if row in first else growing * float(opacity[row])
        self._images.want(self._missing[:_MOST_WANTED])

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
            image = self._image(row)
            if image is None:
                continue
            width, height = image.deviceIndependentSize().toTuple()
            painter.setOpacity(opacity)
            x, y, radius = float(at[row, 0]), float(at[row, 1]), float(radii[row])
            corner = _corner(x, y, radius, width, height, self._sides.get(row, 0))
            painter.drawImage(QPointF(*corner), image)
        painter.setOpacity(1.0)

    def _image(self, row: int) -> QImage | None:
        """The drawn name, if it is there; a still picture waits for it."""
        if self.hurried:
            return self._images.get(self._names[row], self.sizes[row])
        return self._images.draw_now(self._names[row], self.sizes[row])

    def _spot(
        self,
        row: int,
        disc: tuple[float, float, float],
        size: tuple[float, float],
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
        boxes = [_box(*disc, *size, side) for side in sides]
        inside = disc[2] < disc[0] < width - disc[2]
        for side, box in zip(sides, boxes, strict=True):
            if inside and (box[0] < 0 or box[2] > width):
                continue
            if taken.free(box) and discs.free(box):
                self._sides[row] = side
                return box
        if insistent and taken.free(below := _box(*disc, *size, 0)):
            self._sides[row] = 0
            return below
        return None


def _corner(
    x: float, y: float, radius: float, width: float, height: float, side: int
) -> tuple[float, float]:
    """The left upper corner of a name at a side of its disc."""
    if side == 0:
        return x - width / 2, y + radius + 0.5
    if side == 1:
        return x - width / 2, y - radius - height + 1.5
    return (x + radius - 0.5 if side == 2 else x - radius - width + 0.5), y - height / 2


def _box(x: float, y: float, radius: float, width: float, height: float, side: int) -> Box:
    """The box of a name at a side of its disc."""
    left, top = _corner(x, y, radius, width, height, side)
    return (left, top, left + width, top + height)


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
