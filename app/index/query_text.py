"""Writes a search down again: `parse(written(node))` is the same tree, but for the places of its parts."""

from __future__ import annotations

import re

from app.index.query_tree import (
    And,
    Compare,
    Field,
    Node,
    Not,
    Or,
    Orphan,
    Phrase,
    Property,
    Regex,
    Similar,
    Timed,
    Unresolved,
    Untagged,
    Word,
)

_PLAIN_VALUE = re.compile(r'[^\s()"\]=][^\s()"\]]*')
_PLAIN_NAME = re.compile(r'[^\s:\[\]"]([^:\[\]"]*[^\s:\[\]"])?')
_ESCAPED = re.compile(r"\\.|/", re.DOTALL)


def written(node: Node) -> str:
    """The search in its own language."""
    # At the end of a search a word is also the beginning of longer ones, unless a space follows.
    return f"{_said(node)} " if _ends_in_word(node) else _said(node)


def quoted(text: str) -> str:
    """The text as a phrase."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _said(node: Node) -> str:
    match node:
        case Word(text, prefix):
            return f"{text}*" if prefix else text
        case Phrase(text):
            return quoted(text)
        case Regex(pattern):
            return f"/{_ESCAPED.sub(_escape, pattern)}/"
        case Compare(sign, value):
            return f"{sign}{value if _PLAIN_VALUE.fullmatch(value) else quoted(value)}"
        case And(items):
            return " ".join(_one(item) for item in items)
        case Or(items):
            return " OR ".join(f"({_said(item)})" if isinstance(item, Or) else _said(item) for item in items)
        case Not(item):
            return f"-{_one(item)}"
        case Field(name, item):
            return f"{name}:{_one(item)}"
        case Property(name, value, empty):
            said = name if _PLAIN_NAME.fullmatch(name) else quoted(name)
            inner = ":null" if empty else f":{_said(value)}" if value is not None else ""
            return f"[{said}{inner}]"
        case Orphan():
            return "orphan:"
        case Unresolved():
            return "unresolved:"
        case Untagged():
            return "untagged:"
        case Timed(name, _, _, said):
            return f"{name}:{said}"
        case Similar(text):
            return f"similar:{quoted(text)}"


def _escape(found: re.Match[str]) -> str:
    return r"\/" if found[0] == "/" else found[0]


def _one(node: Node) -> str:
    return f"({_said(node)})" if isinstance(node, And | Or) else _said(node)


def _ends_in_word(node: Node) -> bool:
    match node:
        case Word(_, prefix):
            return not prefix
        case Or(items):
            return not isinstance(items[-1], Or) and _ends_in_word(items[-1])
        case And(items):
            return not isinstance(items[-1], And | Or) and _ends_in_word(items[-1])
        case Not(item) | Field(_, item):
            return not isinstance(item, And | Or) and _ends_in_word(item)
        case _:
            return False
