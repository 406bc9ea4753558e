"""The colors of nodes and links, and the legend entries that explain them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.desktop.runtime.translation import translate
from app.desktop.theme.colors import Theme
from app.graph.core_drawing import HOLLOW_FLAG
from app.graph.edge_style import EdgeStyle
from app.graph.encoded_columns import Column, encode_columns
from app.graph.model import PLAIN_LINK, Graph
from app.vault.markdown.render_values import mix_colors

_PALETTE_SIZE = 8
_MAX_COMMUNITIES = 24
_MAX_LINK_COLORS = 4000
NO_COLOR = 0xFFFFFFFF


class ColorBy(StrEnum):
    """The property that determines a node's color."""

    TYPE = "type"
    FOLDER = "folder"
    COMMUNITY = "community"


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A legend entry; if it is `hollow`, its nodes are drawn as rings."""

    key: str
    label: str
    color: str
    count: int
    hollow: bool = False


@dataclass(frozen=True, eq=False)
class NodeStyle:
    """The group of every node, as an index into `groups`."""

    group: NDArray[np.int16]
    groups: tuple[LegendEntry, ...]


def default_color_by(graph: Graph) -> ColorBy:
    """Return "type" if at least a third of the notes have a type other than "note", otherwise "community"."""
    has_type = graph.is_note & ~encode_columns(graph).types.is_among(["note"])
    prefers_types = np.count_nonzero(has_type) * 3 >= np.count_nonzero(graph.is_note)
    return ColorBy.TYPE if prefers_types else ColorBy.COMMUNITY


def style_nodes(graph: Graph, theme: Theme, color_by: ColorBy, communities: NDArray[np.int64]) -> NodeStyle:
    """Return the groups of nodes and their colors; nodes other than notes are grouped by their kind.

    If there are too many groups of notes, the smallest ones form the group "other".

    Args:
        graph: The graph with the nodes.
        theme: The colors.
        color_by: The property that determines the groups.
        communities: int64 (n,), the community of each node, -1 for none.
    """
    columns = encode_columns(graph)
    is_note = graph.is_note
    if color_by is ColorBy.COMMUNITY:
        note_groups, labels = _encode_communities(graph, is_note, communities)
    elif color_by is ColorBy.FOLDER:
        note_groups = columns.top_folders
        labels = {key: translate("Legend", "Vault root") if key == "/" else key for key in note_groups.words}
    else:
        note_groups = columns.types
        labels = {key: key[:1].upper() + key[1:] for key in note_groups.words}
    labels |= {
        "unresolved": translate("Legend", "Unresolved"),
        "attachment": translate("Legend", "Attachment"),
        "tag": translate("Legend", "Tag"),
        "other": translate("Legend", "Other"),
    }
    words = (*note_groups.words, *columns.kinds.words)
    codes = np.where(is_note, note_groups.codes, len(note_groups.words) + columns.kinds.codes)
    counts: Counter[str] = Counter()
    for word, count in zip(words, np.bincount(codes, minlength=len(words)).tolist(), strict=True):
        if count:
            counts[word] += count
    ranked_keys = _rank_keys(counts, labels, color_by)
    group_of_key = {key: number for number, key in enumerate(ranked_keys)}
    other_group = group_of_key.get("other", 0)
    table = np.array([group_of_key.get(word, other_group) for word in words] or [0], dtype=np.int16)
    group = table[codes]
    sizes = np.bincount(group, minlength=len(ranked_keys))
    colors = _assign_colors(ranked_keys, theme, color_by)
    return NodeStyle(
        group,
        tuple(
            LegendEntry(key, labels[key], colors[key], int(sizes[number]), key == "unresolved")
            for number, key in enumerate(ranked_keys)
        ),
    )


def _encode_communities(
    graph: Graph, is_note: NDArray[np.bool_], communities: NDArray[np.int64]
) -> tuple[Column, dict[str, str]]:
    """Return a key per node ("other" beyond the limit) and a label per key, from its most linked note."""
    keys = tuple(f"community-{number}" for number in range(_MAX_COMMUNITIES))
    codes = np.where(
        (communities >= 0) & (communities < _MAX_COMMUNITIES), communities, _MAX_COMMUNITIES
    ).astype(np.int32)
    labels = dict.fromkeys(keys, translate("Legend", "Unnamed group"))
    for code, key in enumerate(keys):
        rows = np.flatnonzero((codes == code) & is_note)
        if len(rows):
            labels[key] = graph.names[int(rows[graph.degree[rows].argmax()])]
    return Column(codes, (*keys, "other")), labels


def transfer_communities(before: Graph, communities: NDArray[np.int64], after: Graph) -> NDArray[np.int64]:
    """Return the communities for the next state of a graph.

    Known nodes keep theirs; a new node joins the most frequent community of its neighbors, or none (-1).
    """
    before_rows = before.rows
    transferred = np.array(
        [communities[before_rows[path]] if path in before_rows else -2 for path in after.paths],
        dtype=np.int64,
    )
    for row in np.flatnonzero(transferred == -2).tolist():
        neighbors = transferred[after.neighbors(row)]
        neighbors = neighbors[neighbors >= 0]
        transferred[row] = int(np.bincount(neighbors).argmax()) if len(neighbors) else -1
    return transferred


def _rank_keys(counts: Mapping[str, int], labels: Mapping[str, str], color_by: ColorBy) -> list[str]:
    """Order keys by size, then "other" and kinds other than notes; keys over the limit become "other"."""
    last_keys = [key for key in ("other", "tag", "attachment", "unresolved") if counts.get(key)]
    keys = sorted(
        (key for key in counts if key not in last_keys), key=lambda key: (-counts[key], labels[key])
    )
    limit = _MAX_COMMUNITIES if color_by is ColorBy.COMMUNITY else 2 * _PALETTE_SIZE
    if len(keys) > limit:
        keys = keys[:limit]
        last_keys = ["other", *(key for key in last_keys if key != "other")]
    return [*keys, *last_keys]


def _assign_colors(keys: Sequence[str], theme: Theme, color_by: ColorBy) -> dict[str, str]:
    """Return a color per key: the theme's for a known type or kind, otherwise the palette's in turn.

    Colors used by types come last in the palette, so that two groups share a color only if there are more
    groups than colors.
    """
    fixed_keys = ("other", "tag", "attachment", "unresolved")
    colors = {
        key: theme.node_colors.get(key, theme.muted)
        for key in keys
        if key in fixed_keys or (color_by is ColorBy.TYPE and key in theme.node_colors)
    }
    used_colors = {colors[key] for key in colors if key not in fixed_keys}
    palette = [theme.node_colors[f"palette-{index}"] for index in range(_PALETTE_SIZE)]
    palette.sort(key=used_colors.__contains__)
    palette_cycle = itertools.cycle(palette)
    return {key: colors[key] if key in colors else next(palette_cycle) for key in keys}


def rgb(color: str) -> tuple[int, int, int]:
    """Return the red, green and blue components of "#rrggbb"."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def pack_colors(colors: Sequence[str]) -> NDArray[np.uint32]:
    """Return "#rrggbb" colors as 0xRRGGBB, uint32 (k,)."""
    return np.array([int(color[1:7], 16) for color in colors], dtype=np.uint32)


