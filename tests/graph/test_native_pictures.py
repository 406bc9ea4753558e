from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graph import native
from app.graph.native_pictures import Bodies, View, first_seen, lay, place_names
from app.graph.raster import draw_edges
from app.graph.raster_look import EdgeLook, Exposure

pytestmark = pytest.mark.skipif(not native.available(), reason=f"no C core: {native.missing}")

VIEW = View((3.0, -2.0), 4.0, (200.0, 150.0), 3.0, 1.5)


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch):
    """Runs something with numpy alone."""

    def run(act, *given):
        with monkeypatch.context() as patch:
            patch.setattr(native, "missing", "left out by the test")
            return act(*given)

    return run


@given(st.integers(0, 500), st.integers(0, 60), st.integers(0, 40))
def test_the_first_seen_are_the_first_that_are_large_and_solid_inside(seed, count, most):
    rng = np.random.default_rng(seed)
    at = (rng.random((count, 2)) * 120 - 60).astype(np.float32)
    radii, opacity = rng.random(count).astype(np.float32) * 2, rng.random(count).astype(np.float32)
    order = rng.permutation(count).astype(np.int32)
    asked = (Bodies(at, radii, opacity), order, VIEW, (10.0, 20.0, 390.0, 280.0), 2.0, 0.3, most)
    found = first_seen(*asked)
    x, y = VIEW.places(at).T
    good = (x > 10) & (x < 390) & (y > 20) & (y < 280) & (opacity > 0.3) & (VIEW.radii(radii) >= 2)
    assert found.tolist() == [row for row in order.tolist() if good[row]][:most]


def layered(layer, corner, zoom, opacity=1.0, size=(40, 30)) -> np.ndarray:
    pixels = np.full((size[1], size[0], 4), 99, dtype=np.uint8)
    lay(layer, corner, zoom, opacity, (10, 20, 30), pixels, None)
    return pixels


def test_a_layer_lies_on_whole_pixels_where_it_is_not_stretched():
    layer = np.zeros((5, 7, 4), dtype=np.uint8)
    layer[2, 3] = (90, 80, 70, 255)
    pixels = layered(layer, (11.3, 5.6), 1.0)
    assert pixels[8, 14].tolist() == [90, 80, 70, 255]
    pixels[8, 14] = (30, 20, 10, 255)
    assert (pixels == (30, 20, 10, 255)).all()


@pytest.mark.parametrize("corner", [(-6.0, -4.0), (36.0, 27.0), (-100.0, 0.0), (0.0, 500.0)])
@pytest.mark.parametrize("zoom", [1.0, 2.5, 0.4])
def test_a_layer_may_leave_the_picture_on_any_side(corner, zoom):
    layer = np.full((5, 7, 4), 255, dtype=np.uint8)
    pixels = layered(layer, corner, zoom)
    assert (pixels[..., 3] == 255).all()
    outside = layered(layer, corner, zoom, opacity=0.0)
    assert (outside == (30, 20, 10, 255)).all()


def test_a_stretched_layer_keeps_its_place_and_a_faint_one_lets_the_ground_through():
    layer = np.full((10, 10, 4), 200, dtype=np.uint8)
    layer[..., 3] = 255
    pixels = layered(layer, (5.0, 4.0), 2.0)
    assert pixels[14, 15].tolist() == [200, 200, 200, 255]
    assert pixels[14, 3].tolist() == pixels[14, 27].tolist() == [30, 20, 10, 255]
    faint = layered(layer, (5.0, 4.0), 2.0, opacity=0.5)[14, 15]
    assert np.abs(faint.astype(int) - [115, 110, 105, 255]).max() <= 2


odd = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(odd, odd, odd, odd, odd), max_size=6), st.lists(st.integers(-9, 9), min_size=6))
def test_no_name_is_too_odd_to_be_placed(names, sides):
    side = np.array(sides[: len(names)], dtype=np.int32)
    discs = np.zeros((2, 4), dtype=np.float32)
    place_names(np.array(names, dtype=np.float32).reshape(-1, 5), discs, 100.0, 1, 3, 1, side)
    assert ((side >= -1) & (side < 4)).all()


@pytest.mark.parametrize("by", ["core", "numpy"])
@pytest.mark.parametrize("end", [(190, 50.5), (10.5, 190), (-3e4, 50.5)])
def test_a_suggested_link_has_gaps(by, end, without_core):
    at = np.array([(10.5, 50.5), end], dtype=np.float32)

    def lit(dashed):
        look = EdgeLook(
            np.array([(0, 1)], dtype=np.int32),
            np.array([(255, 255, 255)], dtype=np.uint8),
            np.zeros(1, dtype=np.int16),
            np.ones(1, dtype=np.float32),
            np.ones(1, dtype=np.float32),
            np.array([dashed]),
        )
        pixels = np.zeros((200, 200, 4), dtype=np.uint8)
        act = draw_edges if by == "core" else lambda *given: without_core(draw_edges, *given)
        act(look, at, pixels, Exposure(0.8, 1e9))
        return np.count_nonzero(pixels[..., 3] > 100)

    assert 0.4 < lit(True) / lit(False) < 0.8


def test_odd_layers_are_refused_with_a_reason():
    layer = np.zeros((4, 4, 4), dtype=np.uint8)
    with pytest.raises(ValueError, match="zoom above 0"):
        layered(layer, (0.0, 0.0), 0.0)
    with pytest.raises(ValueError, match="needs a place"):
        layered(layer, (np.nan, 0.0), 1.0)
    with pytest.raises(ValueError, match="side: needs 2 rows, has 1"):
        sides = np.zeros(1, dtype=np.int32)
        place_names(np.ones((2, 5), dtype=np.float32), np.ones((1, 4), dtype=np.float32), 9.0, 0, 1, 1, sides)
