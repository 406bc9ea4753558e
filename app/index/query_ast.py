"""The immutable syntax tree of a query, produced by `query.py` and executed by `query_executor.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

FieldName = Literal[
    "file",
    "path",
    "content",
    "tag",
    "line",
    "block",
    "section",
    "task",
    "task-todo",
    "task-done",
    "match-case",
    "ignore-case",
    "type",
    "rel",
    "backlinks",
    "links-to",
    "linked-from",
]
Comparison = Literal["<", "<=", ">", ">="]
TimeName = Literal["modified", "created"]


@dataclass(frozen=True, slots=True)
class WordTerm:
    """A word; with `prefix`, also longer words that start with it."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class PhraseTerm:
    """Words in exactly this order; an empty phrase matches everything."""

    text: str


@dataclass(frozen=True, slots=True)
class RegexTerm:
    """A regular expression in RE2 syntax at `position` in the query."""

    pattern: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class ValueComparison:
    """A comparison of a property's number or date with this value."""

    sign: Comparison
    value: str


@dataclass(frozen=True, slots=True)
class And:
    """All of these."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of these."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Not this."""

    item: Node


@dataclass(frozen=True, slots=True)
class FieldFilter:
    """A filter that matches `item` in a part of the note or in a certain way."""

    name: FieldName
    item: Node


@dataclass(frozen=True, slots=True)
class PropertyFilter:
    """A property: `[name]` if it exists, `[name:…]` if the value matches, `[name:null]` if it is empty."""

    name: str
    value: Node | None = None
    empty: bool = False


@dataclass(frozen=True, slots=True)
class OrphanFilter:
    """Notes with no link to or from another note."""


@dataclass(frozen=True, slots=True)
class UnresolvedFilter:
    """Notes with an unresolved link."""


@dataclass(frozen=True, slots=True)
class UntaggedFilter:
    """Notes with no tag in their properties or text."""


@dataclass(frozen=True, slots=True)
class DateFilter:
    """Notes modified or created in a period from `start` to `end` (exclusive).

    Both are Unix times in seconds; None leaves that side open. `text` is the date as written in the query.
    """

    name: TimeName
    start: float | None
    end: float | None
    text: str


@dataclass(frozen=True, slots=True)
class SimilarityFilter:
    """Notes similar in meaning to this text at `position` in the query."""

    text: str
    position: int = 0


Leaf = WordTerm | PhraseTerm | RegexTerm
Node = (
    WordTerm
    | PhraseTerm
    | RegexTerm
    | ValueComparison
    | And
    | Or
    | Not
    | FieldFilter
    | PropertyFilter
    | OrphanFilter
    | UnresolvedFilter
    | UntaggedFilter
    | DateFilter
    | SimilarityFilter
)

_FIELD_WORDS: dict[str, str] = {
    "file": "the file name contains {}",
    "path": "the path contains {}",
    "content": "the text contains {}",
    "tag": "tagged {}",
    "line": "one line contains {}",
    "block": "one paragraph contains {}",
    "section": "one section contains {}",
    "task": "a task contains {}",
    "task-todo": "an open task contains {}",
    "task-done": "a completed task contains {}",
    "match-case": "{} with matching case",
    "ignore-case": "{} ignoring case",
    "type": "of type {}",
    "rel": "with a relation of type {}",
    "backlinks": "with a backlink of type {}",
    "links-to": "linking to {}",
    "linked-from": "linked from {}",
}
_EMPTY_FIELD_WORDS: dict[str, str] = {
    "task": "has a task",
    "task-todo": "has an open task",
    "task-done": "has a completed task",
    "backlinks": "with a backlink",
}


def walk_nodes(node: Node | None) -> Iterator[Node]:
    """Yield the node and all its descendants."""
    if node is None:
        return
    yield node
    if isinstance(node, And | Or):
        for item in node.items:
            yield from walk_nodes(item)
    elif isinstance(node, Not | FieldFilter):
        yield from walk_nodes(node.item)
    elif isinstance(node, PropertyFilter):
        yield from walk_nodes(node.value)


def explain(node: Node) -> str:
    """Describe a query in plain words."""
    match node:
        case WordTerm(text, prefix):
            return f"“{text}…”" if prefix else f"“{text}”"
        case PhraseTerm(text):
            return f"“{text}” as a phrase" if text else "anything"
        case RegexTerm(pattern):
            return f"the pattern /{pattern}/"
        case ValueComparison(sign, value):
            return f"{sign} {value}"
        case And(items):
            return " and ".join(_explain_grouped(item) for item in items)
        case Or(items):
            return " or ".join(_explain_grouped(item) for item in items)
        case Not(item):
            return f"not {_explain_grouped(item)}"
        case FieldFilter(name, PhraseTerm("")) if name in _EMPTY_FIELD_WORDS:
            return _EMPTY_FIELD_WORDS[name]
        case FieldFilter(name, item):
            return _FIELD_WORDS[name].format(_explain_grouped(item))
        case PropertyFilter(name, _, True):
            return f"the property {name} is empty"
        case PropertyFilter(name, None):
            return f"has the property {name}"
        case PropertyFilter(name, value):
            return f"the property {name} is {explain(value) if value else ''}"
        case OrphanFilter():
            return "without links"
        case UnresolvedFilter():
            return "with an unresolved link"
        case UntaggedFilter():
            return "without tags"
        case DateFilter(name, _, _, text):
            return f"{name} {text}"
        case SimilarityFilter(text):
            return f"similar in meaning to “{text}”"


def _explain_grouped(node: Node) -> str:
    return f"({explain(node)})" if isinstance(node, And | Or) else explain(node)
