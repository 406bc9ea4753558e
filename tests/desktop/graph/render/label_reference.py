"""A reference implementation of label placement, name by name, to compare the core with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.desktop.graph.render.label_placement import SIDE_COUNT, Box, label_box

_CELL_SIZE = 48.0


def place_labels(
    names: NDArray[np.float32],
    discs: NDArray[np.float32],
    width: float,
    leading: int,
    limit: int,
    forced_count: int,
    side: NDArray[np.int32],
) -> None:
    """Place labels like `app.graph.core_drawing.place_labels`."""
    occupied, covered = _OccupiedCells(), _OccupiedCells()
    for left, top, right, bottom in discs.tolist():
        covered.add((left, top, right, bottom))
    placed = 0
    for row, (name, last) in enumerate(zip(names.tolist(), side.tolist(), strict=True)):
        side[row] = -1
        if placed >= limit + leading:
            continue
        is_forced = row < leading or placed < forced_count
        side[row] = free_side = _free_side(
            name, last if 0 <= last < SIDE_COUNT else 0, width, occupied, covered, is_forced
        )
        if free_side >= 0:
            occupied.add(label_box(name, free_side))
            placed += 1


def _free_side(
    name: list[float],
    last: int,
    width: float,
    occupied: _OccupiedCells,
    covered: _OccupiedCells,
    is_forced: bool,
) -> int:
    x, _, radius = name[:3]
    inside = radius < x < width - radius
    for side in (last, *(other for other in range(SIDE_COUNT) if other != last)):
        box = label_box(name, side)
        if inside and (box[0] < 0 or box[2] > width):
            continue
        if occupied.free(box) and covered.free(box):
            return side
    return 0 if is_forced and occupied.free(label_box(name, 0)) else -1


class _OccupiedCells:
    """Occupied boxes in coarse cells."""

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
