"""The vault as arrays, for the graph.

An unresolved name is one node regardless of its spelling. Its label is the first spelling in sort order, so
that the whole graph and a delta use the same one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import numpy as np

from app.index.names import decode_list
from app.index.records import GraphData, NodeKind
from app.vault.path import without_suffix

Row = tuple[str, str, str, NodeKind, tuple[str, ...], str, float, float]
UNRESOLVED: NodeKind = "unresolved"


def graph_data(connection: sqlite3.Connection) -> GraphData:
    """Return the graph: notes by key, then attachments by key, then unresolved names.

    Every link is an edge, even one from a note to itself. During the first scan, notes that have not been
    read yet have no outgoing edges.
    """
    nodes: list[Row] = []
    node_index: dict[int, int] = {}
    for row_id, *columns in connection.execute(
        "SELECT files.id, path, is_note, modified, created, type, tags FROM files LEFT JOIN notes USING (id)"
        " ORDER BY is_note DESC, key, path"
    ):
        node_index[row_id] = len(nodes)
        nodes.append(file_row(*columns))
    unresolved_index: dict[str, int] = {}
    ends: list[int] = []
    types: dict[str, int] = {}
    codes: list[int] = []
    confidences: list[float] = []
    for source, target_id, key, target, type_, confidence in connection.execute(
        "SELECT source, target_id, target_key, target, type, confidence FROM links ORDER BY id"
    ):
        end = node_index.get(target_id) if target_id is not None else unresolved_index.get(key)
        if end is None:
            end = unresolved_index[key] = len(nodes)
            nodes.append(unresolved_row(target))
        elif target_id is None and target < nodes[end][0]:
            nodes[end] = unresolved_row(target)
        ends += (node_index[source], end)
        codes.append(types.setdefault(type_, len(types)))
        confidences.append(float("nan") if confidence is None else confidence)
    return _arrays(nodes, ends, types, codes, confidences)


def file_row(path: str, is_note: int, modified: float, created: float, type_: str | None, tags: str) -> Row:
    """Return the node of a file from its columns."""
    folder, _, file_name = path.rpartition("/")
    kind: NodeKind = "note" if is_note else "attachment"
    names = decode_list(tags) if tags else ()
    return (path, without_suffix(file_name), type_ or kind, kind, names, folder, modified, created)


def unresolved_row(name: str) -> Row:
    """Return the node of an unresolved name."""
    return (name, name.rpartition("/")[2], UNRESOLVED, UNRESOLVED, (), "", 0.0, 0.0)


def _arrays(
    nodes: Iterable[Row],
    ends: list[int],
    types: Iterable[str],
    codes: list[int],
    confidences: list[float],
) -> GraphData:
    columns = list(zip(*nodes, strict=True)) or [()] * 8
    paths, names, node_types, kinds, tags, folders, modified, created = columns
    return GraphData(
        paths,
        names,
        node_types,
        kinds,
        tags,
        folders,
        np.array(modified, dtype=np.float64),
        np.array(ends, dtype=np.int32).reshape(-1, 2),
        tuple(types),
        np.array(codes, dtype=np.int16),
        np.array(confidences, dtype=np.float32),
        np.array(created, dtype=np.float64),
    )
