from __future__ import annotations

import numpy as np
import pytest

from app.desktop.graph_view import name_places
from app.graph import native

pytestmark = pytest.mark.skipif(not native.available(), reason=f"no C core: {native.missing}")


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch):
    """Runs something with numpy alone."""

    def run(act, *given):
        with monkeypatch.context() as patch:
            patch.setattr(native, "missing", "left out by the test")
            return act(*given)

    return run


def crowd(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Names and boxes as `find_room` takes them."""
    rng = np.random.default_rng(seed)
    size = [rng.uniform(30, 90, count), rng.uniform(12, 20, count)]
    names = np.column_stack([rng.random((count, 2)) * 300, rng.uniform(2, 12, count), *size])
    corner = rng.random((count, 2)) * 300
    discs = np.hstack([corner, corner + rng.uniform(2, 14, (count, 1))])
    return names.astype(np.float32), discs.astype(np.float32)


@pytest.mark.parametrize("seed", range(12))
def test_names_find_the_same_room_with_and_without_the_core_and_never_overlap(seed, without_core):
    names, discs = crowd(seed, 60)
    sides = np.random.default_rng(seed).integers(-1, 4, 60).astype(np.int32)
    mine, theirs = sides.copy(), sides.copy()
    name_places.find_room(names, discs, 300.0, 3, 25, 10, mine)
    without_core(name_places.find_room, names, discs, 300.0, 3, 25, 10, theirs)
    assert mine.tolist() == theirs.tolist()
    placed = [
        name_places.box_of(name, side)
        for name, side in zip(names.tolist(), mine.tolist(), strict=True)
        if side >= 0
    ]
    assert 5 < len(placed) <= 28
    for turn, one in enumerate(placed):
        for other in placed[turn + 1 :]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart, (one, other)
