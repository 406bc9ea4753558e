"""The colors of nodes and links, and their meaning."""

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
    """One entry of the legend."""

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
    """Return by type if notes have types, otherwise by community, so that a plain vault has colors too."""
    typed = graph.is_note & ~encode_columns(graph).types.is_among(["note"])
    most = np.count_nonzero(typed) * 3 >= np.count_nonzero(graph.is_note)
    return ColorBy.TYPE if most else ColorBy.COMMUNITY


def style_nodes(graph: Graph, theme: Theme, by: ColorBy, found: NDArray[np.int64]) -> NodeStyle:
    """Return groups and their colors; missing notes and attachments are groups of their own.

    `found` is the community of every node, -1 for none.
    """
    columns = encode_columns(graph)
    plain = graph.is_note
    if by is ColorBy.COMMUNITY:
        of_notes, labels = _communities(graph, plain, found)
    elif by is ColorBy.FOLDER:
        of_notes = columns.tops
        labels = {key: translate("Legend", "Vault root") if key == "/" else key for key in of_notes.words}
    else:
        of_notes = columns.types
        labels = {key: key[:1].upper() + key[1:] for key in of_notes.words}
    labels |= {
        "unresolved": translate("Legend", "Unresolved"),
        "attachment": translate("Legend", "Attachment"),
        "tag": translate("Legend", "Tag"),
        "other": translate("Legend", "Other"),
    }
    words = (*of_notes.words, *columns.kinds.words)
    codes = np.where(plain, of_notes.codes, len(of_notes.words) + columns.kinds.codes)
    counts: Counter[str] = Counter()
    for word, count in zip(words, np.bincount(codes, minlength=len(words)).tolist(), strict=True):
        if count:
            counts[word] += count
    ranked = _rank_keys(counts, labels, by)
    index = {key: place for place, key in enumerate(ranked)}
    rest = index.get("other", 0)
    table = np.array([index.get(word, rest) for word in words] or [0], dtype=np.int16)
    group = table[codes]
    sizes = np.bincount(group, minlength=len(ranked))
    colors = _colors(ranked, theme, by)
    return NodeStyle(
        group,
        tuple(
            LegendEntry(key, labels[key], colors[key], int(sizes[place]), key == "unresolved")
            for place, key in enumerate(ranked)
        ),
    )


def _communities(
    graph: Graph, plain: NDArray[np.bool_], found: NDArray[np.int64]
) -> tuple[Column, dict[str, str]]:
    """Return a key per node, and labels that name the best linked note of each community."""
    words = tuple(f"community-{each}" for each in range(_MAX_COMMUNITIES))
    codes = np.where((found >= 0) & (found < _MAX_COMMUNITIES), found, _MAX_COMMUNITIES).astype(np.int32)
    labels = dict.fromkeys(words, translate("Legend", "Unnamed group"))
    for code, word in enumerate(words):
        rows = np.flatnonzero((codes == code) & plain)
        if len(rows):
            labels[word] = graph.names[int(rows[graph.degree[rows].argmax()])]
    return Column(codes, (*words, "other")), labels


def carry_communities(old: Graph, found: NDArray[np.int64], new: Graph) -> NDArray[np.int64]:
    """Return the communities of a graph's next state: known nodes keep theirs, new ones join a neighbor's."""
    before = old.rows
    kept = np.array([found[before[path]] if path in before else -2 for path in new.paths], dtype=np.int64)
    for row in np.flatnonzero(kept == -2).tolist():
        near = kept[new.neighbors(row)]
        near = near[near >= 0]
        kept[row] = int(np.bincount(near).argmax()) if len(near) else -1
    return kept


def _rank_keys(counts: Mapping[str, int], labels: Mapping[str, str], by: ColorBy) -> list[str]:
    """Order keys by size; those beyond the palette become one "other", and what is no note comes last."""
    last = [key for key in ("other", "tag", "attachment", "unresolved") if counts.get(key)]
    keys = sorted((key for key in counts if key not in last), key=lambda key: (-counts[key], labels[key]))
    most = _MAX_COMMUNITIES if by is ColorBy.COMMUNITY else 2 * _PALETTE_SIZE
    if len(keys) > most:
        keys = keys[:most]
        last = ["other", *(key for key in last if key != "other")]
    return [*keys, *last]


def _colors(keys: Sequence[str], theme: Theme, by: ColorBy) -> dict[str, str]:
    """Return a color per key: the theme's if it has one for a type, otherwise the palette's in turn.

    Colors used by types come last in the palette, so that two groups share a color only if there are more
    groups than colors.
    """
    fixed = ("other", "tag", "attachment", "unresolved")
    own = {
        key: theme.node_colors.get(key, theme.muted)
        for key in keys
        if key in fixed or (by is ColorBy.TYPE and key in theme.node_colors)
    }
    taken = {own[key] for key in own if key not in fixed}
    palette = [theme.node_colors[f"palette-{place}"] for place in range(_PALETTE_SIZE)]
    palette.sort(key=taken.__contains__)
    turns = itertools.cycle(palette)
    return {key: own[key] if key in own else next(turns) for key in keys}


