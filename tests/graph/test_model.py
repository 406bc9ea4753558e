from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.graph.builder import build, build_from
from app.graph.incremental_update import compute_update
from app.graph.model import Graph, GraphDelta, GraphEdge, GraphNode, node_radii
from app.graph.position_transfer import place_missing, transfer_positions
from app.graph.suggested import add_suggestions
from tests.graph.graphs import data, of_edges, planted


def test_self_links_duplicates_and_dangling_ends_are_left_out():
    graph = build(data(3, [(0, 0), (0, 1), (0, 1), (1, 0), (2, 7)]))
    assert graph.edges.tolist() == [[0, 1], [1, 0]]
    assert graph.degree.tolist() == [1, 1, 0]


def test_two_relations_between_two_notes_are_both_kept():
    graph = build(data(2, [(0, 1), (0, 1)], edge_types=("A", "B"), codes=np.array([0, 1], dtype=np.int16)))
    assert len(graph.edges) == 2
    assert graph.degree.tolist() == [1, 1]


def test_neighbors_go_both_ways_and_around_goes_by_depth():
    graph = of_edges(["ab", "cb", "cd", "de"], lonely="x")
    row = graph.rows
    assert graph.neighbors(row["b.md"]).tolist() == sorted([row["a.md"], row["c.md"]])
    assert graph.rows_around(row["a.md"], 2).tolist() == [row["a.md"], row["b.md"], row["c.md"]]
    assert len(graph.rows_around(row["a.md"], 9)) == 5
    assert len(graph.rows_around(row["a.md"], 9, limit=2)) == 2
    assert graph.rows_around(row["x.md"], 3).tolist() == [row["x.md"]]


def test_an_empty_graph_has_no_nodes_and_no_neighbors():
    graph = build(data(0, []))
    assert len(graph) == 0
    assert graph.degree.tolist() == []


def test_more_links_make_a_larger_node_within_bounds():
    graph = build(data(900, [(0, other) for other in range(1, 900)]))
    radii = node_radii(graph)
    assert radii[0] > 3 * radii[1]
    assert radii.max() <= 2.2


def same(first: Graph, second: Graph) -> bool:
    def links(graph: Graph) -> set:
        rows = zip(graph.edges.tolist(), graph.edge_codes.tolist(), graph.confidence.tolist(), strict=True)
        return {
            (graph.paths[a], graph.paths[b], graph.edge_types[code], str(value))
            for (a, b), code, value in rows
        }

    def nodes(graph: Graph) -> dict:
        columns = (graph.names, graph.types, graph.kinds, graph.tags, graph.folders)
        return {path: values for path, *values in zip(graph.paths, *columns, strict=True)}

    return nodes(first) == nodes(second) and links(first) == links(second)


letters = st.sampled_from("abcdefgh")
pairs = st.lists(st.tuples(letters, letters), max_size=20)


@given(before=pairs, saved=letters, targets=st.lists(letters, max_size=5))
def test_a_delta_for_a_saved_note_gives_what_a_rebuild_gives(before, saved, targets):
    nodes = [GraphNode(f"{name}.md", name) for name in "abcdefgh"]
    edges = [GraphEdge(f"{a}.md", f"{b}.md", "SUPPORTS", 0.5) for a, b in before]
    new = [GraphEdge(f"{saved}.md", f"{target}.md", "CITES") for target in targets]
    after = compute_update(
        build_from(nodes, edges), GraphDelta(sources=(f"{saved}.md",), edges=tuple(new))
    ).graph
    rebuilt = build_from(nodes, [edge for edge in edges if edge.source != f"{saved}.md"] + new)
    assert same(after, rebuilt)


def test_a_rename_keeps_links_and_follows_with_name_and_folder():
    graph = of_edges(["ab", "ca"])
    after = compute_update(graph, GraphDelta(renamed=(("a.md", "Ideas/Alpha.md"),))).graph
    row = after.rows["Ideas/Alpha.md"]
    assert (after.names[row], after.folders[row]) == ("Alpha", "Ideas")
    assert after.degree[row] == 2


def test_a_removed_note_goes_with_its_links():
    after = compute_update(of_edges(["ab", "bc"]), GraphDelta(removed=("b.md",))).graph
    assert after.paths == ("a.md", "c.md")
    assert len(after.edges) == 0


