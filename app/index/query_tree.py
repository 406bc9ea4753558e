"""A search as a tree of small values, as `query.py` reads it and `search.py` carries it out. All frozen."""

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
    "links-to",
    "linked-from",
]
Comparison = Literal["<", "<=", ">", ">="]
TimeName = Literal["modified", "created"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word; `prefix`: also the beginning of one (the last word while it is being typed)."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in exactly this order; the empty phrase matches anything."""

    text: str


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression in RE2's syntax; `position` is where it stands in the query."""

    pattern: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class Compare:
    """A property's number or date compared with this one."""

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
class Field:
    """`item` is looked for in this part of the note, or in this way."""

    name: FieldName
    item: Node


@dataclass(frozen=True, slots=True)
class Property:
    """`[name]`: the property is there; `[name:…]`: with such a value; `[name:null]`: and it is empty."""

    name: str
    value: Node | None = None
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Orphan:
    """Notes with no link to or from another note."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Notes with a link to a name that no note has."""


@dataclass(frozen=True, slots=True)
class Untagged:
    """Notes without a tag, in their properties or in their text."""


@dataclass(frozen=True, slots=True)
class Timed:
    """Notes that were changed or made in a span of time: from `start` up to, but not at, `end`.

    Both are Unix times in seconds; None leaves that side open. `said` is the date as the query has it.
    """

    name: TimeName
    start: float | None
    end: float | None
    said: str


@dataclass(frozen=True, slots=True)
class Similar:
    """Notes that mean much the same as this text; `position` is where it stands in the query."""

    text: str
    position: int = 0


Leaf = Word | Phrase | Regex
Node = (
    Word
    | Phrase
    | Regex
    | Compare
    | And
    | Or
    | Not
    | Field
    | Property
    | Orphan
    | Unresolved
    | Untagged
    | Timed
    | Similar
)

_FIELD_WORDS: dict[str, str] = {
    "file": "the file name has {}",
    "path": "the path has {}",
    "content": "the text has {}",
    "tag": "tagged {}",
    "line": "one line has {}",
    "block": "one paragraph has {}",
    "section": "one section has {}",
    "task": "a task has {}",
    "task-todo": "an open task has {}",
    "task-done": "a done task has {}",
    "match-case": "{} in exactly these letters",
    "ignore-case": "{} in any letters",
    "type": "of type {}",
    "rel": "with a relation {}",
    "links-to": "linking to {}",
    "linked-from": "linked from {}",
}


def walk_nodes(node: Node | None) -> Iterator[Node]:
    """The node and everything below it."""
    if node is None:
        return
    yield node
    if isinstance(node, And | Or):
        for item in node.items:
            yield from walk_nodes(item)
    elif isinstance(node, Not | Field):
        yield from walk_nodes(node.item)
    elif isinstance(node, Property):
        yield from walk_nodes(node.value)


def explain(node: Node) -> str:
    """The search in plain words."""
    match node:
        case Word(text, prefix):
            return f"“{text}…”" if prefix else f"“{text}”"
        case Phrase(text):
            return f"“{text}” as a phrase" if text else "anything"
        case Regex(pattern):
            return f"the pattern /{pattern}/"
        case Compare(sign, value):
            return f"{sign} {value}"
        case And(items):
            return " and ".join(_grouped(item) for item in items)
        case Or(items):
            return " or ".join(_grouped(item) for item in items)
        case Not(item):
            return f"not {_grouped(item)}"
        case Field(name, item):
            return _FIELD_WORDS[name].format(_grouped(item))
        case Property(name, _, True):
            return f"the property {name} is empty"
        case Property(name, None):
            return f"has the property {name}"
        case Property(name, value):
            return f"the property {name} is {explain(value) if value else ''}"
        case Orphan():
            return "without links"
        case Unresolved():
            return "with an unresolved link"
        case Untagged():
            return "without tags"
        case Timed(name, _, _, said):
            return f"{name} {said}"
        case Similar(text):
            return f"similar in meaning to “{text}”"


def _grouped(node: Node) -> str:
    return f"({explain(node)})" if isinstance(node, And | Or) else explain(node)
