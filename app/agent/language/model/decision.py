"""Compute the probabilities of the possible meanings of a request.

The options are the readings of the grammar and of the request model, and the outcomes without an action. A
log-linear model turns their features into probabilities. `packaging/fit_request_decision.py` fits its
weights.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.agent.language.meaning.readings import Reading, is_clear
from app.agent.language.model.candidates import MeaningCandidate, have_same_meaning
from app.agent.language.model.symbols import OUTCOMES

WEIGHTS: Mapping[str, float] = {
    "written": 0.98,
    "only grammar": 0.47,
    "unclear": -1.27,
    "grammar": 0.88,
    "first": 0.54,
    "complete": 1.16,
    "model": 0.43,
    "question": 1.22,
    "question if asked": 0.48,
    "none": -0.03,
    "ask": -0.15,
    "else": -1.74,
}
"""The weight of each feature of an option.

"written" is the logarithm of the probability that the request model gives an option. A reading has features
for its score and rank in the grammar ("grammar", "first", "complete": it explains every word), for an
unknown note ("unclear"), and for its source ("only grammar"). An outcome has a feature of its own; "question"
has another one for a request that is phrased as a question. If the grammar's first reading refines a search
by the model, it gets the probability of that search.
"""
MAX_GRAMMAR_READINGS = 4
_MIN_CONSIDERED_LOG = math.log(0.05)
_MIN_PROBABILITY = 1e-3
"""Probability of an option that the request model did not write, so that the logarithm is finite."""

Features = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Option:
    """A possible meaning of a request: a reading or an outcome.

    Args:
        features: The values of its features, by name.
        reading: The reading; None for an outcome.
        outcome: The outcome; empty for a reading, "else" for a meaning that is not among the options.
        share: Its probability.
    """

    features: Features
    reading: Reading | None = None
    outcome: str = ""
    share: float = 0.0

    @property
    def is_clear(self) -> bool:
        """True if the option is a reading whose notes are all known."""
        return self.reading is not None and not self.features["unclear"]

    @property
    def is_considered(self) -> bool:
        """True if the grammar explains every word and the model gives the reading at least a 5% probability.

        Raises:
            KeyError: The option is not a reading of the grammar.
        """
        return self.features["complete"] >= 0.5 and self.features["written"] >= _MIN_CONSIDERED_LOG

    @property
    def is_plain(self) -> bool:
        """True if the grammar explains every word and searches for none of them.

        Raises:
            KeyError: The option is not a reading of the grammar.
        """
        steps = self.reading.steps if self.reading is not None else ()
        queries = [step.target.query for step in steps if step.target is not None]
        return self.features["complete"] >= 0.5 and not any(map(bare_words, queries))

    @property
    def is_agreed(self) -> bool:
        """True if it is the first reading of the grammar and the request model writes it too."""
        return bool(self.features.get("first")) and not self.features["only grammar"]


def options_of(
    written: Sequence[MeaningCandidate], grammar_readings: Sequence[Reading], *, asks: bool
) -> list[Option]:
    """Return the options of a request with their features.

    They are the request model's readings, the grammar's best readings without a missing role, each outcome,
    and "else".

    Args:
        written: The candidates of the request model.
        grammar_readings: The readings of the grammar, best first.
        asks: Whether the request is a question.
    """
    read: list[tuple[Reading, float, int]] = [
        (candidate.reading, candidate.probability, -1)
        for candidate in written
        if candidate.reading is not None
    ]
    for place, reading in enumerate(grammar_readings[:MAX_GRAMMAR_READINGS]):
        if reading.missing:
            continue
        same = next((at for at, entry in enumerate(read) if have_same_meaning(entry[0], reading)), None)
        if same is None:
            refined = [odds for other, odds, _ in read if place == 0 and _refines(reading, other)]
            read.append((reading, max(refined, default=0.0), place))
        elif read[same][2] < 0:
            read[same] = (reading, read[same][1], place)
    options = [_reading_option(*entry) for entry in read]
    for outcome in OUTCOMES:
        probability = sum(candidate.probability for candidate in written if candidate.outcome == outcome)
        features = {"written": _log(probability), outcome: 1.0}
        if outcome == "question":
            features["question if asked"] = float(asks)
        options.append(Option(features, outcome=outcome))
    return [*options, Option({"else": 1.0}, outcome="else")]


def weigh_options(options: Sequence[Option], weights: Mapping[str, float] = WEIGHTS) -> list[Option]:
    """Return options with their probabilities, likeliest first."""
    scores = [
        sum(weights.get(name, 0.0) * value for name, value in option.features.items()) for option in options
    ]
    raised = [math.exp(score - max(scores)) for score in scores]
    weighed = [
        Option(option.features, option.reading, option.outcome, value / sum(raised))
        for option, value in zip(options, raised, strict=True)
    ]
    return sorted(weighed, key=lambda option: -option.share)


def _reading_option(reading: Reading, probability: float, place: int) -> Option:
    complete = reading.is_certain and not reading.unexplained
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


def _refines(reading: Reading, other: Reading) -> bool:
    """Return whether a search has the conditions, order and limit of another search, and the same words."""
    if len(reading.steps) > 1 or len(other.steps) > 1 or reading.last.action != other.last.action:
        return False
    target, other_target = reading.last.target, other.last.target
    is_search = reading.last.action in ("find", "count") and not reading.unexplained
    if not is_search or target is None or other_target is None:
        return False
    same_notes = target.notes == other_target.notes and target.source == other_target.source
    ordered = other_target.order in ("", target.order) and other_target.limit in (None, target.limit)
    conditions = set(other_target.query.split()) <= set(target.query.split())
    same_words = bare_words(target.query) == bare_words(other_target.query)
    return same_notes and ordered and conditions and same_words


def bare_words(query: str) -> set[str]:
    """Return the conditions of a search that look for words in the text."""
    parts = re.findall(r'(?:"[^"]*"|[^\s"])+', query)
    return {
        part
        for part in parts
        if part.startswith('"') or (":" not in part and "[" not in part and part not in ("OR", "-"))
    }


def _log(probability: float) -> float:
    return math.log(max(probability, _MIN_PROBABILITY))
