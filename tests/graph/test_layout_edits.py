"""Layouts after edits: known notes stay, new ones get a position, and only the graph counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.graph.builder import build, build_from
from app.graph.incremental_update import compute_update
from app.graph.layouts.force_directed import Layout, compute_layout
from app.graph.model import Graph, GraphDelta, GraphEdge, GraphNode
from app.graph.position_transfer import place_missing, transfer_positions
from tests.benchmarks.graphs import scale_free
from tests.graph.graphs import data, planted

NAMES = [f"{letter}.md" for letter in "abcdefghijkl"]

edit = st.one_of(
    st.tuples(st.just("save"), st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=4)),
    st.tuples(st.just("remove"), st.sampled_from(NAMES), st.just([])),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), min_size=1)),
)


def delta_of(graph: Graph, kind: str, path: str, others: list[str]) -> GraphDelta:
    """Return the delta of one edit of a vault that holds `graph`; an impossible edit is empty."""
    if kind == "save":
        linked = [other for other in others if other in graph.rows or other == path]
        edges = tuple(GraphEdge(path, other) for other in dict.fromkeys(linked))
        return GraphDelta(nodes=(GraphNode(path, path[0]),), edges=edges, sources=(path,))
    if path not in graph.rows:
        return GraphDelta()
    if kind == "remove":
        return GraphDelta(removed=(path,))
    return GraphDelta() if others[0] in graph.rows else GraphDelta(renamed=((path, others[0]),))


def rebuilt(graph: Graph) -> Graph:
    """Return the same graph, rebuilt from its nodes and its edges in another order."""
    nodes = [GraphNode(path, name) for path, name in zip(graph.paths, graph.names, strict=True)]
    edges = [GraphEdge(graph.paths[a], graph.paths[b]) for a, b in graph.edges.tolist()]
    return build_from(nodes, edges[::-1])


@given(st.lists(edit, max_size=12))
@settings(max_examples=25, deadline=None)
def test_after_any_edits_known_notes_stay_and_new_ones_get_free_positions(edits):
    graph = build_from([GraphNode(path, path[0]) for path in NAMES[:4]], [GraphEdge(NAMES[0], NAMES[1])])
    at = compute_layout(graph)
    layout = Layout()
    for kind, path, others in edits:
        delta = delta_of(graph, kind, path, others)
        after = compute_update(graph, delta).graph
        renamed = dict(delta.renamed)
        places, fresh = transfer_positions(graph, at, after, renamed)
        for old, row in graph.rows.items():
            now = after.rows.get(renamed.get(old, old))
            if now is not None and not fresh[now]:
                assert (places[now] == at[row]).all()
        layout.start(after, places)
        assert layout.is_settled
        assert (layout.tick() == places).all()
        for row in np.flatnonzero(fresh):
            apart = np.linalg.norm(np.delete(places, row, axis=0) - places[row], axis=1)
            assert apart.min(initial=np.inf) > 0.5
        graph, at = after, places
    assert np.isfinite(at).all()
    assert (compute_layout(graph) == compute_layout(rebuilt(graph))).all()


def test_the_layout_depends_on_the_graph_and_not_on_the_order_of_its_links():
    graph, _ = planted(18, 25, lonely=3)
    one, other = arranged(Layout(), graph), arranged(Layout(), rebuilt(graph))
    assert (one == other).all()


@pytest.mark.parametrize("graph", [planted(60, 30)[0], scale_free(1700)], ids=["groups", "no groups"])
def test_one_thread_and_two_lay_out_alike_to_the_bit(graph):
    assert (arranged(Layout(1), graph) == arranged(Layout(2), graph)).all()


def test_self_links_are_ignored():
    graph, _ = planted(3, 10)
    looped = np.concatenate([graph.edges, np.repeat(np.arange(30), 2).reshape(-1, 2)])
    assert (arranged(Layout(), build(data(30, looped))) == arranged(Layout(), graph)).all()


def arranged(layout: Layout, graph: Graph) -> np.ndarray:
    layout.start(graph, seed=3)
    while not layout.is_settled:
        layout.tick()
    return layout.positions


def test_very_many_new_notes_are_placed_near_their_neighbors_without_overlap():
    hub, leaves, lonely = 0, 300, 200
    graph = build(data(1 + leaves + lonely, [(hub, row) for row in range(1, leaves + 1)]))
    places = np.full((len(graph), 2), np.nan, dtype=np.float32)
    places[hub] = (3, 4)
    placed = place_missing(graph, places)
    assert placed[hub].tolist() == [3, 4]
    apart = np.linalg.norm(placed[:, None] - placed[None], axis=2) + np.eye(len(placed)) * 99
    assert apart.min() >= 1.29
    around = np.linalg.norm(placed[1 : leaves + 1] - placed[hub], axis=1)
    assert around.max() < 40
    again = place_missing(graph, places)
    assert (again == placed).all()
