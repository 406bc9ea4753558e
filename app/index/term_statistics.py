"""Statistics of a query's words in a full-text index, which show how far to trust a ranking by words."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass

from app.index.normalization import fold, segment, tokenize

_MAX_WORDS = 64
# Shorter words weigh less: most are articles, pronouns and prepositions, in every language.
_FULL_LENGTH_CHARS = 8
# Words with more hits than this are counted by extrapolation.
_MAX_COUNTED_ROWS = 1000
# From this number on, texts with all words are not counted.
_MAX_JOINT_ROWS = 50


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """The frequencies of the distinct words of a text in a full-text index.

    Args:
        texts: The approximate number of indexed texts.
        words: The words, folded.
        frequencies: The approximate number of texts with each word.
        in_best: Whether the best hit contains each word.
        with_all: The number of texts that contain all of the words, up to a limit.
        is_named: Whether the names and headings of the best hit contain all of the words.
    """

    texts: int = 0
    words: tuple[str, ...] = ()
    frequencies: tuple[int, ...] = ()
    in_best: tuple[bool, ...] = ()
    with_all: int = 0
    is_named: bool = False

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each word: its inverse document frequency, reduced for short words."""
        return tuple(
            math.log(1.0 + (self.texts - min(count, self.texts) + 0.5) / (count + 0.5))
            * min(len(word), _FULL_LENGTH_CHARS)
            / _FULL_LENGTH_CHARS
            for word, count in zip(self.words, self.frequencies, strict=True)
        )

    @property
    def rarest(self) -> float:
        """The highest weight of a word that occurs in a text; 0 if none does."""
        counted = zip(self.weights, self.frequencies, strict=True)
        return max((weight for weight, count in counted if count), default=0.0)

    @property
    def covered(self) -> float:
        """The share of the words, by weight, in the best hit."""
        total = sum(self.weights)
        weights_in_best = zip(self.weights, self.in_best, strict=True)
        return sum(weight for weight, is_in in weights_in_best if is_in) / total if total else 0.0


def term_statistics(
    connection: sqlite3.Connection,
    table: str,
    text: str,
    texts: int,
    best: int | None,
    name_columns: str = "",
) -> TermStatistics:
    """Count the words of `text` in the full-text index `table`.

    Args:
        connection: The connection to the database with the index.
        table: An FTS5 table; the name comes from code, never from a user.
        text: The query text.
        texts: The approximate number of rows in the table.
        best: The row of the best hit, if there is one.
        name_columns: The columns with the names and headings of a text, separated by spaces, if it has any.
    """
    words = tuple(dict.fromkeys(fold(word) for word in tokenize(text)))[:_MAX_WORDS]
    frequencies, in_best, phrases = [], [], []
    counting = f"SELECT count(*), max(rowid) FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    for word in words:
        quoted = segment(word).replace("\0", " ").replace('"', " ").strip()
        phrases.append(f'"{quoted}"')
        count, last = connection.execute(counting, (phrases[-1], _MAX_COUNTED_ROWS)).fetchone()
        if count == _MAX_COUNTED_ROWS:
            count = max(count, count * texts // max(1, last))
        has_term = (
            best is not None
            and connection.execute(
                f"SELECT 1 FROM {table} WHERE {table} MATCH ? AND rowid = ?", (phrases[-1], best)
            ).fetchone()
        )
        frequencies.append(int(count))
        in_best.append(bool(has_term))
    with_all, is_named = 0, False
    # Without this condition, a long text would be looked for although one of its words is in no text.
    if frequencies and all(frequencies):
        with_all, _ = connection.execute(counting, (" ".join(phrases), _MAX_JOINT_ROWS)).fetchone()
        if name_columns and best is not None:
            row = connection.execute(
                f"SELECT 1 FROM {table} WHERE {table} MATCH ? AND rowid = ?",
                (f"{{{name_columns}}} : ({' '.join(phrases)})", best),
            ).fetchone()
            is_named = row is not None
    return TermStatistics(texts, words, tuple(frequencies), tuple(in_best), with_all, is_named)
