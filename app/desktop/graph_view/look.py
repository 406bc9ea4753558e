"""Which colour every node and link has, and what the colours mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.desktop.colors import Theme
from app.graph.model import PLAIN_LINK, Graph
from app.graph.raster import EdgeLook

_PALETTE = 8
_MOST_COMMUNITIES = 24


class ColorBy(StrEnum):
    """What a node's colour says."""

    TYPE = "type"
    FOLDER = "folder"
    COMMUNITY = "community"


@dataclass(frozen=True, slots=True)
class Group:
    """One entry of the legend."""

    key: str
    label: str
    color: str
    count: int
    hollow: bool = False


@dataclass(frozen=True, eq=False)
class NodeLook:
    """The group of every node, an index into `groups`."""

    group: NDArray[np.int16]
    groups: tuple[Group, ...]


def best_coloring(graph: Graph) -> ColorBy:
    """By type where notes have types; else by community, so that a plain vault is not one colour."""
    notes = [kind for each, kind in zip(graph.kinds, graph.types, strict=True) if each == "note"]
    typed = sum(kind != "note" for kind in notes)
    return ColorBy.TYPE if typed * 3 >= len(notes) else ColorBy.COMMUNITY


def node_look(graph: Graph, theme: Theme, by: ColorBy, found: NDArray[np.int64]) -> NodeLook:
    """Groups and their colours; notes that do not exist and attachments are groups of their own.

    `found` is the community of every node, -1 for none.
    """
    plain = [kind == "note" for kind in graph.kinds]
    if by is ColorBy.COMMUNITY:
        keys, labels = _communities(graph, plain, found)
    elif by is ColorBy.FOLDER:
        keys = [folder.partition("/")[0] or "/" for folder in graph.folders]
        labels = {key: "Top of the vault" if key == "/" else key for key in keys}
    else:
        keys = list(graph.types)
        labels = {key: key[:1].upper() + key[1:] for key in keys}
    labels |= {"unresolved": "Not written yet", "attachment": "Attachment", "tag": "Tag", "other": "Other"}
    for row, note in enumerate(plain):
        if not note:
            keys[row] = graph.kinds[row]
    counts = Counter(keys)
    ranked = _ranked(counts, labels, by)
    index = {key: place for place, key in enumerate(ranked)}
    rest = index.get("other", 0)
    group = np.array([index.get(key, rest) for key in keys], dtype=np.int16)
    sizes = np.bincount(group, minlength=len(ranked))
    colors = _colors(ranked, theme, by)
    return NodeLook(
        group,
        tuple(
            Group(key, labels[key], colors[key], int(sizes[place]), key == "unresolved")
            for place, key in enumerate(ranked)
        ),
    )


def _communities(
    graph: Graph, plain: Sequence[bool], found: NDArray[np.int64]
) -> tuple[list[str], dict[str, str]]:
    """A key per node, and labels that name the note with most links in each."""
    keys = [f"community-{each}" if 0 <= each < _MOST_COMMUNITIES else "other" for each in found.tolist()]
    labels: dict[str, str] = {}
    for row in np.argsort(-graph.degree, kind="stable").tolist():
        if plain[row]:
            labels.setdefault(keys[row], graph.names[row])
    for key in keys:
        labels.setdefault(key, "Unnamed group")
    return keys, labels


def kept_communities(old: Graph, found: NDArray[np.int64], new: Graph) -> NDArray[np.int64]:
    """The communities of the next state of a graph: known nodes keep theirs, new ones join a neighbour's."""
    before = old.rows
    kept = np.array([found[before[path]] if path in before else -2 for path in new.paths], dtype=np.int64)
    for row in np.flatnonzero(kept == -2).tolist():
        near = kept[new.neighbours(row)]
        near = near[near >= 0]
        kept[row] = int(np.bincount(near).argmax()) if len(near) else -1
    return kept


