"""Conversion of a query to a semantic one: its plain words become text to match by meaning."""

from __future__ import annotations

from app.index.query import parse
from app.index.query_ast import And, Node, Or, PhraseTerm, SimilarityFilter, WordTerm
from app.index.query_serializer import serialize_query


def to_semantic_query(query: str) -> str:
    """Return the query with its plain words as `similar:"…"`, unchanged if it has none.

    `tag:idea bread rises` becomes `similar:"bread rises" tag:idea`. Phrases, and words joined by OR, count as
    plain words; excluded words and several words in parentheses stay as they are.

    Raises:
        QueryError: the query is invalid.
    """
    node = parse(query)
    if node is None:
        return query
    parts = node.items if isinstance(node, And) else (node,)
    words = [text for part in parts if (text := _plain_words(part))]
    if not words:
        return query
    similar = SimilarityFilter(" ".join(words))
    rest = tuple(part for part in parts if not _plain_words(part))
    return serialize_query(And((similar, *rest)) if rest else similar)


def _plain_words(node: Node) -> str:
    """Return the words of a word, a phrase, or several of these joined by OR; "" for anything else."""
    match node:
        case WordTerm(text) | PhraseTerm(text):
            return text
        case Or(items) if all(isinstance(item, WordTerm | PhraseTerm) for item in items):
            return " ".join(_plain_words(item) for item in items)
        case _:
            return ""
