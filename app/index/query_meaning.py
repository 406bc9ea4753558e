"""A search by meaning: what is said in plain words is meant, and the rest of the search still narrows it."""

from __future__ import annotations

from app.index.query import parse
from app.index.query_text import written
from app.index.query_tree import And, Node, Or, Phrase, Similar, Word


def by_meaning(query: str) -> str:
    """The search with its plain words as `similar:"…"`; as it is where it has none.

    `tag:idea bread rises` becomes `similar:"bread rises" tag:idea`. Words after a minus or in brackets
    stay words.

    Raises:
        QueryError: the query cannot be read.
    """
    node = parse(query)
    if node is None:
        return query
    parts = node.items if isinstance(node, And) else (node,)
    said = [text for part in parts if (text := _said(part))]
    if not said:
        return query
    meant = Similar(" ".join(said))
    rest = tuple(part for part in parts if not _said(part))
    return written(And((meant, *rest)) if rest else meant)


def _said(node: Node) -> str:
    """The words of a part that is nothing but words."""
    match node:
        case Word(text) | Phrase(text):
            return text
        case Or(items) if all(isinstance(item, Word | Phrase) for item in items):
            return " ".join(_said(item) for item in items)
        case _:
            return ""
