"""The quality of layouts, compared with d3-force on the same graphs (tests/benchmarks/graph.py)."""

from __future__ import annotations

import numpy as np
import pytest

from app.graph.layouts.force_directed import Layout
from app.graph.model import Graph, Positions
from tests.benchmarks.graphs import of_edges, quality, scale_free, vault, with_index_note

# kept, crossings and stress of d3-force 3.0.0 after 300 ticks, measured on these graphs.
VAULT = vault(1000), 0.0607, 1.034, 0.1669
SCALE_FREE = scale_free(1000), 0.0071, 5.831, 0.1750
INDEX_NOTE = with_index_note(1000), 0.0404, 0.646, 0.1450


def arranged(layout: Layout, graph: Graph, seed: int = 0) -> Positions:
    layout.start(graph, seed=seed)
    while not layout.is_settled:
        layout.tick()
    return layout.positions


def assert_better(graph: Graph, at: Positions, kept: float, crossings: float, stress: float) -> None:
    found = quality(graph, at)
    assert found["kept"] >= kept
    assert found["crossings"] <= crossings
    assert found["stress"] <= stress
    assert found["overlaps"] == 0


@pytest.mark.parametrize(
    ("given", "stress_factor"),
    [
        pytest.param(VAULT, 1.15, id="vault"),
        pytest.param(SCALE_FREE, 1.15, id="scale-free"),
        # Its groups are separate where d3's overlap, at the cost of stress.
        pytest.param(INDEX_NOTE, 1.4, id="an index note"),
    ],
)
def test_five_times_the_neighborhoods_of_d3_and_fewer_crossings(given, stress_factor):
    graph, kept, crossings, stress = given
    at = arranged(Layout(), graph, seed=1)
    assert_better(graph, at, 5 * kept, crossings, stress_factor * stress)


# Unusual graphs


def star(leaves: int) -> Graph:
    return of_edges(leaves + 1, np.stack([np.zeros(leaves, dtype=int), np.arange(1, leaves + 1)], axis=1))


def test_the_notes_of_a_hub_with_two_hundred_thousand_links_find_room():
    at = arranged(Layout(), star(200_000))
    assert np.isfinite(at).all()
    assert len(np.unique(at, axis=0)) == len(at)
    reach = np.linalg.norm(at - at[0], axis=1)
    # As wide as its discs need, and at most twice that.
    needed = np.sqrt(200_000) * 0.35
    assert needed < np.quantile(reach, 0.98) < 2.5 * needed


def test_fifty_thousand_links_between_the_same_places():
    leaves = 25_000
    rows = np.arange(2, leaves + 2)
    two_hubs = [np.stack([np.full(leaves, hub), rows], axis=1) for hub in (0, 1)]
    at = arranged(Layout(), of_edges(leaves + 2, np.concatenate(two_hubs)))
    assert np.isfinite(at).all()
    # Both hubs are in the middle of their common neighbors.
    assert np.linalg.norm(at[:2] - at[2:].mean(axis=0), axis=1).max() < at.std()
    clique = arranged(Layout(), of_edges(320, np.stack(np.triu_indices(320, 1), axis=1)))
    assert np.isfinite(clique).all()
    assert len(np.unique(clique, axis=0)) == 320
