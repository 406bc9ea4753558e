"""From what the index knows to a graph, and from what a save changed to the next graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from app.graph.model import Edge, Graph, GraphDelta, Node, Positions

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

    from app.index.records import GraphData

_CLEARANCE = 1.3
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def build(data: GraphData) -> Graph:
    """The graph of `data`: self-links, duplicates of one type and links to nowhere are left out."""
    edges, codes, confidence = _clean(
        np.asarray(data.edges, dtype=np.int32).reshape(-1, 2),
        np.asarray(data.codes, dtype=np.int16),
        np.asarray(data.confidence, dtype=np.float32),
        len(data.paths),
    )
    return Graph(
        paths=tuple(data.paths),
        names=tuple(data.names),
        types=tuple(data.types),
        kinds=tuple(data.kinds),
        tags=tuple(data.tags),
        folders=tuple(data.folders),
        modified=np.asarray(data.modified, dtype=np.float64),
        edges=edges,
        edge_types=tuple(data.edge_types),
        edge_codes=codes,
        confidence=confidence,
    )


def build_from(nodes: Iterable[Node], edges: Iterable[Edge]) -> Graph:
    """The graph of `nodes` and `edges`; edges with an unknown end are left out."""
    listed = tuple({node.path: node for node in nodes}.values())
    rows = {node.path: row for row, node in enumerate(listed)}
    known = [edge for edge in edges if edge.source in rows and edge.target in rows]
    types = tuple(sorted({edge.type for edge in known}))
    code_of = {name: code for code, name in enumerate(types)}
    ends, codes, confidence = _clean(
        np.array([(rows[edge.source], rows[edge.target]) for edge in known], dtype=np.int32).reshape(-1, 2),
        np.array([code_of[edge.type] for edge in known], dtype=np.int16),
        np.array([_number(edge.confidence) for edge in known], dtype=np.float32),
        len(listed),
    )
    return Graph(
        paths=tuple(node.path for node in listed),
        names=tuple(node.name for node in listed),
        types=tuple(node.type for node in listed),
        kinds=tuple(node.kind for node in listed),
        tags=tuple(node.tags for node in listed),
        folders=tuple(node.folder for node in listed),
        modified=np.array([node.modified for node in listed], dtype=np.float64),
        edges=ends,
        edge_types=types,
        edge_codes=codes,
        confidence=confidence,
    )


def _number(confidence: float | None) -> float:
    return np.nan if confidence is None else confidence


def _clean(
    edges: NDArray[np.int32], codes: NDArray[np.int16], confidence: NDArray[np.float32], size: int
) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.float32]]:
    """Without self-links, ends out of range, and all but the first of equal links."""
    inside = (edges >= 0).all(axis=1) & (edges < size).all(axis=1) & (edges[:, 0] != edges[:, 1])
    edges, codes, confidence = edges[inside], codes[inside], confidence[inside]
    keys = (codes.astype(np.int64) * max(size, 1) + edges[:, 0]) * max(size, 1) + edges[:, 1]
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = ranked[1:] != ranked[:-1]
    first = np.sort(order[new])
    return np.ascontiguousarray(edges[first]), codes[first], confidence[first]


def apply(graph: Graph, delta: GraphDelta) -> Graph:
    """The graph after `delta`; an unresolved name that nothing links to any more goes with it."""
    table, place = _Table.after(graph, delta)
    ends = place[graph.edges]
    replaced = np.zeros(len(table.paths), dtype=bool)
    replaced[[table.rows[path] for path in delta.sources if path in table.rows]] = True
    kept = (ends[:, 0] >= 0) & (ends[:, 1] >= 0)
    kept[kept] = ~replaced[ends[kept, 0]]
    added = [edge for edge in delta.edges if edge.source in table.rows and edge.target in table.rows]
    types = list(dict.fromkeys([*graph.edge_types, *(edge.type for edge in added)]))
    pairs = [(table.rows[edge.source], table.rows[edge.target]) for edge in added]
    new_codes = np.array([types.index(edge.type) for edge in added], dtype=np.int16)
    new_confidence = np.array([_number(edge.confidence) for edge in added], dtype=np.float32)
    edges, codes, confidence = _clean(
        np.concatenate([ends[kept], np.array(pairs, dtype=np.int32).reshape(-1, 2)]),
        np.append(graph.edge_codes[kept], new_codes),
        np.append(graph.confidence[kept], new_confidence),
        len(table.paths),
    )
    return table.graph(edges, tuple(types), codes, confidence)


class _Table:
    """The columns of a graph's nodes while they change."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.columns: list[list[object]] = [[] for _ in range(6)]
        self.rows: dict[str, int] = {}

    @classmethod
    def after(cls, graph: Graph, delta: GraphDelta) -> tuple[_Table, NDArray[np.int32]]:
        """The columns after `delta`, and the new row of each old one, -1 where it is gone."""
        table = cls()
        gone, renamed = set(delta.removed), dict(delta.renamed)
        place = np.full(len(graph), -1, dtype=np.int32)
        columns = (graph.names, graph.types, graph.kinds, graph.tags, graph.folders, graph.modified.tolist())
        if not gone and not renamed:
            # A saved note, the usual case: all rows stay where they are.
            table.paths, table.rows = list(graph.paths), dict(graph.rows)
            table.columns = [list(column) for column in columns]
            place = np.arange(len(graph), dtype=np.int32)
            table._put_all(delta.nodes)
            return table, place
        for row, (path, *values) in enumerate(zip(graph.paths, *columns, strict=True)):
            if path not in gone:
                if path in renamed:
                    path = renamed[path]
                    values[0], values[4] = _name_and_folder(path)
                place[row] = table.put(path, values)
        table._put_all(delta.nodes)
        return table, place

    def _put_all(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self.put(node.path, [node.name, node.type, node.kind, node.tags, node.folder, node.modified])

    def put(self, path: str, values: list[object]) -> int:
        """Add a node or replace it; its row."""
        row = self.rows.setdefault(path, len(self.paths))
        if row == len(self.paths):
            self.paths.append(path)
            for column in self.columns:
                column.append(None)
        for column, value in zip(self.columns, values, strict=True):
            column[row] = value
        return row

    def graph(
        self,
        edges: NDArray[np.int32],
        types: tuple[str, ...],
        codes: NDArray[np.int16],
        confidence: NDArray[np.float32],
    ) -> Graph:
        """The graph with those links, without unresolved names that nothing links to."""
        size = len(self.paths)
        linked = np.zeros(size, dtype=bool)
        linked[edges[:, 1]] = True
        kept = linked | np.array([kind != "unresolved" for kind in self.columns[2]], dtype=bool)
        place = (np.cumsum(kept) - 1).astype(np.int32)
        listed = np.flatnonzero(kept).tolist()
        names, kinds_of, kinds, tags, folders, modified = (
            tuple(column) if len(listed) == size else tuple(column[row] for row in listed)
            for column in self.columns
        )
        ends = place[edges]
        return Graph(
            tuple(self.paths[row] for row in listed),
            cast("tuple[str, ...]", names),
            cast("tuple[str, ...]", kinds_of),
            cast("tuple[str, ...]", kinds),
            cast("tuple[tuple[str, ...], ...]", tags),
            cast("tuple[str, ...]", folders),
            np.array(modified, dtype=np.float64),
            ends,
            types,
            codes,
            confidence,
        )


def _name_and_folder(path: str) -> tuple[str, str]:
    folder, _, last = path.rpartition("/")
    return last.removesuffix(".md").removesuffix(".markdown"), folder


def carry(
    old: Graph, positions: Positions, new: Graph, renamed: Mapping[str, str] | None = None
) -> tuple[Positions, NDArray[np.bool_]]:
    """Positions for `new`: every known node stays where it is, new ones get a free place nearby.

    Args:
        old: The graph that `positions` belong to.
        positions: float32 (n, 2).
        new: The graph to place.
        renamed: New path by old path.

    Returns:
        float32 (n', 2) positions, and a mask of the rows that are new.
    """
    places = np.full((len(new), 2), np.nan, dtype=np.float32)
    if not renamed and new.paths[: len(old)] == old.paths:
        places[: len(old)] = positions
    else:
        before = {(renamed or {}).get(path, path): row for path, row in old.rows.items()}
        known = [(row, before[path]) for row, path in enumerate(new.paths) if path in before]
        rows = np.array(known, dtype=np.int64).reshape(-1, 2)
        places[rows[:, 0]] = positions[rows[:, 1]]
    fresh = np.isnan(places[:, 0])
    return place_missing(new, places), fresh


def place_missing(graph: Graph, positions: Positions) -> Positions:
    """`positions` with every nan row put beside its neighbours, or on the rim when it has none.

    Rows that have a place keep it to the bit.
    """
    if not np.isnan(positions).any():
        return positions.copy()
    from scipy.spatial import cKDTree  # takes longer to load than a small vault to show

    places = positions.copy()
    missing = set(np.flatnonzero(np.isnan(places[:, 0])).tolist())
    while missing:
        ready = [row for row in sorted(missing) if not np.isnan(places[graph.neighbours(row), 0]).all()]
        if not ready:
            ready = [min(missing, key=lambda row: (-int(graph.degree[row]), row))]
        known = places[~np.isnan(places[:, 0])]
        tree = cKDTree(known) if len(known) else None
        placed: list[NDArray[np.float32]] = []
        for row in ready:
            near = places[graph.neighbours(row)]
            near = near[~np.isnan(near[:, 0])]
            places[row] = _free_place(tree, near, known, placed, row)
            placed.append(places[row])
        missing.difference_update(ready)
    return places


def _free_place(
    tree: cKDTree | None, near: Positions, known: Positions, placed: list[NDArray[np.float32]], row: int
) -> NDArray[np.float32]:
    """The first place with clearance on a spiral from the neighbours' middle, or from the rim."""
    if tree is None:
        return np.zeros(2, dtype=np.float32)
    if len(near):
        middle, start = near.mean(axis=0), 1.5
    else:
        centre = np.median(known, axis=0)
        reach = float(np.sqrt(((known - centre) ** 2).sum(axis=1)).max()) + 2.0
        angle = row * _GOLDEN_ANGLE
        middle, start = centre + reach * np.array([np.cos(angle), np.sin(angle)]), 0.0
    steps = np.arange(160)
    spread, angles = start + 0.5 * np.sqrt(steps), row + steps * _GOLDEN_ANGLE
    spots = middle + np.stack([spread * np.cos(angles), spread * np.sin(angles)], axis=1)
    distance = np.asarray(tree.query(spots)[0])
    if placed:
        apart = np.linalg.norm(spots[:, None] - np.array(placed)[None], axis=2).min(axis=1)
        distance = np.minimum(distance, apart)
    clear = np.flatnonzero(distance >= _CLEARANCE)
    best = int(clear[0]) if len(clear) else int(distance.argmax())
    return np.asarray(spots[best], dtype=np.float32)