def node_colors(nodes: NodeStyle, overrides: NDArray[np.uint32] | None) -> NDArray[np.uint32]:
    """Return every node's color as 0xRRGGBB, uint32 (n,), with a flag for hollow ones.

    Args:
        nodes: The groups.
        overrides: uint32 (n,), colors that replace those of the groups; `NO_COLOR` keeps the group's color.
    """
    colors = pack_colors([group.color for group in nodes.groups] or ["#000000"])
    hollow = np.array([group.hollow for group in nodes.groups] or [False], dtype=bool)
    packed = colors[nodes.group]
    if overrides is not None:
        packed = np.where(overrides == NO_COLOR, packed, overrides & np.uint32(0xFFFFFF)).astype(np.uint32)
    return np.where(hollow[nodes.group], packed | HOLLOW_FLAG, packed).astype(np.uint32)


def style_edges(
    graph: Graph, theme: Theme, colors: NDArray[np.uint32], strength: NDArray[np.float32]
) -> EdgeStyle:
    """Color links by relation type; a plain link between nodes of the same color gets a tint of it.

    Relations without a color of their own look like plain links.

    Args:
        graph: The graph with the links.
        theme: The colors.
        colors: uint32 (n,), every node's color as 0xRRGGBB.
        strength: float32 (n,), 1 for a fully visible node, 0 for a hidden one; a link takes the lower
            strength.
    """
    tint_colors, node_tints = _distinct_colors(colors)
    base_color = theme.edge_colors.get(PLAIN_LINK, theme.faint)
    plain_color = mix_colors(base_color, theme.text, 0.25)
    table = [mix_colors(plain_color, color, 0.55) for color in tint_colors]
    table += [
        theme.edge_colors[name] if _has_color(theme, name) else plain_color for name in graph.edge_types
    ]
    table.append(plain_color)
    source, target = graph.edges[:, 0], graph.edges[:, 1]
    is_plain = np.array([not _has_color(theme, name) for name in graph.edge_types] or [True], dtype=bool)
    is_plain_link = is_plain[graph.edge_codes] if len(source) else np.zeros(0, dtype=bool)
    has_same_tint = (node_tints[source] == node_tints[target]) & (node_tints[source] >= 0)
    style_codes = np.where(has_same_tint, node_tints[source], np.int16(len(table) - 1))
    brightness = np.where(has_same_tint, np.float32(1.0), np.float32(0.7))
    if not is_plain_link.all():
        is_typed = ~is_plain_link
        style_codes[is_typed] = len(tint_colors) + graph.edge_codes[is_typed]
        brightness[is_typed] = 1.9
    brightness *= np.minimum(strength[source], strength[target])
    width = np.where(np.isnan(graph.confidence), 1.0, 0.7 + 1.9 * np.nan_to_num(graph.confidence))
    return EdgeStyle(
        graph.edges,
        np.array([rgb(color) for color in table], dtype=np.uint8),
        style_codes.astype(np.int16),
        brightness.astype(np.float32),
        width.astype(np.float32),
        suggested_mask(graph),
    )


