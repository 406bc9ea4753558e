from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from app.graph import core_bindings
from app.graph.builder import build
from app.graph.coarsen import adjacency, communities, propagate
from app.graph.engine import Engine
from app.graph.force_params import ForceParams
from app.graph.layouts.force_directed import Layout, compute_layout
from app.graph.model import Graph, Positions, affected_rows, node_radii
from app.graph.suggested import add_suggestions
from tests.graph.graphs import data, of_edges, planted


def preservation(graph: Graph, positions: Positions) -> float:
    """Return the mean Jaccard index of nearest and linked nodes, as in the literature."""
    tree = cKDTree(positions)
    scores = []
    for row in np.flatnonzero(graph.degree > 0).tolist():
        linked = set(graph.neighbors(row).tolist())
        near = set(tree.query(positions[row], len(linked) + 1)[1].tolist()) - {row}
        scores.append(len(linked & near) / len(linked | near))
    return float(np.mean(scores))


def fruchterman_reingold(graph: Graph) -> Positions:
    """Return the layout of the classic algorithm, as the peer."""
    count = len(graph)
    ticks = 200
    at = np.random.default_rng(0).random((count, 2)) * np.sqrt(count)
    for tick in range(ticks):
        apart = at[:, None] - at[None]
        squared = (apart**2).sum(axis=2) + 0.01
        move = (apart / squared[..., None]).sum(axis=1)
        ends = at[graph.edges[:, 0]] - at[graph.edges[:, 1]]
        pull = ends * np.linalg.norm(ends, axis=1)[:, None]
        np.add.at(move, graph.edges[:, 0], -pull)
        np.add.at(move, graph.edges[:, 1], pull)
        length = np.linalg.norm(move, axis=1, keepdims=True) + 1e-9
        at = at + move / length * np.minimum(length, np.sqrt(count) / 10 * (1 - tick / ticks))
    return at.astype(np.float32)


def test_neighbors_are_kept_together_far_better_than_by_chance_and_by_the_classic():
    graph, _ = planted(16, 30)
    ours = preservation(graph, compute_layout(graph))
    rng = np.random.default_rng(0)
    by_chance = preservation(graph, rng.random((len(graph), 2)).astype(np.float32))
    classic = preservation(graph, fruchterman_reingold(graph))
    assert ours > 8 * by_chance
    assert ours > 1.2 * classic


@pytest.mark.parametrize("size", [10, 30])
def test_suggested_links_move_nothing(size: int):
    graph, _ = planted(16, size)
    known = {tuple(sorted(edge)) for edge in graph.edges.tolist()}
    pairs = [(0, row) for row in range(1, len(graph)) if (0, row) not in known][-5:]
    extended = add_suggestions(graph, np.array(pairs, dtype=np.int32))
    assert len(extended.edges) == len(graph.edges) + 5
    start = compute_layout(graph)
    assert np.array_equal(compute_layout(extended), start)
    for change in (_drag_first_node, _change_forces):
        np.testing.assert_array_equal(change(extended, start), change(graph, start))


def _drag_first_node(graph: Graph, positions: Positions) -> Positions:
    layout = Layout(1)
    layout.start(graph, positions)
    layout.pin(0, 0.0, 0.0)
    return layout.tick()


def _change_forces(graph: Graph, positions: Positions) -> Positions:
    layout = Layout(1)
    layout.start(graph, positions)
    layout.set_forces(ForceParams(attraction=2.0))
    return layout.tick()


def test_communities_stay_together():
    graph, planted_in = planted(12, 30)
    tree = cKDTree(compute_layout(graph))
    _, near = tree.query(tree.data, 7)
    assert (planted_in[near[:, 1:]] == planted_in[:, None]).mean() > 0.6


def test_the_same_seed_gives_the_same_layout_and_another_one_another():
    graph, _ = planted(8, 25)
    first = compute_layout(graph, seed=3)
    assert (first == compute_layout(graph, seed=3)).all()
    assert not (first == compute_layout(graph, seed=4)).all()


def test_nodes_do_not_overlap():
    graph, _ = planted(10, 30, lonely=20)
    positions, radii = compute_layout(graph), node_radii(graph)
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    touching = apart < (radii[:, None] + radii[None]) - 0.05
    np.fill_diagonal(touching, False)
    assert not touching.any()


