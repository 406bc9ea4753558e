"""The part of a search that the word index can answer by itself, in the language of SQLite's FTS5."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.index.normalization import can_extend, segment, tokenize
from app.index.query_ast import And, FieldFilter, Leaf, Node, Not, Or, PhraseTerm, RegexTerm, WordTerm
from app.index.text_matcher import Term

Expression = str
_OF_TEXT = (
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
    """A word or phrase; None for what has no letters or digits in it, and for a pattern.

    A single letter is a word, not the beginning of one: nearly every text has words that begin with it.
    """
    if isinstance(leaf, RegexTerm) or not (said := tokenize(leaf.text)):
        return None
    # Quoted, so that no letter of it is a command; FTS5 finds the words in it as it did in the texts.
    text = segment(leaf.text).replace("\0", " ").replace('"', " ").strip()
    return f'"{text}"*' if isinstance(leaf, WordTerm) and leaf.prefix and can_extend(said) else f'"{text}"'


def expression(node: Node) -> Expression | None:
    """The node as a whole, if the word index can answer it exactly, else None."""
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
            wanted = [expression(item) for item in items if not isinstance(item, Not)]
            refused = [expression(item.item) for item in items if isinstance(item, Not)]
            yes, no = _join_parts(" AND ", wanted), _join_parts(" OR ", refused)
            return yes if not refused else (f"({yes}) NOT ({no})" if yes and no else None)
        case _:
            return None


def necessary_expression(node: Node) -> Expression | None:
    """What a note must have so that a piece of it can match the node; None when that is nothing."""
    match node:
        case WordTerm() | PhraseTerm():
            return leaf_expression(node)
        case FieldFilter(name, item):
            return necessary_expression(item) if name in _OF_TEXT else None
        case Or(items):
            return _join_parts(" OR ", [necessary_expression(item) for item in items])
        case And(items):
            return _join_parts(" AND ", [said for item in items if (said := necessary_expression(item))])
        case _:
            return None


def any_of(wanted: Iterable[Term]) -> Expression | None:
    """Notes with any of the terms, to be ordered by relevance."""
    said = [found for term in wanted if (found := leaf_expression(term.leaf))]
    return _join_parts(" OR ", said)


def _join_parts(word: str, parts: Sequence[Expression | None]) -> Expression | None:
    said = [part for part in parts if part is not None]
    if not said or len(said) < len(parts):
        return None
    return said[0] if len(said) == 1 else word.join(f"({part})" for part in said)
