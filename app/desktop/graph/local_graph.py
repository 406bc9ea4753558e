"""A part of a graph as a graph of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from app.graph.model import Graph

_MAX_NODES = 1500


def extract_subgraph(graph: Graph, paths: Iterable[str], depth: int) -> Graph:
    """Return what is at most `depth` links from one of `paths`, with all links in it; at most 1,500 nodes."""
    starts = [graph.rows[path] for path in paths if path in graph.rows]
    share = max(1, _MAX_NODES // max(1, len(starts)))
    reached = [graph.rows_around(row, depth, share) for row in starts[:_MAX_NODES]]
    rows = np.unique(np.concatenate(reached)) if reached else np.empty(0, dtype=np.int32)
    place = np.full(len(graph), -1, dtype=np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    ends = place[graph.edges]
    inside = (ends >= 0).all(axis=1)
    listed = rows.tolist()
    return replace(
        graph,
        paths=tuple(graph.paths[row] for row in listed),
        names=tuple(graph.names[row] for row in listed),
        types=tuple(graph.types[row] for row in listed),
        kinds=tuple(graph.kinds[row] for row in listed),
        tags=tuple(graph.tags[row] for row in listed),
        folders=tuple(graph.folders[row] for row in listed),
        modified=graph.modified[rows],
        created=graph.created[rows],
        edges=np.ascontiguousarray(ends[inside]),
        edge_codes=graph.edge_codes[inside],
        confidence=graph.confidence[inside],
        suggested=graph.suggested[inside],
    )
