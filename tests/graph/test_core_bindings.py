"""The C core compared with numpy, on unusual input, and from several threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from app.graph import core_bindings
from app.graph.coarsen import adjacency
from app.graph.core_bindings import (
    BOUNDED,
    CHARGE,
    BarnesHutTree,
    CsrGraph,
    Repulsion,
    WorkerThreads,
)
from app.graph.layouts.force_directed import Layout
from tests.graph.force_reference import ReferenceSprings, RestingSprings, bounded, charge, dense_repulsion
from tests.graph.graphs import data, planted

ONE = WorkerThreads(1)


def links_of(pairs, count: int) -> tuple[scipy.sparse.csr_matrix, CsrGraph]:
    weights = adjacency(np.array(pairs, dtype=np.int32).reshape(-1, 2), count)
    return weights, CsrGraph.from_matrix(weights)


def scattered(count: int, seed: int = 0, spread: float = 8.0) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal((count, 2)) * spread).astype(np.float32)


def pushed(at: np.ndarray, how: Repulsion, mass=None, threads: int = 1) -> np.ndarray:
    tree, force = BarnesHutTree(), np.zeros_like(at)
    tree.build(at, mass)
    with WorkerThreads(threads) as workers:
        tree.add_repulsion(how, force, workers)
    return force


# Against numpy

graphs = st.integers(1, 60).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=150),
        st.integers(0, 10_000),
    )
)


@given(graphs)
def test_every_force_is_as_in_numpy(given_graph):
    count, pairs, seed = given_graph
    pairs = [(a, b) for a, b in pairs if a != b]
    weights, links = links_of(pairs, count)
    at = scattered(count, seed)
    mass = np.random.default_rng(seed).uniform(0.5, 4, count).astype(np.float32)
    upper = scipy.sparse.triu(weights, 1).tocoo()
    ends, weight = np.stack([upper.row, upper.col], axis=1).astype(np.int32), upper.data.astype(np.float32)

    force = np.zeros_like(at)
    core_bindings.attract(links, at, 0.1, 8.0, 0.5, force, ONE)
    expected = 0.5 * ReferenceSprings(ends, count, weight).bounded(at)
    np.testing.assert_allclose(force, expected, rtol=2e-4, atol=2e-3)

    exact = pushed(at, Repulsion(BOUNDED, 2.0, 1.0, 0.0), mass)
    np.testing.assert_allclose(exact, 2 * dense_repulsion(bounded, at, at, mass), rtol=2e-4, atol=2e-4)
    exact = pushed(at, Repulsion(CHARGE, 1.0, 0.02, 0.0), mass)
    np.testing.assert_allclose(exact, dense_repulsion(charge, at, at, mass), rtol=2e-3, atol=2e-3)

    width = np.sqrt(mass)
    rest = (0.5 * (width[ends[:, 0]] + width[ends[:, 1]])).astype(np.float32)
    force = np.zeros_like(at)
    core_bindings.spring(links, core_bindings.Springs.of(links, width), at, 0.5, force, ONE)
    expected = 0.5 * RestingSprings(ends, count, weight, rest).resting(at)
    np.testing.assert_allclose(force, expected, rtol=2e-3, atol=5e-3)


@pytest.mark.parametrize("kernel", [BOUNDED, CHARGE])
def test_the_tree_agrees_with_the_sum_over_all_pairs(kernel):
    at, mass = scattered(3000, spread=20.0), np.ones(3000, dtype=np.float32)
    softness = 1.0 if kernel == BOUNDED else 0.02
    exact = dense_repulsion(bounded if kernel == BOUNDED else charge, at, at, mass)
    fast = pushed(at, Repulsion(kernel, 1.0, softness, 0.81), mass)
    assert np.linalg.norm(fast - exact) < 0.06 * np.linalg.norm(exact)


def test_the_repulsion_at_points_equals_that_on_bodies_there():
    at = scattered(800)
    tree, force = BarnesHutTree(), np.zeros((50, 2), dtype=np.float32)
    tree.build(at)
    tree.add_repulsion_at(Repulsion(BOUNDED, 1.0, 1.0, 0.0), at[:50].copy(), force)
    np.testing.assert_allclose(
        force, pushed(at, Repulsion(BOUNDED, 1.0, 1.0, 0.0))[:50], rtol=1e-4, atol=1e-4
    )


# Independence of the number of threads


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_forces_are_the_same_to_the_bit_for_any_number_of_threads(threads):
    at = scattered(20_000, spread=60.0)
    rng = np.random.default_rng(0)
    _, links = links_of(rng.integers(0, 20_000, (50_000, 2)), 20_000)
    assert (pushed(at, Repulsion(BOUNDED)) == pushed(at, Repulsion(BOUNDED), threads=threads)).all()
    one, many = np.zeros_like(at), np.zeros_like(at)
    core_bindings.attract(links, at, 0.1, 8.0, 1.0, one, ONE)
    with WorkerThreads(threads) as workers:
        core_bindings.attract(links, at, 0.1, 8.0, 1.0, many, workers)
    assert (one == many).all()


def test_the_layout_is_the_same_to_the_bit_for_any_number_of_threads():
    graph, _ = planted(90, 30)

    def positions(threads: int) -> np.ndarray:
        layout = Layout(threads)
        layout.start(graph, seed=5)
        while not layout.is_settled:
            layout.tick()
        return layout.positions

    assert (positions(1) == positions(3)).all()


def test_a_tree_in_use_is_not_rebuilt():
    at = scattered(200_000, spread=100.0)
    tree, force = BarnesHutTree(), np.zeros_like(at)
    tree.build(at)
    reader = threading.Thread(target=lambda: tree.add_repulsion(Repulsion(BOUNDED, 1.0, 1.0, 0.3), force))
    reader.start()
    refused = 0
    while reader.is_alive():
        try:
            tree.build(at)
        except RuntimeError:
            refused += 1
    reader.join()
    assert refused
    assert np.isfinite(force).all()


# Clusters and separation


@given(graphs, st.integers(1, 12))
def test_no_label_is_heavier_than_the_cap(given_graph, cap):
    count, pairs, seed = given_graph
    _, links = links_of(pairs, count)
    order = np.random.default_rng(seed).permutation(count).astype(np.int32)
    label = core_bindings.cluster(links, np.ones(count, dtype=np.float32), order, float(cap))
    assert np.bincount(label).max() <= cap
    assert ((label >= 0) & (label < count)).all()


def test_the_leaves_of_a_huge_hub_gather():
    count = 200_001
    pairs = np.stack([np.zeros(count - 1, dtype=np.int32), np.arange(1, count, dtype=np.int32)], axis=1)
    _, links = links_of(pairs, count)
    mass = np.ones(count, dtype=np.float32)
    label = core_bindings.cluster(links, mass, np.arange(count, dtype=np.int32), 8.0)
    assert len(np.unique(label)) < count / 4
    assert np.bincount(label).max() <= 8
    at, force = scattered(count, spread=300.0), np.zeros((count, 2), dtype=np.float32)
    core_bindings.attract(links, at, 0.1, 8.0, 0.2, force, ONE)
    assert np.isfinite(force).all()


@given(st.integers(2, 120), st.integers(0, 1000))
@settings(max_examples=40)
def test_discs_end_up_next_to_each_other(count, seed):
    rng = np.random.default_rng(seed)
    at = (rng.random((count, 2)) * 3).astype(np.float32)
    at[count // 2 :] = at[0]
    radii = rng.uniform(0.2, 2.2, count).astype(np.float32)
    for _ in range(2000):
        if core_bindings.separate(at, radii, 0.2) < 0.02:
            break
    apart = np.linalg.norm(at[:, None] - at[None], axis=2) + np.eye(count) * 99
    assert (apart > radii[:, None] + radii[None] + 0.1).all()


def test_separate_discs_do_not_move():
    at = np.array([[0, 0], [5, 0], [0, 5]], dtype=np.float32)
    before = at.copy()
    assert core_bindings.separate(at, np.ones(3, dtype=np.float32)) == 0.0
    assert (at == before).all()


# Unusual input


@pytest.mark.parametrize("count", [0, 1, 2])
def test_very_small_graphs_are_handled(count):
    at, force = scattered(count), np.zeros((count, 2), dtype=np.float32)
    _, links = links_of([], count)
    tree = BarnesHutTree()
    tree.build(at)
    tree.add_repulsion(Repulsion(BOUNDED), force)
    core_bindings.attract(links, at, 0.1, 8.0, 1.0, force, ONE)
    core_bindings.step(at, force)
    assert core_bindings.separate(at, np.ones(count, dtype=np.float32)) >= 0.0
    label = core_bindings.cluster(links, np.ones(count, np.float32), np.arange(count, dtype=np.int32), 2.0)
    assert label.tolist() == list(range(count))
    assert np.isfinite(at).all()


def test_nodes_without_a_position_repel_nothing_and_move_to_the_middle():
    at = scattered(500)
    odd = at.copy()
    odd[7], odd[8], odd[9] = (np.nan, 1), (np.inf, 0), (3e20, -1)
    force = pushed(odd, Repulsion(BOUNDED, 1.0, 1.0, 0.0))
    assert np.isfinite(force).all()
    kept = np.ones(500, dtype=bool)
    kept[7:10] = False
    expected = pushed(at[kept], Repulsion(BOUNDED, 1.0, 1.0, 0.0))
    np.testing.assert_allclose(force[kept], expected, rtol=1e-4, atol=1e-5)
    velocity = force.copy()
    velocity[20] = np.nan
    core_bindings.step(odd, velocity)
    assert np.isfinite(odd).all()
    assert (odd[7:10] == 0).all()
    core_bindings.separate(np.full((40, 2), np.nan, dtype=np.float32), np.full(40, np.nan, dtype=np.float32))


def test_self_loops_and_equal_places_do_no_harm():
    links = CsrGraph(
        np.array([0, 2, 4], dtype=np.int32),
        np.array([0, 1, 1, 0], dtype=np.int32),
        np.ones(4, dtype=np.float32),
    )
    at, force = np.zeros((2, 2), dtype=np.float32), np.zeros((2, 2), dtype=np.float32)
    core_bindings.attract(links, at, 0.1, 8.0, 1.0, force, ONE)
    assert (force == 0).all()
    assert (pushed(np.ones((5000, 2), dtype=np.float32), Repulsion(BOUNDED)) == 0).all()
    label = core_bindings.cluster(links, np.ones(2, np.float32), np.arange(2, dtype=np.int32), 2.0)
    assert label[0] == label[1]


def test_wrong_arrays_are_refused_with_a_reason():
    at, force = scattered(10), np.zeros((10, 2), dtype=np.float32)
    core, tree = core_bindings.core, core_bindings.core.tree()
    core.build(tree, at, None)
    weight = np.ones(3, dtype=np.float32)

    def floats(*shape: int) -> np.ndarray:
        return np.ones(shape, dtype=np.float32)

    def ints(*values: int) -> np.ndarray:
        return np.array(values, dtype=np.int32)

    def attract(starts: np.ndarray, neighbors: np.ndarray) -> None:
        core.attract(starts, neighbors, weight, at[:1], 0.1, 8.0, 1.0, 0, 1, force[:1])

    wrong = [
        (TypeError, "at: needs float32", lambda: core.build(tree, at.astype(np.float64), None)),
        (ValueError, r"at: needs the shape \(n, 2\)", lambda: core.build(tree, floats(3, 3), None)),
        (ValueError, "mass: needs 10 rows, has 9", lambda: core.build(tree, at, floats(9))),
        (TypeError, "C-contiguous", lambda: core.build(tree, scattered(20)[::2], None)),
        (TypeError, "C-contiguous", lambda: core.build(tree, [[1.0, 2.0]], None)),
        (ValueError, "PyCapsule", lambda: core.build(at, at, None)),
        (ValueError, "force: needs 10", lambda: core.push(tree, 0, 1, 1, 1.0, 1.0, 1.0, force[:5])),
        (ValueError, "range", lambda: core.push(tree, 0, 99, 1, 1.0, 1.0, 1.0, force)),
        (ValueError, "range", lambda: core.push(tree, -1, 1, 1, 1.0, 1.0, 1.0, force)),
        (TypeError, "writable", lambda: core.step(frozen(at), force, None, 0.0, 0.5, 1.0, 0, 10)),
        (ValueError, "neighbors: need to be rows", lambda: attract(ints(0, 3), ints(0, 7, 0))),
        (ValueError, "starts", lambda: attract(ints(0, 9), ints(0, 0, 0))),
        (ValueError, "starts", lambda: attract(ints(), ints(0, 0, 0))),
        (
            ValueError,
            "order: needs to be rows",
            lambda: core.cluster(ints(0, 0), ints(), floats(0), floats(1), ints(5), 2.0, 1, ints(0)),
        ),
    ]
    for kind, message, act in wrong:
        with pytest.raises(kind, match=message):
            act()


def frozen(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def test_other_threads_run_while_the_core_works():
    at, force = scattered(60_000, spread=60.0), np.zeros((60_000, 2), dtype=np.float32)
    tree = BarnesHutTree()
    tree.build(at)
    worker = threading.Thread(target=lambda: tree.add_repulsion(Repulsion(BOUNDED, 1.0, 1.0, 0.2), force))
    worker.start()
    counted = 0
    while worker.is_alive():
        counted += 1
    assert counted > 100


def test_no_notes_and_one_note_are_laid_out():
    from app.graph.builder import build

    for count in (0, 1):
        layout = Layout()
        layout.start(build(data(count, [])))
        while not layout.is_settled:
            layout.tick()
        assert layout.positions.shape == (count, 2)
