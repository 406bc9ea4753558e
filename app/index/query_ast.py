"""The immutable syntax tree of a query, produced by `query.py` and executed by `query_executor.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from app.translatable_text import TranslatableText

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

_FIELD_TEXTS: dict[FieldName, TranslatableText] = {
    "file": TranslatableText("Query", "the file name contains {0}"),
    "path": TranslatableText("Query", "the path contains {0}"),
    "content": TranslatableText("Query", "the text contains {0}"),
    "tag": TranslatableText("Query", "tagged {0}"),
    "line": TranslatableText("Query", "one line contains {0}"),
    "block": TranslatableText("Query", "one paragraph contains {0}"),
    "section": TranslatableText("Query", "one section contains {0}"),
    "task": TranslatableText("Query", "a task contains {0}"),
    "task-todo": TranslatableText("Query", "an open task contains {0}"),
    "task-done": TranslatableText("Query", "a completed task contains {0}"),
    "match-case": TranslatableText("Query", "{0} with matching case"),
    "ignore-case": TranslatableText("Query", "{0} ignoring case"),
    "type": TranslatableText("Query", "of type {0}"),
    "rel": TranslatableText("Query", "with a relation of type {0}"),
    "backlinks": TranslatableText("Query", "with a backlink of type {0}"),
    "links-to": TranslatableText("Query", "linking to {0}"),
    "linked-from": TranslatableText("Query", "linked from {0}"),
}
_EMPTY_FIELD_TEXTS: dict[FieldName, TranslatableText] = {
    "task": TranslatableText("Query", "has a task"),
    "task-todo": TranslatableText("Query", "has an open task"),
    "task-done": TranslatableText("Query", "has a completed task"),
    "backlinks": TranslatableText("Query", "with a backlink"),
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


def explain(node: Node) -> TranslatableText:
    """Describe a query in plain words."""
    match node:
        case WordTerm(text, prefix):
            return TranslatableText.verbatim(f"“{text}…”" if prefix else f"“{text}”")
        case PhraseTerm(""):
            return TranslatableText("Query", "anything")
        case PhraseTerm(text):
            return TranslatableText("Query", "“{0}” as a phrase").fill(text)
        case RegexTerm(pattern):
            return TranslatableText("Query", "the pattern /{0}/").fill(pattern)
        case ValueComparison(sign, value):
            return TranslatableText.verbatim(f"{sign} {value}")
        case And(items):
            return _join(TranslatableText("Query", "{0} and {1}"), items)
        case Or(items):
            return _join(TranslatableText("Query", "{0} or {1}"), items)
        case Not(item):
            return TranslatableText("Query", "not {0}").fill(_explain_grouped(item))
        case FieldFilter(name, PhraseTerm("")) if name in _EMPTY_FIELD_TEXTS:
            return _EMPTY_FIELD_TEXTS[name]
        case FieldFilter(name, item):
            return _FIELD_TEXTS[name].fill(_explain_grouped(item))
        case PropertyFilter(name, value, empty):
            if empty:
                return TranslatableText("Query", "the property {0} is empty").fill(name)
            if value is None:
                return TranslatableText("Query", "has the property {0}").fill(name)
            return TranslatableText("Query", "the property {0} is {1}").fill(name, explain(value))
        case OrphanFilter():
            return TranslatableText("Query", "without links")
        case UnresolvedFilter():
            return TranslatableText("Query", "with an unresolved link")
        case UntaggedFilter():
            return TranslatableText("Query", "without tags")
        case DateFilter("modified", _, _, text):
            return TranslatableText("Query", "modified {0}").fill(text)
        case DateFilter(_, _, _, text):
            return TranslatableText("Query", "created {0}").fill(text)
        case SimilarityFilter(text):
            return TranslatableText("Query", "similar in meaning to “{0}”").fill(text)


def _join(conjunction: TranslatableText, items: tuple[Node, ...]) -> TranslatableText:
    """Join the explanations of the items by `conjunction`, which joins two texts."""
    return reduce(conjunction.fill, map(_explain_grouped, items))


def _explain_grouped(node: Node) -> TranslatableText:
    text = explain(node)
    return TranslatableText("Query", "({0})").fill(text) if isinstance(node, And | Or) else text
