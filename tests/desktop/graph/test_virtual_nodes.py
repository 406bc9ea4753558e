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
    nodes = [GraphNode(f"{row}.md", str(row), tags=each) for row, each in enumerate(all_tags)]
    graph = build_from(nodes, [GraphEdge("0.md", "1.md")])
    shown = add_tag_nodes(graph)
    assert shown.paths[: len(graph)] == graph.paths
    assert set(shown.paths[len(graph) :]) == {f"#{tag.casefold()}" for each in all_tags for tag in each}
    tagged = {
        (shown.paths[source], shown.paths[target])
        for (source, target), code in zip(shown.edges.tolist(), shown.edge_codes.tolist(), strict=True)
        if shown.edge_types[code] == TAG_RELATION
    }
    wanted = {(f"{row}.md", f"#{tag.casefold()}") for row, each in enumerate(all_tags) for tag in each}
    assert tagged == wanted
    assert len(shown.edges) == len(shown.confidence) == len(shown.suggested) == len(shown.edge_codes)


def test_proposed_links_stand_behind_the_real_ones_and_change_no_neighbors():
    graph = build_from(
        [GraphNode("a.md", "a", tags=("t",)), GraphNode("b.md", "b"), GraphNode("c.md", "c")],
        [GraphEdge("a.md", "b.md")],
    )
    decoration = VirtualNodes()
    assert decoration.apply_to(graph) is graph
    decoration.tags = True
    decoration.suggested_edges = (SuggestedEdge("a.md", "c.md", 0.7), SuggestedEdge("a.md", "gone.md", 0.9))
    shown = decoration.apply_to(graph)
    assert shown.suggested.tolist() == [False, False, True]
    assert shown.neighbors(shown.rows["c.md"]).tolist() == []
    assert np.isclose(shown.confidence[2], 0.7)
