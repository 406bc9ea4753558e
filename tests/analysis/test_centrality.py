"""Results agree with networkx and with small hand-checked graphs."""

from __future__ import annotations

from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.analysis import centrality
from app.analysis.articulation import find_cut_points
from app.analysis.centrality import betweenness, compute_centrality
from app.analysis.communities import find_communities
from app.analysis.network import AdjacencyArrays
from app.analysis.orphans import find_orphans
from app.analysis.shortest_path import shortest_path
from app.graph.builder import build_from
from app.graph.model import GraphEdge, GraphNode
from tests.graph.graphs import of_edges, planted

SIZE = 12
LINKS = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=24)


def network(pairs, size: int = SIZE) -> AdjacencyArrays:
    kept = [(a, b) for a, b in pairs if a != b]
    return AdjacencyArrays(size, np.array(kept, dtype=np.int32).reshape(-1, 2))


@given(LINKS)
def test_betweenness_of_a_small_graph_is_that_of_networkx(pairs):
    arrays = network(pairs)
    found = betweenness(arrays)
    known = networkx.betweenness_centrality(arrays.undirected())
    assert found.is_exact
    assert np.allclose(found.score, [known[row] for row in range(SIZE)])


def test_betweenness_of_a_large_graph_is_estimated_and_says_so(monkeypatch):
    graph, _ = planted(10, 30)
    exact = betweenness(AdjacencyArrays.from_graph(graph))
    monkeypatch.setattr(centrality, "_MAX_EXACT_NODES", 100)
    monkeypatch.setattr(centrality, "_MAX_SOURCES", 120)
    estimate = betweenness(AdjacencyArrays.from_graph(graph))
    assert (estimate.is_exact, estimate.sampled) == (False, 120)
    assert np.corrcoef(exact.score, estimate.score)[0, 1] > 0.95
    assert (betweenness(AdjacencyArrays.from_graph(graph)).score == estimate.score).all()


@given(LINKS, st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
def test_a_path_is_as_short_as_networkx_finds_and_walks_along_links(pairs, source, target):
    arrays = network(pairs)
    rows = shortest_path(arrays, source, target).tolist()
    plain = arrays.undirected()
    if networkx.has_path(plain, source, target):
        assert rows[0] == source and rows[-1] == target
        assert len(rows) - 1 == networkx.shortest_path_length(plain, source, target)
        assert all(plain.has_edge(a, b) for a, b in pairwise(rows))
    else:
        assert rows == []


@given(LINKS)
def test_bridges_and_articulations_are_those_of_networkx_with_what_they_cut_off(pairs):
    arrays = network(pairs)
    plain = arrays.undirected()
    found = find_cut_points(arrays)
    bridges = {tuple(sorted(pair)) for pair in networkx.bridges(plain)}
    assert {tuple(pair) for pair in found.bridges.tolist()} == bridges
    assert set(found.articulations.tolist()) == set(networkx.articulation_points(plain))
    for (a, b), side in zip(found.bridges.tolist(), found.cut_off.tolist(), strict=True):
        cut = plain.copy()
        cut.remove_edge(a, b)
        sides = [len(networkx.node_connected_component(cut, end)) for end in (a, b)]
        assert side == min(sides)
    for node, lost in zip(found.articulations.tolist(), found.lost.tolist(), strict=True):
        rest = plain.subgraph(networkx.node_connected_component(plain, node) - {node})
        assert lost == len(rest) - max(map(len, networkx.connected_components(rest)))
    assert found.cut_off.tolist() == sorted(found.cut_off.tolist(), reverse=True)
    assert found.lost.tolist() == sorted(found.lost.tolist(), reverse=True)


@pytest.mark.parametrize("plainly", [True, False])
def test_planted_communities_are_found_the_same_each_time(monkeypatch, plainly):
    if not plainly:
        monkeypatch.setattr("app.analysis.communities._MAX_PLAIN_NODES", 10)
    graph, truth = planted(8, 40, lonely=3)
    found = find_communities(AdjacencyArrays.from_graph(graph))
    assert (found.labels[truth < 0] == -1).all()
    assert (find_communities(AdjacencyArrays.from_graph(graph)).labels == found.labels).all()
    assert found.count == found.labels.max() + 1
    sizes = np.bincount(found.labels[found.labels >= 0])
    assert (np.diff(sizes) <= 0).all()
    right = sum(np.bincount(truth[found.labels == each]).max() for each in range(found.count))
    assert right >= 0.9 * (truth >= 0).sum()


def test_pagerank_prefers_what_many_link_to_and_degree_counts_notes():
    graph = of_edges(["ba", "ca", "da", "ab", "ba"])
    ranked = compute_centrality(AdjacencyArrays.from_graph(graph), "pagerank")
    assert int(ranked.score.argmax()) == graph.rows["a.md"]
    assert abs(ranked.score.sum() - 1) < 1e-6
    assert (
        compute_centrality(AdjacencyArrays.from_graph(graph), "degree").score.tolist()
        == graph.degree.tolist()
    )
    assert ranked.radii()[graph.rows["a.md"]] == ranked.radii().max() <= 2.25


@pytest.mark.parametrize("which", ["pagerank", "betweenness", "degree"])
def test_a_graph_without_links_or_nodes_is_no_problem(which):
    for size in (0, 1, 3):
        empty = AdjacencyArrays(size, np.empty((0, 2), dtype=np.int32))
        assert (
            len(compute_centrality(empty, which).score)
            == len(compute_centrality(empty, which).radii())
            == size
        )
        assert find_communities(empty).labels.tolist() == [-1] * size
        assert len(find_cut_points(empty).bridges) == 0


def test_orphans_are_notes_without_links_and_names_without_notes_stand_apart():
    nodes = [
        GraphNode("a.md", "a"),
        GraphNode("b.md", "b"),
        GraphNode("c.md", "c"),
        GraphNode("x.png", "x", kind="attachment"),
        GraphNode("Far", "Far", kind="unresolved"),
        GraphNode("Late", "Late", kind="unresolved"),
    ]
    graph = build_from(
        nodes, [GraphEdge("a.md", "Late"), GraphEdge("b.md", "Late"), GraphEdge("a.md", "Far")]
    )
    found = find_orphans(graph)
    assert [graph.paths[row] for row in found.notes] == ["c.md"]
    assert [graph.paths[row] for row in found.attachments] == ["x.png"]
    assert [graph.paths[row] for row in found.unresolved] == ["Late", "Far"]
