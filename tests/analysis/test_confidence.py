"""Confidence by log-odds is bounded, monotonic and convergent, and its impacts add up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.analysis.confidence import MAX_CONFIDENCE, MIN_CONFIDENCE, RelationNeighbor, node_confidence

shares = st.floats(0, 1)
maybe = st.none() | shares
neighbors = st.lists(
    st.builds(
        RelationNeighbor,
        st.sampled_from(["A", "B", "C"]),
        st.sampled_from(["SUPPORTS", "CONTRADICTS", "CITES", "RELATES_TO", "DERIVED_FROM"]),
        st.booleans(),
        maybe,
        maybe,
    ),
    max_size=12,
)
kinds = st.sampled_from(["hypothesis", "observation", "note"])


@given(kinds, maybe, neighbors)
def test_bounds_and_impacts(kind: str, stated: float | None, around: list[RelationNeighbor]) -> None:
    update = node_confidence(kind, stated, around)
    assert 0 < MIN_CONFIDENCE <= update.confidence <= MAX_CONFIDENCE < 1
    assert sum(one.impact for one in update.factors) == pytest.approx(
        update.confidence - update.previous, abs=1e-9
    )


@given(kinds, maybe, neighbors, maybe, maybe)
def test_support_never_lowers_and_contradiction_never_raises(
    kind: str, stated: float | None, around: list[RelationNeighbor], edge: float | None, own: float | None
) -> None:
    now = node_confidence(kind, stated, around).confidence
    more = node_confidence(
        kind, stated, [*around, RelationNeighbor("X", "SUPPORTS", True, edge, own)]
    ).confidence
    less = node_confidence(
        kind, stated, [*around, RelationNeighbor("X", "CONTRADICTS", False, edge, own)]
    ).confidence
    assert less - 1e-12 <= now <= more + 1e-12


@given(kinds, maybe, neighbors, shares, shares)
def test_a_more_confident_neighbor_weighs_more(
    kind: str, stated: float | None, around: list[RelationNeighbor], one: float, other: float
) -> None:
    low, high = sorted((one, other))
    weak = node_confidence(
        kind, stated, [*around, RelationNeighbor("X", "SUPPORTS", True, 0.8, low)]
    ).confidence
    strong = node_confidence(
        kind, stated, [*around, RelationNeighbor("X", "SUPPORTS", True, 0.8, high)]
    ).confidence
    assert weak <= strong + 1e-12


@given(kinds, shares, shares, neighbors)
def test_repeated_calculation_converges(
    kind: str, first: float, second: float, around: list[RelationNeighbor]
) -> None:
    for _ in range(60):
        first, second = (node_confidence(kind, one, around).confidence for one in (first, second))
    assert first == pytest.approx(second, abs=1e-6)


def test_the_notes_that_a_note_supports_do_not_count() -> None:
    alone = node_confidence("hypothesis", 0.6, [])
    assert node_confidence("hypothesis", 0.6, [RelationNeighbor("A", "SUPPORTS", False, 1.0, 1.0)]) == alone
