from __future__ import annotations

import numpy as np

from app.graph.raster import EdgeLook, Exposure, draw_edges


def look(edges, *, light=1.0, width=1.0, color=(200, 100, 50)) -> EdgeLook:
    count = len(edges)
    return EdgeLook(
        np.array(edges, dtype=np.int32).reshape(-1, 2),
        np.array([color], dtype=np.uint8),
        np.zeros(count, dtype=np.int16),
        np.full(count, light, dtype=np.float32),
        np.full(count, width, dtype=np.float32),
    )


def points(*at) -> np.ndarray:
    return np.array(at, dtype=np.float32)


BRIGHT = Exposure(alpha=0.8, reach=1e6)


def test_a_line_lights_its_pixels_in_its_colour_and_no_others():
    picture = draw_edges(look([(0, 1)]), points((5, 20.5), (45, 20.5)), 50, 40, BRIGHT)
    blue, green, red, alpha = picture[20, 25].tolist()
    assert alpha > 150
    assert red > green > blue > 0
    assert picture[..., 3].any(axis=1).nonzero()[0].tolist() == [20]
    assert not picture[20, :4].any()


def test_every_direction_is_equally_bright():
    def light(x, y):
        faint = Exposure(0.3, 1e6)
        return draw_edges(look([(0, 1)]), points((100, 100), (x, y)), 200, 200, faint)[..., 3].sum()

    flat = light(180, 100) / 80
    for angle in np.linspace(0.1, 6.2, 9):
        x, y = 100 + 80 * np.cos(angle), 100 + 80 * np.sin(angle)
        assert 0.8 < light(x, y) / 80 / flat < 1.25


def test_order_does_not_matter_and_what_is_hidden_is_not_drawn():
    at = np.random.default_rng(0).random((20, 2)).astype(np.float32) * 100
    edges = [(a, a + 1) for a in range(19)]
    first = draw_edges(look(edges), at, 100, 100, BRIGHT).astype(int)
    second = draw_edges(look(edges[::-1]), at, 100, 100, BRIGHT).astype(int)
    assert np.abs(first - second).max() <= 1
    assert not draw_edges(look(edges, light=0.0), at, 100, 100, BRIGHT).any()


def test_lines_that_leave_the_picture_are_cut_at_its_rim():
    far = draw_edges(look([(0, 1)]), points((-9e4, 20.5), (9e4, 20.5)), 50, 40, BRIGHT)
    assert (far[20, :, 3] > 150).all()
    outside = points((-50, -50), (-10, -90), (60, 10), (70, 30))
    assert not draw_edges(look([(0, 1), (2, 3)]), outside, 50, 40, BRIGHT).any()


def test_a_broad_line_covers_its_breadth():
    picture = draw_edges(look([(0, 1)], width=4.0), points((5, 20), (45, 20)), 50, 40, BRIGHT)
    assert picture[:, 25, 3].nonzero()[0].tolist() == [18, 19, 20, 21]


def test_premultiplied_colours_never_exceed_their_alpha():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 40, (400, 2))
    at = rng.random((40, 2)).astype(np.float32) * 80
    picture = draw_edges(look(edges, color=(255, 255, 255)), at, 80, 80, BRIGHT)
    assert (picture[..., :3] <= picture[..., 3:]).all()


def test_no_edges_give_an_empty_picture():
    assert not draw_edges(look([]), points((1, 1)), 10, 10, BRIGHT).any()


def test_a_sample_within_the_budget_is_about_as_bright_as_all():
    rng = np.random.default_rng(0)
    at = rng.random((300, 2)).astype(np.float32) * 200
    edges = look(rng.integers(0, 300, (3000, 2)))
    every = draw_edges(edges, at, 200, 200, Exposure(0.02, 1e6))[..., 3].astype(float)
    sample = draw_edges(edges, at, 200, 200, Exposure(0.02, 1e6, budget=60_000))[..., 3].astype(float)
    assert 0.5 < sample.mean() / every.mean() < 1.1
    assert (sample != every).any()
