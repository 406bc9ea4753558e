"""Extract the neighborhood of some nodes as a graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from app.graph.model import Graph

_MAX_NODES = 1500


def extract_subgraph(graph: Graph, paths: Iterable[str], depth: int) -> Graph:
    """Return the nodes at most `depth` links from one of `paths`, with their links; at most 1,500 nodes."""
    starts = [graph.rows[path] for path in paths if path in graph.rows]
    nodes_per_start = max(1, _MAX_NODES // max(1, len(starts)))
    reached = [graph.rows_around(row, depth, nodes_per_start) for row in starts[:_MAX_NODES]]
    rows = np.unique(np.concatenate(reached)) if reached else np.empty(0, dtype=np.int32)
    new_rows = np.full(len(graph), -1, dtype=np.int32)
    new_rows[rows] = np.arange(len(rows), dtype=np.int32)
    edges = new_rows[graph.edges]
    is_inside = (edges >= 0).all(axis=1)
    old_rows = rows.tolist()
    return replace(
        graph,
        paths=tuple(graph.paths[row] for row in old_rows),
        names=tuple(graph.names[row] for row in old_rows),
        types=tuple(graph.types[row] for row in old_rows),
        kinds=tuple(graph.kinds[row] for row in old_rows),
        tags=tuple(graph.tags[row] for row in old_rows),
        folders=tuple(graph.folders[row] for row in old_rows),
        modified=graph.modified[rows],
        created=graph.created[rows],
        edges=np.ascontiguousarray(edges[is_inside]),
        edge_codes=graph.edge_codes[is_inside],
        confidence=graph.confidence[is_inside],
        suggested=graph.suggested[is_inside],
    )
