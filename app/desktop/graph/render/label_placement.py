"""Which nodes may be named in a frame, and where names find room: by the C core, or else by numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.graph import core_bindings
from app.graph.core_drawing import Bodies, Viewport, first_seen, place_labels

_CELL_SIZE = 48.0
SIDE_COUNT = 4
Box = tuple[float, float, float, float]


def visible_rows(
    bodies: Bodies,
    order: NDArray[np.int32],
    view: Viewport,
    rectangle: Box,
    least_radius: float,
    least_opacity: float,
    most: int,
) -> NDArray[np.int32]:
    """As `app.graph.core_drawing.first_seen`."""
    if core_bindings.available():
        return first_seen(bodies, order, view, rectangle, least_radius, least_opacity, most)
    large = order[(view.radii(bodies.radii) >= least_radius)[order]]
    large = large[bodies.opacity[large] > least_opacity]
    x, y = view.to_pixels(bodies.at[large]).T
    left, top, right, bottom = rectangle
    inside: NDArray[np.bool_] = (x > left) & (x < right) & (y > top) & (y < bottom)
    return np.asarray(large[inside][:most], dtype=np.int32)


def find_label_places(
    names: NDArray[np.float32],
    discs: NDArray[np.float32],
    width: float,
    forced: int,
    most: int,
    insistent: int,
    side: NDArray[np.int32],
) -> None:
    """As `app.graph.core_drawing.place_labels`."""
    if core_bindings.available():
        place_labels(names, discs, width, forced, most, insistent, side)
        return
    taken, covered = _OccupiedCells(), _OccupiedCells()
    for left, top, right, bottom in discs.tolist():
        covered.add((left, top, right, bottom))
    placed = 0
    for row, (name, last) in enumerate(zip(names.tolist(), side.tolist(), strict=True)):
        side[row] = -1
        if placed >= most + forced:
            continue
        insists = row < forced or placed < insistent
        side[row] = found = _free_side(
            name, last if 0 <= last < SIDE_COUNT else 0, width, taken, covered, insists
        )
        if found >= 0:
            taken.add(label_box(name, found))
            placed += 1


def _free_side(
    name: list[float], last: int, width: float, taken: _OccupiedCells, covered: _OccupiedCells, insists: bool
) -> int:
    x, _, radius = name[:3]
    inside = radius < x < width - radius
    for side in (last, *(other for other in range(SIDE_COUNT) if other != last)):
        box = label_box(name, side)
        if inside and (box[0] < 0 or box[2] > width):
            continue
        if taken.free(box) and covered.free(box):
            return side
    return 0 if insists and taken.free(label_box(name, 0)) else -1


def label_box(name: list[float], side: int) -> Box:
    """Return the box of a label: x and y of its node, its radius, width and height; on one side of it."""
    x, y, radius, width, height = name
    left, top = x - width / 2, y - height / 2
    if side == 0:
        top = y + radius + 0.5
    elif side == 1:
        top = y - radius - height + 1.5
    elif side == 2:
        left = x + radius - 0.5
    else:
        left = x - radius - width + 0.5
    return left, top, left + width, top + height


def label_corners(names: NDArray[np.float32], sides: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return the upper left corners of many labels at once, float32 (k, 2), as `label_box` does."""
    radius, size = names[:, 2], names[:, 3:]
    corners: NDArray[np.float32] = names[:, :2] - np.float32(0.5) * size
    below, above, right, left = (sides == side for side in range(SIDE_COUNT))
    corners[below, 1] = names[below, 1] + radius[below] + np.float32(0.5)
    corners[above, 1] = names[above, 1] - radius[above] - size[above, 1] + np.float32(1.5)
    corners[right, 0] = names[right, 0] + radius[right] - np.float32(0.5)
    corners[left, 0] = names[left, 0] - radius[left] - size[left, 0] + np.float32(0.5)
    return corners


class _OccupiedCells:
    """Occupied boxes, in coarse cells."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[Box]] = {}

    def free(self, box: Box) -> bool:
        """Return whether `box` overlaps none."""
        for cell in _covered_cells(box):
            for other in self._cells.get(cell, ()):
                if box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]:
                    return False
        return True

    def add(self, box: Box) -> None:
        """Add `box`."""
        for cell in _covered_cells(box):
            self._cells.setdefault(cell, []).append(box)


def _covered_cells(box: Box) -> list[tuple[int, int]]:
    columns = range(int(box[0] // _CELL_SIZE), int(box[2] // _CELL_SIZE) + 1)
    lines = range(int(box[1] // _CELL_SIZE), int(box[3] // _CELL_SIZE) + 1)
    return [(column, line) for column in columns for line in lines]
