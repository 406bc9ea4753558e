"""The lines of a note that show why a search found it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from app.index.matching import Chunk, Term, marks, shorten
from app.index.records import Snippet

MOST = 3
WIDTH = 200
_PLACES_PER_TERM = 60


def snippets(text: str, wanted: Sequence[Term], most: int = MOST, width: int = WIDTH) -> tuple[Snippet, ...]:
    """At most `most` lines with marks, those with the most different terms first, then in their order."""
    chunk = Chunk(text)
    terms_at: dict[int, set[int]] = {}
    ends = _line_ends(text)
    for number, term in enumerate(wanted):
        for count, (start, _) in enumerate(term.places(chunk)):
            if count >= _PLACES_PER_TERM:
                break
            terms_at.setdefault(bisect_left(ends, start), set()).add(number)
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
