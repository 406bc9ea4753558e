from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from app.desktop.graph.render import label_placement
from app.desktop.graph.render.label_images import LabelStyle, draw_label
from app.graph.core_drawing import place_labels
from tests.desktop.graph.render import label_reference


def crowd(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return names and boxes as `place_labels` takes them."""
    rng = np.random.default_rng(seed)
    size = [rng.uniform(30, 90, count), rng.uniform(12, 20, count)]
    names = np.column_stack([rng.random((count, 2)) * 300, rng.uniform(2, 12, count), *size])
    corner = rng.random((count, 2)) * 300
    discs = np.hstack([corner, corner + rng.uniform(2, 14, (count, 1))])
    return names.astype(np.float32), discs.astype(np.float32)


@pytest.mark.parametrize("seed", range(12))
def test_names_find_the_room_of_the_reference_and_never_overlap(seed):
    names, discs = crowd(seed, 60)
    sides = np.random.default_rng(seed).integers(-1, 4, 60).astype(np.int32)
    placed_sides, expected_sides = sides.copy(), sides.copy()
    place_labels(names, discs, 300.0, 3, 25, 10, placed_sides)
    label_reference.place_labels(names, discs, 300.0, 3, 25, 10, expected_sides)
    assert placed_sides.tolist() == expected_sides.tolist()
    placed = [
        label_placement.label_box(name, side)
        for name, side in zip(names.tolist(), placed_sides.tolist(), strict=True)
        if side >= 0
    ]
    assert 5 < len(placed) <= 28
    for index, box in enumerate(placed):
        for other in placed[index + 1 :]:
            is_apart = box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1] or other[3] <= box[1]
            assert is_apart, (box, other)


def test_corners_are_those_of_the_boxes():
    names, _ = crowd(3, 40)
    sides = np.arange(40, dtype=np.int32) % label_placement.SIDE_COUNT
    corners = label_placement.label_corners(names.astype(np.float32), sides)
    labels = zip(names.tolist(), sides.tolist(), strict=True)
    boxes = [label_placement.label_box(name, side) for name, side in labels]
    assert corners == pytest.approx(np.array(boxes)[:, :2], abs=1e-3)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what Linux says of its memory")
def test_a_drawn_name_is_as_small_as_its_pixels(qapp):
    """Qt's painting buffer is twenty times as large and would stay with the image."""
    style = LabelStyle(qapp.font(), "#ffffff", "#000000", 1.0)
    draw_label("Note", 12, style)
    before = memory()
    labels = [draw_label(f"Note {number}", 12, style) for number in range(400)]
    pixels = sum(label.pixels.nbytes for label in labels)
    assert memory() - before < 3 * pixels + 6_000_000


def memory() -> int:
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
