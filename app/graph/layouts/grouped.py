"""The grouped layout: disjoint discs, with subgroups as discs inside their parent's disc.

A group with enough links inside it is laid out by these links; the members of any other group are packed by
size.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.graph.circle_packing import enclosing_circle, pack_circles, separate_circles
from app.graph.coarsen import CoarseLevel, adjacency
from app.graph.engine import Engine
from app.graph.layout_fitting import sunflower_positions
from app.graph.layouts.force_directed import compute_layout
from app.graph.model import Graph
from app.graph.static_layout import Region, Report, StaticLayout, no_progress

_NODE_GAP = 0.35
_RIM_WIDTH = 0.9
_GROUP_GAP = 1.2
# The largest group that is packed tightly, which is slow. Graphs with more than `_MAX_NODES_FOR_PACKING`
# nodes use the lower limit.
_MAX_TIGHTLY_PACKED_DISCS = 200
_MAX_NODES_FOR_PACKING = 5000
_MAX_TIGHTLY_PACKED_DISCS_OF_MANY = 12
_MIN_LINKED_SIZE = 6
_MAX_SINGLE_PASS_NODES = 1500
_TICK_COUNT = 120


@dataclass(eq=False)
class _GroupLayout:
    """A group during the layout; positions are relative to its center."""

    key: str
    rows: NDArray[np.int64]
    inner: dict[str, _GroupLayout] = field(default_factory=dict)
    inner_centers: list[tuple[_GroupLayout, NDArray[np.float64]]] = field(default_factory=list)
    member_positions: NDArray[np.float64] | None = None
    radius: float = 0.0
    count: int = 0


def grouped_layout(
    kind: str,
    links: NDArray[np.int32],
    radii: NDArray[np.float32],
    groups: NDArray[np.int32],
    names: tuple[str, ...],
    aspect: float = 1.6,
    report: Report = no_progress,
) -> StaticLayout:
    """Return a layout with every group in its own disc.

    Args:
        kind: The arrangement's `kind`.
        links: int32 (m, 2), rows; those inside a group determine its layout.
        radii: float32 (n,) of the nodes.
        groups: int32 (n,), index into `names`.
        names: The groups; "a/b" is a subgroup of "a".
        aspect: The page's width divided by its height.
        report: Receives the progress.
    """
    if not len(radii):
        return StaticLayout(kind, np.empty((0, 2), dtype=np.float32))
    root = _build_tree(groups, names)
    placer = _GroupPlacer(links, radii, groups, report)
    placer.place(root, aspect)
    positions = np.zeros((len(radii), 2))
    regions: list[Region] = []
    _place_group(root, np.zeros(2), -1, positions, regions)
    return StaticLayout(kind, positions.astype(np.float32), tuple(regions))


def _build_tree(groups: NDArray[np.int32], names: tuple[str, ...]) -> _GroupLayout:
    """Build the tree of groups, without those that have no members, and return its root."""
    root = _GroupLayout("", np.empty(0, dtype=np.int64))
    order = np.argsort(groups, kind="stable")
    bounds = np.searchsorted(groups[order], np.arange(len(names) + 1))
    for code in sorted(range(len(names)), key=names.__getitem__):
        rows = order[bounds[code] : bounds[code + 1]]
        if not len(rows):
            continue
        group = root
        parts = names[code].split("/")
        for depth in range(len(parts)):
            key = "/".join(parts[: depth + 1])
            group = group.inner.setdefault(key, _GroupLayout(key, np.empty(0, dtype=np.int64)))
        group.rows = rows
    _count_members(root)
    return root


def _count_members(group: _GroupLayout) -> int:
    group.count = len(group.rows) + sum(_count_members(inner) for inner in group.inner.values())
    return group.count


class _GroupPlacer:
    def __init__(
        self,
        links: NDArray[np.int32],
        radii: NDArray[np.float32],
        groups: NDArray[np.int32],
        report: Report,
    ) -> None:
        is_internal = groups[links[:, 0]] == groups[links[:, 1]]
        self._links = links[is_internal]
        owner = groups[self._links[:, 0]]
        self._order = np.argsort(owner, kind="stable")
        self._owner = owner[self._order]
        self._groups = groups
        self._radii = radii
        self._index_in_group = np.zeros(len(radii), dtype=np.int32)
        self._report = report
        self._engine = Engine()
        self._placed_count = 0

    def place(self, group: _GroupLayout, aspect: float = 1.0) -> None:
        """Place the members of a group and its subgroups, from the inside out."""
        for inner in group.inner.values():
            self.place(inner)
        discs = [(inner, inner.radius) for inner in group.inner.values()]
        if len(group.rows):
            group.member_positions, reach = self._place_members(group.rows)
            if not discs:
                group.radius = reach + _RIM_WIDTH
                return
            discs.append((group, reach))
        sizes = np.array([radius for _, radius in discs])
        centers = pack_circles(sizes + _GROUP_GAP / 2, aspect)
        middle, reach = enclosing_circle(centers, sizes)
        for (inner, _), center in zip(discs, centers - middle, strict=True):
            if inner is group and group.member_positions is not None:
                group.member_positions = group.member_positions + center
            else:
                group.inner_centers.append((inner, center))
        group.radius = reach + _RIM_WIDTH

    def _place_members(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
        """Return the positions of a group's members relative to its center, and their enclosing radius."""
        self._report(self._placed_count / len(self._radii), "Arranging groups")
        self._placed_count += len(rows)
        low, high = np.searchsorted(self._owner, [self._groups[rows[0]], self._groups[rows[0]] + 1])
        self._index_in_group[rows] = np.arange(len(rows), dtype=np.int32)
        links = self._index_in_group[self._links[self._order[low:high]]]
        radii = self._radii[rows]
        if len(rows) >= _MIN_LINKED_SIZE and 2 * len(links) >= len(rows):
            positions = self._layout_by_links(links, radii)
        else:
            positions = pack_discs(
                radii,
                _MAX_TIGHTLY_PACKED_DISCS
                if len(self._radii) <= _MAX_NODES_FOR_PACKING
                else _MAX_TIGHTLY_PACKED_DISCS_OF_MANY,
            )
        middle, reach = enclosing_circle(positions, radii.astype(np.float64))
        return positions - middle, reach

    def _layout_by_links(self, links: NDArray[np.int32], radii: NDArray[np.float32]) -> NDArray[np.float64]:
        """Lay out members by their links, in one pass if there are at most `_MAX_SINGLE_PASS_NODES`."""
        size = len(radii)
        if size > _MAX_SINGLE_PASS_NODES:
            return separate_circles(compute_layout(bare_graph(size, links)), radii, _NODE_GAP).astype(
                np.float64
            )
        positions = sunflower_positions(size, 1.8)
        level = CoarseLevel(adjacency(links, size), np.ones(size, dtype=np.float32))
        for step in self._engine.charge_layout(level, positions, _TICK_COUNT, 1.0):
            positions = step
        reach = float(np.sqrt(np.square(positions - positions.mean(axis=0)).sum(axis=1)).mean())
        side = float(np.sqrt(np.square(radii + _NODE_GAP).sum()))
        return separate_circles(positions * np.float32(side / max(reach, 1e-6)), radii, _NODE_GAP).astype(
            np.float64
        )


