from __future__ import annotations

import os
import platform
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graph import core_bindings
from app.graph.core_drawing import HOLLOW_FLAG, Bodies, Viewport, disc_at
from app.graph.core_drawing import draw_discs as draw_discs_by_core
from app.graph.edge_style import EdgeStyle, Exposure
from app.graph.raster import draw_edges as draw_edges_over
from tests.graph import raster_reference

GOLDEN = Path(__file__).with_name("golden_picture.npz")


def make_style(edges, *, light=1.0, width=1.0, color=(200, 100, 50)) -> EdgeStyle:
    count = len(edges)
    return EdgeStyle(
        np.array(edges, dtype=np.int32).reshape(-1, 2),
        np.array([color], dtype=np.uint8),
        np.zeros(count, dtype=np.int16),
        np.full(count, light, dtype=np.float32),
        np.full(count, width, dtype=np.float32),
    )


def draw_edges(drawn, at, width, height, exposure, hidden=None, threads=1) -> np.ndarray:
    pixels = np.full((height, width, 4), 77, dtype=np.uint8)
    with core_bindings.WorkerThreads(threads) as workers:
        draw_edges_over(drawn, at, pixels, exposure, hidden, workers)
    return pixels


def points(*at) -> np.ndarray:
    return np.array(at, dtype=np.float32)


BRIGHT = Exposure(alpha=0.8, reach=1e6)


def test_a_line_lights_its_pixels_in_its_color_and_no_others():
    picture = draw_edges(make_style([(0, 1)]), points((5, 20.5), (45, 20.5)), 50, 40, BRIGHT)
    blue, green, red, alpha = picture[20, 25].tolist()
    assert alpha > 150
    assert red > green > blue > 0
    assert picture[..., 3].any(axis=1).nonzero()[0].tolist() == [20]
    assert not picture[20, :4].any()


def test_every_direction_is_equally_bright():
    def light(x, y):
        faint = Exposure(0.3, 1e6)
        return draw_edges(make_style([(0, 1)]), points((100, 100), (x, y)), 200, 200, faint)[..., 3].sum()

    flat = light(180, 100) / 80
    for angle in np.linspace(0.1, 6.2, 9):
        x, y = 100 + 80 * np.cos(angle), 100 + 80 * np.sin(angle)
        assert 0.8 < light(x, y) / 80 / flat < 1.25


def test_order_does_not_matter_and_hidden_lines_are_not_drawn():
    at = np.random.default_rng(0).random((20, 2)).astype(np.float32) * 100
    edges = [(a, a + 1) for a in range(19)]
    first = draw_edges(make_style(edges), at, 100, 100, BRIGHT).astype(int)
    second = draw_edges(make_style(edges[::-1]), at, 100, 100, BRIGHT).astype(int)
    assert np.abs(first - second).max() <= 1
    assert not draw_edges(make_style(edges, light=0.0), at, 100, 100, BRIGHT).any()


def test_lines_that_leave_the_picture_are_cut_at_its_rim():
    far = draw_edges(make_style([(0, 1)]), points((-9e4, 20.5), (9e4, 20.5)), 50, 40, BRIGHT)
    assert (far[20, :, 3] > 150).all()
    outside = points((-50, -50), (-10, -90), (60, 10), (70, 30))
    assert not draw_edges(make_style([(0, 1), (2, 3)]), outside, 50, 40, BRIGHT).any()


def test_a_broad_line_covers_its_breadth():
    picture = draw_edges(make_style([(0, 1)], width=4.0), points((5, 20), (45, 20)), 50, 40, BRIGHT)
    assert picture[:, 25, 3].nonzero()[0].tolist() == [18, 19, 20, 21]


def test_premultiplied_colors_never_exceed_their_alpha():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 40, (400, 2))
    at = rng.random((40, 2)).astype(np.float32) * 80
    picture = draw_edges(make_style(edges, color=(255, 255, 255)), at, 80, 80, BRIGHT)
    assert (picture[..., :3] <= picture[..., 3:]).all()


def test_no_edges_give_an_empty_picture():
    assert not draw_edges(make_style([]), points((1, 1)), 10, 10, BRIGHT).any()


def test_a_sample_within_the_budget_is_about_as_bright_as_all():
    rng = np.random.default_rng(0)
    at = rng.random((300, 2)).astype(np.float32) * 200
    edges = make_style(rng.integers(0, 300, (3000, 2)))
    every = draw_edges(edges, at, 200, 200, Exposure(0.02, 1e6))[..., 3].astype(float)
    sample = draw_edges(edges, at, 200, 200, Exposure(0.02, 1e6, budget=60_000))[..., 3].astype(float)
    assert 0.5 < sample.mean() / every.mean() < 1.1
    assert (sample != every).any()


# Common properties, and guarantees of the core


