from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.desktop.graph.virtual_nodes import TAG_RELATION, SuggestedEdge, VirtualNodes, add_tag_nodes
from app.graph.builder import build_from
from app.graph.model import GraphEdge, GraphNode

tags = st.lists(st.sampled_from(["a", "A", "b/c", "d"]), max_size=3).map(tuple)


@given(st.lists(tags, max_size=6))
def test_tags_are_nodes_after_the_notes_and_linked_with_those_that_have_them(all_tags):
    nodes = [GraphNode(f"{row}.md", str(row), tags=node_tags) for row, node_tags in enumerate(all_tags)]
    graph = build_from(nodes, [GraphEdge("0.md", "1.md")])
    extended = add_tag_nodes(graph)
    assert extended.paths[: len(graph)] == graph.paths
    assert set(extended.paths[len(graph) :]) == {
        f"#{tag.casefold()}" for node_tags in all_tags for tag in node_tags
    }
    tagged = {
        (extended.paths[source], extended.paths[target])
        for (source, target), code in zip(extended.edges.tolist(), extended.edge_codes.tolist(), strict=True)
        if extended.edge_types[code] == TAG_RELATION
    }
    expected = {
        (f"{row}.md", f"#{tag.casefold()}") for row, node_tags in enumerate(all_tags) for tag in node_tags
    }
    assert tagged == expected
    assert (
        len(extended.edges) == len(extended.confidence) == len(extended.suggested) == len(extended.edge_codes)
    )


def test_suggested_links_follow_the_real_ones_and_change_no_neighbors():
    graph = build_from(
        [GraphNode("a.md", "a", tags=("t",)), GraphNode("b.md", "b"), GraphNode("c.md", "c")],
        [GraphEdge("a.md", "b.md")],
    )
    virtual_nodes = VirtualNodes()
    assert virtual_nodes.apply_to(graph) is graph
    virtual_nodes.tags = True
    virtual_nodes.suggested_edges = (
        SuggestedEdge("a.md", "c.md", 0.7),
        SuggestedEdge("a.md", "gone.md", 0.9),
    )
    extended = virtual_nodes.apply_to(graph)
    assert extended.suggested.tolist() == [False, False, True]
    assert extended.neighbors(extended.rows["c.md"]).tolist() == []
    assert np.isclose(extended.confidence[2], 0.7)