def test_an_unresolved_name_goes_with_its_last_link():
    nodes = [GraphNode("a.md", "a"), GraphNode("Later", "Later", "unresolved", "unresolved")]
    graph = build_from(nodes, [GraphEdge("a.md", "Later")])
    assert "Later" in graph.rows
    assert compute_update(graph, GraphDelta(sources=("a.md",))).graph.paths == ("a.md",)


def test_a_new_note_is_placed_near_its_neighbors_and_nothing_else_moves():
    graph, _ = planted(4, 20)
    rng = np.random.default_rng(1)
    positions = (rng.random((len(graph), 2)) * 60).astype(np.float32)
    targets = [graph.paths[row] for row in (3, 4)]
    delta = GraphDelta(
        nodes=(GraphNode("new.md", "new"),), edges=tuple(GraphEdge("new.md", each) for each in targets)
    )
    after = compute_update(graph, delta).graph
    places, fresh = transfer_positions(graph, positions, after)
    assert [after.paths[row] for row in np.flatnonzero(fresh)] == ["new.md"]
    for path, row in graph.rows.items():
        assert (places[after.rows[path]] == positions[row]).all()
    new = places[after.rows["new.md"]]
    middle = positions[[3, 4]].mean(axis=0)
    assert np.linalg.norm(new - middle) < 7
    assert np.linalg.norm(positions - new, axis=1).min() > 0.6


def test_a_renamed_note_keeps_its_place():
    graph = of_edges(["ab", "bc"])
    positions = np.array([[0, 0], [5, 5], [9, 1]], dtype=np.float32)
    after = compute_update(graph, GraphDelta(renamed=(("b.md", "z.md"),))).graph
    places, fresh = transfer_positions(graph, positions, after, {"b.md": "z.md"})
    assert places[after.rows["z.md"]].tolist() == [5, 5]
    assert not fresh.any()


def test_many_new_notes_at_once_do_not_overlap():
    graph = of_edges([f"a{name}" for name in "bcdefghijklmnop"])
    places = np.full((len(graph), 2), np.nan, dtype=np.float32)
    places[0] = 0
    placed = place_missing(graph, places)
    apart = np.linalg.norm(placed[:, None] - placed[None], axis=2) + np.eye(len(graph)) * 9
    assert apart.min() > 0.6


def test_a_note_without_links_is_placed_at_the_rim():
    graph = of_edges(["ab"], lonely="x")
    places = place_missing(graph, np.array([[0, 0], [4, 0], [np.nan, np.nan]], dtype=np.float32))
    assert np.isfinite(places).all()
    assert np.linalg.norm(places[2] - places[:2], axis=1).min() > 1


def test_suggested_links_are_drawn_but_create_no_neighbors():
    pairs = np.array([(0, 2), (0, 1), (3, 3), (2, 3)], dtype=np.int32)
    scores = np.array([0.5, 1, 1, 0.25], dtype=np.float32)
    graph = add_suggestions(of_edges(["ab", "bc"], lonely="x"), pairs, scores)
    rows = graph.rows
    assert graph.suggested.tolist() == [False, False, True, True]
    assert graph.edges[graph.suggested].tolist() == [[0, 2], [2, 3]]
    assert graph.confidence[graph.suggested].tolist() == [0.5, 0.25]
    assert {graph.edge_types[code] for code in graph.edge_codes[graph.suggested]} == {"SUGGESTED"}
    assert graph.degree[rows["x.md"]] == 0
    assert graph.links.tolist() == [[0, 1], [1, 2]]
    plain = add_suggestions(graph)
    assert (len(plain.edges), plain.edge_types) == (2, ("LINKS_TO",))
    # Saved notes leave suggested links in place, until a real link replaces one or an end disappears.
    linked = compute_update(graph, GraphDelta(edges=(GraphEdge("c.md", "a.md"),))).graph
    assert linked.edges[linked.suggested].tolist() == [[2, 3]]
    gone = compute_update(graph, GraphDelta(removed=("x.md",))).graph
    assert [gone.paths[row] for row in gone.edges[gone.suggested].ravel()] == ["a.md", "c.md"]