def tangle(count: int = 300, links: int = 600, side: float = 96.0) -> tuple[EdgeStyle, np.ndarray]:
    rng = np.random.default_rng(3)
    drawn = EdgeStyle(
        rng.integers(0, count, (links, 2)).astype(np.int32),
        np.array([(200, 100, 50), (90, 160, 250), (120, 220, 90)], dtype=np.uint8),
        rng.integers(0, 3, links).astype(np.int16),
        rng.uniform(0.2, 1.9, links).astype(np.float32),
        rng.choice([0.7, 1.0, 2.6], links).astype(np.float32),
    )
    return drawn, (rng.random((count, 2)) * side * 1.4 - side * 0.2).astype(np.float32)


def test_a_few_links_look_as_drawn_by_the_reference():
    drawn, at = tangle(links=40)
    here = draw_edges(drawn, at, 96, 96, Exposure(0.3, 60.0)).astype(int)
    reference = raster_reference.draw_edges(drawn, at, 96, 96, Exposure(0.3, 60.0), None).astype(int)
    assert np.abs(here - reference).mean() < 1.5
    assert abs(here.sum() / reference.sum() - 1) < 0.03


def test_links_of_hidden_nodes_are_left_out():
    at = points((5, 10.5), (45, 10.5), (5, 30.5), (45, 30.5))
    hidden = np.array([False, False, True, False])
    picture = draw_edges(make_style([(0, 1), (2, 3)]), at, 50, 40, BRIGHT, hidden)
    assert picture[..., 3].any(axis=1).nonzero()[0].tolist() == [10]


@pytest.mark.parametrize("threads", [2, 5])
def test_the_picture_is_the_same_to_the_bit_for_any_number_of_threads(threads):
    drawn, at = tangle(2000, 40_000, 400.0)
    radii = np.random.default_rng(0).uniform(0.5, 9, 2000).astype(np.float32)
    for budget in (None, 40_000):
        one = draw_edges(drawn, at, 400, 390, Exposure(0.2, 60.0, budget=budget), threads=1)
        many = draw_edges(drawn, at, 400, 390, Exposure(0.2, 60.0, budget=budget), threads=threads)
        discs(at, radii, one, threads=1)
        discs(at, radii, many, threads=threads)
        assert (one == many).all()


def test_the_picture_is_the_golden_one():
    """The same bytes where it was made (gcc, x86-64); elsewhere the last bit may differ."""
    drawn, at = tangle()
    picture = draw_edges(drawn, at, 96, 96, Exposure(0.35, 60.0))
    discs(at, np.linspace(0.6, 7, 300).astype(np.float32), picture, hollow=True)
    if os.environ.get("SCRIPTORIUM_WRITE_GOLDEN"):
        np.savez_compressed(GOLDEN, picture=picture)
    golden = np.load(GOLDEN)["picture"]
    exact = core_bindings.core.compiler().startswith("gcc") and platform.machine() == "x86_64"
    assert np.abs(picture.astype(int) - golden).max() <= (0 if exact else 2)


def test_fifty_thousand_links_on_each_other_are_solid_and_no_more():
    count = 50_000
    drawn = make_style(np.tile([(0, 1)], (count, 1)), light=1.9)
    picture = draw_edges(drawn, points((5, 20.5), (45, 20.5)), 50, 40, BRIGHT)
    blue, green, red, alpha = picture[20, 25].tolist()
    assert alpha >= 254
    assert abs(red - 200) < 4
    assert abs(green - 100) < 4
    assert abs(blue - 50) < 4
    assert not picture[:18].any()


def test_a_hub_with_200_000_links_glows_softly():
    count = 200_000
    angle = np.arange(count) * 2.399963
    at = np.stack([200 + 180 * np.cos(angle), 200 + 180 * np.sin(angle)], axis=1).astype(np.float32)
    at[0] = 200
    drawn = make_style(np.stack([np.zeros(count, dtype=np.int32), np.arange(count, dtype=np.int32)], axis=1))
    picture = draw_edges(drawn, at, 400, 400, Exposure(0.01, 60.0))
    assert picture[200, 200, 3] >= 254
    assert 0 < picture[200, 375, 3] < 255
    hurried = draw_edges(drawn, at, 400, 400, Exposure(0.01, 60.0, budget=50_000))
    assert hurried[200, 200, 3] > 250


def test_a_smaller_sample_is_part_of_a_larger_one():
    """So nothing flickers while the budget changes."""
    drawn, at = tangle(300, 3000, 200.0)
    lit = [
        draw_edges(drawn, at, 200, 200, Exposure(0.9, 1e6, budget=budget))[..., 3]
        for budget in (5_000, 20_000, 80_000)
    ]
    assert (lit[1][lit[0] > 60] > 0).all()
    assert (lit[2][lit[1] > 60] > 0).all()
    assert (lit[0] > 0).sum() < (lit[1] > 0).sum() < (lit[2] > 0).sum()


