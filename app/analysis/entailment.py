"""What a cross-encoder of natural language inference adds to a suggested relation.

Of the passages of two notes those most alike are judged. With c and e, the highest probabilities of
contradiction and entailment among them, the model says

    y = (e - c) / 2    where |e - c| is at least 0.5, else nothing

which speaks for SUPPORTS above 0 and for CONTRADICTS below. What the texts say for the one or the other (x,
the strength of the local reason with the same sign) is combined with it as certainty factors are (Shortliffe
and Buchanan, "A model of inexact reasoning in medicine", 1975):

    x + y (1 - |x|)                    where both have the same sign
    (x + y) / (1 - min(|x|, |y|))      else

The sign of the sum is the type, its size the strength. A type that is neither is kept unless the model is
surer than what speaks for it. At most 0.5 comes from the model, so what a note says in so many words of the
other (0.5 and 0.6) is never overruled. Strength then takes its part of the doubt that the structure leaves,
as in `relations`: so the score of a support never falls when e rises or c falls, nor that of a contradiction
when c rises or e falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.analysis.alike import by_words
from app.analysis.relations import Side, Suggested
from app.embeddings.pair_judge import Verdict

_SENTENCES = 40
_PAIRS = 6
_ALIKE = 0.15
_CLEAR = 0.5
_WEIGHT = 0.5
_SIGNS = {"SUPPORTS": 1.0, "CONTRADICTS": -1.0}

Passages = tuple[str, str]


def passages(source: Side, target: Side) -> tuple[Passages, ...]:
    """A sentence of each note, those most alike first: what may bear out or deny what."""
    ours, theirs = list(source.sentences[:_SENTENCES]), list(target.sentences[:_SENTENCES])
    if not ours or not theirs:
        return ()
    likeness = by_words([*ours, *theirs])[: len(ours), len(ours) :]
    best = np.argsort(-likeness, axis=None, kind="stable")[:_PAIRS]
    places = [divmod(int(place), len(theirs)) for place in best]
    return tuple((ours[at], theirs[to]) for at, to in places if likeness[at, to] >= _ALIKE)


def blended(
    local: Suggested, verdicts: Sequence[Verdict], model: str, judged: Sequence[Passages] = ()
) -> Suggested:
    """The suggestion with the model's opinion as one more reason, named in its reasoning.

    Args:
        local: By local methods, or with another score for the same strength of the texts.
        verdicts: Of the passages; at least one.
        model: What the model is called.
        judged: The passages, in the order of the verdicts: evidence where the model decides on the type.
    """
    entailment = min(1.0, max(0.0, *(one.entailment for one in verdicts), 0.0))
    contradiction = min(1.0, max(0.0, *(one.contradiction for one in verdicts), 0.0))
    balance = entailment - contradiction
    weight = _WEIGHT * balance if abs(balance) >= _CLEAR else 0.0
    kind, said = _with_model(local, weight)
    doubt = (1 - local.score) / (1 - local.said) * (1 - said)
    score = round(min(1.0, max(0.0, 1 - doubt)), 4)
    says = "support" if weight > 0 else "contradiction" if weight < 0 else "nothing clear"
    told = f"{model} reads {says} (entailment {entailment:.2f}, contradiction {contradiction:.2f})"
    evidence = local.evidence if kind == local.type else _decisive(kind, verdicts, judged)
    reasoning = f"{local.reasoning} {told}."
    return replace(local, type=kind, score=score, said=said, reasoning=reasoning, evidence=evidence)


def _decisive(kind: str, verdicts: Sequence[Verdict], judged: Sequence[Passages]) -> tuple[str, ...]:
    """The two passages that speak most clearly for the type."""

    def clear(one: tuple[Verdict, Passages]) -> float:
        return one[0].entailment if kind == "SUPPORTS" else one[0].contradiction

    best = max(zip(verdicts, judged, strict=False), key=clear, default=None)
    return best[1] if best else ()


def _with_model(local: Suggested, weight: float) -> tuple[str, float]:
    """The type, and how much texts and model together speak for it (0 to 1)."""
    sign = _SIGNS.get(local.type)
    if sign is None:
        if abs(weight) <= local.said:
            return local.type, local.said
        return _signed(weight), abs(weight)
    total = _combined(sign * local.said, weight)
    return (_signed(total) if total else local.type), abs(total)


def _combined(first: float, second: float) -> float:
    if first * second >= 0:
        return first + second * (1 - abs(first))
    return (first + second) / (1 - min(abs(first), abs(second)))


def _signed(weight: float) -> str:
    return "SUPPORTS" if weight > 0 else "CONTRADICTS"
