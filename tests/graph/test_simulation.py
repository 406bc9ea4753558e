"""The simulation of all nodes: sliders, pause, and a dragged node."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.graph.force_params import RANGES, ForceParams
from app.graph.layouts.force_directed import Layout, compute_layout
from app.graph.model import Graph, Positions, node_radii
from tests.graph.graphs import planted

# Too large for the layout of small graphs.
GRAPH, _ = planted(18, 25, lonely=4)
PLACES = compute_layout(GRAPH)
SMALL, _ = planted(4, 20)


def live(graph: Graph = GRAPH, at: Positions = PLACES) -> Layout:
    layout = Layout()
    layout.start(graph, at)
    return layout


def settle(layout: Layout) -> Positions:
    for _ in range(1500):
        if layout.is_settled:
            return layout.positions
        layout.tick()
    raise AssertionError("it does not come to rest")


def reach(at: Positions) -> float:
    return float(np.linalg.norm(at - at.mean(axis=0), axis=1).mean())


def link_length(at: Positions) -> float:
    return float(np.linalg.norm(at[GRAPH.edges[:, 0]] - at[GRAPH.edges[:, 1]], axis=1).mean())


def test_unchanged_forces_move_nothing():
    layout = live()
    layout.set_forces(ForceParams())
    assert layout.is_settled
    assert (layout.tick() == PLACES).all()


@pytest.mark.parametrize(
    ("forces", "measure", "grows"),
    [
        (ForceParams(repulsion=2.5), reach, True),
        (ForceParams(repulsion=0.2), reach, False),
        (ForceParams(gravity=0.6), reach, False),
        (ForceParams(attraction=2.5), link_length, False),
        (ForceParams(attraction=0.2), link_length, True),
        (ForceParams(spacing=32), reach, True),
        (ForceParams(spacing=8), reach, False),
    ],
)
def test_every_slider_has_its_effect(forces, measure, grows):
    layout = live()
    layout.set_forces(forces)
    after = settle(layout)
    assert np.isfinite(after).all()
    factor = measure(after) / measure(PLACES)
    assert factor > 1.05 if grows else factor < 0.95


def test_spacing_scales_the_picture_and_back():
    layout = live()
    layout.set_forces(ForceParams(spacing=24))
    np.testing.assert_allclose(settle(layout), PLACES * 1.5, rtol=0.01, atol=1.0)
    layout.set_forces(ForceParams())
    np.testing.assert_allclose(settle(layout), PLACES, rtol=0.01, atol=1.0)


def test_nothing_jumps_however_the_slider_is_moved():
    layout = live()
    rng = np.random.default_rng(0)
    for _ in range(40):
        layout.set_forces(
            ForceParams(repulsion=rng.uniform(0, 4), attraction=rng.uniform(0, 3), gravity=rng.uniform())
        )
        for _ in range(3):
            before = layout.positions
            moved = np.linalg.norm(layout.tick() - before, axis=1)
            assert moved.max() < 2.2


@pytest.mark.parametrize(
    "forces", [ForceParams(gravity=1), ForceParams(repulsion=0, attraction=3), ForceParams(spacing=4)]
)
def test_strongly_attracted_nodes_do_not_overlap(forces):
    layout, radii = live(), node_radii(GRAPH)
    layout.set_forces(forces)
    after = settle(layout)
    apart = np.linalg.norm(after[:, None] - after[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    hidden = apart < np.maximum(radii[:, None], radii[None])
    assert hidden.any(axis=1).mean() < 0.02


def test_a_force_change_during_a_layout_applies_at_its_end():
    plain, stirred = Layout(), Layout()
    for layout in (plain, stirred):
        layout.start(SMALL, seed=4)
        layout.tick()
    stirred.set_forces(ForceParams(spacing=32))
    assert reach(settle(stirred)) > 1.8 * reach(settle(plain))


def test_saved_places_belong_to_the_forces_they_were_saved_with():
    layout = Layout()
    layout.start(GRAPH, PLACES * 2, forces=ForceParams(spacing=32))
    assert layout.is_settled
    layout.set_forces(ForceParams(spacing=32))
    assert layout.is_settled
    layout.set_forces(ForceParams())
    np.testing.assert_allclose(settle(layout), PLACES, rtol=0.01, atol=1.0)


def test_while_paused_only_the_dragged_node_moves():
    layout = live()
    layout.set_forces(ForceParams(repulsion=3))
    layout.tick()
    layout.pause()
    assert layout.is_settled
    before = layout.positions.copy()
    assert (layout.tick() == before).all()
    layout.pin(3, 40.0, 30.0)
    after = layout.tick()
    assert after[3].tolist() == [40.0, 30.0]
    others = np.arange(len(GRAPH)) != 3
    assert (after[others] == before[others]).all()
    layout.release(3)
    layout.resume()
    assert not layout.is_settled
    assert np.abs(layout.tick()[3] - (40.0, 30.0)).max() < 2.0
    assert not (settle(layout)[others] == before[others]).any()


def test_a_paused_layout_ends_like_any_other():
    layout = Layout()
    layout.start(SMALL, seed=2)
    layout.tick()
    layout.pause()
    half = layout.positions
    assert layout.is_settled
    assert (layout.tick() == half).all()
    layout.resume()
    straight = Layout()
    straight.start(SMALL, seed=2)
    assert (settle(layout) == settle(straight)).all()


def test_a_node_is_held_during_a_simulation():
    layout = live()
    row = int(GRAPH.degree.argmax())
    layout.set_forces(ForceParams(repulsion=1.5))
    layout.tick()
    target = PLACES[row] + np.array([25, 0], dtype=np.float32)
    for _ in range(80):
        layout.pin(row, float(target[0]), float(target[1]))
        layout.tick()
    assert not layout.is_settled
    np.testing.assert_allclose(layout.positions[row], target, atol=1e-3)
    followed = layout.positions[GRAPH.neighbors(row)] - PLACES[GRAPH.neighbors(row)]
    assert followed[:, 0].mean() > 3
    layout.release(row)
    settle(layout)


def test_a_held_node_stays_held_when_a_slider_moves():
    layout = live()
    layout.pin(5, 30.0, 0.0)
    layout.tick()
    layout.set_forces(ForceParams(gravity=1))
    for _ in range(20):
        layout.tick()
    np.testing.assert_allclose(layout.positions[5], (30.0, 0.0), atol=1e-3)
    layout.release(5)
    settle(layout)
    assert np.linalg.norm(layout.positions[5]) < 30


def test_values_outside_of_the_limits_are_brought_inside():
    wild = ForceParams(spacing=1000, attraction=-1, repulsion=math.nan, gravity=math.inf).within_limits()
    assert wild == ForceParams(spacing=40, attraction=0, repulsion=1, gravity=1)
    assert set(RANGES) == {"spacing", "attraction", "repulsion", "gravity"}


slider = st.fixed_dictionaries({name: st.floats(*limits) for name, limits in RANGES.items()})


@given(st.lists(slider, min_size=1, max_size=4), st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_live_physics_comes_to_rest_under_any_forces(moves, extra):
    graph, _ = planted(2, 8, lonely=extra)
    layout = live(graph, compute_layout(graph))
    for values in moves:
        layout.set_forces(ForceParams(**values))
        for _ in range(7):
            layout.tick()
    assert np.isfinite(settle(layout)).all()


@pytest.mark.parametrize("count", [0, 1])
def test_very_small_graphs_are_simulated(count):
    graph, _ = planted(0, 0, lonely=count)
    layout = live(graph, compute_layout(graph))
    layout.set_forces(ForceParams(gravity=1, spacing=40))
    assert settle(layout).shape == (count, 2)