def test_parts_and_orphans_are_packed_closely_around_the_largest():
    pairs = [(row, row + 1) for row in range(60, 100, 2)]
    graph = build(data(140, [(0, row) for row in range(1, 60)] + pairs))
    positions = compute_layout(graph)
    reach = np.linalg.norm(positions, axis=1)
    main, pairs, lonely = reach[:60].max(), reach[60:100], reach[100:]
    assert pairs.min() > 0.5 * main
    assert lonely.min() > pairs.max()
    assert lonely.max() < 3 * main
    assert all(np.linalg.norm(positions[row] - positions[row + 1]) < 6 for row in range(60, 100, 2))


@pytest.mark.parametrize("count", [0, 1, 2, 500])
def test_notes_without_links_form_a_disc(count):
    positions = compute_layout(build(data(count, [])))
    assert positions.shape == (count, 2)
    assert np.isfinite(positions).all()
    if count == 500:
        assert cKDTree(positions).query(positions, 2)[0][:, 1].min() > 0.5


def test_odd_graphs_are_laid_out():
    hub = build(data(1200, [(0, row) for row in range(1, 1200)]))
    chain = build(data(300, [(row, row + 1) for row in range(299)]))
    clique = build(data(30, [(a, b) for a in range(30) for b in range(a)]))
    pair = of_edges(["aa", "ab", "ba", "ab"])
    for graph in (hub, chain, clique, pair):
        positions = compute_layout(graph)
        assert np.isfinite(positions).all()
        assert np.unique(positions, axis=0).shape == positions.shape


def test_positions_come_from_the_first_tick_on_for_all_nodes():
    graph, _ = planted(20, 30, lonely=5)
    layout = Layout()
    layout.start(graph)
    first = layout.tick()
    assert first.shape == (len(graph), 2)
    assert np.isfinite(first).all()
    assert not layout.is_settled


def test_saved_positions_are_used_unchanged():
    graph, _ = planted(3, 10)
    places = np.random.default_rng(0).random((len(graph), 2)).astype(np.float32) * 40
    layout = Layout()
    layout.start(graph, places)
    assert layout.is_settled
    assert (layout.tick() == places).all()


def drag(graph: Graph, row: int, by: float) -> tuple[Positions, Positions]:
    before = compute_layout(graph)
    layout = Layout()
    layout.start(graph, before)
    for step in range(40):
        layout.pin(row, float(before[row, 0]) + by * (step + 1) / 40, float(before[row, 1]))
        layout.tick()
    layout.release(row)
    for _ in range(200):
        if layout.is_settled:
            break
        layout.tick()
    assert layout.is_settled
    return before, layout.positions


def test_a_dragged_node_takes_its_neighbors_along_and_leaves_far_ones_still():
    graph, _ = planted(16, 30)
    row = 5 * 30
    before, after = drag(graph, row, 15.0)
    moved = np.linalg.norm(after - before, axis=1)
    leaves = [each for each in graph.neighbors(row).tolist() if graph.degree[each] <= 3]
    far = np.setdiff1d(np.arange(len(graph)), affected_rows(graph, row))
    assert moved[row] > 5
    assert moved[leaves].mean() > 1
    assert len(far)
    assert (moved[far] == 0).all()


def test_a_grab_without_a_move_moves_nothing():
    graph, _ = planted(8, 30)
    before, after = drag(graph, 10, 0.0)
    assert np.abs(after - before).max() < 0.05


def test_no_label_outgrows_its_cap_and_levels_shrink():
    graph, _ = planted(20, 30)
    weights = adjacency(graph.edges, len(graph))
    mass = np.ones(len(graph), dtype=np.float32)
    labels = propagate(weights, mass, 8.0, seed=0)
    assert np.bincount(labels).max() <= 8
    sizes = [len(level) for level in Engine().build_levels(weights, seed=0)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) > 1 and sizes[-1] < 200


def test_communities_are_found_and_leaves_follow_their_note():
    graph, planted_in = planted(6, 40)
    found = communities(graph.edges, len(graph))
    purity = [np.bincount(found[planted_in == group]).max() / 40 for group in range(6)]
    assert np.mean(purity) > 0.6
    star = build(data(200, [(0, row) for row in range(1, 200)]))
    assert len(set(communities(star.edges, 200).tolist())) == 1
    assert communities(np.empty((0, 2), dtype=np.int32), 3).tolist() == [-1, -1, -1]
    assert not len(communities(np.empty((0, 2), dtype=np.int32), 0))


def test_the_small_node_gives_way_to_the_large_one():
    at = np.array([[0, 0], [1, 0]], dtype=np.float32)
    core_bindings.separate(at, np.array([2.0, 0.3], dtype=np.float32))
    assert abs(at[0, 0]) < 0.1
    assert at[1, 0] > 1.5
