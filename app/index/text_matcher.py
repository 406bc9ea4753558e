"""Match query terms in text: for conditions that the full-text index can't check, and to highlight hits.

Words match as in the full-text index: whole, ignoring case and accents. User-defined patterns run in RE2,
which takes time proportional to the text for any pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import re2

from app.errors import QueryError
from app.index.normalization import UNSPACED, can_extend, fold, is_unspaced, tokenize
from app.index.query_ast import (
    And,
    FieldFilter,
    Leaf,
    Node,
    Not,
    Or,
    PhraseTerm,
    RegexTerm,
    WordTerm,
    walk_nodes,
)

_BETWEEN = r"[\W_]+"
_MAX_MARKS_PER_TERM = 200
_WORD_START, _WORD_END = f"(?<![^\\W_{UNSPACED}])", f"(?![^\\W_{UNSPACED}])"
_RE2_MEMORY = 8 << 20
_UNSUPPORTED = (
    ("look-behind", re.compile(r"\(\?<[=!]")),
    ("look-ahead", re.compile(r"\(\?[=!]")),
    ("a back-reference", re.compile(r"\\[1-9]|\(\?P=|\\k[<{']")),
    ("an atomic group", re.compile(r"\(\?>")),
    ("a conditional", re.compile(r"\(\?\(")),
    ("a possessive quantifier", re.compile(r"[*+?}]\+")),
)
Marks = list[tuple[int, int]]


class FoldedText:
    """A piece of a note's text, folded lazily."""

    __slots__ = ("_folded", "text")

    def __init__(self, text: str, folded: str | None = None) -> None:
        self.text = text
        self._folded = folded

    def slice(self, start: int, end: int) -> FoldedText:
        """Return a slice; folding keeps offsets, so the slice needs no second folding."""
        return FoldedText(self.text[start:end], self._folded and self._folded[start:end])

    @property
    def folded(self) -> str:
        """The text in lower case without accents."""
        if self._folded is None:
            self._folded = fold(self.text)
        return self._folded


@dataclass(frozen=True, slots=True)
class Term:
    """A word, phrase or pattern to find; with `cased`, case and accents matter."""

    leaf: Leaf
    cased: bool = False

    def is_found_in(self, chunk: FoldedText) -> bool:
        """Return whether the text contains the term."""
        if isinstance(self.leaf, RegexTerm):
            return compile_pattern(self.leaf, self.cased).search(chunk.text) is not None
        compiled = _compile_leaf(self.leaf, self.cased)
        return (
            compiled is None
            or next(compiled.occurrences(chunk.text if self.cased else chunk.folded), None) is not None
        )

    def occurrences(self, chunk: FoldedText) -> Iterator[tuple[int, int]]:
        """Yield the spans of the term in the text, from left to right, without empty ones."""
        if isinstance(self.leaf, RegexTerm):
            matches = compile_pattern(self.leaf, self.cased).finditer(chunk.text)
            yield from ((match.start(), match.end()) for match in matches if match.end() > match.start())
        elif compiled := _compile_leaf(self.leaf, self.cased):
            yield from compiled.occurrences(chunk.text if self.cased else chunk.folded)


