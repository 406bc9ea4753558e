"""Weigh what a request may mean: the probabilities of its readings, and of outcomes without a step.

The readings of the grammar and of the request model are options, and so are the outcomes. A log-linear model
with few weights makes probabilities of them. `packaging/fit_request_decision.py` fits the weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.agent.language.candidates import Candidate, means_same
from app.agent.language.choices import is_clear
from app.agent.language.program import OUTCOMES
from app.agent.language.readings import Reading

WEIGHTS: Mapping[str, float] = {
    "written": 0.83,
    "only grammar": 0.88,
    "unclear": -1.39,
    "grammar": 0.46,
    "first": 0.32,
    "complete": 1.94,
    "model": 0.96,
    "model if asked": -0.23,
    "question": 0.77,
    "question if asked": 0.61,
    "none": -0.13,
    "ask": -0.53,
    "lacks a value": 0.62,
    "else": -1.66,
}
"""The weight of each feature."""
MAX_FROM_GRAMMAR = 4
_LEAST = 1e-3
"""Probability that the request model gives to what it did not write."""

Features = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Option:
    """What a request may mean: a reading, one of the outcomes, or nothing of all that.

    Args:
        features: What speaks for it.
        reading: The reading.
        outcome: The outcome; "else" stands for something that is no option.
        share: Its probability.
    """

    features: Features
    reading: Reading | None = None
    outcome: str = ""
    share: float = 0.0


def options_of(written: Sequence[Candidate], found: Sequence[Reading], *, asks: bool) -> list[Option]:
    """Return the options of a request with their features.

    Args:
        written: What the request model writes.
        found: The readings of the grammar, best first.
        asks: Whether the request is a question.
    """
    best = found[0] if found else None
    read: list[tuple[Reading, float, int]] = [
        (one.reading, one.probability, -1) for one in written if one.reading is not None
    ]
    for place, reading in enumerate(found[:MAX_FROM_GRAMMAR]):
        if reading.missing:
            continue
        same = next((at for at, one in enumerate(read) if means_same(one[0], reading)), None)
        if same is None:
            read.append((reading, 0.0, place))
        elif read[same][2] < 0:
            read[same] = (reading, read[same][1], place)
    options = [_reading_option(*one) for one in read]
    for outcome in OUTCOMES:
        probability = sum(one.probability for one in written if one.outcome == outcome)
        features = {"written": _log(probability), outcome: 1.0}
        if outcome in ("question", "model"):
            features[f"{outcome} if asked"] = float(asks)
        if outcome == "ask":
            features["lacks a value"] = float(best is not None and bool(best.missing))
        options.append(Option(features, outcome=outcome))
    return [*options, Option({"else": 1.0}, outcome="else")]


def weighed(options: Sequence[Option], weights: Mapping[str, float] = WEIGHTS) -> list[Option]:
    """Return options with their probabilities, likeliest first."""
    scores = [
        sum(weights.get(name, 0.0) * value for name, value in option.features.items()) for option in options
    ]
    raised = [math.exp(score - max(scores)) for score in scores]
    found = [
        Option(option.features, option.reading, option.outcome, value / sum(raised))
        for option, value in zip(options, raised, strict=True)
    ]
    return sorted(found, key=lambda option: -option.share)


def _reading_option(reading: Reading, probability: float, place: int) -> Option:
    complete = reading.certain and not reading.unexplained
    features = {
        "written": _log(probability),
        "only grammar": float(probability == 0),
        "unclear": float(not is_clear(reading)),
    }
    if place >= 0:
        features["grammar"] = reading.score
        features["first"] = float(place == 0)
        features["complete"] = max(0.0, reading.score - 0.8) * 5 if complete and place == 0 else 0.0
    return Option(features, reading)


def _log(probability: float) -> float:
    return math.log(max(probability, _LEAST))
