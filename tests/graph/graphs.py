"""Graphs for the tests: small ones by their edges, and one with planted communities."""

from __future__ import annotations

import numpy as np

from app.graph.builder import build, build_from
from app.graph.model import Graph, GraphEdge, GraphNode
from app.index.records import GraphData


def of_edges(pairs, lonely=()) -> Graph:
    """Return a graph of nodes named by letters, e.g. of_edges(["ab", "bc"], lonely="x")."""
    names = list(dict.fromkeys([*"".join(pairs), *lonely]))
    nodes = [GraphNode(f"{name}.md", name) for name in names]
    return build_from(nodes, [GraphEdge(f"{a}.md", f"{b}.md") for a, b in pairs])


def data(count: int, edges, **columns) -> GraphData:
    edges = np.array(edges, dtype=np.int32).reshape(-1, 2)
    given = {
        "paths": tuple(f"n{row}.md" for row in range(count)),
        "names": tuple(f"n{row}" for row in range(count)),
        "types": ("note",) * count,
        "kinds": ("note",) * count,
        "tags": ((),) * count,
        "folders": ("",) * count,
        "modified": np.zeros(count),
        "edges": edges,
        "edge_types": ("LINKS_TO",),
        "codes": np.zeros(len(edges), dtype=np.int16),
        "confidence": np.full(len(edges), np.nan, dtype=np.float32),
        "created": np.zeros(count),
    }
    return GraphData(**(given | columns))


def planted(groups: int = 12, size: int = 30, lonely: int = 0) -> tuple[Graph, np.ndarray]:
    """Return a graph of `groups` communities with hubs and a few links across, and each node's community."""
    rng = np.random.default_rng(0)
    edges = []
    for group in range(groups):
        low = group * size
        weight = 1 / (1 + np.arange(size))
        for node in range(1, size):
            picked = rng.choice(node, min(2, node), replace=False, p=weight[:node] / weight[:node].sum())
            edges += [(low + node, low + int(other)) for other in picked]
        edges += [(low + int(rng.integers(size)), int(rng.integers(groups * size))) for _ in range(2)]
    count = groups * size + lonely
    return build(data(count, edges)), np.append(np.repeat(np.arange(groups), size), np.full(lonely, -1))