def rgb(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of "#rrggbb"."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def pack_colors(colors: Sequence[str]) -> NDArray[np.uint32]:
    """Return 0xRRGGBB of "#rrggbb" colors, uint32 (k,)."""
    return np.array([int(color[1:7], 16) for color in colors], dtype=np.uint32)


def node_colors(nodes: NodeStyle, own: NDArray[np.uint32] | None) -> NDArray[np.uint32]:
    """Return 0xRRGGBB of every node, uint32 (n,), with a mark for hollow ones.

    Args:
        nodes: The groups.
        own: uint32 (n,), colors that replace those of the groups; `NO_COLOR` for none.
    """
    colors = pack_colors([group.color for group in nodes.groups] or ["#000000"])
    hollow = np.array([group.hollow for group in nodes.groups] or [False], dtype=bool)
    made = colors[nodes.group]
    if own is not None:
        made = np.where(own == NO_COLOR, made, own & np.uint32(0xFFFFFF)).astype(np.uint32)
    return np.where(hollow[nodes.group], made | HOLLOW_FLAG, made).astype(np.uint32)


def style_edges(
    graph: Graph, theme: Theme, colors: NDArray[np.uint32], strength: NDArray[np.float32]
) -> EdgeStyle:
    """Color links by relation type; a plain link between nodes of one color takes that color.

    Args:
        graph: The graph with the links.
        theme: The colors.
        colors: uint32 (n,), 0xRRGGBB of every node.
        strength: float32 (n,), 1 for a full node, 0 for a hidden one; a link has the lesser of its ends.
    """
    tints, tint = _distinct_colors(colors)
    plain = theme.edge_colors.get(PLAIN_LINK, theme.faint)
    bright = mix_colors(plain, theme.text, 0.25)
    table = [mix_colors(bright, color, 0.55) for color in tints]
    table += [theme.edge_colors[name] if _has_color(theme, name) else bright for name in graph.edge_types]
    table.append(bright)
    source, target = graph.edges[:, 0], graph.edges[:, 1]
    is_plain = np.array([not _has_color(theme, name) for name in graph.edge_types] or [True], dtype=bool)
    linked_plainly = is_plain[graph.edge_codes] if len(source) else np.zeros(0, dtype=bool)
    inside = (tint[source] == tint[target]) & (tint[source] >= 0)
    classes = np.where(inside, tint[source], np.int16(len(table) - 1))
    light = np.where(inside, np.float32(1.0), np.float32(0.7))
    if not linked_plainly.all():
        typed = ~linked_plainly
        classes[typed] = len(tints) + graph.edge_codes[typed]
        light[typed] = 1.9
    light *= np.minimum(strength[source], strength[target])
    width = np.where(np.isnan(graph.confidence), 1.0, 0.7 + 1.9 * np.nan_to_num(graph.confidence))
    return EdgeStyle(
        graph.edges,
        np.array([rgb(color) for color in table], dtype=np.uint8),
        classes.astype(np.int16),
        light.astype(np.float32),
        width.astype(np.float32),
        suggested_mask(graph),
    )


def suggested_mask(graph: Graph) -> NDArray[np.bool_] | None:
    """Return which links are only suggested, bool (m,); None if no link is."""
    return graph.suggested if len(graph.links) < len(graph.edges) else None


def _distinct_colors(colors: NDArray[np.uint32]) -> tuple[list[str], NDArray[np.int16]]:
    """Return the distinct colors and the color index of each node; none if there are too many."""
    found, place = np.unique(colors & np.uint32(0xFFFFFF), return_inverse=True)
    if len(found) > _MAX_LINK_COLORS:
        return [], np.full(len(colors), -1, dtype=np.int16)
    return [f"#{each:06x}" for each in found.tolist()], place.astype(np.int16)


def _has_color(theme: Theme, name: str) -> bool:
    """Return whether a relation has a color; links from other properties look like plain links."""
    return name != PLAIN_LINK and name in theme.edge_colors


def colored_relations(graph: Graph, theme: Theme) -> list[str]:
    """Return the relation types with a color of their own, the most frequent first."""
    counts = np.bincount(graph.edge_codes, minlength=len(graph.edge_types))
    ranked = np.argsort(-counts, kind="stable").tolist()
    names = [graph.edge_types[code] for code in ranked if code < len(graph.edge_types) and counts[code]]
    return [name for name in names if _has_color(theme, name)]


def relation_color(theme: Theme, name: str) -> str:
    """Return the color of a relation type, or the accent if the theme has none."""
    return theme.edge_colors.get(name, theme.accent)