def pack_discs(
    radii: NDArray[np.float32], max_tightly_packed: int = _MAX_TIGHTLY_PACKED_DISCS
) -> NDArray[np.float64]:
    """Pack discs with the large ones in the middle, tightly if there are at most `max_tightly_packed`."""
    if len(radii) <= max_tightly_packed:
        return pack_circles(radii.astype(np.float64) + _NODE_GAP / 2)
    order = np.argsort(-radii, kind="stable")
    positions = np.empty((len(radii), 2), dtype=np.float32)
    step = 2 * float(np.sqrt(np.mean(np.square(radii + _NODE_GAP / 2)))) * 1.06
    positions[order] = sunflower_positions(len(radii), step)
    return separate_circles(positions, radii, _NODE_GAP / 2).astype(np.float64)


def bare_graph(size: int, links: NDArray[np.int32]) -> Graph:
    """Return a graph of `size` nodes without names, types, tags or folders, for the layout."""
    blank = ("",) * size
    return Graph(
        paths=tuple(map(str, range(size))),
        names=blank,
        types=blank,
        kinds=("note",) * size,
        tags=((),) * size,
        folders=blank,
        modified=np.zeros(size),
        edges=links,
        edge_types=("",),
        edge_codes=np.zeros(len(links), dtype=np.int16),
        confidence=np.full(len(links), np.nan, dtype=np.float32),
    )


def _place_group(
    group: _GroupLayout,
    center: NDArray[np.float64],
    depth: int,
    positions: NDArray[np.float64],
    regions: list[Region],
) -> None:
    """Move a group with its contents to its place; outer regions are listed before inner ones."""
    if depth >= 0:
        name = group.key.rpartition("/")[2]
        regions.append(
            Region(name, group.key, float(center[0]), float(center[1]), group.radius, depth, group.count)
        )
    if group.member_positions is not None:
        positions[group.rows] = group.member_positions + center
    for inner, offset in group.inner_centers:
        _place_group(inner, center + offset, depth + 1, positions, regions)
