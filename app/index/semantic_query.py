"""A search by meaning: what is said in plain words is meant, and the rest of the search still narrows it."""

from __future__ import annotations

from app.index.query import parse
from app.index.query_ast import And, Node, Or, PhraseTerm, SimilarityFilter, WordTerm
from app.index.query_serializer import serialize_query


def to_semantic_query(query: str) -> str:
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
    said = [text for part in parts if (text := _plain_words(part))]
    if not said:
        return query
    meant = SimilarityFilter(" ".join(said))
    rest = tuple(part for part in parts if not _plain_words(part))
    return serialize_query(And((meant, *rest)) if rest else meant)


def _plain_words(node: Node) -> str:
    """The words of a part that is nothing but words."""
    match node:
        case WordTerm(text) | PhraseTerm(text):
            return text
        case Or(items) if all(isinstance(item, WordTerm | PhraseTerm) for item in items):
            return " ".join(_plain_words(item) for item in items)
        case _:
            return ""
