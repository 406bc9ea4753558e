"""Statistics of the words of a query in a word index, from which the trust in a ranking by words follows."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass

from app.index.normalization import fold, segment, tokenize

_MAX_WORDS = 64
# A shorter word says less: most are articles, pronouns and prepositions, in every language.
_FULL_LENGTH_CHARS = 8
# Words with more hits than this are counted by extrapolation.
_MAX_COUNTED = 1000


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """The frequencies of the different words of a text in a word index.

    Args:
        texts: How many texts are indexed, about.
        words: The words, folded.
        frequencies: In how many of them each word occurs, about.
        in_best: Whether the best hit has each word.
    """

    texts: int = 0
    words: tuple[str, ...] = ()
    frequencies: tuple[int, ...] = ()
    in_best: tuple[bool, ...] = ()

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each word: its inverse document frequency, less for a short word."""
        return tuple(
            math.log(1.0 + (self.texts - min(count, self.texts) + 0.5) / (count + 0.5))
            * min(len(word), _FULL_LENGTH_CHARS)
            / _FULL_LENGTH_CHARS
            for word, count in zip(self.words, self.frequencies, strict=True)
        )

    @property
    def covered(self) -> float:
        """The share of the words, by weight, that the best hit has."""
        total = sum(self.weights)
        found = zip(self.weights, self.in_best, strict=True)
        return sum(weight for weight, is_in in found if is_in) / total if total else 0.0


def term_statistics(
    connection: sqlite3.Connection, table: str, text: str, texts: int, best: int | None
) -> TermStatistics:
    """Count the words of `text` in the word index `table`.

    Args:
        connection: Of the database with the index.
        table: An FTS5 table; its name comes from code, never from a user.
        text: What was asked.
        texts: How many rows the table has, about.
        best: The row of the best hit, if there is one.
    """
    words = tuple(dict.fromkeys(fold(word) for word in tokenize(text)))[:_MAX_WORDS]
    frequencies, in_best = [], []
    for word in words:
        quoted = segment(word).replace("\0", " ").replace('"', " ").strip()
        count, last = connection.execute(
            f"SELECT count(*), max(rowid) FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?)",
            (f'"{quoted}"', _MAX_COUNTED),
        ).fetchone()
        if count == _MAX_COUNTED:
            count = max(count, count * texts // max(1, last))
        has = (
            best is not None
            and connection.execute(
                f"SELECT 1 FROM {table} WHERE {table} MATCH ? AND rowid = ?", (f'"{quoted}"', best)
            ).fetchone()
        )
        frequencies.append(int(count))
        in_best.append(bool(has))
    return TermStatistics(texts, words, tuple(frequencies), tuple(in_best))
