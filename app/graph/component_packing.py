"""Place the components of a layout next to each other.

The largest component stays in the middle, and smaller ones take the nearest free spot. Notes without
links do the same if there are only a few; otherwise, they form even rings around all others, in order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse.csgraph
from numpy.typing import NDArray

from app.graph.layout_fitting import sunflower_positions
from app.graph.model import Positions

_COMPONENT_GAP = 0.9
_MAX_SCATTERED_ORPHANS = 12
_ORPHAN_SPACING = 1.7


class ComponentPacking:
    """Moves whole components of a layout; nothing changes inside a component.

    `parts` contains the rows of each component with links, largest first; `linked` all their rows; `orphans`
    the rows without links.

    Args:
        weights: The symmetric adjacency, a sparse matrix.
        radii: float32 (n,), the radii of the nodes.
        aspect: The width of the page to fill, divided by its height.
    """

    def __init__(
        self, weights: scipy.sparse.csr_matrix, radii: NDArray[np.float32], aspect: float = 1.0
    ) -> None:
        _, labels = scipy.sparse.csgraph.connected_components(weights, directed=False)
        sizes = np.bincount(labels)
        self.orphans = np.flatnonzero(sizes[labels] == 1)
        ranked = np.argsort(-sizes, kind="stable")
        order = np.argsort(labels, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        self.parts = [order[bounds[label] : bounds[label + 1]] for label in ranked if sizes[label] > 1]
        self.linked = np.sort(np.concatenate(self.parts)) if self.parts else np.empty(0, dtype=np.int64)
        self._widest = float(radii[self.linked].max(initial=0.0))
        self._radii = radii
        self._page = np.array([np.sqrt(aspect), 1 / np.sqrt(aspect)], dtype=np.float32)

    def place(self, positions: Positions) -> Positions:
        """Return the packed positions, with the largest component in the middle."""
        placed = positions.copy()
        self._place_parts(placed)
        self._place_orphans(placed)
        return placed

    def _place_parts(self, placed: Positions) -> None:
        """Center the largest component, and put each smaller one into the nearest free spot."""
        if not self.parts:
            return
        main, small = self.parts[0], self.parts[1:]
        placed[main] -= (placed[main].min(axis=0) + placed[main].max(axis=0)) / 2
        if not small:
            return
        reaches = [self._center(placed, part) for part in small]
        space = _FreeSpace(placed[self.parts[0]], sum(reach * reach for reach in reaches), self._page)
        for part, reach in sorted(zip(small, reaches, strict=True), key=lambda pair: -pair[1]):
            placed[part] += space.occupy(reach)

    def _center(self, placed: Positions, part: NDArray[np.int64]) -> float:
        """Center a component at the origin and return its radius plus half the gap."""
        placed[part] -= (placed[part].min(axis=0) + placed[part].max(axis=0)) / 2
        distance = np.sqrt((placed[part] ** 2).sum(axis=1)) + self._radii[part]
        return float(distance.max()) + _COMPONENT_GAP / 2

    def _place_orphans(self, placed: Positions) -> None:
        """Put a few nodes without links into free spots, or many around all others."""
        count = len(self.orphans)
        if not self.parts or not 0 < count <= _MAX_SCATTERED_ORPHANS:
            self.ring_orphans(placed)
            return
        space = _FreeSpace(placed[self.linked], count * _COMPONENT_GAP * _COMPONENT_GAP, self._page)
        placed[self.orphans] = [space.occupy(_COMPONENT_GAP) for _ in range(count)]

    def ring_orphans(self, placed: Positions) -> None:
        """Place the nodes without links around the others, in place."""
        count = len(self.orphans)
        if not count:
            return
        if not self.parts:
            placed[self.orphans] = sunflower_positions(count, _ORPHAN_SPACING)
            return
        horizontal, vertical = (placed[self.linked] / self._page).T
        start = (
            float(np.sqrt((horizontal * horizontal + vertical * vertical).max()))
            + self._widest
            + _COMPONENT_GAP
        )
        placed[self.orphans] = np.concatenate(list(_rings(count, start))) * self._page


def _rings(count: int, start: float) -> Iterator[Positions]:
    """Yield points on rings from radius `start` outward, evenly spread on each ring, including the last."""
    radius = start
    while count > 0:
        ring_count = min(count, int(2 * np.pi * radius / _ORPHAN_SPACING))
        angles = np.arange(ring_count) * (2 * np.pi / ring_count) - np.pi / 2
        yield (radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)).astype(np.float32)
        count -= ring_count
        radius += _ORPHAN_SPACING


class _FreeSpace:
    """The free space around the largest component, as distances on a grid.

    Args:
        occupied: Occupied positions; the area that they enclose counts as occupied, too.
        area: The sum of the squared radii that will be requested.
        page: The sides of the page, with an area of one, which determine the shape of the free space.
    """

    _MIN_CELL_SIZE = 0.5
    _MAX_GRID_CELLS_PER_SIDE = 260
    _RADIUS_STEP = 0.25

    def __init__(self, occupied: Positions, area: float, page: Positions) -> None:
        from scipy import ndimage  # Loads much of scipy, which only a layout from scratch needs.

        reach = float(np.abs(occupied).max())
        half = 1.2 * float(page.max()) * np.sqrt(reach * reach * 1.3 + 2 * area) + 4
        side = min(self._MAX_GRID_CELLS_PER_SIDE, int(2 * half / self._MIN_CELL_SIZE) + 1)
        self._cell = 2 * half / (side - 1)
        axis = (np.arange(side) - (side - 1) / 2) * self._cell
        self._x, self._y = np.meshgrid(axis, axis)
        from_middle = (self._x / page[0]) ** 2 + (self._y / page[1]) ** 2
        mask = np.zeros((side, side), dtype=bool)
        cells = np.round(occupied / self._cell + (side - 1) / 2).astype(int)
        mask[cells[:, 1], cells[:, 0]] = True
        margin = max(1, round(3.0 / self._cell))
        is_blocked = ndimage.distance_transform_edt(~mask) <= margin
        is_enclosed = ndimage.distance_transform_edt(is_blocked) > margin
        mask |= ndimage.binary_fill_holes(is_blocked) & is_enclosed
        self._free = ndimage.distance_transform_edt(~mask) * self._cell - _COMPONENT_GAP / 2
        self._order = np.argsort(from_middle, axis=None, kind="stable")
        self._radius = np.inf
        self._candidates: Iterator[int] = iter(())

    def occupy(self, reach: float) -> NDArray[np.float32]:
        """Occupy the free spot nearest to the middle for a disc of radius `reach`, and return its center.

        Discs do not overlap if larger ones are requested first; if no spot is large enough, the roomiest is
        used.
        """
        radius = float(np.ceil(reach / self._RADIUS_STEP) * self._RADIUS_STEP)
        if radius != self._radius:
            # A spot that was rejected for a size stays rejected for that size.
            self._radius = radius
            self._candidates = iter(self._order[self._free.flat[self._order] >= radius].tolist())
        best = next((cell for cell in self._candidates if self._free.flat[cell] >= radius), -1)
        if best < 0:
            best = int(self._free.argmax())
        self._fill(best, radius)
        return np.array([self._x.flat[best], self._y.flat[best]], dtype=np.float32)

    def _fill(self, cell: int, reach: float) -> None:
        """Occupy a disc, and update the distances as far as another of its size could reach."""
        row, column = divmod(cell, self._free.shape[1])
        half = int(2 * reach / self._cell) + 2
        window = (slice(max(0, row - half), row + half + 1), slice(max(0, column - half), column + half + 1))
        distances = np.hypot(self._x[window] - self._x.flat[cell], self._y[window] - self._y.flat[cell])
        np.minimum(self._free[window], distances - reach, out=self._free[window])
