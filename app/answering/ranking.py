"""Rank passages as answers to a question, and judge whether the best one is an answer.

Both scores are linear in the features below. `python -m tests.evaluation.answers --calibrate` fits the
weights to the seen half of the questions and writes `resources/answers/weights.json`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from app.answering.passages import Passage
from app.answering.question import ParsedQuestion, stems
from app.paths import resources_folder
from app.vault.path import NotePath

ANSWER_FEATURES = ("score", "cosine", "cover_in_context", "cover", "margin")
_MIN_PREFIX_CHARS = 5
_CONTEXT_SIZE = 3
# In the seen half of the evaluation, 99 of 140 wrong passages after the first are below this, and 1 of 14
# right ones.
_MIN_LIKELIHOOD = 0.1
# 15 of the 20 unanswerable questions are below this; with semantic search, no answerable one is.
_MIN_ANSWER_SCORE = -2.2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate passage; `note_score` is its note's keyword score, 0 to 1."""

    path: NotePath
    title: str
    passage: Passage
    note_score: float = 0.0

    @property
    def in_context(self) -> str:
        """The passage preceded by its title and trail (at most three parts), for comparing meaning."""
        above = [self.title, *(heading for heading in self.passage.trail if heading != self.title)]
        return f"{' › '.join(above[:_CONTEXT_SIZE])}\n{self.passage.text}"


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate with its score (a logit) and its features."""

    candidate: Candidate
    score: float
    features: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RankedPassages:
    """Passages, best first; `answer_score` is a logit, below 0 if the notes probably lack the answer."""

    passages: tuple[RankedCandidate, ...]
    answer_score: float
    features: Mapping[str, float]

    @property
    def is_answer(self) -> bool:
        """True if the best passage is likely to answer the question."""
        return self.answer_score >= 0

    def likelihood(self, passage: RankedCandidate) -> float:
        """Return how likely a passage is to answer the question, relative to the best one: 0 to 1."""
        # The ranking weights are those of a softmax, so a difference of scores is the logarithm of the odds.
        return math.exp(passage.score - self.passages[0].score)

    def is_weak(self, passage: RankedCandidate) -> bool:
        """Return whether a passage ranks far below the best one, or no passage is likely to be an answer."""
        return self.likelihood(passage) < _MIN_LIKELIHOOD or self.answer_score < _MIN_ANSWER_SCORE


class CandidateScorer:
    """Scores candidates for one question.

    Args:
        question: The question.
        pool: All passages of the candidate notes. A heading counts only if it contains the expected kind of
            answer and a word of the question; the others determine the word frequencies.
    """

    def __init__(self, question: ParsedQuestion, pool: Sequence[Candidate]) -> None:
        self._question = question
        self._stems: dict[int, frozenset[str]] = {}
        self._stems_by_text: dict[str, frozenset[str]] = {}
        self._asked: dict[str, tuple[str, ...]] = {}
        self._pool = [candidate for candidate in pool if not self._is_other_heading(candidate)]
        count: Counter[str] = Counter()
        for candidate in self._pool:
            count.update(self._matches(self._stems_of(candidate)))
        size = len(self._pool)
        self._word_weights = {
            word: math.log((size + 1.0) / (count[word] + 0.5)) if size else 1.0 for word in question.words
        }
        self._total = sum(self._word_weights.values()) or 1.0

    def select_promising(
        self, limit: int, chunk_cosines: Mapping[NotePath, Sequence[tuple[int, float]]]
    ) -> list[Candidate]:
        """Return the most promising candidates for exact scoring, best first.

        Args:
            limit: The maximum number.
            chunk_cosines: For each note, the first lines of its chunks that are close in meaning, with their
                cosines.
        """
        scored = []
        for candidate in self._pool:
            if self._is_unasked_value(candidate):
                continue
            chunk = max(
                (
                    cosine
                    for line, cosine in chunk_cosines.get(candidate.path, ())
                    if line <= candidate.passage.line
                ),
                default=0.0,
            )
            closest = _closest(chunk_cosines.get(candidate.path, ()), candidate.passage.line)
            own_cover = self._cover(self._stems_of(candidate))
            context = self._cover(self._stems_of(candidate) | self._context_stems(candidate))
            scored.append(
                (own_cover + 0.5 * context + closest + 0.2 * chunk + 0.3 * candidate.note_score, candidate)
            )
        scored.sort(key=lambda pair: -pair[0])
        return [candidate for _, candidate in scored[:limit]]

    def rank(self, candidates: Sequence[Candidate], cosines: Sequence[float] | None) -> RankedPassages:
        """Rank candidates and score the best ones as an answer.

        Args:
            candidates: The candidates; if there are none, the answer score is minus infinity.
            cosines: The cosine of each candidate to the question; None without semantic search.
        """
        weights = _load_weights()["meaning" if cosines is not None else "words"]
        best: dict[NotePath, float] = {}
        for candidate, cosine in zip(candidates, cosines or (), strict=False):
            best[candidate.path] = max(best.get(candidate.path, 0.0), cosine)
        ranked_candidates = []
        for index, candidate in enumerate(candidates):
            features = self._features(
                candidate, cosines[index] if cosines is not None else 0.0, best.get(candidate.path, 0.0)
            )
            score = sum(weights["rank"][name] * value for name, value in features.items())
            ranked_candidates.append(RankedCandidate(candidate, score, features))
        ranked_candidates.sort(key=lambda ranked: -ranked.score)
        features = self._answer_features(ranked_candidates)
        score = weights["answer"]["bias"] + sum(
            weights["answer"][name] * value for name, value in features.items()
        )
        return RankedPassages(tuple(ranked_candidates), score if ranked_candidates else -math.inf, features)

    def _features(self, candidate: Candidate, cosine: float, best_in_note: float) -> dict[str, float]:
        passage_stems, above = self._stems_of(candidate), self._context_stems(candidate)
        cover = self._cover(passage_stems)
        kind = float(self._question.is_answered_by(candidate.passage.text))
        in_order = stems(candidate.passage.text, self._question.language)
        pairs = set(pairwise(in_order))
        words = self._question.words
        adjacent = sum(pair in pairs for pair in pairwise(words))
        return {
            "cover": cover,
            "cover_in_context": self._cover(passage_stems | above),
            "title": self._cover(self._title_stems(candidate)),
            "cosine": cosine,
            "best_in_note": best_in_note,
            "adjacent": adjacent / max(1, len(words) - 1),
            "kind": kind,
            "kind_and_cover": kind * cover,
            "note": candidate.note_score,
            # A heading that may answer is short like any other.
            "short": float(len(in_order) < 4 and not candidate.passage.is_heading),
            "property": float(candidate.passage.is_property and not set(in_order[:1]) & set(words)),
            "relation": float(candidate.passage.is_relation),
        }

    def _answer_features(self, ranked: Sequence[RankedCandidate]) -> dict[str, float]:
        if not ranked:
            return dict.fromkeys(ANSWER_FEATURES, 0.0)
        first, top = ranked[0], ranked[:3]
        # Relations rank low for every question and would widen the margin.
        sentences = [scored for scored in ranked if not scored.candidate.passage.is_relation] or ranked
        tenth = sentences[min(9, len(sentences) - 1)]
        return {
            "score": first.score,
            "cosine": max(scored.features["cosine"] for scored in top),
            "cover_in_context": max(scored.features["cover_in_context"] for scored in top),
            "cover": max(scored.features["cover"] for scored in top),
            "margin": first.score - tenth.score,
        }

    def _cover(self, words: Iterable[str]) -> float:
        matches = self._matches(words)
        # In the order of the question, so that the sum does not depend on the order of a set.
        return sum(self._word_weights[word] for word in self._question.words if word in matches) / self._total

    def _matches(self, words: Iterable[str]) -> set[str]:
        """Return the words of the question that occur in `words`, exactly or in a related form."""
        return {asked for word in words for asked in self._asked_words(word)}

    def _asked_words(self, word: str) -> tuple[str, ...]:
        """Return the words of the question that a stem equals or is related to."""
        if word not in self._asked:
            self._asked[word] = tuple(
                asked for asked in self._question.words if asked == word or _are_related(asked, word)
            )
        return self._asked[word]

    def _is_other_heading(self, candidate: Candidate) -> bool:
        """Return whether a passage is a heading that answers nothing: "Founded", unlike "Founded 1887"."""
        text = candidate.passage.text
        return candidate.passage.is_heading and not (
            text != candidate.title
            and self._question.is_answered_by(text)
            and self._matches(self._stems_of(candidate))
        )

    def _is_unasked_value(self, candidate: Candidate) -> bool:
        """Return whether a passage is a property, such as a date or rating, that the question can't mean.

        That is a property without words in its value, if the question neither names it nor asks for this kind
        of value.
        """
        passage = candidate.passage
        if not passage.is_property or any(map(str.isalpha, passage.text.partition(":")[2])):
            return False
        return not self._question.is_answered_by(passage.text) and not self._matches(
            self._stems_of(candidate)
        )

    def _stems_of(self, candidate: Candidate) -> frozenset[str]:
        key = id(candidate)
        if key not in self._stems:
            self._stems[key] = frozenset(self._question.stems_in(candidate.passage.text))
        return self._stems[key]

    def _title_stems(self, candidate: Candidate) -> frozenset[str]:
        if candidate.title not in self._stems_by_text:
            self._stems_by_text[candidate.title] = frozenset(self._question.stems_in(candidate.title))
        return self._stems_by_text[candidate.title]

    def _context_stems(self, candidate: Candidate) -> frozenset[str]:
        above = " ".join(candidate.passage.trail)
        if above not in self._stems_by_text:
            self._stems_by_text[above] = frozenset(self._question.stems_in(above))
        return self._title_stems(candidate) | self._stems_by_text[above]


def _are_related(word: str, other: str) -> bool:
    """Return whether two stems are forms of one word, for example "inventor" and "invent"."""
    short, long = sorted((word, other), key=len)
    return len(short) >= _MIN_PREFIX_CHARS and long.startswith(short)


def _closest(chunk_cosines: Sequence[tuple[int, float]], line: int) -> float:
    """Return the cosine of the last chunk that starts at or above a line; 0 if there is none."""
    above = [pair for pair in chunk_cosines if pair[0] <= line]
    return max(above)[1] if above else 0.0


@cache
def _load_weights() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    weights: Mapping[str, Mapping[str, Mapping[str, float]]] = json.loads(
        (resources_folder() / "answers" / "weights.json").read_text("utf-8")
    )
    return weights
