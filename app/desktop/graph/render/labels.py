"""Labels next to nodes: the heaviest nodes first, without overlaps, fading in and out.

A label whose picture is still being drawn appears some frames later.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from app.desktop.graph.render.label_images import Key, LabelImage, LabelImages, draw_labels
from app.desktop.graph.render.label_placement import Box, label_box, label_corners
from app.desktop.graph.scene import Scene
from app.graph.core_drawing import Bodies, Viewport, first_seen, place_labels

_MIN_NAMED_RADIUS = 3.3
_LANDMARK_COUNT = 7
_MIN_LANDMARK_OPACITY = 0.75
_PLACEMENT_INTERVAL_S = 0.04
_FADE_HALF_LIFE_S = 0.09

_MIN_NAMED_OPACITY = 0.45
_MIN_AVOIDED_RADIUS = 3.0
_MAX_AVOIDED_NODES = 260
_FORCED_LABEL_COUNT = 10
_MAX_REQUESTED_IMAGES = 90
_MAX_CACHED_IMAGES = 1000


class LabelRenderer:
    """Selects, places and paints the labels of one graph."""

    def __init__(self, names: Sequence[str], images: LabelImages) -> None:
        self._names = names
        self._images = images
        self._shown: dict[int, float] = {}
        self._aims: dict[int, float] = {}
        self._sides: dict[int, int] = {}
        self.placed: dict[int, Box] = {}
        self._missing: list[Key] = []
        self._drawn: dict[int, LabelImage] = {}
        self._late = False
        self._placed_for: Hashable = None
        self._placed_at = 0.0
        self.hurried = True
        self._sizes: NDArray[np.uint8] = np.full(len(names), 12, dtype=np.uint8)

    @property
    def sizes(self) -> NDArray[np.uint8]:
        """The font size of each label in pixels at a zoom of one, uint8 (n,)."""
        return self._sizes

    @sizes.setter
    def sizes(self, sizes: NDArray[np.uint8]) -> None:
        self._sizes = sizes
        self._drawn.clear()

    def rename(self, names: Sequence[str], rows: Mapping[int, int]) -> None:
        """Take over another state of the graph: its names, and the new rows of the old ones."""
        self._names = names
        self._drawn.clear()
        self._shown = {rows[row]: seen for row, seen in self._shown.items() if row in rows}
        self._aims, self.placed, self._sides = {}, {}, {}
        self._placed_for = None

    @property
    def shown_rows(self) -> tuple[int, ...]:
        """The rows whose labels are visible, at least faintly."""
        return tuple(self._shown)

    @property
    def fading(self) -> bool:
        """Return whether a label is fading in or out."""
        leaving = any(row not in self._aims for row in self._shown)
        coming = any(self._shown.get(row, 0.0) != aim for row, aim in self._aims.items())
        return bool(self._missing) or self._late or leaving or coming

    def needs_placement(self, what: Hashable) -> bool:
        """Return whether labels must be placed again for `what`.

        During motion they are not placed in every frame: they move with their nodes in between.
        """
        if what == self._placed_for and not self._missing:
            self._late = False
            return False
        now = time.perf_counter()
        self._late = self.hurried and now - self._placed_at < _PLACEMENT_INTERVAL_S
        if self._late:
            return False
        self._placed_for, self._placed_at = what, now
        return True

    def place(
        self,
        scene: Scene,
        view: Viewport,
        opacity: NDArray[np.float32],
        forced: Sequence[int],
        size: tuple[int, int],
    ) -> None:
        """Choose which labels are visible, and place them.

        Args:
            scene: The nodes; heavier ones come first.
            view: The view of the layout.
            opacity: float32 (n,), of the nodes; faint ones get no label.
            forced: Rows that get a label before all others, however small they are.
            size: The size of the view in pixels.
        """
        width, height = size
        room = max(14, width * height // 12_000)
        bodies = Bodies(scene.positions, scene.radii, opacity)
        around = (-40.0, -10.0, width + 40.0, height + 4.0)
        first = self._seen_among(forced, scene, view, around)
        ranked = self._ranked(scene, bodies, view, around, room * 4)
        chosen = dict.fromkeys([*first, *ranked])
        pictures = self._pictures(chosen)
        rows = [row for row in chosen if row in pictures]
        self._missing = [self._key(row) for row in chosen if row not in pictures]
        leading = sum(row in pictures for row in dict.fromkeys(first))
        names = self._names_of(scene, rows, pictures, view)
        sides = np.array([self._sides.get(row, 0) for row in rows], dtype=np.int32)
        discs = self._covered(scene, bodies, view, around)
        place_labels(names, discs, float(width), leading, room, _FORCED_LABEL_COUNT, sides)
        self._set_placed(rows, names, sides, leading, opacity)
        self._images.request(self._missing[:_MAX_REQUESTED_IMAGES])

    def _names_of(
        self, scene: Scene, rows: Sequence[int], pictures: Mapping[int, LabelImage], view: Viewport
    ) -> NDArray[np.float32]:
        """Return the labels as they are placed, float32 (k, 5); see `place_labels`."""
        places = np.array(rows, dtype=np.int64)
        names = np.empty((len(rows), 5), dtype=np.float32)
        names[:, :2] = view.to_pixels(scene.positions[places])
        names[:, 2] = view.radii(scene.radii[places])
        sizes = np.array([pictures[row].size for row in rows], dtype=np.float32).reshape(-1, 2)
        names[:, 3:] = sizes / np.float32(self._images.look.ratio)
        return names

    def _seen_among(self, rows: Sequence[int], scene: Scene, view: Viewport, around: Box) -> list[int]:
        at = view.to_pixels(scene.positions[list(rows)]).tolist() if rows else []
        left, top, right, bottom = around
        return [row for row, (x, y) in zip(rows, at, strict=True) if left < x < right and top < y < bottom]

    def _ranked(self, scene: Scene, bodies: Bodies, view: Viewport, around: Box, most: int) -> list[int]:
        """Return the heaviest visible nodes; those that have a label get a bonus.

        Zoomed out, where all are too small, the heaviest few are labeled as landmarks.
        """
        found = first_seen(bodies, scene.heaviest, view, around, _MIN_NAMED_RADIUS, _MIN_NAMED_OPACITY, most)
        if len(found) < _LANDMARK_COUNT:
            found = first_seen(bodies, scene.heaviest, view, around, 0.0, _MIN_NAMED_OPACITY, _LANDMARK_COUNT)
        named = np.array([row for row, seen in self._shown.items() if seen > 0.3], dtype=np.int32)
        kept = first_seen(bodies, named, view, around, _MIN_NAMED_RADIUS, _MIN_NAMED_OPACITY, len(named))
        rows = np.unique(np.concatenate([found, kept]))
        liking = scene.weight[rows]
        liking[np.searchsorted(rows, kept)] *= np.float32(1.6)
        ranked: list[int] = rows[np.argsort(-liking, kind="stable")][:most].tolist()
        return ranked

    def _covered(self, scene: Scene, bodies: Bodies, view: Viewport, around: Box) -> NDArray[np.float32]:
        """Return boxes in the largest discs, which no label may cover; their edges may be touched."""
        rows = first_seen(
            bodies, scene.largest, view, around, _MIN_AVOIDED_RADIUS, _MIN_NAMED_OPACITY, _MAX_AVOIDED_NODES
        )
        at, inner = view.to_pixels(scene.positions[rows]), 0.8 * view.radii(scene.radii[rows])[:, None]
        return np.concatenate([at - inner, at + inner], axis=1).astype(np.float32)

    def _set_placed(
        self,
        rows: Sequence[int],
        names: NDArray[np.float32],
        sides: NDArray[np.int32],
        leading: int,
        opacity: NDArray[np.float32],
    ) -> None:
        self.placed, self._aims = {}, {}
        placed = np.flatnonzero(sides >= 0).tolist()
        for turn, name, side in zip(placed, names[placed].tolist(), sides[placed].tolist(), strict=True):
            row = rows[turn]
            self._sides[row] = side
            self.placed[row] = label_box(name, side)
            growing = max(_MIN_LANDMARK_OPACITY, min(1.0, (name[2] - _MIN_NAMED_RADIUS) / 1.2 + 0.5))
            self._aims[row] = 1.0 if turn < leading else growing * float(opacity[row])

    def advance(self, passed: float) -> None:
        """Advance the fades by `passed` seconds."""
        share = 1 - 0.5 ** (passed / _FADE_HALF_LIFE_S)
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

    def paint(self, image: QImage, scene: Scene, view: Viewport) -> None:
        """Draw the visible labels at the current positions, on whole pixels so that they stay sharp.

        Args:
            image: An opaque image without a ratio.
            scene: The nodes.
            view: The view in the image's pixels.
        """
        ratio = self._images.look.ratio
        seen = [row for row, share in self._shown.items() if share > 0.0 and row < len(scene.graph)]
        pictures = self._pictures(seen)
        rows = [row for row in seen if row in pictures]
        if not rows:
            return
        names = self._names_of(scene, rows, pictures, view)
        names[:, :3] /= np.float32(ratio)
        sides = np.array([self._sides.get(row, 0) for row in rows], dtype=np.int32)
        corners = np.rint(label_corners(names, sides) * np.float32(ratio)).astype(np.int32)
        shares = np.array([self._shown[row] for row in rows], dtype=np.float32)
        draw_labels([pictures[row] for row in rows], corners, shares, image)

    def _key(self, row: int) -> Key:
        return self._names[row], int(self._sizes[row])

    def _pictures(self, rows: Iterable[int]) -> dict[int, LabelImage]:
        """Return the drawn labels of `rows`; a still picture waits for all of them."""
        if len(self._drawn) > _MAX_CACHED_IMAGES:
            self._drawn.clear()
        known = self._drawn
        found = {row: picture for row in rows if (picture := known.get(row) or self._picture(row))}
        known.update(found)
        return found

    def _picture(self, row: int) -> LabelImage | None:
        key = self._key(row)
        return self._images.get(*key) if self.hurried else self._images.draw_now(*key)


def label_sizes(radii: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return label sizes in pixels for nodes with those radii (layout units): hubs have larger ones."""
    return np.asarray(np.clip(10.4 + 2.6 * radii, 11, 15), dtype=np.uint8)
