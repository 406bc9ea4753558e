"""The lines of a note that show why a search found it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from app.index.matching import Chunk, Term, marks, shorten
from app.index.records import Snippet

MOST = 3
WIDTH = 200
PLACES_PER_TERM = 60
Lines = Mapping[int, set[int]]


def find_lines(text: str, wanted: Sequence[Term], per_term: int = PLACES_PER_TERM) -> Lines:
    """The numbers (from 0) of lines with a term, and of which ones; of each term the first places only."""
    chunk = Chunk(text)
    terms_at: dict[int, set[int]] = {}
    ends = _line_ends(text) if wanted else []
    for number, term in enumerate(wanted):
        for count, (start, _) in enumerate(term.places(chunk)):
            if count >= per_term:
                break
            terms_at.setdefault(bisect_left(ends, start), set()).add(number)
    return terms_at


def snippets(
    text: str,
    wanted: Sequence[Term],
    most: int = MOST,
    width: int = WIDTH,
    per_term: int = PLACES_PER_TERM,
    found: Lines | None = None,
) -> tuple[Snippet, ...]:
    """At most `most` lines with marks, those with the most different terms first, then in their order.

    `found` is what `find_lines` said of the same text, if it was asked before.
    """
    terms_at = find_lines(text, wanted, per_term) if found is None else found
    if not terms_at:
        return ()
    ends = _line_ends(text)
    best = sorted(terms_at, key=lambda line: (-len(terms_at[line]), line))[:most]
    return tuple(_snippet(text, ends, line, wanted, width) for line in sorted(best))


def _line_ends(text: str) -> list[int]:
    ends: list[int] = []
    at = text.find("\n")
    while at >= 0:
        ends.append(at)
        at = text.find("\n", at + 1)
    return ends


def _snippet(text: str, ends: Sequence[int], line: int, wanted: Sequence[Term], width: int) -> Snippet:
    start = ends[line - 1] + 1 if line else 0
    end = ends[line] if line < len(ends) else len(text)
    whole = text[start:end].replace("\r", "").replace("\t", " ")
    shown, places = shorten(whole, marks(whole, wanted), width)
    return Snippet(line + 1, shown, places)
