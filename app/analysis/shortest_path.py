"""The shortest path between two notes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.analysis.network import AdjacencyArrays
from app.graph.static_layout import Report, no_progress

_NO_PREDECESSOR = -9999


def shortest_path(
    network: AdjacencyArrays, source: int, target: int, report: Report = no_progress
) -> NDArray[np.int32]:
    """Return the rows along a path with the fewest links, `source` first; empty if there is none.

    Links are followed in both directions. The choice among several shortest paths is deterministic.
    """
    import scipy.sparse.csgraph

    report(-1, "Looking for a path")
    if source == target:
        return np.array([source], dtype=np.int32)
    # Search from the target, so that the predecessors lead from the source to it.
    _, nearer = scipy.sparse.csgraph.breadth_first_order(network.matrix(), target, directed=False)
    rows = [source]
    while rows[-1] != target:
        following = int(nearer[rows[-1]])
        if following == _NO_PREDECESSOR:
            return np.empty(0, dtype=np.int32)
        rows.append(following)
    return np.array(rows, dtype=np.int32)
