"""Fuse two rankings into one: the notes found by the words of a query, and those found by its meaning.

Each list's scores are scaled so that the best one is 1, and combined in a weighted sum. Their product is
added, so that a note gains if both lists rank it high and both count. The weight of meaning depends on the
query: it is a logistic function of a few cheap signals (whether the best hit contains the words, especially
the rare ones, how many texts contain them all, how far the first hits stand out, and whether the model knows
the script). Above `MEANING_ONLY` the words do not count at all: in a vault in several languages, notes in the
query's language share words with it, but the answer may be in another language and share none.

The lists select the candidates, but a note that only the words find also counts by its similarity, and a note
with several chunks counts by the whole as much as by the best chunk: a chunk may be close by chance.

The weights of the signals were learned by `python -m tests.benchmarks.learn_fusion`, with an earlier set of
questions; decision 0006 says why they were kept, and how the weight of `ambiguity` was chosen.
`python -m tests.benchmarks.retrieval --check` compares the result with each list alone. Reciprocal rank
fusion is far worse than the better list if the other one is poor, because it uses only ranks.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from app.embeddings.model_config import SentenceModelConfig
from app.index.term_statistics import TermStatistics

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Key = TypeVar("Key", bound=Hashable)
Number = TypeVar("Number", float, "npt.NDArray[np.float64]")

MAX_FUSED_HITS = 50
"""The number of hits from each list to fuse; the weights were learned on lists of this length."""
MEANING_ONLY = 0.8
"""When the logistic function reaches this value, only meaning counts."""
# The product of both scores counts by this, times the weights of both lists.
_AGREEMENT = 0.4
_MAX_COMPARED_HITS = 10
# The weights were learned on vaults of up to this size.
_MAX_TEXTS = 400
# The last letter of the block "Latin Extended-B".
_LAST_LATIN = "\u024f"
# A steeper slope would ignore one list entirely.
_MAX_SLOPE = 30.0
# The scale of cosines differs between models; these values are assumed for models other than the app's own.
_USUAL_SPREAD, _USUAL_CLOSEST = 0.4, 0.5


class FusionSignals(NamedTuple):
    """Signals that show which list to trust for a query, or the weights of these signals."""

    constant: float
    """Always 1."""
    words: float
    """The logarithm of 1 plus the number of distinct words in the query."""
    covered: float
    """The share of the query's words in the best hit by words; rare and long words count more."""
    ambiguity: float
    """The logarithm of the number of texts with all of the words; 0 if they are in the best hit's names or
    headings."""
    word_lead: float
    """The lead of that hit over the second, as a share of its score; 1 for a single hit, 0 for none."""
    spread: float
    """The logarithm of the distance between the first and the last cosine."""
    closest: float
    """The best cosine. At the same spread, it is higher if all notes look similar to the model."""
    meaning_peak: float
    """The lead of the first hit by meaning over the mean of the next nine, as a share of the spread."""
    multilingual: float
    """0 for the English model that every installation has, else 1."""
    rarest: float
    """The inverse document frequency of the rarest word that occurs; lower for short words."""
    texts: float
    """The logarithm of the number of texts, up to 400: among many, the best cosines differ less."""
    unreadable: float
    """The share of the query's letters that the English model can't read; 0 for other models."""


SIGNAL_WEIGHTS = FusionSignals(
    constant=8.76,
    words=0.43,
    covered=-2.06,
    ambiguity=1.5,
    word_lead=-1.35,
    spread=1.55,
    closest=-1.70,
    meaning_peak=2.59,
    multilingual=1.63,
    rarest=-0.44,
    texts=-1.49,
    unreadable=-0.85,
)


def fuse(
    words: Sequence[tuple[Key, float]],
    meanings: Sequence[tuple[Key, float]],
    terms: TermStatistics,
    model: SentenceModelConfig,
    similarities: Mapping[Key, float] | None = None,
) -> list[tuple[Key, float]]:
    """Return the keys of both rankings, best first, each with its score, 0 to 1.

    Args:
        words: The hits by words, best first, with their BM25 scores (higher is better).
        meanings: The hits by meaning, best first, with their cosines.
        terms: The statistics of the query's words in the texts.
        model: The model that computed the vectors.
        similarities: The similarities that count instead of the cosines, also for the hits by words, such as
            those of `VectorStore.similarities`; None if only the cosines are known.
    """
    share = semantic_weight(compute_signals(words, meanings, terms, model))
    if not words or not meanings:
        share = 0.0 if words else 1.0
    by_words, by_meaning = scaled_by_words(words), scaled_by_meaning(meanings, similarities)
    scores = {
        key: combined_score(share, by_words.get(key, 0.0), by_meaning.get(key, 0.0))
        for key in by_words | by_meaning
    }
    # Ties keep the order of the keys.
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    return [(key, min(1.0, max(0.0, score))) for key, score in ranked]


