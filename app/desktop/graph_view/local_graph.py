"""A part of a graph as a graph of its own."""

from __future__ import annotations

import numpy as np

from app.graph.model import Graph

_MOST = 1500


def part_of(graph: Graph, path: str, depth: int) -> Graph:
    """What is at most `depth` links from `path`, with all links among it; at most 1,500 nodes."""
    rows = np.sort(graph.around(graph.rows[path], depth, _MOST))
    place = np.full(len(graph), -1, dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    ends = place[graph.edges]
    inside = (ends >= 0).all(axis=1)
    listed = rows.tolist()
    return Graph(
        paths=tuple(graph.paths[row] for row in listed),
        names=tuple(graph.names[row] for row in listed),
        types=tuple(graph.types[row] for row in listed),
        kinds=tuple(graph.kinds[row] for row in listed),
        tags=tuple(graph.tags[row] for row in listed),
        folders=tuple(graph.folders[row] for row in listed),
        modified=graph.modified[rows],
        edges=np.ascontiguousarray(ends[inside]),
        edge_types=graph.edge_types,
        edge_codes=graph.edge_codes[inside],
        confidence=graph.confidence[inside],
    )
