from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.desktop.graph_view.decoration import TAG_LINK, Decoration, Proposed, with_tags
from app.graph.builder import build_from
from app.graph.model import Edge, Node

tags = st.lists(st.sampled_from(["a", "A", "b/c", "d"]), max_size=3).map(tuple)


@given(st.lists(tags, max_size=6))
def test_tags_are_nodes_after_the_notes_and_linked_with_those_that_have_them(all_tags):
    nodes = [Node(f"{row}.md", str(row), tags=each) for row, each in enumerate(all_tags)]
    graph = build_from(nodes, [Edge("0.md", "1.md")])
    shown = with_tags(graph)
    assert shown.paths[: len(graph)] == graph.paths
    assert set(shown.paths[len(graph) :]) == {f"#{tag.casefold()}" for each in all_tags for tag in each}
    tagged = {
        (shown.paths[source], shown.paths[target])
        for (source, target), code in zip(shown.edges.tolist(), shown.edge_codes.tolist(), strict=True)
        if shown.edge_types[code] == TAG_LINK
    }
    wanted = {(f"{row}.md", f"#{tag.casefold()}") for row, each in enumerate(all_tags) for tag in each}
    assert tagged == wanted
    assert len(shown.edges) == len(shown.confidence) == len(shown.suggested) == len(shown.edge_codes)


def test_proposed_links_stand_behind_the_real_ones_and_change_no_neighbours():
    graph = build_from(
        [Node("a.md", "a", tags=("t",)), Node("b.md", "b"), Node("c.md", "c")], [Edge("a.md", "b.md")]
    )
    decoration = Decoration()
    assert decoration.of(graph) is graph
    decoration.tags = True
    decoration.proposed = (Proposed("a.md", "c.md", 0.7), Proposed("a.md", "gone.md", 0.9))
    shown = decoration.of(graph)
    assert shown.suggested.tolist() == [False, False, True]
    assert shown.neighbours(shown.rows["c.md"]).tolist() == []
    assert np.isclose(shown.confidence[2], 0.7)