def compile_pattern(regex: RegexTerm, cased: bool = False) -> re2._Regexp:
    """Compile a pattern; `^` and `$` match at the start and end of each line.

    Raises:
        QueryError: RE2 does not support it (no look-around, no back-references).
    """
    options = re2.Options()
    options.case_sensitive = cased
    options.max_mem = _RE2_MEMORY
    options.log_errors = False
    try:
        return re2.compile(f"(?m){regex.pattern}", options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
        raise _pattern_error(regex, reason) from error


def check_patterns(node: Node) -> None:
    """Check that all patterns in the query are valid.

    Raises:
        QueryError: a pattern is invalid.
    """
    for part in walk_nodes(node):
        if isinstance(part, RegexTerm):
            compile_pattern(part)


def _pattern_error(regex: RegexTerm, reason: str) -> QueryError:
    """Return the error for a pattern that RE2 can't compile, naming the unsupported construct, if any."""
    for name, pattern in _UNSUPPORTED:
        if match := pattern.search(regex.pattern):
            # In the query, a slash in the pattern is escaped with a backslash.
            position = regex.position + 1 + match.start() + regex.pattern.count("/", 0, match.start())
            return QueryError(
                f"The regular expression at position {regex.position} uses {name} ({match[0]}), which is not"
                " supported because it could make a search very slow.",
                position=position,
                expected=f"a regular expression without {name}",
            )
    return QueryError(
        f"The regular expression at position {regex.position} is invalid: {reason}.",
        position=regex.position,
        expected="a regular expression in RE2's syntax",
    )


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A word pattern for the folded text (the plain text if cased), and the literal text it starts with."""

    prefix_text: str
    pattern: re.Pattern[str]

    def occurrences(self, text: str) -> Iterator[tuple[int, int]]:
        # Search for the literal prefix first: in large texts, the pattern takes ten times as long.
        index = text.find(self.prefix_text)
        while index >= 0:
            match = self.pattern.match(text, index)
            if match is not None:
                yield match.span()
            index = text.find(self.prefix_text, match.end() if match else index + 1)


@lru_cache(maxsize=256)
def _compile_leaf(leaf: WordTerm | PhraseTerm, cased: bool) -> _Compiled | None:
    """Compile a leaf; None matches everything."""
    text = leaf.text if cased else fold(leaf.text)
    words = tokenize(text)
    if not words:
        return _Compiled(text, re.compile(re.escape(text))) if text.strip() else None
    parts = [re.escape(words[0])]
    for left, right in pairwise(words):
        is_unspaced_pair = is_unspaced(left[-1]) or is_unspaced(right[0])
        parts.append((r"[\W_]*" if is_unspaced_pair else _BETWEEN) + re.escape(right))
    before = "" if is_unspaced(words[0][0]) else _WORD_START
    prefix = isinstance(leaf, WordTerm) and leaf.prefix and can_extend(words)
    after = "" if prefix or is_unspaced(words[-1][-1]) else _WORD_END
    return _Compiled(words[0], re.compile(before + "".join(parts) + after))


def required_literals(node: Node) -> tuple[str, ...] | None:
    """Return folded strings, at least one of which is in every matching text, or None if unknown."""
    match node:
        case WordTerm() | PhraseTerm():
            compiled = _compile_leaf(node, False)
            return (compiled.prefix_text,) if compiled else None
        case FieldFilter(_, item):
            return required_literals(item)
        case And(items):
            literals = [
                literals_of_item
                for item in items
                if (literals_of_item := required_literals(item)) is not None
            ]
            # A small set of long literals matches the fewest pieces.
            return min(
                literals,
                key=lambda literals_of_item: (len(literals_of_item), -min(map(len, literals_of_item))),
                default=None,
            )
        case Or(items):
            alternatives = [required_literals(item) for item in items]
            return (
                None
                if None in alternatives
                else tuple(
                    prefix_text for literals_of_item in alternatives for prefix_text in literals_of_item or ()
                )
            )
        case _:
            return None


def predicate(node: Node, cased: bool = False) -> Callable[[FoldedText], bool]:
    """Return a function that tests whether a piece of text matches the node.

    Raises:
        TypeError: the node has a filter that can't be matched against text.
    """
    if isinstance(node, And):
        all_tests = [predicate(item, cased) for item in node.items]
        return lambda chunk: all(test(chunk) for test in all_tests)
    if isinstance(node, Or):
        any_tests = [predicate(item, cased) for item in node.items]
        return lambda chunk: any(test(chunk) for test in any_tests)
    if isinstance(node, Not):
        inner = predicate(node.item, cased)
        return lambda chunk: not inner(chunk)
    if isinstance(node, FieldFilter):
        return predicate(node.item, node.name == "match-case")
    if isinstance(node, WordTerm | PhraseTerm | RegexTerm):
        return Term(node, cased).is_found_in
    raise TypeError(f"{type(node).__name__} can't be matched against text")


def highlight_terms(node: Node | None, cased: bool = False) -> Iterator[Term]:
    """Yield the terms to highlight: those searched for in text, except excluded ones."""
    if isinstance(node, And | Or):
        for item in node.items:
            yield from highlight_terms(item, cased)
    elif isinstance(node, FieldFilter):
        if node.name in ("match-case", "ignore-case"):
            yield from highlight_terms(node.item, node.name == "match-case")
        elif node.name in ("content", "line", "block", "section", "task", "task-todo", "task-done"):
            yield from highlight_terms(node.item, cased)
    elif isinstance(node, WordTerm | PhraseTerm | RegexTerm) and (
        isinstance(node, RegexTerm) or node.text.strip()
    ):
        yield Term(node, cased)


def find_marks(text: str, terms: Iterable[Term]) -> Marks:
    """Return the spans of the terms in the text, sorted, with overlapping or adjacent ones merged.

    At most `_MAX_MARKS_PER_TERM` are found for each term.
    """
    chunk = FoldedText(text)
    marks: Marks = []
    for term in terms:
        for count, mark in enumerate(term.occurrences(chunk)):
            if count >= _MAX_MARKS_PER_TERM:
                break
            marks.append(mark)
    marks.sort()
    merged: Marks = []
    for start, end in marks:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def shorten(
    text: str, marks: Sequence[tuple[int, int]], width: int
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Strip a line, shorten it around its first mark to about `width` characters, and shift the marks.

    Marks outside the excerpt are dropped.
    """
    lead = len(text) - len(text.lstrip())
    start, end = lead, len(text.rstrip())
    before = after = ""
    if end - start > width:
        first = marks[0][0] if marks else start
        start = max(start, min(first - width // 4, end - width))
        end = min(end, start + width)
        before, after = ("…" if start > lead else ""), ("…" if end < len(text.rstrip()) else "")
    shift = len(before) - start
    shifted = tuple(
        (max(left, start) + shift, min(right, end) + shift)
        for left, right in marks
        if left < end and right > start
    )
    return before + text[start:end] + after, shifted
