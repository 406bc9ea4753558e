"""Suggested links in a graph: they come after the real links and do not affect adjacency."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.graph.model import SUGGESTED, Graph

_NO_PAIRS = np.empty((0, 2), dtype=np.int32)


def add_suggestions(
    graph: Graph, pairs: NDArray[np.int32] = _NO_PAIRS, scores: NDArray[np.float32] | None = None
) -> Graph:
    """Return the graph with its suggested links replaced by these; rows are unchanged.

    Args:
        graph: A graph with or without suggestions.
        pairs: int32 (k, 2), rows of source and target; pairs that are already linked are left out.
        scores: float32 (k,), drawn as confidence; none by default.
    """
    link_count = len(graph.links)
    pairs = np.asarray(pairs, dtype=np.int32).reshape(-1, 2)
    if scores is None:
        scores = np.full(len(pairs), np.nan, dtype=np.float32)
    is_new = ~_has_link(graph, pairs)
    pairs, scores = pairs[is_new], np.asarray(scores, dtype=np.float32)[is_new]
    types = tuple(name for name in graph.edge_types if name != SUGGESTED)
    code_map = [types.index(name) if name in types else 0 for name in graph.edge_types]
    codes = np.array(code_map, dtype=np.int16)[graph.edge_codes[:link_count]]
    if len(pairs):
        types = (*types, SUGGESTED)
        codes = np.append(codes, np.full(len(pairs), len(types) - 1, dtype=np.int16))
    extended = replace(
        graph,
        edges=np.ascontiguousarray(np.concatenate([graph.links, pairs])),
        edge_types=types,
        edge_codes=codes,
        confidence=np.append(graph.confidence[:link_count], scores),
        suggested=np.arange(link_count + len(pairs)) >= link_count,
    )
    cached_names = ("rows", "is_note", "neighborhood", "degree")
    vars(extended).update({name: value for name, value in vars(graph).items() if name in cached_names})
    return extended


def _has_link(graph: Graph, pairs: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which pairs have a real link, in either direction, or are the same node twice."""
    return np.array(
        [source == target or target in graph.neighbors(source) for source, target in pairs.tolist()],
        dtype=bool,
    )
