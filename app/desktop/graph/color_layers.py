"""Color layers over the colors of the scene, from queries or from an analysis. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.desktop.graph.node_style import NO_COLOR, LegendEntry, pack_colors
from app.desktop.graph.settings.model import PALETTE, QueryGroup
from app.desktop.theme.colors import Theme
from app.graph.model import Graph

_MAX_COMMUNITIES = 24


@dataclass(frozen=True, eq=False)
class Layer:
    """Legend entries and the entry of each node.

    Args:
        groups: The entries; their counts are those of `member`.
        member: int16 (n,), an index into `groups`, -1 for a node that keeps its ordinary color.
    """

    groups: tuple[LegendEntry, ...]
    member: NDArray[np.int16]

    def colors(self) -> NDArray[np.uint32]:
        """Return 0xRRGGBB per node, uint32 (n,); `NO_COLOR` where the node keeps its own."""
        table = np.append(pack_colors([group.color for group in self.groups]), np.uint32(NO_COLOR))
        return np.asarray(table[self.member], dtype=np.uint32)

    def has_entry_in(self, keys: Collection[str]) -> NDArray[np.bool_]:
        """Return which nodes belong to the entries with these keys, bool (n,)."""
        entries = [index for index, group in enumerate(self.groups) if group.key in keys]
        return np.isin(self.member, entries)


def query_layer(
    graph: Graph, groups: Sequence[QueryGroup], matches: Sequence[Collection[str]], theme: Theme
) -> Layer | None:
    """Return a layer of the nodes that each group's query finds; the first group that finds a node colors it.

    Args:
        graph: The graph with the nodes.
        groups: The groups in order of precedence.
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
    """Return a layer of communities (int64 (n,), 0 the largest, -1 none) named after their hubs."""
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
    other_entry = LegendEntry("part-other", "Other", theme.node_colors["other"], other_count)
    return Layer((*groups, other_entry), np.where(member < 0, count, member).astype(np.int16))


def recolor_layer(layer: Layer, theme: Theme) -> Layer:
    """Return the layer in the colors of another theme."""
    colors = [_color(theme, index) for index in range(len(layer.groups))]
    for index, group in enumerate(layer.groups):
        if group.key == "part-other":
            colors[index] = theme.node_colors["other"]
    groups = tuple(replace(group, color=color) for group, color in zip(layer.groups, colors, strict=True))
    return Layer(groups, layer.member)


def _color(theme: Theme, index: int) -> str:
    return theme.node_colors[PALETTE[index % len(PALETTE)]]
