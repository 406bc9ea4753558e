"""Snippets: the lines of a note that match a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from app.index.records import Snippet
from app.index.text_matcher import FoldedText, Term, find_marks, shorten
from app.vault.markdown.frontmatter import read_frontmatter

MAX_SNIPPETS = 3
MAX_SNIPPET_CHARS = 200
MAX_PLACES_PER_TERM = 60
_OPENING_CHARS, _OPENING_LINES = 4000, 60


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line with terms: its offset, the terms, and the start of a term that continues on the next line."""

    start: int
    terms: set[int]
    open_from: int | None = None


Lines = Mapping[int, MatchedLine]


def find_lines(text: str, wanted: Sequence[Term], per_term: int = MAX_PLACES_PER_TERM) -> Lines:
    """Return the lines with a term by number (from 0), limited to the first places of each term."""
    chunk = FoldedText(text)
    found: dict[int, MatchedLine] = {}
    for number, term in enumerate(wanted):
        line = at = 0
        for start, stop in islice(term.places(chunk), per_term):
            # Count lines from place to place: a large text has many lines and few places.
            line += text.count("\n", at, start)
            at = start
            if line not in found:
                ends = text.find("\n", start, stop) >= 0
                found[line] = MatchedLine(text.rfind("\n", 0, start) + 1, set(), start if ends else None)
            found[line].terms.add(number)
    return found


def snippets(
    text: str,
    wanted: Sequence[Term],
    most: int = MAX_SNIPPETS,
    per_term: int = MAX_PLACES_PER_TERM,
    found: Lines | None = None,
) -> tuple[Snippet, ...]:
    """Return at most `most` lines with marks: those with the most distinct terms, in text order.

    `found` is the result of `find_lines` for the same text, if already known.
    """
    lines = find_lines(text, wanted, per_term) if found is None else found
    best = sorted(lines, key=lambda line: (-len(lines[line].terms), line))[:most]
    return tuple(_snippet(text, line, lines[line], wanted) for line in sorted(best))


def opening_snippet(text: str) -> tuple[Snippet, ...]:
    """Return the first line of prose, without marks, for a note found by meaning only.

    Properties, headings and empty lines don't count; the result is empty if there is nothing else.
    """
    start = read_frontmatter(text).body_start
    first = text.count("\n", 0, start)
    beginning = text[start : start + _OPENING_CHARS].split("\n")
    for number, line in enumerate(beginning[:_OPENING_LINES], first):
        content = line.replace("\r", "").replace("\t", " ").strip()
        if content and not content.startswith("#"):
            return (Snippet(number + 1, content[:MAX_SNIPPET_CHARS], ()),)
    return ()


def _snippet(text: str, number: int, line: MatchedLine, wanted: Sequence[Term]) -> Snippet:
    end = text.find("\n", line.start)
    whole = text[line.start : end if end >= 0 else len(text)].replace("\r", "").replace("\t", " ")
    found = find_marks(whole, wanted)
    if not found and line.open_from is not None:
        # A phrase that continues on the next line.
        found = [(line.open_from - line.start, len(whole.rstrip()))]
    shown, places = shorten(whole, found, MAX_SNIPPET_CHARS)
    return Snippet(number + 1, shown, places)
