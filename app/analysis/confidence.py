"""How sure a claim or a relation may be, from what speaks for it and against it: sums of log-odds.

Let L(p) = ln(p / (1 - p)). A new confidence p' is

    L(p') = (L(p) + L(p0)) / 2  +  sum of the weights for  -  sum of the weights against

where p is the stated confidence (p0 if none) and p0 what a note of its type has before anything is known.
Half of what was stated is forgotten each time, so that recalculating again and again comes to rest and does
not run away. A neighbour whose relation has the confidence e and which has itself the confidence c weighs
atanh(0.8 e c); the k-th strongest on a side counts 1 / sqrt(k) of that, since witnesses repeat each other.
More support never lowers the result, more contradiction never raises it, and it stays between 0.01 and 0.99.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LOWEST, HIGHEST = 0.01, 0.99
UNSTATED_RELATION = 0.7
UNSTATED_NOTE = 0.6
_REACH = 0.8
_PRIORS = {"observation": 0.65, "source": 0.65, "hypothesis": 0.5, "claim": 0.5}
_PRIOR = 0.5
_FOR = frozenset({"SUPPORTS", "CONFIRMS", "PROVES"})
_AGAINST = frozenset({"CONTRADICTS", "REFUTES", "DISPROVES"})
_SOURCES = frozenset({"CITES", "DERIVED_FROM", "OBSERVED_IN"})
_SOURCE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note at the other end of a relation; confidences are 0 to 1, None where nothing is stated.

    `incoming`: the relation leads from it to the note that is judged.
    """

    name: str
    relation: str
    incoming: bool
    relation_confidence: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Factor:
    """What moved the confidence, and by how much; the impacts of all factors add up to the whole change."""

    name: str
    impact: float


@dataclass(frozen=True, slots=True)
class Judged:
    """A new confidence (0 to 1), the one before it (the prior of the type if none was stated), and why."""

    old: float
    new: float
    factors: tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class Weight:
    """A reason with its weight in log-odds: above 0 speaks for, below 0 against."""

    name: str
    weight: float


def prior(kind: str) -> float:
    """What a note of this type has before anything is known."""
    return _PRIORS.get(kind.lower(), _PRIOR)


def node_confidence(kind: str, stated: float | None, neighbours: Iterable[Neighbour]) -> Judged:
    """The confidence of a note by its neighbours.

    Supporting relations count where they lead to the note, contradictions in both directions, and what it
    cites or is derived from half as much as a support.

    Args:
        kind: The note's type.
        stated: Its confidence, 0 to 1; None if it has none.
        neighbours: Those at the other ends of its relations.
    """
    pro: list[Weight] = []
    contra: list[Weight] = []
    for one in neighbours:
        strength = _strength(one)
        if one.relation in _AGAINST:
            words = "Contradicted by" if one.incoming else "Contradicts"
            contra.append(Weight(f"{words} {one.name}", strength))
        elif one.relation in _FOR and one.incoming:
            pro.append(Weight(f"Supported by {one.name}", strength))
        elif one.relation in _SOURCES and not one.incoming:
            pro.append(Weight(f"Rests on {one.name}", _SOURCE_SHARE * strength))
    weights = [*_thinned(pro), *(Weight(one.name, -one.weight) for one in _thinned(contra))]
    start = f"Where a {kind} starts ({prior(kind):.2f})"
    return judged(stated, prior(kind), start, weights)


def judged(stated: float | None, base: float, start: str, weights: Sequence[Weight]) -> Judged:
    """A confidence drawn half-way back to `base`, then moved by the weights.

    Args:
        stated: The confidence before; None for `base`.
        base: Where it stands before anything is known.
        start: What to call that.
        weights: What speaks for it and against it.
    """
    old = base if stated is None else stated
    level = (_log_odds(old) + _log_odds(base)) / 2
    factors = [Factor(start, _share(level) - old)]
    for one in weights:
        before = _share(level)
        level += one.weight
        factors.append(Factor(one.name, _share(level) - before))
    return Judged(old, _share(level), tuple(factors))


def _strength(one: Neighbour) -> float:
    relation = UNSTATED_RELATION if one.relation_confidence is None else one.relation_confidence
    own = UNSTATED_NOTE if one.confidence is None else one.confidence
    return math.atanh(_REACH * _bounded(relation) * _bounded(own))


def _thinned(weights: Iterable[Weight]) -> list[Weight]:
    """The strongest first, each next one counting less."""
    ordered = sorted(weights, key=lambda one: (-one.weight, one.name))
    return [Weight(one.name, one.weight / math.sqrt(place)) for place, one in enumerate(ordered, 1)]


def _bounded(share: float) -> float:
    return min(1.0, max(0.0, share))


def _log_odds(share: float) -> float:
    kept = min(HIGHEST, max(LOWEST, share))
    return math.log(kept / (1 - kept))


def _share(log_odds: float) -> float:
    """From log-odds to a share between the bounds."""
    return min(HIGHEST, max(LOWEST, 1 / (1 + math.exp(-min(50.0, max(-50.0, log_odds))))))