def suggested_mask(graph: Graph) -> NDArray[np.bool_] | None:
    """Return a mask of the links that are only suggested, bool (m,); None if there are none."""
    return graph.suggested if len(graph.links) < len(graph.edges) else None


def _distinct_colors(colors: NDArray[np.uint32]) -> tuple[list[str], NDArray[np.int16]]:
    """Return the distinct colors and each node's index among them; no colors and -1 if there are too many."""
    distinct, indices = np.unique(colors & np.uint32(0xFFFFFF), return_inverse=True)
    if len(distinct) > _MAX_LINK_COLORS:
        return [], np.full(len(colors), -1, dtype=np.int16)
    return [f"#{color:06x}" for color in distinct.tolist()], indices.astype(np.int16)


def _has_color(theme: Theme, name: str) -> bool:
    """Return whether a relation has a color of its own."""
    return name != PLAIN_LINK and name in theme.edge_colors


def colored_relations(graph: Graph, theme: Theme) -> list[str]:
    """Return the graph's relation types that have a color, the most frequent first."""
    counts = np.bincount(graph.edge_codes, minlength=len(graph.edge_types))
    ranked_codes = np.argsort(-counts, kind="stable").tolist()
    names = [graph.edge_types[code] for code in ranked_codes if code < len(graph.edge_types) and counts[code]]
    return [name for name in names if _has_color(theme, name)]


def relation_color(theme: Theme, name: str) -> str:
    """Return the color of a relation type; the accent color if the theme has none."""
    return theme.edge_colors.get(name, theme.accent)