def _ranked(counts: Mapping[str, int], labels: Mapping[str, str], by: ColorBy) -> list[str]:
    """Keys by size; what is beyond the palette is one "other", and what is no note stands last."""
    last = [key for key in ("other", "tag", "attachment", "unresolved") if counts.get(key)]
    keys = sorted((key for key in counts if key not in last), key=lambda key: (-counts[key], labels[key]))
    most = _MOST_COMMUNITIES if by is ColorBy.COMMUNITY else 2 * _PALETTE
    if len(keys) > most:
        keys = keys[:most]
        last = ["other", *(key for key in last if key != "other")]
    return [*keys, *last]


def _colors(keys: Sequence[str], theme: Theme, by: ColorBy) -> dict[str, str]:
    """A colour per key: the theme's where it has one for a type, else the palette's in turn."""
    fixed = ("other", "tag", "attachment", "unresolved")
    colors: dict[str, str] = {}
    turn = 0
    for key in keys:
        if key in fixed or (by is ColorBy.TYPE and key in theme.node_colors):
            colors[key] = theme.node_colors.get(key, theme.muted)
        else:
            colors[key] = theme.node_colors[f"palette-{turn % _PALETTE}"]
            turn += 1
    return colors


def rgb(color: str) -> tuple[int, int, int]:
    """Red, green and blue of "#rrggbb"."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def mixed(first: str, second: str, share: float) -> str:
    """`first` with a `share` (0 to 1) of `second`."""
    parts = (round(a + (b - a) * share) for a, b in zip(rgb(first), rgb(second), strict=True))
    return "#" + "".join(f"{part:02x}" for part in parts)


def edge_look(graph: Graph, theme: Theme, nodes: NodeLook, strength: NDArray[np.float32]) -> EdgeLook:
    """Links by relation type; a plain link inside a group takes on its colour, one across stays grey.

    Args:
        graph: Whose links.
        theme: The colours.
        nodes: The groups.
        strength: float32 (n,), 1 for a node in full, 0 for a hidden one; a link has the lesser of its ends.
    """
    groups = len(nodes.groups)
    plain = theme.edge_colors.get(PLAIN_LINK, theme.faint)
    bright = mixed(plain, theme.text, 0.25)
    colors = [mixed(bright, group.color, 0.55) for group in nodes.groups]
    colors += [theme.edge_colors[name] if _has_color(theme, name) else bright for name in graph.edge_types]
    colors.append(bright)
    source, target = nodes.group[graph.edges[:, 0]], nodes.group[graph.edges[:, 1]]
    is_plain = np.array([not _has_color(theme, name) for name in graph.edge_types] or [True], dtype=bool)
    codes = graph.edge_codes.astype(np.int64)
    linked_plainly = is_plain[codes] if len(codes) else np.zeros(0, dtype=bool)
    classes = np.where(linked_plainly, np.where(source == target, source, len(colors) - 1), groups + codes)
    light = np.minimum(strength[graph.edges[:, 0]], strength[graph.edges[:, 1]]).astype(np.float32)
    light = light * np.where(linked_plainly, np.where(source == target, 1.0, 0.7), 1.9)
    width = np.where(np.isnan(graph.confidence), 1.0, 0.7 + 1.9 * np.nan_to_num(graph.confidence))
    return EdgeLook(
        graph.edges,
        np.array([rgb(color) for color in colors], dtype=np.uint8),
        classes.astype(np.int16),
        light.astype(np.float32),
        width.astype(np.float32),
    )


def _has_color(theme: Theme, name: str) -> bool:
    """Whether a relation has a colour; links from a vault's own properties look like plain ones."""
    return name != PLAIN_LINK and name in theme.edge_colors


def known_relations(graph: Graph, theme: Theme) -> list[str]:
    """The relation types that occur and have a colour of their own, the most frequent first."""
    counts = np.bincount(graph.edge_codes, minlength=len(graph.edge_types))
    ranked = np.argsort(-counts, kind="stable").tolist()
    names = [graph.edge_types[code] for code in ranked if code < len(graph.edge_types) and counts[code]]
    return [name for name in names if _has_color(theme, name)]


def relation_color(theme: Theme, name: str) -> str:
    """The colour of a relation type; one that the theme does not know gets the accent's."""
    return theme.edge_colors.get(name, theme.accent)