def combined_score(share: Number, by_words: Number, by_meaning: Number) -> Number:
    """Return a note's score, at most 1, from its scaled scores by words and by meaning.

    Args:
        share: The weight of meaning, 0 to 1.
        by_words: The score by words, 0 if the words did not find the note.
        by_meaning: The score by meaning, 0 if it is not known.
    """
    agreement = _AGREEMENT * share * (1.0 - share)
    total = (1.0 - share) * by_words + share * by_meaning + agreement * by_words * by_meaning
    return total / (1.0 + agreement)


def scaled_by_words(words: Sequence[tuple[Key, float]]) -> dict[Key, float]:
    """Return each hit's BM25 score as a share of the best one."""
    best = max((score for _, score in words), default=0.0)
    return {key: max(0.0, score) / best if best > 0 else 1.0 for key, score in words}


def scaled_by_meaning(
    meanings: Sequence[tuple[Key, float]], similarities: Mapping[Key, float] | None = None
) -> dict[Key, float]:
    """Return each hit's similarity, scaled so that the first cosine becomes 1 and the last one 0.

    Args:
        meanings: The hits by meaning with their cosines.
        similarities: The similarities to scale instead of the cosines, also of other keys; very low ones
            become -1.
    """
    cosines = [cosine for _, cosine in meanings]
    low, high = min(cosines, default=0.0), max(cosines, default=0.0)
    spread = high - low if high > low else 1.0
    every = {**dict(meanings), **(similarities or {})}
    return {key: max(-1.0, 1.0 - (high - similarity) / spread) for key, similarity in every.items()}


def semantic_weight(values: FusionSignals) -> float:
    """Return the weight of meaning, 0 to 1; words get the rest."""
    total = sum(weight * value for weight, value in zip(SIGNAL_WEIGHTS, values, strict=True))
    logistic = 1.0 / (1.0 + math.exp(-max(-_MAX_SLOPE, min(_MAX_SLOPE, total))))
    return min(1.0, logistic / MEANING_ONLY)


def compute_signals(
    words: Sequence[tuple[Key, float]],
    meanings: Sequence[tuple[Key, float]],
    terms: TermStatistics,
    model: SentenceModelConfig,
) -> FusionSignals:
    """Return the signals of a query and its lists; the arguments are those of `fuse`."""
    scores = [max(0.0, score) for _, score in words[:MAX_FUSED_HITS]]
    cosines = [cosine for _, cosine in meanings[:MAX_FUSED_HITS]]
    spread, closest = (cosines[0] - cosines[-1], cosines[0]) if cosines else (0.0, 0.0)
    return FusionSignals(
        constant=1.0,
        words=math.log1p(len(terms.words)),
        covered=terms.covered,
        ambiguity=0.0 if terms.is_named else math.log(max(1, terms.with_all)),
        word_lead=_lead(scores, 2, scores[0] if scores else 0.0),
        spread=math.log((spread if model.is_own else _USUAL_SPREAD) + 0.001),
        closest=closest if model.is_own else _USUAL_CLOSEST,
        meaning_peak=_lead(cosines, _MAX_COMPARED_HITS, spread),
        multilingual=0.0 if model.is_shipped else 1.0,
        rarest=terms.rarest,
        texts=math.log(min(max(terms.texts, 1), _MAX_TEXTS)),
        unreadable=_non_latin_share(terms.words) if model.is_shipped else 0.0,
    )


def _non_latin_share(words: Sequence[str]) -> float:
    """Return the share of letters that are not Latin."""
    letters = [letter for word in words for letter in word if letter.isalpha()]
    return sum(letter > _LAST_LATIN for letter in letters) / len(letters) if letters else 0.0


def _lead(scores: Sequence[float], max_rank: int, unit: float) -> float:
    """Return the lead, in `unit`, of the first score over the mean of the next ones up to `max_rank`.

    The lead of the only score is 1. It is 0 if there is no score, or if `unit` is not positive.
    """
    following = scores[1:max_rank]
    if not following or unit <= 0:
        return 1.0 if len(scores) == 1 else 0.0
    return (scores[0] - sum(following) / len(following)) / unit
