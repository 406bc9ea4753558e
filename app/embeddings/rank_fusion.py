"""One ranking out of two: of what the words of a query find, and what its meaning finds.

Each list's scores are stretched to 0 … 1, and their weighted sum decides. How much meaning weighs depends on
the query: a logistic function of a few signals that cost next to nothing (how rare the words are and whether
the best hit has them, how far the first hits stand out, whether the lists agree). The weights of the signals
were learned by `python -m tests.benchmarks.learn_fusion`; `python -m tests.benchmarks.retrieval --check`
compares the result with each list alone. Reciprocal rank fusion loses to the better list by far wherever the
other one is poor, as it knows only places.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

from app.embeddings.model_choice import ModelChoice
from app.index.term_statistics import TermStatistics

Key = TypeVar("Key", bound=Hashable)

DEPTH = 50
"""How many hits of each list to fuse: the weights were learned on so many."""
_TOP = 10
# Beyond, a list has no say at all.
_STEEPEST = 30.0
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_OTHER = re.compile(r"[^\W\d_A-Za-zÀ-ɏ]")
# A word has some four Latin letters, but one or two characters of Chinese or Japanese.
_LETTERS_OF_WORD, _CHARACTERS_OF_WORD = 4.0, 1.5


class Signals(NamedTuple):
    """What is known about a query and its two lists. Also the weights of each of these."""

    constant: float
    """Always 1."""
    words: float
    """The logarithm of the number of different words in the query."""
    known: float
    """The share of the words that some text has, by rarity and length."""
    covered: float
    """The share of the words that the best hit by words has, likewise."""
    rarest: float
    """How rare the rarest word of that hit is."""
    word_lead: float
    """How far that hit is ahead of the second, as a share of its score."""
    word_hits: float
    """How long the list by words is."""
    spread: float
    """The logarithm of the distance between the first and the last cosine."""
    meaning_peak: float
    """How far the first hit by meaning is ahead of the mean of the next nine, as a share of the spread."""
    agreement: float
    """1 divided by the place of the best hit by words in the list by meaning; 0 where it is not in it."""
    multilingual: float
    """1 where the model knows many languages, 0 where it knows English only."""
    unknown_script: float
    """The share of the query in a script other than Latin, where the model knows English only."""


WEIGHTS = Signals(
    constant=1.46,
    words=0.49,
    known=-0.50,
    covered=-0.93,
    rarest=-1.33,
    word_lead=-0.70,
    word_hits=-0.85,
    spread=0.69,
    meaning_peak=1.07,
    agreement=0.27,
    multilingual=3.51,
    unknown_script=-1.84,
)


def fuse(
    text: str,
    words: Sequence[tuple[Key, float]],
    meant: Sequence[tuple[Key, float]],
    terms: TermStatistics,
    model: ModelChoice,
) -> list[tuple[Key, float]]:
    """Return the keys of both rankings, best first, each with its score, 0 to 1.

    Args:
        text: What was asked.
        words: Found by words, best first, with their scores (BM25).
        meant: Found by meaning, best first, with their cosines.
        terms: How the words of the query occur in the texts.
        model: What made the vectors.
    """
    share = semantic_weight(signals(text, words, meant, terms, model))
    if not words or not meant:
        share = 0.0 if words else 1.0
    best = max((score for _, score in words), default=0.0)
    scores = {key: (1.0 - share) * (max(0.0, score) / best if best > 0 else 1.0) for key, score in words}
    cosines = [cosine for _, cosine in meant]
    low, high = min(cosines, default=0.0), max(cosines, default=0.0)
    for key, cosine in meant:
        stretched = (cosine - low) / (high - low) if high > low else 1.0
        scores[key] = scores.get(key, 0.0) + share * stretched
    # Equal sums keep the order in which the keys came.
    return sorted(scores.items(), key=lambda one: -one[1])


def semantic_weight(found: Signals) -> float:
    """Return how much meaning counts, 0 to 1; words count the rest."""
    total = sum(weight * value for weight, value in zip(WEIGHTS, found, strict=True))
    return 1.0 / (1.0 + math.exp(-max(-_STEEPEST, min(_STEEPEST, total))))


def signals(
    text: str,
    words: Sequence[tuple[Key, float]],
    meant: Sequence[tuple[Key, float]],
    terms: TermStatistics,
    model: ModelChoice,
) -> Signals:
    """Return what a query and its lists say about which list to trust; arguments as in `fuse`."""
    scores = [max(0.0, score) for _, score in words[:DEPTH]]
    cosines = [cosine for _, cosine in meant[:DEPTH]]
    spread = cosines[0] - cosines[-1] if cosines else 0.0
    by_meaning = [key for key, _ in meant[:DEPTH]]
    is_english = model.is_shipped
    return Signals(
        constant=1.0,
        words=math.log1p(len(terms.frequencies)),
        known=terms.known,
        covered=terms.covered,
        rarest=terms.rarest,
        word_lead=_lead(scores, 2, scores[0] if scores else 0.0),
        word_hits=math.log1p(len(scores)) / math.log1p(DEPTH),
        spread=math.log(spread + 0.001),
        meaning_peak=_lead(cosines, _TOP, spread),
        agreement=1.0 / (1 + by_meaning.index(words[0][0])) if words and words[0][0] in by_meaning else 0.0,
        multilingual=0.0 if is_english else 1.0,
        unknown_script=_foreign_share(text) if is_english else 0.0,
    )


def _lead(scores: Sequence[float], upto: int, unit: float) -> float:
    """How far the first is ahead of the mean of those after it, up to the place `upto`."""
    following = scores[1:upto]
    if not following or unit <= 0:
        return 1.0 if len(scores) == 1 else 0.0
    return (scores[0] - sum(following) / len(following)) / unit


def _foreign_share(text: str) -> float:
    """How much of a text is not in Latin script, 0 to 1."""
    latin = len(_LATIN.findall(text)) / _LETTERS_OF_WORD
    other = len(_OTHER.findall(text)) / _CHARACTERS_OF_WORD
    return other / (latin + other) if latin or other else 0.0
