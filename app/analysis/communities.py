"""Communities: groups of notes that link to each other more than chance would predict.

Small graphs use the Louvain method (Blondel et al., "Fast unfolding of communities in large networks", 2008)
from networkx. It takes minutes for a hundred thousand nodes, so in larger graphs label propagation first
merges nodes into small neighborhoods and Louvain groups those, which takes about six seconds and loses only a
few hundredths of modularity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.analysis.network import AdjacencyArrays
from app.graph.static_layout import Report, no_progress

if TYPE_CHECKING:
    import networkx

_MAX_PLAIN_NODES = 8000
_MAX_MERGED_MASS = 8.0
_SEED = 0


@dataclass(frozen=True, eq=False)
class Communities:
    """A division of the nodes into communities.

    Args:
        labels: int64 (n,), 0 for the largest community, -1 for nodes without links.
        count: The number of communities.
        method: The name of the method.
    """

    labels: NDArray[np.int64]
    count: int
    method: str


def find_communities(network: AdjacencyArrays, report: Report = no_progress) -> Communities:
    """Return the communities of the linked nodes; deterministic for the same links."""
    report(-1, "Looking for communities")
    linked = np.zeros(network.size, dtype=bool)
    linked[network.links] = True
    if not linked.any():
        return Communities(np.full(network.size, -1, dtype=np.int64), 0, "Louvain")
    if network.size <= _MAX_PLAIN_NODES:
        unordered, method = _louvain(network.undirected(), network.size), "Louvain"
    else:
        unordered, method = _louvain_on_groups(network), "Louvain on merged neighborhoods"
    labels = _number_by_size(unordered, linked)
    return Communities(labels, int(labels.max()) + 1, method)


def _louvain(graph: networkx.Graph[int], size: int) -> NDArray[np.int64]:
    from networkx.algorithms.community import louvain_communities

    labels = np.zeros(size, dtype=np.int64)
    for number, members in enumerate(louvain_communities(graph, seed=_SEED)):
        labels[list(members)] = number
    return labels


def _louvain_on_groups(network: AdjacencyArrays) -> NDArray[np.int64]:
    """Run Louvain on small neighborhoods, weighted by their links; internal links become self-loops."""
    import networkx

    from app.graph.coarsen import CoarseLevel, adjacency, coarsen_level, propagate

    weights = adjacency(network.links, network.size)
    fine = CoarseLevel(weights, np.ones(network.size, dtype=np.float32))
    labels = propagate(weights, fine.mass, _MAX_MERGED_MASS, _SEED)
    used, parent = np.unique(labels, return_inverse=True)
    coarse = coarsen_level(fine, parent, len(used))
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(range(len(used)))
    ends, weight = coarse.edges()
    graph.add_weighted_edges_from(zip(*ends.T.tolist(), weight.tolist(), strict=True))
    total = np.bincount(parent, np.asarray(weights.sum(axis=1)).ravel(), len(used))
    inside = (total - np.asarray(coarse.weights.sum(axis=1)).ravel()) / 2
    graph.add_weighted_edges_from(
        (row, row, self_weight) for row, self_weight in enumerate(inside.tolist()) if self_weight > 0
    )
    return _louvain(graph, len(used))[parent]


def _number_by_size(unordered: NDArray[np.int64], linked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Renumber communities by size, ties by their first member; -1 for nodes without links."""
    _, first, inverse, counts = np.unique(
        unordered[linked], return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.lexsort((first, -counts))] = np.arange(len(counts))
    labels = np.full(len(unordered), -1, dtype=np.int64)
    labels[linked] = rank[inverse]
    return labels
