"""Confidence of a claim or a relation from its support and contradictions, as a sum of log-odds.

Let L(p) = ln(p / (1 - p)). A new confidence p' is

    L(p') = (L(p) + L(p0)) / 2  +  sum of the weights for  -  sum of the weights against

where p is the stated confidence (p0 if none) and p0 the prior of the note's type. Each calculation forgets
half of the stated confidence, so that repeated recalculation converges. A neighbor with confidence c whose
relation has confidence e has the weight atanh(0.8 e c); the k-th strongest on a side counts for 1 / sqrt(k)
of that, since sources repeat each other. More support never lowers the result, more contradiction never
raises it, and it stays between 0.01 and 0.99.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MIN_CONFIDENCE, MAX_CONFIDENCE = 0.01, 0.99
DEFAULT_RELATION_CONFIDENCE = 0.7
DEFAULT_NOTE_CONFIDENCE = 0.6
_MAX_INFLUENCE = 0.8
_PRIORS = {"observation": 0.65, "source": 0.65, "hypothesis": 0.5, "claim": 0.5}
_DEFAULT_PRIOR = 0.5
_SUPPORTING = frozenset({"SUPPORTS", "CONFIRMS", "PROVES"})
_CONTRADICTING = frozenset({"CONTRADICTS", "REFUTES", "DISPROVES"})
_CITING = frozenset({"CITES", "DERIVED_FROM", "OBSERVED_IN"})
_SOURCE_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class RelationNeighbor:
    """A note at the other end of a relation; confidences are 0 to 1, None if not stated.

    `incoming`: the relation points from this neighbor to the assessed note.
    """

    name: str
    relation: str
    incoming: bool
    relation_confidence: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Factor:
    """A cause of a change in confidence; the impacts of all factors add up to the whole change."""

    name: str
    impact: float


@dataclass(frozen=True, slots=True)
class ConfidenceUpdate:
    """A new confidence (0 to 1), the previous one (the type's prior if none was stated), and the factors."""

    previous: float
    confidence: float
    factors: tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class WeightedReason:
    """A reason with its weight in log-odds: positive supports, negative contradicts."""

    name: str
    weight: float


def prior_confidence(kind: str) -> float:
    """Return the prior confidence of a note of this type."""
    return _PRIORS.get(kind.lower(), _DEFAULT_PRIOR)


def node_confidence(
    kind: str, stated: float | None, neighbors: Iterable[RelationNeighbor]
) -> ConfidenceUpdate:
    """Return the confidence of a note, derived from its neighbors.

    Supporting relations count if they point to the note; contradictions count in both directions. Notes that
    it cites, is derived from or was observed in count half as much as support.

    Args:
        kind: The note's type.
        stated: Its confidence, 0 to 1; None if it has none.
        neighbors: The notes at the other ends of its relations.
    """
    supporting: list[WeightedReason] = []
    contradicting: list[WeightedReason] = []
    for neighbor in neighbors:
        strength = _strength(neighbor)
        if neighbor.relation in _CONTRADICTING:
            prefix = "Contradicted by" if neighbor.incoming else "Contradicts"
            contradicting.append(WeightedReason(f"{prefix} {neighbor.name}", strength))
        elif neighbor.relation in _SUPPORTING and neighbor.incoming:
            supporting.append(WeightedReason(f"Supported by {neighbor.name}", strength))
        elif neighbor.relation in _CITING and not neighbor.incoming:
            supporting.append(WeightedReason(f"Based on {neighbor.name}", _SOURCE_WEIGHT * strength))
    reasons = [
        *_discount(supporting),
        *(WeightedReason(reason.name, -reason.weight) for reason in _discount(contradicting)),
    ]
    prior_label = f"Default for the type {kind} ({prior_confidence(kind):.2f})"
    return update_confidence(stated, prior_confidence(kind), prior_label, reasons)


def update_confidence(
    stated: float | None, prior: float, prior_label: str, reasons: Sequence[WeightedReason]
) -> ConfidenceUpdate:
    """Return the stated confidence, moved halfway to the prior and then by the weight of each reason.

    Args:
        stated: The previous confidence; None for the prior.
        prior: The confidence without any reasons.
        prior_label: The name of the prior among the factors.
        reasons: The reasons for and against it.
    """
    previous = prior if stated is None else stated
    level = (_log_odds(previous) + _log_odds(prior)) / 2
    factors = [Factor(prior_label, _probability(level) - previous)]
    for reason in reasons:
        before = _probability(level)
        level += reason.weight
        factors.append(Factor(reason.name, _probability(level) - before))
    return ConfidenceUpdate(previous, _probability(level), tuple(factors))


def _strength(neighbor: RelationNeighbor) -> float:
    relation = (
        DEFAULT_RELATION_CONFIDENCE if neighbor.relation_confidence is None else neighbor.relation_confidence
    )
    confidence = DEFAULT_NOTE_CONFIDENCE if neighbor.confidence is None else neighbor.confidence
    return math.atanh(_MAX_INFLUENCE * _clamp(relation) * _clamp(confidence))


def _discount(reasons: Iterable[WeightedReason]) -> list[WeightedReason]:
    """Return the reasons, strongest first, each weight discounted by its rank."""
    ordered = sorted(reasons, key=lambda reason: (-reason.weight, reason.name))
    return [
        WeightedReason(reason.name, reason.weight / math.sqrt(rank)) for rank, reason in enumerate(ordered, 1)
    ]


def _clamp(confidence: float) -> float:
    return min(1.0, max(0.0, confidence))


def _log_odds(probability: float) -> float:
    clamped = min(MAX_CONFIDENCE, max(MIN_CONFIDENCE, probability))
    return math.log(clamped / (1 - clamped))


def _probability(log_odds: float) -> float:
    """Convert log-odds to a probability within the bounds."""
    return min(MAX_CONFIDENCE, max(MIN_CONFIDENCE, 1 / (1 + math.exp(-min(50.0, max(-50.0, log_odds))))))
