"""Translation of queries to SQLite FTS5 expressions, as far as the full-text index can answer them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.index.normalization import can_extend, segment, tokenize
from app.index.query_ast import And, FieldFilter, Leaf, Node, Not, Or, PhraseTerm, RegexTerm, WordTerm
from app.index.text_matcher import Term

Expression = str
_TEXT_FIELDS = (
    "content",
    "line",
    "block",
    "section",
    "task",
    "task-todo",
    "task-done",
    "match-case",
    "ignore-case",
)


def leaf_expression(leaf: Leaf) -> Expression | None:
    """Return the expression for a word or phrase, or None for a pattern or a leaf without letters and digits.

    A single letter is not treated as a prefix, because nearly every text has words that start with it.
    """
    if isinstance(leaf, RegexTerm) or not (words := tokenize(leaf.text)):
        return None
    # Quoted, so that FTS5 sees no operators and tokenizes it in the same way as the notes.
    text = segment(leaf.text).replace("\0", " ").replace('"', " ").strip()
    return f'"{text}"*' if isinstance(leaf, WordTerm) and leaf.prefix and can_extend(words) else f'"{text}"'


def expression(node: Node) -> Expression | None:
    """Return the expression of a whole node if the full-text index can answer it exactly, else None."""
    match node:
        case WordTerm() | PhraseTerm():
            return leaf_expression(node)
        case FieldFilter("content", item):
            inner = expression(item)
            return f"{{text}} : ({inner})" if inner else None
        case FieldFilter("ignore-case", item):
            return expression(item)
        case Or(items):
            return _join_parts(" OR ", [expression(item) for item in items])
        case And(items):
            included = [expression(item) for item in items if not isinstance(item, Not)]
            excluded = [expression(item.item) for item in items if isinstance(item, Not)]
            inclusion, exclusion = _join_parts(" AND ", included), _join_parts(" OR ", excluded)
            return (
                inclusion
                if not excluded
                else (f"({inclusion}) NOT ({exclusion})" if inclusion and exclusion else None)
            )
        case _:
            return None


def necessary_expression(node: Node) -> Expression | None:
    """Return an expression that every matching note satisfies, or None if there is none."""
    match node:
        case WordTerm() | PhraseTerm():
            return leaf_expression(node)
        case FieldFilter(name, item):
            return necessary_expression(item) if name in _TEXT_FIELDS else None
        case Or(items):
            return _join_parts(" OR ", [necessary_expression(item) for item in items])
        case And(items):
            return _join_parts(" AND ", [known for item in items if (known := necessary_expression(item))])
        case _:
            return None


def any_of(terms: Iterable[Term]) -> Expression | None:
    """Return the expression for notes with any of the terms, for ranking by relevance, or None.

    Terms without an expression are ignored.
    """
    expressions = [part for term in terms if (part := leaf_expression(term.leaf))]
    return _join_parts(" OR ", expressions)


def _join_parts(word: str, parts: Sequence[Expression | None]) -> Expression | None:
    expressions = [part for part in parts if part is not None]
    if not expressions or len(expressions) < len(parts):
        return None
    return expressions[0] if len(expressions) == 1 else word.join(f"({part})" for part in expressions)
