"""Color layers over the scene's own colors, from queries or from an analysis."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.desktop.graph.node_style import NO_COLOR, LegendEntry, pack_colors
from app.desktop.graph.settings.model import PALETTE, QueryGroup
from app.desktop.runtime.translation import translate
from app.desktop.theme.colors import Theme
from app.graph.model import Graph

_MAX_COMMUNITIES = 24


@dataclass(frozen=True, eq=False)
class Layer:
    """Legend entries, and the entry that each node belongs to.

    Args:
        groups: The entries; their counts are those of the graph that the layer was made for.
        member: int16 (n,), an index into `groups`; -1 for a node that keeps its own color.
    """

    groups: tuple[LegendEntry, ...]
    member: NDArray[np.int16]

    def colors(self) -> NDArray[np.uint32]:
        """Return 0xRRGGBB per node, uint32 (n,); `NO_COLOR` where the node keeps its own."""
        table = np.append(pack_colors([group.color for group in self.groups]), np.uint32(NO_COLOR))
        return np.asarray(table[self.member], dtype=np.uint32)

    def has_entry_in(self, keys: Collection[str]) -> NDArray[np.bool_]:
        """Return a mask of the nodes that belong to the entries with these keys, bool (n,)."""
        entries = [index for index, group in enumerate(self.groups) if group.key in keys]
        return np.isin(self.member, entries)


def query_layer(
    graph: Graph, groups: Sequence[QueryGroup], matches: Sequence[Collection[str]], theme: Theme
) -> Layer | None:
    """Return a layer that colors each group's matches, or None if there are no groups.

    Args:
        graph: The graph with the nodes.
        groups: The groups in order of precedence: the first that matches a node colors it.
        matches: The paths that each group's query finds.
        theme: The colors.
    """
    member = np.full(len(graph), -1, dtype=np.int16)
    for index in reversed(range(len(groups))):
        rows = [graph.rows[path] for path in matches[index] if path in graph.rows]
        member[rows] = index
    counts = np.bincount(member[member >= 0], minlength=len(groups))
    entries = tuple(
        LegendEntry(f"query-{index}", group.query, theme.node_colors[group.color], int(counts[index]))
        for index, group in enumerate(groups)
    )
    return Layer(entries, member) if entries else None


def community_layer(graph: Graph, communities: NDArray[np.int64], theme: Theme) -> Layer:
    """Return a layer that colors the largest communities; all other nodes form the entry "Other".

    An entry is named after the most linked note of its community, or "…" if the community has no note.

    Args:
        graph: The graph with the nodes.
        communities: int64 (n,), 0 for the largest community, -1 for none.
        theme: The colors.
    """
    count = min(int(communities.max(initial=-1)) + 1, _MAX_COMMUNITIES)
    member = np.where((communities >= 0) & (communities < count), communities, -1).astype(np.int16)
    names = ["" for _ in range(count)]
    for row in np.argsort(-graph.degree, kind="stable").tolist():
        index = int(member[row])
        if index >= 0 and not names[index] and graph.kinds[row] == "note":
            names[index] = graph.names[row]
    sizes = np.bincount(member[member >= 0], minlength=count)
    groups = tuple(
        LegendEntry(f"part-{index}", name or "…", _color(theme, index), int(sizes[index]))
        for index, name in enumerate(names)
    )
    other_count = int((member < 0).sum())
    if not other_count:
        return Layer(groups, member)
    other_entry = LegendEntry(
        "part-other", translate("Legend", "Other"), theme.node_colors["other"], other_count
    )
    return Layer((*groups, other_entry), np.where(member < 0, count, member).astype(np.int16))


def recolor_layer(layer: Layer, theme: Theme) -> Layer:
    """Return a layer made by `community_layer` in another theme's colors."""
    colors = [_color(theme, index) for index in range(len(layer.groups))]
    for index, group in enumerate(layer.groups):
        if group.key == "part-other":
            colors[index] = theme.node_colors["other"]
    groups = tuple(replace(group, color=color) for group, color in zip(layer.groups, colors, strict=True))
    return Layer(groups, layer.member)


def _color(theme: Theme, index: int) -> str:
    return theme.node_colors[PALETTE[index % len(PALETTE)]]
