"""Find near-duplicate notes by their vectors, confirmed by their words.

Vectors find candidate pairs (by a blockwise matrix product), and the texts confirm them, because two notes
on the same subject can be close in meaning without being duplicates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Indel

from app.embeddings.vector_table import NoteVectors
from app.vault.path import NotePath

# Edited copies of real notes score higher; other notes from the same template mostly score lower.
_MIN_COSINE = 0.92
_MIN_WORD_SIMILARITY = 0.75
# Shorter notes are mostly just the template.
_MIN_NOTE_WORDS = 20
_WORD = re.compile(r"[A-Za-z0-9]+|\w")
_BLOCK_ROWS = 1024
_MAX_CANDIDATES = 100_000
_MAX_COMPARED_CHARS = 20_000

ReadBody = Callable[[NotePath], str | None]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A pair of near-duplicate notes.

    `cosine` is the cosine of their vectors, `word_similarity` the share of the words that both have in the
    same order, 0 to 1. `only_first` and `only_second` are the numbers of nonempty lines that only one of them
    has.
    """

    first: NotePath
    second: NotePath
    cosine: float
    word_similarity: float
    only_first: int
    only_second: int

    @property
    def is_exact(self) -> bool:
        """True if they have the same nonempty lines, in any order."""
        return not self.only_first and not self.only_second


def near_duplicates(
    vectors: NoteVectors, read: ReadBody, is_cancelled: Callable[[], bool] = lambda: False
) -> tuple[Duplicate, ...]:
    """Return the pairs of near-duplicate notes, the most similar first. Slow: call it in a worker thread.

    Args:
        vectors: One vector for each note to compare.
        read: Returns the body of a note, or None if it can't be read.
        is_cancelled: Called periodically; when it returns True, the pairs found so far are returned.
    """
    duplicates = []
    texts: dict[NotePath, _Text] = {}
    for first, second, cosine in _candidates(vectors, is_cancelled):
        if is_cancelled():
            break
        for path in (first, second):
            if path not in texts:
                texts[path] = _Text.of(read(path))
        if (pair := _compare(first, second, cosine, texts[first], texts[second])) is not None:
            duplicates.append(pair)
    return tuple(
        sorted(duplicates, key=lambda pair: (-pair.word_similarity, -pair.cosine, pair.first, pair.second))
    )


def _candidates(
    vectors: NoteVectors, is_cancelled: Callable[[], bool]
) -> list[tuple[NotePath, NotePath, float]]:
    """Return the most similar pairs of vectors, best first, at most `_MAX_CANDIDATES`."""
    pairs = [pair for block in _blocks(vectors, is_cancelled) for pair in block]
    pairs.sort(key=lambda pair: -pair[2])
    paths = vectors.paths
    return [(paths[i], paths[j], score) for i, j, score in pairs[:_MAX_CANDIDATES]]


def _blocks(vectors: NoteVectors, is_cancelled: Callable[[], bool]) -> Iterator[list[tuple[int, int, float]]]:
    matrix = vectors.matrix
    for start in range(0, len(matrix), _BLOCK_ROWS):
        if is_cancelled():
            return
        scores = matrix[start : start + _BLOCK_ROWS] @ matrix[start:].T
        rows, columns = np.nonzero(scores >= _MIN_COSINE)
        above_diagonal = columns > rows
        rows, columns = rows[above_diagonal], columns[above_diagonal]
        yield [
            (start + int(i), start + int(j), min(1.0, float(scores[i, j])))
            for i, j in zip(rows, columns, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Text:
    """A note's nonempty lines, and the words (or characters in scripts without spaces) of its first part."""

    lines: list[str]
    words: list[str]

    @classmethod
    def of(cls, text: str | None) -> _Text:
        lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
        return cls(lines, _WORD.findall(" ".join(lines)[:_MAX_COMPARED_CHARS]))


def _compare(
    first_path: NotePath, second_path: NotePath, cosine: float, first_text: _Text, second_text: _Text
) -> Duplicate | None:
    if min(len(first_text.words), len(second_text.words)) < _MIN_NOTE_WORDS:
        return None
    similarity = Indel.normalized_similarity(
        first_text.words, second_text.words, score_cutoff=_MIN_WORD_SIMILARITY
    )
    if not similarity:
        return None
    first_lines, second_lines = set(first_text.lines), set(second_text.lines)
    only_first = sum(line not in second_lines for line in first_text.lines)
    only_second = sum(line not in first_lines for line in second_text.lines)
    return Duplicate(first_path, second_path, cosine, similarity, only_first, only_second)
