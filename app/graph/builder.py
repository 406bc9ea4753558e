"""Build a graph from index data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.graph.encoded_columns import warm_graph
from app.graph.incremental_update import encode_confidence
from app.graph.model import Graph, GraphEdge, GraphNode

if TYPE_CHECKING:
    from app.index.records import GraphData


def build(data: GraphData) -> Graph:
    """Return the graph of `data` without self-links, duplicates of one type, and links out of range."""
    edges = np.asarray(data.edges, dtype=np.int32).reshape(-1, 2)
    codes = np.asarray(data.codes, dtype=np.int16)
    first = _kept_edges(edges, codes, len(data.paths))
    graph = Graph(
        paths=tuple(data.paths),
        names=tuple(data.names),
        types=tuple(data.types),
        kinds=tuple(data.kinds),
        tags=tuple(data.tags),
        folders=tuple(data.folders),
        modified=np.asarray(data.modified, dtype=np.float64),
        edges=np.ascontiguousarray(edges[first]),
        edge_types=tuple(data.edge_types),
        edge_codes=codes[first],
        confidence=np.asarray(data.confidence, dtype=np.float32)[first],
        created=np.asarray(data.created, dtype=np.float64),
    )
    return warm_graph(graph)


def build_from(nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> Graph:
    """Return the graph of `nodes` and `edges`, without edges that have an unknown end."""
    listed = tuple({node.path: node for node in nodes}.values())
    rows = {node.path: row for row, node in enumerate(listed)}
    edges_in_graph = [edge for edge in edges if edge.source in rows and edge.target in rows]
    edges_in_graph.sort(key=lambda edge: edge.suggested)
    types = tuple(sorted({edge.type for edge in edges_in_graph}))
    code_of = {name: code for code, name in enumerate(types)}
    ends = np.array(
        [(rows[edge.source], rows[edge.target]) for edge in edges_in_graph], dtype=np.int32
    ).reshape(-1, 2)
    codes = np.array([code_of[edge.type] for edge in edges_in_graph], dtype=np.int16)
    confidence = np.array([encode_confidence(edge.confidence) for edge in edges_in_graph], dtype=np.float32)
    first = _kept_edges(ends, codes, len(listed))
    return Graph(
        paths=tuple(node.path for node in listed),
        names=tuple(node.name for node in listed),
        types=tuple(node.type for node in listed),
        kinds=tuple(node.kind for node in listed),
        tags=tuple(node.tags for node in listed),
        folders=tuple(node.folder for node in listed),
        modified=np.array([node.modified for node in listed], dtype=np.float64),
        edges=np.ascontiguousarray(ends[first]),
        edge_types=types,
        edge_codes=codes[first],
        confidence=confidence[first],
        created=np.array([node.created for node in listed], dtype=np.float64),
        suggested=np.array([edge.suggested for edge in edges_in_graph], dtype=bool)[first],
    )


def _kept_edges(edges: NDArray[np.int32], codes: NDArray[np.int16], size: int) -> NDArray[np.int64]:
    """Return the indexes of the edges to keep: no self-links, no end out of range, no duplicates."""
    inside = (edges >= 0).all(axis=1) & (edges < size).all(axis=1) & (edges[:, 0] != edges[:, 1])
    listed = np.flatnonzero(inside)
    edges, codes = edges[listed], codes[listed]
    keys = (codes.astype(np.int64) * max(size, 1) + edges[:, 0]) * max(size, 1) + edges[:, 1]
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = ranked[1:] != ranked[:-1]
    return listed[np.sort(order[new])]
