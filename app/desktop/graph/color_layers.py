"""Color layers over the colors of the groups, from queries or from an analysis. No Qt."""

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

    def hidden(self, keys: Collection[str]) -> NDArray[np.bool_]:
        """Return which nodes belong to the entries with these keys, bool (n,)."""
        places = [place for place, group in enumerate(self.groups) if group.key in keys]
        return np.isin(self.member, places)


def query_layer(
    graph: Graph, groups: Sequence[QueryGroup], found: Sequence[Collection[str]], theme: Theme
) -> Layer | None:
    """Return a layer of the nodes that each group's query finds; the first group that finds a node keeps it.

    Args:
        graph: The graph with the nodes.
        groups: The groups in order of precedence.
        found: The paths of each group.
        theme: The colors.
    """
    member = np.full(len(graph), -1, dtype=np.int16)
    for place in reversed(range(len(groups))):
        rows = [graph.rows[path] for path in found[place] if path in graph.rows]
        member[rows] = place
    counts = np.bincount(member[member >= 0], minlength=len(groups))
    entries = tuple(
        LegendEntry(f"query-{place}", group.query, theme.node_colors[group.color], int(counts[place]))
        for place, group in enumerate(groups)
    )
    return Layer(entries, member) if entries else None


def community_layer(graph: Graph, of: NDArray[np.int64], theme: Theme) -> Layer:
    """Return a layer of communities (`of`: int64 (n,), 0 the largest, -1 none) named after their hubs."""
    count = min(int(of.max(initial=-1)) + 1, _MAX_COMMUNITIES)
    member = np.where((of >= 0) & (of < count), of, -1).astype(np.int16)
    names = ["" for _ in range(count)]
    for row in np.argsort(-graph.degree, kind="stable").tolist():
        place = int(member[row])
        if place >= 0 and not names[place] and graph.kinds[row] == "note":
            names[place] = graph.names[row]
    sizes = np.bincount(member[member >= 0], minlength=count)
    groups = tuple(
        LegendEntry(f"part-{place}", name or "…", _color(theme, place), int(sizes[place]))
        for place, name in enumerate(names)
    )
    rest = int((member < 0).sum())
    if not rest:
        return Layer(groups, member)
    other = LegendEntry("part-other", "Other", theme.node_colors["other"], rest)
    return Layer((*groups, other), np.where(member < 0, count, member).astype(np.int16))


def recolor_layer(layer: Layer, theme: Theme) -> Layer:
    """Return the layer in the colors of another theme."""
    colors = [_color(theme, place) for place in range(len(layer.groups))]
    for place, group in enumerate(layer.groups):
        if group.key == "part-other":
            colors[place] = theme.node_colors["other"]
    changed = tuple(replace(group, color=color) for group, color in zip(layer.groups, colors, strict=True))
    return Layer(changed, layer.member)


def _color(theme: Theme, place: int) -> str:
    return theme.node_colors[PALETTE[place % len(PALETTE)]]
