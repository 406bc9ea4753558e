"""Notes that say nearly the same: pairs by meaning, confirmed by their words.

Vectors name the pairs that may be (a product of all notes with all, block by block), the texts decide:
two notes on one subject are close in meaning and yet no duplicates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Indel

from app.embeddings.vector_table import NoteVectors
from app.vault.path import NotePath

# Edited copies of real notes stay above it, other notes of the same template mostly below.
_MIN_COSINE = 0.92
_MIN_WORD_SIMILARITY = 0.75
# Shorter notes are mostly the bare template that they were made from.
_MIN_WORDS = 20
_WORD = re.compile(r"[A-Za-z0-9]+|\w")
_BLOCK_ROWS = 1024
_MAX_CANDIDATES = 100_000
_MAX_TEXT_CHARS = 20_000

Read = Callable[[NotePath], str | None]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two notes that say nearly the same.

    `meaning` is the cosine of their vectors, `words` the share of text that both have, 0 to 1. `only_first`
    and `only_second` count the lines that only one of them has; empty lines do not count.
    """

    first: NotePath
    second: NotePath
    meaning: float
    words: float
    only_first: int
    only_second: int

    @property
    def is_exact(self) -> bool:
        """Whether they say the same, line by line."""
        return not self.only_first and not self.only_second


def near_duplicates(
    vectors: NoteVectors, read: Read, stopped: Callable[[], bool] = lambda: False
) -> tuple[Duplicate, ...]:
    """Pairs of notes that say nearly the same, the most alike first. Takes its time: for a worker thread.

    Args:
        vectors: One for each note that may be looked at.
        read: The body of a note, or None if it can't be read now.
        stopped: Asked now and then; when it is true the pairs found so far are given.
    """
    found = []
    texts: dict[NotePath, _Text] = {}
    for one, other, meaning in _candidates(vectors, stopped):
        if stopped():
            break
        for path in (one, other):
            if path not in texts:
                texts[path] = _Text.of(read(path))
        if (pair := _compared(one, other, meaning, texts[one], texts[other])) is not None:
            found.append(pair)
    return tuple(sorted(found, key=lambda pair: (-pair.words, -pair.meaning, pair.first, pair.second)))


def _candidates(vectors: NoteVectors, stopped: Callable[[], bool]) -> list[tuple[NotePath, NotePath, float]]:
    """The pairs that are alike by meaning, the most alike first; of very many the best."""
    pairs = [pair for block in _blocks(vectors, stopped) for pair in block]
    pairs.sort(key=lambda pair: -pair[2])
    paths = vectors.paths
    return [(paths[i], paths[j], score) for i, j, score in pairs[:_MAX_CANDIDATES]]


def _blocks(vectors: NoteVectors, stopped: Callable[[], bool]) -> Iterator[list[tuple[int, int, float]]]:
    matrix = vectors.matrix
    for start in range(0, len(matrix), _BLOCK_ROWS):
        if stopped():
            return
        scores = matrix[start : start + _BLOCK_ROWS] @ matrix[start:].T
        rows, columns = np.nonzero(scores >= _MIN_COSINE)
        later = columns > rows
        rows, columns = rows[later], columns[later]
        yield [
            (start + int(i), start + int(j), min(1.0, float(scores[i, j])))
            for i, j in zip(rows, columns, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Text:
    """A note's lines that are not empty, and its words: where a script has no spaces, its characters."""

    lines: list[str]
    words: list[str]

    @classmethod
    def of(cls, text: str | None) -> _Text:
        lines = [line.strip() for line in (text or "")[:_MAX_TEXT_CHARS].splitlines() if line.strip()]
        return cls(lines, _WORD.findall(" ".join(lines)))


def _compared(
    one: NotePath, other: NotePath, meaning: float, first: _Text, second: _Text
) -> Duplicate | None:
    if min(len(first.words), len(second.words)) < _MIN_WORDS:
        return None
    share = Indel.normalized_similarity(first.words, second.words, score_cutoff=_MIN_WORD_SIMILARITY)
    if not share:
        return None
    had, has = set(first.lines), set(second.lines)
    only_first = sum(line not in has for line in first.lines)
    only_second = sum(line not in had for line in second.lines)
    return Duplicate(one, other, meaning, share, only_first, only_second)
