"""Serialization of queries: `parse(serialize_query(node))` is the same tree except for positions."""

from __future__ import annotations

import re

from app.index.query_ast import (
    And,
    DateFilter,
    FieldFilter,
    Node,
    Not,
    Or,
    OrphanFilter,
    PhraseTerm,
    PropertyFilter,
    RegexTerm,
    SimilarityFilter,
    UnresolvedFilter,
    UntaggedFilter,
    ValueComparison,
    WordTerm,
)

_PLAIN_VALUE = re.compile(r'[^\s()"\]=][^\s()"\]]*')
_PLAIN_NAME = re.compile(r'[^\s:\[\]"]([^:\[\]"]*[^\s:\[\]"])?')
_PLAIN_WORD = re.compile(r"[\w/-]+")
_ESCAPED = re.compile(r"\\.|/", re.DOTALL)


def serialize_query(node: Node) -> str:
    """Return the query in the search language."""
    # The last word of a query is a prefix unless a space follows.
    return f"{_serialize(node)} " if _ends_in_word(node) else _serialize(node)


def quote_text(text: str) -> str:
    """Return the text as a phrase."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quote_value(text: str) -> str:
    """Return the text as the value of an operator: as a phrase unless it is a plain word or path."""
    return text if _PLAIN_WORD.fullmatch(text) else quote_text(text)


def _serialize(node: Node) -> str:
    match node:
        case WordTerm(text, prefix):
            return f"{text}*" if prefix else text
        case PhraseTerm(text):
            return quote_text(text)
        case RegexTerm(pattern):
            return f"/{_ESCAPED.sub(_escape, pattern)}/"
        case ValueComparison(sign, value):
            return f"{sign}{value if _PLAIN_VALUE.fullmatch(value) else quote_text(value)}"
        case And(items):
            return " ".join(_serialize_item(item) for item in items)
        case Or(items):
            return " OR ".join(
                f"({_serialize(item)})" if isinstance(item, Or) else _serialize(item) for item in items
            )
        case Not(item):
            return f"-{_serialize_item(item)}"
        case FieldFilter(name, item):
            return f"{name}:{_serialize_item(item)}"
        case PropertyFilter(name, value, empty):
            text = name if _PLAIN_NAME.fullmatch(name) else quote_text(name)
            inner = ":null" if empty else f":{_serialize(value)}" if value is not None else ""
            return f"[{text}{inner}]"
        case OrphanFilter():
            return "orphan:"
        case UnresolvedFilter():
            return "unresolved:"
        case UntaggedFilter():
            return "untagged:"
        case DateFilter(name, _, _, text):
            return f"{name}:{text}"
        case SimilarityFilter(text):
            return f"similar:{quote_text(text)}"


def _escape(match: re.Match[str]) -> str:
    return r"\/" if match[0] == "/" else match[0]


def _serialize_item(node: Node) -> str:
    return f"({_serialize(node)})" if isinstance(node, And | Or) else _serialize(node)


def _ends_in_word(node: Node) -> bool:
    match node:
        case WordTerm(_, prefix):
            return not prefix
        case Or(items):
            return not isinstance(items[-1], Or) and _ends_in_word(items[-1])
        case And(items):
            return not isinstance(items[-1], And | Or) and _ends_in_word(items[-1])
        case Not(item) | FieldFilter(_, item):
            return not isinstance(item, And | Or) and _ends_in_word(item)
        case _:
            return False
