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
MAX_OCCURRENCES_PER_TERM = 60
_OPENING_CHARS = 4000
_OPENING_LINES = 60


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line with terms.

    `start` is its offset, `terms` has the indexes of its terms, and `open_from` is the offset of a term that
    continues on the next line.
    """

    start: int
    terms: set[int]
    open_from: int | None = None


Lines = Mapping[int, MatchedLine]


def find_lines(text: str, terms: Sequence[Term], per_term: int = MAX_OCCURRENCES_PER_TERM) -> Lines:
    """Return the lines with a term by number (from 0), limited to the first occurrences of each term."""
    chunk = FoldedText(text)
    lines: dict[int, MatchedLine] = {}
    for number, term in enumerate(terms):
        line = counted_to = 0
        for start, end in islice(term.occurrences(chunk), per_term):
            # Count lines from one occurrence to the next: a large text has many lines and few occurrences.
            line += text.count("\n", counted_to, start)
            counted_to = start
            if line not in lines:
                continues = text.find("\n", start, end) >= 0
                lines[line] = MatchedLine(text.rfind("\n", 0, start) + 1, set(), start if continues else None)
            lines[line].terms.add(number)
    return lines


def snippets(
    text: str,
    terms: Sequence[Term],
    limit: int = MAX_SNIPPETS,
    per_term: int = MAX_OCCURRENCES_PER_TERM,
    lines_with_terms: Lines | None = None,
) -> tuple[Snippet, ...]:
    """Return at most `limit` lines with marks: those with the most distinct terms, in text order.

    `lines_with_terms` is the result of `find_lines` for the same text, if already known.
    """
    lines = find_lines(text, terms, per_term) if lines_with_terms is None else lines_with_terms
    best = sorted(lines, key=lambda line: (-len(lines[line].terms), line))[:limit]
    return tuple(_snippet(text, line, lines[line], terms) for line in sorted(best))


def opening_snippet(text: str) -> tuple[Snippet, ...]:
    """Return the first line of prose, without marks, for a note found only by semantic search.

    Properties, empty lines and lines that start with `#` don't count; the result is empty if the beginning of
    the note has nothing else.
    """
    start = read_frontmatter(text).body_start
    first = text.count("\n", 0, start)
    beginning = text[start : start + _OPENING_CHARS].split("\n")
    for number, line in enumerate(beginning[:_OPENING_LINES], first):
        content = line.replace("\r", "").replace("\t", " ").strip()
        if content and not content.startswith("#"):
            return (Snippet(number + 1, content[:MAX_SNIPPET_CHARS], ()),)
    return ()


def _snippet(text: str, number: int, line: MatchedLine, terms: Sequence[Term]) -> Snippet:
    end = text.find("\n", line.start)
    line_text = text[line.start : end if end >= 0 else len(text)].replace("\r", "").replace("\t", " ")
    marks = find_marks(line_text, terms)
    if not marks and line.open_from is not None:
        # A phrase that continues on the next line.
        marks = [(line.open_from - line.start, len(line_text.rstrip()))]
    excerpt, excerpt_marks = shorten(line_text, marks, MAX_SNIPPET_CHARS)
    return Snippet(number + 1, excerpt, excerpt_marks)