odd_places = st.sampled_from([np.nan, np.inf, -np.inf, 1e30, -1e30, 1e9, 0.0, 3.5, 49.99, 50.0, -0.01])


@given(st.lists(st.tuples(odd_places, odd_places), min_size=2, max_size=8), st.floats(0, 100, width=32))
def test_any_position_can_be_drawn(at, breadth):
    count = len(at)
    drawn = make_style([(a, (a + 1) % count) for a in range(count)] + [(0, 0)], width=breadth)
    picture = draw_edges(drawn, points(*at), 50, 40, BRIGHT)
    discs(points(*at), np.full(count, breadth, dtype=np.float32), picture)
    assert (picture[..., :3] <= picture[..., 3:]).all()


# Nodes

PIXELS = Viewport((0.0, 0.0), 1.0, (0.0, 0.0), 1.0, 0.0)


def discs(at, radii, pixels, *, hollow=False, opacity=1.0, threads=1, ratio=1.0, view=PIXELS) -> None:
    """Return discs, every other one in the second color and hollow on request; the largest are on top."""
    colors = np.where(np.arange(len(at)) % 2, np.uint32(0x5AC878 | (HOLLOW_FLAG if hollow else 0)), 0xF0783C)
    order = np.argsort(radii, kind="stable").astype(np.int32)
    bodies = Bodies(at, radii, np.full(len(at), opacity, dtype=np.float32))
    ground = (20, 22, 26)
    with core_bindings.WorkerThreads(threads) as workers:
        colors = colors.astype(np.uint32)
        draw_discs_by_core(bodies, colors, order, None, 1.0, view, ground, ratio, pixels, workers)


def blank(side: int = 60) -> np.ndarray:
    return np.zeros((side, side, 4), dtype=np.uint8)


@pytest.mark.parametrize("radius", [0.8, 2.0, 3.0])
def test_a_disc_covers_its_area_wherever_its_middle_is(radius):
    for x, y in ((30.0, 30.0), (30.5, 30.5), (29.8, 31.3)):
        pixels = blank()
        discs(points((x, y)), np.array([radius], dtype=np.float32), pixels)
        area = pixels[..., 3].sum() / 255
        assert area == pytest.approx(np.pi * radius**2, rel=0.18)
        mass = pixels[..., 3].astype(float)
        assert (mass.sum(axis=0) @ (np.arange(60) + 0.5)) / mass.sum() == pytest.approx(x, abs=0.1)


def test_a_large_disc_has_a_rim_and_a_hollow_one_a_hole():
    pixels = blank()
    radii = np.array([10, 10], dtype=np.float32)
    discs(points((20, 30), (44, 30)), radii, pixels, hollow=True)
    assert pixels[30, 20].tolist() == [60, 120, 240, 255]
    assert pixels[30, 44].tolist() == [26, 22, 20, 255]
    assert pixels[30, 35].tolist()[1] > 100
    rim = pixels[30, 9].tolist()
    assert 100 < rim[3] < 255
    assert max(rim[:3]) < 40


def test_a_faint_disc_shows_what_is_below():
    pixels = blank()
    pixels[...] = (200, 200, 200, 255)
    discs(points((30, 30)), np.array([3], dtype=np.float32), pixels, opacity=0.5)
    assert np.abs(pixels[30, 30].astype(int) - [130, 160, 220, 255]).max() <= 2
    assert pixels[30, 40].tolist() == [200, 200, 200, 255]


@given(st.integers(0, 40), st.integers(0, 1000), st.floats(0, 100), st.floats(0, 100))
def test_the_node_picked_is_the_one_whose_rim_is_nearest(count, seed, x, y):
    rng = np.random.default_rng(seed)
    at = (rng.random((count, 2)) * 100).astype(np.float32)
    radii = rng.uniform(0, 15, count).astype(np.float32)
    opacity = (rng.random(count) < 0.8).astype(np.float32)
    found = disc_at(Bodies(at, radii, opacity), PIXELS, x, y, 4.0)
    rim = np.hypot(at[:, 0] - np.float32(x), at[:, 1] - np.float32(y)) - radii
    rim[opacity == 0] = np.inf
    if found < 0:
        assert not (rim < 3.999).any()
    else:
        assert rim[found] <= rim.min() + 1e-3


def test_wrong_pictures_are_refused_with_a_reason():
    drawn, at = tangle(links=3)
    with pytest.raises(ValueError, match="needs 1 to 16384"):
        draw_edges(drawn, at, 20_000, 10, BRIGHT)
    with pytest.raises(ValueError, match="pixels: needs the shape"):
        discs(at, np.ones(300, dtype=np.float32), np.zeros((4, 4), dtype=np.uint8))
    with pytest.raises(ValueError, match="radius: needs 300 rows, has 7"):
        disc_at(Bodies(at, np.ones(7, dtype=np.float32), np.ones(300, dtype=np.float32)), PIXELS, 0, 0, 1)
