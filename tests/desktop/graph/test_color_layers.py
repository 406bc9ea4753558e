from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.desktop.graph.appearance import transfer_values
from app.desktop.graph.color_layers import community_layer, query_layer, recolor_layer
from app.desktop.graph.node_style import NO_COLOR, ColorBy, style_nodes
from app.desktop.graph.settings.model import QueryGroup
from app.desktop.theme.colors import DARK, LIGHT
from app.graph.builder import build_from
from app.graph.model import GraphEdge, GraphNode

PATHS = tuple(f"{row}.md" for row in range(6))
GROUPS = tuple(QueryGroup(query=f"q{place}", color=f"palette-{place}") for place in range(3))


def graph(paths=PATHS):
    return build_from([GraphNode(path, path) for path in paths], [])


@given(st.lists(st.sets(st.sampled_from(PATHS)), min_size=3, max_size=3))
def test_the_first_group_that_has_a_note_gives_it_its_color(matches):
    layer = query_layer(graph(), GROUPS, matches, DARK)
    assert layer is not None
    colors = layer.colors()
    for row, path in enumerate(PATHS):
        first = next((index for index, paths in enumerate(matches) if path in paths), None)
        if first is None:
            assert colors[row] == NO_COLOR
        else:
            assert f"#{colors[row]:06x}" == DARK.node_colors[f"palette-{first}"]
    assert sum(group.count for group in layer.groups) == len(set().union(*matches))


def test_communities_are_named_after_their_best_linked_note_and_follow_the_theme():
    edges = [GraphEdge("0.md", "1.md"), GraphEdge("0.md", "2.md"), GraphEdge("3.md", "4.md")]
    linked_graph = build_from([GraphNode(path, path) for path in PATHS], edges)
    layer = community_layer(linked_graph, np.array([0, 0, 0, 1, 1, -1]), DARK)
    assert [(group.label, group.count) for group in layer.groups] == [("0.md", 3), ("3.md", 2), ("Other", 1)]
    light = recolor_layer(layer, LIGHT)
    assert [group.color for group in light.groups] == [
        LIGHT.node_colors["palette-0"],
        LIGHT.node_colors["palette-1"],
        LIGHT.node_colors["other"],
    ]
    assert layer.has_entry_in({"part-1"}).tolist() == [False, False, False, True, True, False]


@given(st.permutations(PATHS), st.integers(0, 6))
def test_values_follow_their_nodes_into_another_graph(order, count):
    before, after = graph(), graph((*order[:count], "new.md"))
    values = np.arange(6, dtype=np.float32)
    transferred = transfer_values(values, before, after, -1.0)
    assert transferred.tolist() == [float(PATHS.index(path)) for path in order[:count]] + [-1.0]


@given(st.sets(st.sampled_from(["note", "concept", "source", "person", "project", "book"]), min_size=1))
def test_types_with_a_color_of_their_own_share_it_with_no_other(types):
    typed_graph = build_from([GraphNode(f"{kind}.md", kind, kind) for kind in sorted(types)], [])
    for theme in (LIGHT, DARK):
        groups = style_nodes(typed_graph, theme, ColorBy.TYPE, np.full(len(typed_graph), -1)).groups
        assert len({group.color for group in groups}) == len(types)
        assert all(
            group.color == theme.node_colors[group.key] for group in groups if group.key in theme.node_colors
        )
