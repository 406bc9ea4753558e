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
    """Return the graph of `data` without self-links, duplicates of the same type, or out-of-range links."""
    edges = np.asarray(data.edges, dtype=np.int32).reshape(-1, 2)
    codes = np.asarray(data.codes, dtype=np.int16)
    selected = _select_edges(edges, codes, len(data.paths))
    graph = Graph(
        paths=tuple(data.paths),
        names=tuple(data.names),
        types=tuple(data.types),
        kinds=tuple(data.kinds),
        tags=tuple(data.tags),
        folders=tuple(data.folders),
        modified=np.asarray(data.modified, dtype=np.float64),
        edges=np.ascontiguousarray(edges[selected]),
        edge_types=tuple(data.edge_types),
        edge_codes=codes[selected],
        confidence=np.asarray(data.confidence, dtype=np.float32)[selected],
        created=np.asarray(data.created, dtype=np.float64),
    )
    return warm_graph(graph)


def build_from(nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> Graph:
    """Return the graph of `nodes` and `edges`, without self-links, duplicates, or edges with unknown nodes.

    If several nodes have the same path, the last one wins. Suggested edges come last.
    """
    distinct_nodes = tuple({node.path: node for node in nodes}.values())
    rows = {node.path: row for row, node in enumerate(distinct_nodes)}
    edges_in_graph = [edge for edge in edges if edge.source in rows and edge.target in rows]
    edges_in_graph.sort(key=lambda edge: edge.suggested)
    types = tuple(sorted({edge.type for edge in edges_in_graph}))
    code_of = {name: code for code, name in enumerate(types)}
    ends = np.array(
        [(rows[edge.source], rows[edge.target]) for edge in edges_in_graph], dtype=np.int32
    ).reshape(-1, 2)
    codes = np.array([code_of[edge.type] for edge in edges_in_graph], dtype=np.int16)
    confidence = np.array([encode_confidence(edge.confidence) for edge in edges_in_graph], dtype=np.float32)
    selected = _select_edges(ends, codes, len(distinct_nodes))
    return Graph(
        paths=tuple(node.path for node in distinct_nodes),
        names=tuple(node.name for node in distinct_nodes),
        types=tuple(node.type for node in distinct_nodes),
        kinds=tuple(node.kind for node in distinct_nodes),
        tags=tuple(node.tags for node in distinct_nodes),
        folders=tuple(node.folder for node in distinct_nodes),
        modified=np.array([node.modified for node in distinct_nodes], dtype=np.float64),
        edges=np.ascontiguousarray(ends[selected]),
        edge_types=types,
        edge_codes=codes[selected],
        confidence=confidence[selected],
        created=np.array([node.created for node in distinct_nodes], dtype=np.float64),
        suggested=np.array([edge.suggested for edge in edges_in_graph], dtype=bool)[selected],
    )


def _select_edges(edges: NDArray[np.int32], codes: NDArray[np.int16], size: int) -> NDArray[np.int64]:
    """Return the indexes of the edges to keep: no self-links, no out-of-range endpoints, no duplicates."""
    is_valid = (edges >= 0).all(axis=1) & (edges < size).all(axis=1) & (edges[:, 0] != edges[:, 1])
    candidates = np.flatnonzero(is_valid)
    edges, codes = edges[candidates], codes[candidates]
    keys = (codes.astype(np.int64) * max(size, 1) + edges[:, 0]) * max(size, 1) + edges[:, 1]
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    is_first = np.ones(len(keys), dtype=bool)
    is_first[1:] = sorted_keys[1:] != sorted_keys[:-1]
    return candidates[np.sort(order[is_first])]
