"""Labels next to nodes: the heaviest nodes first, without overlaps, fading in and out.

A label whose image is still being drawn appears a few frames later.
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

MIN_NAMED_RADIUS = 3.3
MIN_NAMED_OPACITY = 0.45
_LANDMARK_COUNT = 7
_MIN_LANDMARK_OPACITY = 0.75
_PLACEMENT_INTERVAL_S = 0.04
_FADE_HALF_LIFE_S = 0.09

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
        self._opacities: dict[int, float] = {}
        self._target_opacities: dict[int, float] = {}
        self._sides: dict[int, int] = {}
        self.placed: dict[int, Box] = {}
        self._missing_keys: list[Key] = []
        self._drawn_images: dict[int, LabelImage] = {}
        self._is_postponed = False
        self._placed_content: Hashable = None
        self._placed_at = 0.0
        self.is_animated = True
        self._sizes: NDArray[np.uint8] = np.full(len(names), 12, dtype=np.uint8)

    @property
    def sizes(self) -> NDArray[np.uint8]:
        """The font size of each label in pixels at a zoom of one, uint8 (n,)."""
        return self._sizes

    @sizes.setter
    def sizes(self, sizes: NDArray[np.uint8]) -> None:
        self._sizes = sizes
        self._drawn_images.clear()

    def replace_names(self, names: Sequence[str], rows: Mapping[int, int]) -> None:
        """Adopt the graph's next state: its names, and new rows by old row."""
        self._names = names
        self._drawn_images.clear()
        self._opacities = {rows[row]: opacity for row, opacity in self._opacities.items() if row in rows}
        self._target_opacities, self.placed, self._sides = {}, {}, {}
        self._placed_content = None

    @property
    def shown_rows(self) -> tuple[int, ...]:
        """The rows whose labels are visible, at least faintly."""
        return tuple(self._opacities)

    @property
    def is_fading(self) -> bool:
        """True if labels are still changing: one is fading, or waiting for its image or a new placement."""
        fades_out = any(row not in self._target_opacities for row in self._opacities)
        fades_in = any(
            self._opacities.get(row, 0.0) != target for row, target in self._target_opacities.items()
        )
        return bool(self._missing_keys) or self._is_postponed or fades_out or fades_in

    def needs_placement(self, content: Hashable) -> bool:
        """Return whether labels must be placed for `content`, which is then remembered as placed.

        During motion, labels are not placed in every frame; in between, they move with their nodes.
        """
        if content == self._placed_content and not self._missing_keys:
            self._is_postponed = False
            return False
        now = time.perf_counter()
        self._is_postponed = self.is_animated and now - self._placed_at < _PLACEMENT_INTERVAL_S
        if self._is_postponed:
            return False
        self._placed_content, self._placed_at = content, now
        return True

    def place(
        self,
        scene: Scene,
        view: Viewport,
        opacity: NDArray[np.float32],
        forced: Sequence[int],
        size: tuple[int, int],
    ) -> None:
        """Choose the visible labels and place them.

        Args:
            scene: The nodes; the most linked ones come first.
            view: The viewport.
            opacity: float32 (n,), the opacity of each node; faint nodes get no label.
            forced: Rows to label before all others, however small they are.
            size: The size of the view in pixels.
        """
        width, height = size
        capacity = max(14, width * height // 12_000)
        bodies = Bodies(scene.positions, scene.radii, opacity)
        bounds = (-40.0, -10.0, width + 40.0, height + 4.0)
        forced_rows = self._visible_rows(forced, scene, view, bounds)
        ranked = self._rank_rows(scene, bodies, view, bounds, capacity * 4)
        candidates = dict.fromkeys([*forced_rows, *ranked])
        images = self._drawn_labels(candidates)
        rows = [row for row in candidates if row in images]
        self._missing_keys = [self._key(row) for row in candidates if row not in images]
        forced_count = sum(row in images for row in dict.fromkeys(forced_rows))
        labels = self._measure(scene, rows, images, view)
        sides = np.array([self._sides.get(row, 0) for row in rows], dtype=np.int32)
        discs = self._avoided_boxes(scene, bodies, view, bounds)
        place_labels(labels, discs, float(width), forced_count, capacity, _FORCED_LABEL_COUNT, sides)
        self._store_placement(rows, labels, sides, forced_count, opacity)
        self._images.request(self._missing_keys[:_MAX_REQUESTED_IMAGES])

    def _measure(
        self, scene: Scene, rows: Sequence[int], images: Mapping[int, LabelImage], view: Viewport
    ) -> NDArray[np.float32]:
        """Return positions, radii and sizes of the labels, float32 (k, 5); see `place_labels`."""
        row_indices = np.array(rows, dtype=np.int64)
        labels = np.empty((len(rows), 5), dtype=np.float32)
        labels[:, :2] = view.to_pixels(scene.positions[row_indices])
        labels[:, 2] = view.radii(scene.radii[row_indices])
        sizes = np.array([images[row].size for row in rows], dtype=np.float32).reshape(-1, 2)
        labels[:, 3:] = sizes / np.float32(self._images.style.ratio)
        return labels

    def _visible_rows(self, rows: Sequence[int], scene: Scene, view: Viewport, bounds: Box) -> list[int]:
        pixels = view.to_pixels(scene.positions[list(rows)]).tolist() if rows else []
        left, top, right, bottom = bounds
        return [
            row for row, (x, y) in zip(rows, pixels, strict=True) if left < x < right and top < y < bottom
        ]

    def _rank_rows(self, scene: Scene, bodies: Bodies, view: Viewport, bounds: Box, limit: int) -> list[int]:
        """Return the heaviest visible nodes; labeled ones get a bonus, so that labels do not flicker.

        If hardly any nodes are large enough, as when zoomed out, the heaviest few are labeled as landmarks.
        """
        visible = first_seen(bodies, scene.heaviest, view, bounds, MIN_NAMED_RADIUS, MIN_NAMED_OPACITY, limit)
        if len(visible) < _LANDMARK_COUNT:
            visible = first_seen(
                bodies, scene.heaviest, view, bounds, 0.0, MIN_NAMED_OPACITY, _LANDMARK_COUNT
            )
        labeled = np.array([row for row, opacity in self._opacities.items() if opacity > 0.3], dtype=np.int32)
        still_visible = first_seen(
            bodies, labeled, view, bounds, MIN_NAMED_RADIUS, MIN_NAMED_OPACITY, len(labeled)
        )
        rows = np.unique(np.concatenate([visible, still_visible]))
        priority = scene.weight[rows]
        priority[np.searchsorted(rows, still_visible)] *= np.float32(1.6)
        ranked: list[int] = rows[np.argsort(-priority, kind="stable")][:limit].tolist()
        return ranked

    def _avoided_boxes(
        self, scene: Scene, bodies: Bodies, view: Viewport, bounds: Box
    ) -> NDArray[np.float32]:
        """Return boxes inside the largest discs, which labels avoid; they may touch the discs' edges."""
        rows = first_seen(
            bodies, scene.largest, view, bounds, _MIN_AVOIDED_RADIUS, MIN_NAMED_OPACITY, _MAX_AVOIDED_NODES
        )
        pixels = view.to_pixels(scene.positions[rows])
        half_sides = 0.8 * view.radii(scene.radii[rows])[:, None]
        return np.concatenate([pixels - half_sides, pixels + half_sides], axis=1).astype(np.float32)

    def _store_placement(
        self,
        rows: Sequence[int],
        labels: NDArray[np.float32],
        sides: NDArray[np.int32],
        forced_count: int,
        opacity: NDArray[np.float32],
    ) -> None:
        self.placed, self._target_opacities = {}, {}
        placed = np.flatnonzero(sides >= 0).tolist()
        for index, label, side in zip(placed, labels[placed].tolist(), sides[placed].tolist(), strict=True):
            row = rows[index]
            self._sides[row] = side
            self.placed[row] = label_box(label, side)
            size_opacity = max(_MIN_LANDMARK_OPACITY, min(1.0, (label[2] - MIN_NAMED_RADIUS) / 1.2 + 0.5))
            self._target_opacities[row] = 1.0 if index < forced_count else size_opacity * float(opacity[row])

    def advance(self, seconds: float) -> None:
        """Advance the fades by `seconds`."""
        step = 1 - 0.5 ** (seconds / _FADE_HALF_LIFE_S)
        for row in {*self._opacities, *self._target_opacities}:
            target, current = self._target_opacities.get(row, 0.0), self._opacities.get(row, 0.0)
            value = target if abs(target - current) < 0.04 else current + (target - current) * step
            if value or row in self._target_opacities:
                self._opacities[row] = value
            else:
                self._opacities.pop(row, None)

    def finish(self) -> None:
        """End all fades."""
        self._opacities = dict(self._target_opacities)

    def paint(self, image: QImage, scene: Scene, view: Viewport) -> None:
        """Draw the visible labels at the current positions, on whole pixels so that they stay sharp.

        Args:
            image: An opaque image without a ratio.
            scene: The nodes.
            view: The view in the image's pixels.
        """
        ratio = self._images.style.ratio
        visible = [
            row for row, opacity in self._opacities.items() if opacity > 0.0 and row < len(scene.graph)
        ]
        images = self._drawn_labels(visible)
        rows = [row for row in visible if row in images]
        if not rows:
            return
        labels = self._measure(scene, rows, images, view)
        labels[:, :3] /= np.float32(ratio)
        sides = np.array([self._sides.get(row, 0) for row in rows], dtype=np.int32)
        corners = np.rint(label_corners(labels, sides) * np.float32(ratio)).astype(np.int32)
        opacities = np.array([self._opacities[row] for row in rows], dtype=np.float32)
        draw_labels([images[row] for row in rows], corners, opacities, image)

    def _key(self, row: int) -> Key:
        return self._names[row], int(self._sizes[row])

    def _drawn_labels(self, rows: Iterable[int]) -> dict[int, LabelImage]:
        """Return the drawn labels of `rows`; without animation, missing ones are drawn now."""
        if len(self._drawn_images) > _MAX_CACHED_IMAGES:
            self._drawn_images.clear()
        cache = self._drawn_images
        labels = {row: image for row in rows if (image := cache.get(row) or self._drawn_label(row))}
        cache.update(labels)
        return labels

    def _drawn_label(self, row: int) -> LabelImage | None:
        key = self._key(row)
        return self._images.get(*key) if self.is_animated else self._images.draw_now(*key)


def label_sizes(radii: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return label sizes in pixels for nodes of these radii (layout units): hubs have larger labels."""
    return np.asarray(np.clip(10.4 + 2.6 * radii, 11, 15), dtype=np.uint8)
