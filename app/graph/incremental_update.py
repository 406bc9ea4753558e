"""Compute the next graph after notes were saved; unchanged parts are shared or copied as a block.

Rows keep their order; removed ones are dropped, and new ones are appended. A table without changes is the
same object in the next graph, so the renderer sees immediately what it need not recompute.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from app.graph.encoded_columns import warm_graph
from app.graph.model import Graph, GraphDelta, GraphEdge, GraphNode, Positions
from app.graph.neighborhood import Neighborhood
from app.graph.position_transfer import place_missing
from app.graph.renames import effective_renames
from app.graph.suggested import add_suggestions

_TIMES = ("modified", "created")
_COLUMNS = ("name", "type", "kind", "tags", "folder", *_TIMES)
_NO_ROWS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class GraphUpdate:
    """The next graph, and for each of its rows the previous row, -1 for new rows."""

    graph: Graph
    previous_rows: NDArray[np.int64]


def encode_confidence(confidence: float | None) -> float:
    """Return a confidence as stored in the arrays: nan for None."""
    return np.nan if confidence is None else confidence


def advance(graph: Graph, positions: Positions, delta: GraphDelta) -> tuple[Graph, Positions]:
    """Return the graph after `delta` and its positions; known nodes stay, new ones are placed nearby."""
    after = compute_update(graph, delta)
    positions_after = np.full((len(after.graph), 2), np.nan, dtype=np.float32)
    is_known = after.previous_rows >= 0
    positions_after[is_known] = positions[after.previous_rows[is_known]]
    return after.graph, place_missing(after.graph, positions_after)


def compute_update(graph: Graph, delta: GraphDelta) -> GraphUpdate:
    """Return the graph after `delta`, with the previous row of each of its rows."""
    if not graph.suggested.any():
        return _GraphEdit(graph, delta).build()
    pairs, scores = graph.edges[graph.suggested], graph.confidence[graph.suggested]
    after = _GraphEdit(add_suggestions(graph), delta).build()
    index = np.full(len(graph), -1, dtype=np.int32)
    known_rows = np.flatnonzero(after.previous_rows >= 0)
    index[after.previous_rows[known_rows]] = known_rows
    pairs = index[pairs]
    is_kept = (pairs >= 0).all(axis=1)
    return GraphUpdate(add_suggestions(after.graph, pairs[is_kept], scores[is_kept]), after.previous_rows)


class _GraphEdit:
    """An update in progress: old rows keep their numbers, new ones follow, and removals happen last."""

    def __init__(self, graph: Graph, delta: GraphDelta) -> None:
        self._graph = graph
        self._size = len(graph)
        self._removed_rows: set[int] = set()
        self._unlinked_rows: set[int] = set()
        self._kind_changed: set[int] = set()
        self._changed: dict[str, Any] = {}
        self._renamed = effective_renames(delta.renamed, graph.rows)
        self._new_rows: dict[str, int] = {new: graph.rows[old] for old, new in self._renamed.items()}
        self._rename(delta)
        self._remove(delta)
        self._put_nodes(delta.nodes)
        self._link(delta)

    def _row(self, path: str) -> int | None:
        """Return the current row of a path, or None if it has none or was removed."""
        row = self._new_rows.get(path)
        if row is None and path not in self._renamed:
            row = self._graph.rows.get(path)
        return row if row not in self._removed_rows else None

    # Nodes

    def _column(self, name: str) -> list[Any]:
        """Return a mutable copy of a column: a list, or an array for times."""
        if name not in self._changed:
            column = getattr(self._graph, name)
            self._changed[name] = column.copy() if name in _TIMES else list(column)
        return cast("list[Any]", self._changed[name])

    def _rename(self, delta: GraphDelta) -> None:
        for path, row in self._new_rows.items():
            self._column("paths")[row] = path
            folder, _, last = path.rpartition("/")
            self._column("names")[row] = last.removesuffix(".md").removesuffix(".markdown")
            self._column("folders")[row] = folder
        for path in delta.removed:
            if path in self._renamed:
                self._unlinked_rows.add(self._graph.rows[path])

    def _remove(self, delta: GraphDelta) -> None:
        replaced_paths = {node.path for node in delta.nodes}
        for path in delta.removed:
            row = self._row(path)
            if row is not None:
                self._unlinked_rows.add(row)
                if path not in replaced_paths:
                    self._removed_rows.add(row)

    def _put_nodes(self, nodes: Iterable[GraphNode]) -> None:
        """Replace the fields that differ, and put new nodes at the end."""
        new_nodes: list[GraphNode] = []
        for node in nodes:
            row = self._row(node.path)
            if row is None:
                self._new_rows[node.path] = self._size + len(new_nodes)
                new_nodes.append(node)
            elif row >= self._size:
                new_nodes[row - self._size] = node
            else:
                self._replace(row, node)
        if new_nodes:
            self._append(new_nodes)

    def _replace(self, row: int, node: GraphNode) -> None:
        for field in _COLUMNS:
            column = _column_name(field)
            value = getattr(node, field)
            if self._changed.get(column, getattr(self._graph, column))[row] != value:
                self._column(column)[row] = value
                if field == "kind":
                    self._kind_changed.add(row)

    def _append(self, new_nodes: list[GraphNode]) -> None:
        self._column("paths").extend(node.path for node in new_nodes)
        for field in _COLUMNS:
            values = [getattr(node, field) for node in new_nodes]
            if field in _TIMES:
                self._changed[field] = np.append(self._column(field), values)
            else:
                self._column(_column_name(field)).extend(values)
        self._kind_changed.update(range(self._size, self._size + len(new_nodes)))
        self._size += len(new_nodes)

    # Links

    def _link(self, delta: GraphDelta) -> None:
        """Find the links to remove and to add; unchanged links stay in place."""
        graph = self._graph
        links_to_add = self._links_to_add(delta.edges)
        replaced = self._unlinked_rows | {
            row for path in delta.sources if (row := self._row(path)) is not None
        }
        flagged = np.zeros(self._size, dtype=bool)
        flagged[list(replaced | {source for source, _, _ in links_to_add})] = True
        is_leaving = flagged[graph.edges[:, 0]]
        flagged[:] = False
        flagged[list(self._unlinked_rows)] = True
        is_leaving |= flagged[graph.edges[:, 1]]
        removed_edges: list[int] = []
        for index in np.flatnonzero(is_leaving).tolist():
            source, target = graph.edges[index].tolist()
            key = (source, target, graph.edge_types[graph.edge_codes[index]])
            is_unaffected = source not in replaced and target not in self._unlinked_rows
            if is_unaffected or (
                key in links_to_add and _is_same_confidence(links_to_add[key], float(graph.confidence[index]))
            ):
                links_to_add.pop(key, None)
            else:
                removed_edges.append(index)
        self._removed_edges = np.array(removed_edges, dtype=np.int64)
        self._added_edges = links_to_add

    def _links_to_add(self, edges: Iterable[GraphEdge]) -> dict[tuple[int, int, str], float]:
        """Return the confidence of each link to add, by its ends and type."""
        confidences: dict[tuple[int, int, str], float] = {}
        for edge in edges:
            source, target = self._row(edge.source), self._row(edge.target)
            if source is not None and target is not None and source != target:
                confidences.setdefault((source, target, edge.type), encode_confidence(edge.confidence))
        return confidences

    # The next graph

    def build(self) -> GraphUpdate:
        """Build the next graph; return the old one if nothing has changed."""
        graph = self._graph
        previous_rows = np.full(self._size, -1, dtype=np.int64)
        previous_rows[: len(graph)] = np.arange(len(graph))
        relinked = len(self._removed_edges) > 0 or len(self._added_edges) > 0
        if relinked:
            self._change_links()
        edges = self._changed.get("edges", graph.edges)
        self._drop_unlinked(edges)
        if not self._changed and not self._removed_rows:
            return GraphUpdate(graph, previous_rows)
        neighborhood, is_kept = self._previous_neighborhood(edges, relinked), None
        if self._removed_rows:
            is_kept = np.ones(self._size, dtype=bool)
            is_kept[list(self._removed_rows)] = False
        self._is_note = self._note_mask()
        if is_kept is not None:
            self._remove_rows(is_kept)
            previous_rows = previous_rows[is_kept]
        self._drop_unused_types()
        columns: dict[str, Any] = {
            name: tuple(column) if isinstance(column, list) else column
            for name, column in self._changed.items()
        }
        count = len(columns.get("edges", graph.edges))
        after = replace(graph, suggested=np.zeros(count, dtype=bool), **columns)
        self._transfer_caches(after, neighborhood, is_kept)
        return GraphUpdate(warm_graph(after), previous_rows)

    def _note_mask(self) -> NDArray[np.bool_]:
        """Return which rows are notes, including those that are removed at the end."""
        mask = np.zeros(self._size, dtype=bool)
        mask[: len(self._graph)] = self._graph.is_note
        for row in self._kind_changed:
            mask[row] = self._changed["kinds"][row] == "note"
        return mask

    def _change_links(self) -> None:
        graph = self._graph
        is_kept = np.ones(len(graph.edges), dtype=bool)
        is_kept[self._removed_edges] = False
        types = list(dict.fromkeys([*graph.edge_types, *(name for _, _, name in self._added_edges)]))
        code_of = {name: code for code, name in enumerate(types)}
        ends = np.array([key[:2] for key in self._added_edges], dtype=np.int32).reshape(-1, 2)
        codes = np.array([code_of[name] for _, _, name in self._added_edges], dtype=np.int16)
        confidence = np.array(list(self._added_edges.values()), dtype=np.float32)
        self._changed["edges"] = np.concatenate([graph.edges[is_kept], ends])
        self._changed["edge_codes"] = np.append(graph.edge_codes[is_kept], codes)
        self._changed["confidence"] = np.append(graph.confidence[is_kept], confidence)
        self._changed["edge_types"] = tuple(types)
        self._relinked_rows = np.unique(
            np.concatenate([graph.edges[self._removed_edges].ravel(), ends.ravel()])
        )

    def _drop_unlinked(self, edges: NDArray[np.int32]) -> None:
        """Remove unresolved names that have just lost their last link."""
        kinds = self._changed.get("kinds", self._graph.kinds)
        unlinked = self._graph.edges[self._removed_edges, 1].tolist() + list(
            range(len(self._graph), self._size)
        )
        names = {row for row in unlinked if kinds[row] == "unresolved" and row not in self._removed_rows}
        names |= {
            row for row in self._unlinked_rows if kinds[row] == "unresolved" and row not in self._removed_rows
        }
        if names:
            is_target = np.zeros(self._size, dtype=bool)
            is_target[edges[:, 1]] = True
            self._removed_rows |= {row for row in names if not is_target[row]}

    def _previous_neighborhood(self, edges: NDArray[np.int32], relinked: bool) -> Neighborhood | None:
        """Return the adjacency before rows are removed, derived from that of the old graph if it is known."""
        neighborhood: Neighborhood | None = vars(self._graph).get("neighborhood")
        if neighborhood is None or (not relinked and self._size == len(self._graph)):
            return neighborhood
        rows = self._relinked_rows.astype(np.int64) if relinked else _NO_ROWS
        if len(rows) > 2000 and len(rows) > self._size // 8:
            return Neighborhood.from_links(edges, self._size)
        return neighborhood.with_changed_links(edges, rows, self._size)

    def _remove_rows(self, is_kept: NDArray[np.bool_]) -> None:
        """Remove the deleted rows from every table."""
        selectors = is_kept.tolist()
        for name in ("paths", *map(_column_name, _COLUMNS)):
            column = self._changed.get(name, getattr(self._graph, name))
            self._changed[name] = column[is_kept] if name in _TIMES else list(compress(column, selectors))
        self._changed["edges"] = _row_positions(is_kept)[self._changed.get("edges", self._graph.edges)]

    def _drop_unused_types(self) -> None:
        """Remove relation types without links."""
        if "edge_types" not in self._changed:
            return
        types, codes = self._changed["edge_types"], self._changed["edge_codes"]
        used = np.bincount(codes, minlength=len(types)) > 0
        if not used.all():
            index = (np.cumsum(used) - 1).astype(np.int16)
            self._changed["edge_codes"] = index[codes]
            self._changed["edge_types"] = tuple(types[code] for code in np.flatnonzero(used).tolist())

    def _transfer_caches(
        self, after: Graph, neighborhood: Neighborhood | None, is_kept: NDArray[np.bool_] | None
    ) -> None:
        """Pass cached properties of the old graph that are still valid to the new one."""
        caches: dict[str, Any] = {}
        if neighborhood is not None:
            caches["neighborhood"] = (
                neighborhood
                if is_kept is None
                else neighborhood.without_rows(is_kept, _row_positions(is_kept))
            )
        if is_kept is None and "paths" not in self._changed:
            caches["rows"] = self._graph.rows
        elif is_kept is None:
            caches["rows"] = rows = dict(self._graph.rows)
            for previous_path in self._renamed:
                del rows[previous_path]
            rows |= self._new_rows
        caches["is_note"] = self._is_note if is_kept is None else self._is_note[is_kept]
        vars(after).update(caches)


def _row_positions(is_kept: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the new index of each kept row."""
    return (np.cumsum(is_kept) - 1).astype(np.int32)


def _column_name(field: str) -> str:
    """Return the name of the graph's column for a node's field."""
    return field if field in ("tags", *_TIMES) else f"{field}s"


def _is_same_confidence(first: float, second: float) -> bool:
    """Return whether two confidences are equal as float32."""
    return bool(np.float32(first) == np.float32(second)) or (np.isnan(first) and np.isnan(second))
