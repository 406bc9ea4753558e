from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graph import core_bindings
from app.graph.core_drawing import (
    Bodies,
    LineBatch,
    Viewport,
    composite,
    draw_strokes,
    first_seen,
    place_labels,
    stamp,
)
from app.graph.edge_style import EdgeStyle, Exposure
from app.graph.raster import draw_edges

VIEW = Viewport((3.0, -2.0), 4.0, (200.0, 150.0), 3.0, 1.5)


@given(st.integers(0, 500), st.integers(0, 60), st.integers(0, 40))
def test_the_first_seen_are_the_first_that_are_large_and_solid_inside(seed, count, most):
    rng = np.random.default_rng(seed)
    at = (rng.random((count, 2)) * 120 - 60).astype(np.float32)
    radii, opacity = rng.random(count).astype(np.float32) * 2, rng.random(count).astype(np.float32)
    order = rng.permutation(count).astype(np.int32)
    asked = (Bodies(at, radii, opacity), order, VIEW, (10.0, 20.0, 390.0, 280.0), 2.0, 0.3, most)
    found = first_seen(*asked)
    x, y = VIEW.to_pixels(at).T
    good = (x > 10) & (x < 390) & (y > 20) & (y < 280) & (opacity > 0.3) & (VIEW.radii(radii) >= 2)
    assert found.tolist() == [row for row in order.tolist() if good[row]][:most]


def layered(layer, corner, zoom, opacity=1.0) -> np.ndarray:
    pixels = np.full((30, 40, 4), 99, dtype=np.uint8)
    composite(layer, corner, zoom, opacity, (10, 20, 30), pixels, None)
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
def test_any_label_can_be_placed(names, sides):
    side = np.array(sides[: len(names)], dtype=np.int32)
    discs = np.zeros((2, 4), dtype=np.float32)
    place_labels(np.array(names, dtype=np.float32).reshape(-1, 5), discs, 100.0, 1, 3, 1, side)
    assert ((side >= -1) & (side < 4)).all()


@pytest.mark.parametrize("end", [(190, 50.5), (10.5, 190), (-3e4, 50.5)])
def test_a_suggested_link_has_gaps(end):
    at = np.array([(10.5, 50.5), end], dtype=np.float32)

    def lit(dashed):
        look = EdgeStyle(
            np.array([(0, 1)], dtype=np.int32),
            np.array([(255, 255, 255)], dtype=np.uint8),
            np.zeros(1, dtype=np.int16),
            np.ones(1, dtype=np.float32),
            np.ones(1, dtype=np.float32),
            np.array([dashed]),
        )
        pixels = np.zeros((200, 200, 4), dtype=np.uint8)
        draw_edges(look, at, pixels, Exposure(0.8, 1e9))
        return np.count_nonzero(pixels[..., 3] > 100)

    assert 0.4 < lit(True) / lit(False) < 0.8


def lines(wanted=lambda: True) -> LineBatch:
    """Return one line across a picture of forty by thirty pixels."""
    at, edges = np.array([[2, 3], [30, 20]], dtype=np.float32), np.array([[0, 1]], dtype=np.int32)
    ones, classes, colors = np.ones(1, np.float32), np.zeros(1, np.int16), np.full((1, 3), 255, np.uint8)
    return LineBatch(
        at,
        edges,
        ones,
        ones,
        classes,
        colors,
        None,
        None,
        40,
        30,
        reach=1e6,
        ratio=1.0,
        budget=0.0,
        is_wanted=wanted,
    )


def test_canceled_lines_are_not_prepared_and_draw_nothing():
    pixels = np.full((30, 40, 4), 7, dtype=np.uint8)
    with core_bindings.WorkerThreads(1) as workers:
        lines(lambda: False).draw(0.5, pixels, workers)
        assert (pixels == 7).all()
        lines().draw(0.5, pixels, workers)
    assert (pixels[..., 3] > 0).sum() > 28


