"""One ranking out of several: of the words of a text and of its meaning.

Measured by `python -m tests.benchmarks.retrieval` on real notes; its table says which way wins.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

# How deep a place still counts: reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009) uses 60.
DEPTH = 60


def reciprocal(
    rankings: Sequence[Sequence[Key]], weights: Sequence[float] | None = None, depth: float = DEPTH
) -> list[tuple[Key, float]]:
    """The keys of all rankings, best first, each with the sum of weight / (depth + place).

    Only places count, so that scores of different kinds need not be comparable.
    """
    scores: dict[Key, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for place, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + weight / (depth + place)
    return _ranked(scores)


def weighted(
    rankings: Sequence[Sequence[tuple[Key, float]]], weights: Sequence[float]
) -> list[tuple[Key, float]]:
    """The keys of all rankings, best first, each with the weighted sum of its scores.

    The scores of each ranking are stretched to 0 … 1 between its last and its first key; a key that a ranking
    lacks has 0 there.
    """
    scores: dict[Key, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        if not ranking:
            continue
        low, high = ranking[-1][1], ranking[0][1]
        span = (high - low) or 1.0
        for key, score in ranking:
            share = (score - low) / span if high > low else 1.0
            scores[key] = scores.get(key, 0.0) + weight * share
    return _ranked(scores)


def _ranked(scores: dict[Key, float]) -> list[tuple[Key, float]]:
    # Equal sums keep the order in which the keys came.
    return sorted(scores.items(), key=lambda one: -one[1])
