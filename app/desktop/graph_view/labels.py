"""Names beside nodes: the weightiest first, never one over another, fading in and out.

A name whose picture is still being drawn comes some frames later.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QPainter

from app.desktop.graph_view.name_images import Key, NameImages
from app.desktop.graph_view.name_places import Box, box_of, find_room, seen_rows
from app.desktop.graph_view.scene import Scene
from app.graph.native_pictures import Bodies, View

_SMALLEST_NAMED = 3.3
_LANDMARKS = 7
_FAINTEST_LANDMARK = 0.75
_PLACED_EVERY = 0.04
_FADE_SECONDS = 0.09

_FAINTEST_NAMED = 0.45
_SMALLEST_AVOIDED = 3.0
_MOST_AVOIDED = 260
_INSISTENT = 10
_MOST_WANTED = 90
_MOST_DRAWN = 1000


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
        self._drawn: dict[Key, QImage] = {}
        self._late = False
        self._placed_for: Hashable = None
        self._placed_at = 0.0
        self.hurried = True
        self.sizes: NDArray[np.uint8] = np.full(len(names), 12, dtype=np.uint8)

    def rename(self, names: Sequence[str], rows: Mapping[int, int]) -> None:
        """Another state of the graph: its names, and the new row of each old one that is still there."""
        self._names = names
        self._shown = {rows[row]: seen for row, seen in self._shown.items() if row in rows}
        self._aims, self.placed, self._sides = {}, {}, {}
        self._placed_for = None

    @property
    def shown_rows(self) -> tuple[int, ...]:
        """Rows whose names are seen, some of them faintly."""
        return tuple(self._shown)

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
        scene: Scene,
        view: View,
        opacity: NDArray[np.float32],
        forced: Sequence[int],
        size: tuple[int, int],
    ) -> None:
        """Choose which names are shown, and where.

        Args:
            scene: Whose nodes; the heavier is named first.
            view: Where they are seen.
            opacity: float32 (n,), of the nodes; faint ones are not named.
            forced: Rows to be named before all others, however small they are.
            size: Of the view, in pixels.
        """
        width, height = size
        room = max(14, width * height // 12_000)
        bodies = Bodies(scene.positions, scene.radii, opacity)
        around = (-40.0, -10.0, width + 40.0, height + 4.0)
        first = self._seen_among(forced, scene, view, around)
        ranked = self._ranked(scene, bodies, view, around, room * 4)
        rows, images = [], []
        self._missing = []
        if len(self._drawn) > _MOST_DRAWN:
            self._drawn.clear()
        for row in dict.fromkeys([*first, *ranked]):
            image = self._image(row)
            if image is None:
                self._missing.append((self._names[row], int(self.sizes[row])))
            else:
                rows.append(row)
                images.append(image)
        leading = sum(row in set(first) for row in rows)
        at, radii = view.places(scene.positions[rows]), view.radii(scene.radii[rows])
        wide = np.array([image.width() for image in images], dtype=np.float32) / self._images.look.ratio
        high = np.array([image.height() for image in images], dtype=np.float32) / self._images.look.ratio
        names = np.column_stack([at, radii, wide, high]).astype(np.float32).reshape(-1, 5)
        sides = np.array([self._sides.get(row, 0) for row in rows], dtype=np.int32)
        discs = self._covered(scene, bodies, view, around)
        find_room(names, discs, float(width), leading, room, _INSISTENT, sides)
        self._take(rows, names, sides.tolist(), leading, opacity)
        self._images.want(self._missing[:_MOST_WANTED])

    def _seen_among(self, rows: Sequence[int], scene: Scene, view: View, around: Box) -> list[int]:
        at = view.places(scene.positions[list(rows)]).tolist() if rows else []
        left, top, right, bottom = around
        return [
            row
            for row, (x, y) in zip(rows, at, strict=True)
            if left < x < right and top < y < bottom
        ]

    def _ranked(self, scene: Scene, bodies: Bodies, view: View, around: Box, most: int) -> list[int]:
        """The weightiest nodes that are seen; those that are named already count for more.

        From afar, where all are too small, the heaviest few are named as landmarks.
        """
        found = seen_rows(bodies, scene.heaviest, view, around, _SMALLEST_NAMED, _FAINTEST_NAMED, most)
        if len(found) < _LANDMARKS:
            found = seen_rows(bodies, scene.heaviest, view, around, 0.0, _FAINTEST_NAMED, _LANDMARKS)
        named = np.array([row for row, seen in self._shown.items() if seen > 0.3], dtype=np.int32)
        kept = seen_rows(bodies, named, view, around, _SMALLEST_NAMED, _FAINTEST_NAMED, len(named))
        rows = np.unique(np.concatenate([found, kept]))
        liking = scene.weight[rows] * np.where(np.isin(rows, kept), np.float32(1.6), np.float32(1.0))
        ranked: list[int] = rows[np.argsort(-liking, kind="stable")][:most].tolist()
        return ranked

    def _covered(self, scene: Scene, bodies: Bodies, view: View, around: Box) -> NDArray[np.float32]:
        """Boxes in the largest discs, which no name is to cover; their rims may be touched."""
        rows = seen_rows(
            bodies, scene.largest, view, around, _SMALLEST_AVOIDED, _FAINTEST_NAMED, _MOST_AVOIDED
        )
        at, inner = view.places(scene.positions[rows]), 0.8 * view.radii(scene.radii[rows])[:, None]
        return np.concatenate([at - inner, at + inner], axis=1).astype(np.float32)

    def _take(
        self,
        rows: Sequence[int],
        names: NDArray[np.float32],
        sides: Sequence[int],
        leading: int,
        opacity: NDArray[np.float32],
    ) -> None:
        self.placed, self._aims = {}, {}
        for turn, (row, side, name) in enumerate(zip(rows, sides, names.tolist(), strict=True)):
            if side < 0:
                continue
            self._sides[row] = side
            self.placed[row] = box_of(name, side)
            growing = max(_FAINTEST_LANDMARK, min(1.0, (name[2] - _SMALLEST_NAMED) / 1.2 + 0.5))
            self._aims[row] = 1.0 if turn < leading else growing * float(opacity[row])

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

    def paint(self, painter: QPainter, scene: Scene, view: View) -> None:
        """Draws the names that are shown, where their nodes are now, on whole pixels: names stay sharp.

        `view` is that of the device's pixels, which the painter has to know no other scale for.
        """
        ratio = self._images.look.ratio
        rows = [row for row, seen in self._shown.items() if seen > 0.0 and row < len(scene.graph)]
        if not rows:
            return
        at = (view.places(scene.positions[rows]) / ratio).tolist()
        radii = (view.radii(scene.radii[rows]) / ratio).tolist()
        for row, (x, y), radius in zip(rows, at, radii, strict=True):
            image = self._image(row)
            if image is None:
                continue
            name = [x, y, radius, image.width() / ratio, image.height() / ratio]
            left, top, _, _ = box_of(name, self._sides.get(row, 0))
            painter.setOpacity(self._shown[row])
            painter.drawImage(QPoint(round(left * ratio), round(top * ratio)), image)
        painter.setOpacity(1.0)

    def _image(self, row: int) -> QImage | None:
        """The drawn name, if it is there; a still picture waits for it."""
        key = (self._names[row], int(self.sizes[row]))
        image = self._drawn.get(key)
        if image is None:
            image = self._images.get(*key) if self.hurried else self._images.draw_now(*key)
            if image is not None:
                self._drawn[key] = image
        return image


def label_sizes(radii: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Font sizes in pixels of the names of nodes with those radii (layout units): hubs have larger ones."""
    return np.asarray(np.clip(10.4 + 2.6 * radii, 11, 15), dtype=np.uint8)