def test_lines_are_drawn_when_all_are_taken_and_taken_once():
    given, pixels = lines(lambda: False)._lines, np.zeros((30, 40, 4), dtype=np.uint8)
    with pytest.raises(ValueError, match="only 0 of 1 parts"):
        core_bindings.core.close_lines(given)
    with pytest.raises(ValueError, match="once they are closed"):
        core_bindings.core.draw_band(given, 0, 0.5, pixels)
    core_bindings.core.take_lines(given, 0)
    core_bindings.core.take_lines(given, 0)
    assert core_bindings.core.close_lines(given)[0] == core_bindings.core.close_lines(given)[0] == 1
    with pytest.raises(ValueError, match="none once they are closed"):
        core_bindings.core.take_lines(given, 0)
    core_bindings.core.draw_band(given, 0, 0.5, pixels)
    assert pixels[..., 3].any()


corners = st.integers(-(2**31), 2**31 - 1) | st.integers(-20, 50)


@given(st.lists(st.tuples(corners, corners, st.floats(width=32)), max_size=5), st.integers(1, 17))
def test_stamps_are_drawn_at_their_corners_and_clipped(places, side):
    stamped = np.full((30, 40, 4), 255, dtype=np.uint8)
    stamped[...] = (50, 50, 50, 255)
    expected = stamped.copy()
    image = np.full((side, side, 4), 200, dtype=np.uint8)
    image[..., 3] = 255
    rows = np.array([each[:2] for each in places], dtype=np.int32).reshape(-1, 2)
    solid = np.array([each[2] for each in places], dtype=np.float32)
    stamp([image] * len(places), rows, solid, stamped)
    for left, top, opacity in places:
        down, across = slice(max(top, 0), max(top + side, 0)), slice(max(left, 0), max(left + side, 0))
        if opacity >= 1.0:
            expected[down, across, :3] = 200
        elif opacity * 256 >= 1:
            share = int(np.float32(opacity) * 256) / 256
            part = expected[down, across, :3]
            part[...] = part * (1 - share) + 200 * share
    assert np.abs(stamped[..., :3].astype(int) - expected[..., :3]).max() <= 3 * max(len(places), 1)


odd = st.sampled_from([np.nan, np.inf, -np.inf, 1e30, -50.0, 0.0, 3.5, 39.99, 40.0, 90.0])


@given(st.lists(st.tuples(odd, odd, odd, odd), max_size=6), odd, odd)
def test_any_stroke_can_be_drawn(ends, breadth, opacity):
    pixels = np.zeros((30, 40, 4), dtype=np.uint8)
    draw_strokes(np.array(ends, np.float32).reshape(-1, 4), breadth, (255, 255, 255), opacity, pixels)
    # Premultiplied white: the three colors of a pixel are equal, and at most its opacity.
    assert (pixels[..., 0] == pixels[..., 1]).all() and (pixels[..., 1] == pixels[..., 2]).all()
    assert (pixels[..., 0] <= pixels[..., 3]).all() or not pixels[..., 3].any()


@pytest.mark.parametrize("end", [(36, 5), (4, 29), (30, 25)])
def test_a_stroke_has_its_width_and_opacity(end):
    pixels = np.zeros((40, 40, 4), dtype=np.uint8)
    draw_strokes(np.array([[4, 5, *end]], np.float32), 3.0, (200, 100, 0), 0.5, pixels)
    length = np.hypot(end[0] - 4, end[1] - 5)
    assert pixels[..., 2].sum() == pytest.approx(100 * 3 * length, rel=0.15)
    assert pixels[..., 2].max() == 100
    assert not pixels[..., 0].any()


def test_odd_layers_are_refused_with_a_reason():
    layer = np.zeros((4, 4, 4), dtype=np.uint8)
    with pytest.raises(ValueError, match="zoom above 0"):
        layered(layer, (0.0, 0.0), 0.0)
    with pytest.raises(ValueError, match="needs a place"):
        layered(layer, (np.nan, 0.0), 1.0)
    with pytest.raises(ValueError, match="side: needs 2 rows, has 1"):
        sides = np.zeros(1, dtype=np.int32)
        place_labels(
            np.ones((2, 5), dtype=np.float32), np.ones((1, 4), dtype=np.float32), 9.0, 0, 1, 1, sides
        )
    with pytest.raises(ValueError, match="corners: needs 1 rows, has 2"):
        stamp([layer], np.zeros((2, 2), dtype=np.int32), np.ones(1, dtype=np.float32), layer.copy())
