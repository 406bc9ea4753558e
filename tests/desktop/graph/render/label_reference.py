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
    forced: int,
    most: int,
    insistent: int,
    side: NDArray[np.int32],
) -> None:
    """Place labels like `app.graph.core_drawing.place_labels`."""
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
