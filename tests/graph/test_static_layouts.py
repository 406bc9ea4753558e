"""Static layouts: no overlaps, separate groups, order in time, similar notes close together."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from app import paths
from app.embeddings.onnx_model import OnnxModel
from app.graph import core_bindings
from app.graph.circle_packing import enclosing_circle, pack_circles
from app.graph.knn import nearest
from app.graph.layouts.grouped import grouped_layout
from app.graph.layouts.semantic import semantic_layout
from app.graph.layouts.timeline import timeline_layout
from app.graph.model import node_radii
from app.graph.static_layout import Region
from app.graph.tsne import tsne_embedding
from tests.graph.graphs import planted

NONE = np.empty((0, 2), dtype=np.int32)


def overlap(at: np.ndarray, radii: np.ndarray) -> float:
    """Return the deepest overlap of two nodes."""
    pairs = cKDTree(at).query_pairs(2 * float(radii.max()), output_type="ndarray")
    apart = np.linalg.norm(at[pairs[:, 0]] - at[pairs[:, 1]], axis=1)
    return float((radii[pairs].sum(axis=1) - apart).max(initial=0.0))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(0.3, 9.0), min_size=1, max_size=40), st.floats(0.6, 2.0))
def test_packed_discs_do_not_overlap_and_the_disc_around_them_holds_them(sizes, aspect):
    radii = np.array(sizes)
    centres = pack_circles(radii, aspect)
    apart = np.linalg.norm(centres[:, None] - centres[None], axis=2) + np.eye(len(radii)) * 99
    assert (apart >= radii[:, None] + radii[None] - 1e-3).all()
    middle, reach = enclosing_circle(centres, radii)
    assert (np.linalg.norm(centres - middle, axis=1) + radii <= reach + 1e-6).all()
    # The discs fill a good part of the one around them.
    assert len(radii) < 12 or np.square(radii).sum() > 0.4 * reach**2 / max(aspect, 1 / aspect)


def inside(inner: Region, outer: Region) -> bool:
    return np.hypot(inner.x - outer.x, inner.y - outer.y) + inner.radius <= outer.radius + 1e-3


@pytest.mark.parametrize("linked", [True, False])
def test_groups_are_discs_apart_and_inner_ones_lie_in_their_parents(linked):
    graph, _ = planted(9, 25, lonely=6)
    links = graph.links if linked else NONE
    names = ("", "Work", "Work/Plans", "Work/Plans/Old", "Home", "Alone/Below")
    groups = (np.arange(len(graph)) // 40).astype(np.int32) % len(names)
    radii = node_radii(graph)
    arranged = grouped_layout("folder", links, radii, groups, names)
    assert overlap(arranged.positions, radii) <= 0.01
    regions = {region.key: region for region in arranged.regions}
    assert set(regions) == {*names, "Alone"}
    assert all(region.depth == region.key.count("/") for region in arranged.regions)
    for key, region in regions.items():
        for other, second in regions.items():
            if key != other and other.startswith(f"{key}/") and key:
                assert inside(second, region)
            elif key != other and not key.startswith(f"{other}/"):
                apart = np.hypot(region.x - second.x, region.y - second.y)
                assert apart >= region.radius + second.radius - 1e-3
    for row, (x, y) in enumerate(arranged.positions.tolist()):
        home = regions[names[groups[row]]]
        assert np.hypot(x - home.x, y - home.y) + radii[row] <= home.radius + 1e-2
    assert regions["Work"].count == (np.isin(groups, [1, 2, 3])).sum()
    again = grouped_layout("folder", links, radii, groups, names)
    assert (again.positions == arranged.positions).all()


def test_linked_notes_of_a_group_stand_nearer_than_others():
    graph, truth = planted(3, 60)
    arranged = grouped_layout(
        "type", graph.links, node_radii(graph), np.zeros(len(graph), dtype=np.int32), ("note",)
    )
    at = arranged.positions
    linked = np.linalg.norm(at[graph.links[:, 0]] - at[graph.links[:, 1]], axis=1).mean()
    rng = np.random.default_rng(0)
    others = rng.integers(0, len(graph), (2000, 2))
    assert linked < 0.6 * np.linalg.norm(at[others[:, 0]] - at[others[:, 1]], axis=1).mean()
    assert len(truth) == len(graph)


@pytest.mark.parametrize("crowded", [0, 150, 300])
def test_time_goes_from_left_to_right_also_where_dates_crowd(crowded):
    graph, _ = planted(10, 30)
    rng = np.random.default_rng(4)
    times = rng.uniform(1.3e9, 1.7e9, len(graph))
    times[:crowded] = 1.5e9
    times[-5:] = 0
    radii = node_radii(graph)
    arranged = timeline_layout(graph.links, radii, times)
    at = arranged.positions
    assert overlap(at, radii) <= 0.01
    known = np.flatnonzero(times > 0)
    order = known[np.lexsort((at[known, 0], times[known]))]
    assert (np.diff(at[order, 0]) >= 0).all()
    assert (at[times == 0, 0] < at[known, 0].min()).all()
    # If all are on one day, there is one tick.
    assert (3 if crowded < len(graph) else 1) <= len(arranged.ticks) <= 40
    for tick in arranged.ticks:
        before, after = known[times[known] < tick.time], known[times[known] > tick.time]
        assert at[before, 0].max(initial=-np.inf) <= tick.x + 0.02
        assert at[after, 0].min(initial=np.inf) >= tick.x - 0.02
        assert datetime.fromtimestamp(tick.time, UTC).strftime("%Y-%m-%d").startswith(tick.label)
    assert (timeline_layout(graph.links, radii, times).positions == at).all()


def test_linked_notes_stand_at_like_heights_along_time():
    graph, _ = planted(10, 30)
    times = np.random.default_rng(4).uniform(1.3e9, 1.7e9, len(graph))
    y = timeline_layout(graph.links, node_radii(graph), times).positions[:, 1]
    linked = np.abs(y[graph.links[:, 0]] - y[graph.links[:, 1]]).mean()
    assert linked < 0.6 * np.abs(y[:, None] - y[None]).mean()


@pytest.mark.parametrize("times", [[], [5e8], [5e8, 5e8, 5e8], [0, 0], [1.6e9, 1.6e9 + 7200]])
def test_few_or_equal_dates_are_no_problem(times):
    radii = np.full(len(times), 0.5, dtype=np.float32)
    arranged = timeline_layout(NONE, radii, np.array(times, dtype=np.float64))
    assert np.isfinite(arranged.positions).all()
    assert len(times) < 2 or overlap(arranged.positions, radii) <= 0.01
    assert bool(arranged.ticks) == any(times)


@given(st.integers(2, 60), st.integers(1, 12), st.integers(0, 5))
def test_the_nearest_vectors_are_those_of_a_full_comparison(size, count, seed):
    vectors = np.random.default_rng(seed).standard_normal((size, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows, scores = nearest(vectors, count)
    full = vectors @ vectors.T
    np.fill_diagonal(full, -np.inf)
    assert rows.shape == (size, min(count, size - 1))
    assert np.allclose(scores, -np.sort(-full, axis=1)[:, : rows.shape[1]], atol=1e-5)
    assert np.allclose(np.take_along_axis(full, rows.astype(np.int64), axis=1), scores, atol=1e-5)


def test_many_vectors_are_compared_in_fewer_directions_and_hardly_any_is_missed(monkeypatch):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((30, 96))[rng.integers(0, 30, 900)] + 0.8 * rng.standard_normal((900, 96))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    exact, _ = nearest(vectors, 6)
    monkeypatch.setattr("app.graph.knn._MAX_EXACT_ROWS", 100)
    found, _ = nearest(vectors, 6)
    same = [len(np.intersect1d(a, b)) for a, b in zip(exact, found, strict=True)]
    assert np.mean(same) > 0.9 * 6


def trustworthiness(vectors: np.ndarray, at: np.ndarray, k: int) -> float:
    """Return Venna and Kaski's measure: 1 if all neighbors on the map are true neighbors."""
    size = len(at)
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, np.inf)
    rank = np.argsort(np.argsort(-likeness, axis=1, kind="stable"), axis=1)
    apart = np.linalg.norm(at[:, None] - at[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1)[:, :k]
    excess = np.maximum(np.take_along_axis(rank, near, axis=1) - k, 0).sum()
    return 1 - 2 / (size * k * (2 * size - 3 * k - 1)) * float(excess)


def test_notes_of_similar_meaning_are_neighbors_on_the_map(monkeypatch):
    folder = paths.resources_folder() / "sample-vault"
    files = sorted(folder.rglob("*.md"))
    model = OnnxModel(paths.resources_folder() / "models" / "all-MiniLM-L6-v2-int8", 1)
    vectors = np.asarray(model.encode([file.read_text(encoding="utf-8")[:500] for file in files]))
    rows = np.arange(len(files)) * 2
    radii = np.full(2 * len(files), 0.4, dtype=np.float32)
    arranged = semantic_layout(vectors.astype(np.float16), rows, radii)
    at = arranged.positions
    assert len(files) >= 50
    assert trustworthiness(vectors, at[rows], 7) >= 0.83
    assert overlap(at, radii) <= 0.01
    (region,) = arranged.regions
    rest = np.arange(len(files)) * 2 + 1
    assert (np.hypot(at[rest, 0] - region.x, at[rest, 1] - region.y) <= region.radius).all()
    assert at[rest, 0].min() > at[rows, 0].max()
    assert (tsne_embedding(vectors[:30]) == tsne_embedding(vectors[:30])).all()
    # More notes than can be compared in pairs are laid out by their nearest neighbors.
    monkeypatch.setattr("app.graph.layouts.semantic._MAX_TSNE_NODES", 10)
    joined = semantic_layout(vectors.astype(np.float16), rows, radii).positions
    assert trustworthiness(vectors, joined[rows], 7) >= 0.74
    assert overlap(joined, radii) <= 0.01


@pytest.mark.parametrize("count", [0, 1, 2, 3, 9])
def test_few_notes_have_a_map_too(count):
    vectors = np.eye(9, dtype=np.float32)[:count] if count else np.empty((0, 1), dtype=np.float32)
    arranged = semantic_layout(vectors, np.arange(count), np.full(count + 2, 0.4, dtype=np.float32))
    assert np.isfinite(arranged.positions).all()
    assert overlap(arranged.positions, np.full(count + 2, 0.4)) <= 0.01


def test_undated_notes_form_a_block_no_higher_than_the_rest():
    graph, _ = planted(10, 60)
    times = np.random.default_rng(4).uniform(1.3e9, 1.7e9, len(graph))
    times[: len(graph) // 3] = 0
    at = timeline_layout(graph.links, node_radii(graph), times).positions
    assert overlap(at, node_radii(graph)) <= 0.01
    assert np.ptp(at[times == 0, 1]) <= 2 * np.ptp(at[times > 0, 1])
    assert at[times == 0, 0].max() < at[times > 0, 0].min()


def nearest_free_y(x: float, wanted: float, radius: float, near: np.ndarray) -> float:
    """Return the y nearest to the wanted one at which a disc touches none of `near` (x, y, radius each)."""
    reach = near[:, 2] + radius + 0.35
    aside = near[:, 0] - x
    in_way = np.abs(aside) < reach
    height = np.sqrt(reach[in_way] ** 2 - aside[in_way] ** 2)
    low, high = near[in_way, 1] - height, near[in_way, 1] + height
    if not ((low < wanted) & (high > wanted)).any():
        return wanted
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    # There is room between the merged intervals, before the first and after the last.
    starts = np.flatnonzero(np.concatenate([[True], low[1:] >= high[:-1]]))
    ends = np.append(starts[1:] - 1, len(low) - 1)
    spots = np.concatenate([low[starts], high[ends]])
    return float(spots[np.argmin(np.abs(spots - wanted))])


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 30), st.floats(-6, 6), st.floats(0.2, 4)), min_size=1, max_size=60))
def test_the_core_finds_the_same_free_places_along_time_as_the_reference(discs):
    x, wanted, radii = (np.array(each, dtype=np.float32) for each in zip(*discs, strict=True))
    order = np.lexsort((np.arange(len(x)), -radii)).astype(np.int32)
    y = core_bindings.beeswarm(x, wanted, radii, order, 0.35)
    assert overlap(np.stack([x, y], axis=1), radii) <= 1e-3
    for place, row in enumerate(order.tolist()):
        before = order[:place]
        near = np.stack([x[before], y[before], radii[before]], axis=1).astype(np.float64)
        free = nearest_free_y(float(x[row]), float(wanted[row]), float(radii[row]), near)
        assert abs(y[row] - wanted[row]) <= abs(free - wanted[row]) + 0.01


def test_discs_of_very_many_nodes_do_not_overlap():
    radii = np.random.default_rng(2).uniform(0.4, 2.0, 6000).astype(np.float32)
    groups = (np.arange(6000) // 100).astype(np.int32)
    arranged = grouped_layout("folder", NONE, radii, groups, tuple(map(str, range(60))))
    assert overlap(arranged.positions, radii) <= 0.01
