"""Explanations of queries: a tree of descriptions with the number of notes that each part finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.index.query_ast import And, FieldFilter, FieldName, Node, Not, Or, explain

_WITHIN: dict[FieldName, str] = {
    "file": "In the file name",
    "path": "In the path",
    "content": "In the text",
    "tag": "In the tags",
    "line": "In one line",
    "block": "In one paragraph",
    "section": "In one section",
    "task": "In a task",
    "task-todo": "In an open task",
    "task-done": "In a completed task",
    "match-case": "Matching case",
    "ignore-case": "Ignoring case",
    "type": "In the type",
    "rel": "In a relation type",
    "backlinks": "In a backlink type",
    "links-to": "Linking to",
    "linked-from": "Linked from",
}
Count = Callable[[Node], int | None]


@dataclass(frozen=True, slots=True)
class ExplanationNode:
    """A part of a query in words, the number of notes that it alone finds (None: unknown), and its parts."""

    words: str
    count: int | None = None
    parts: tuple[ExplanationNode, ...] = ()

    @property
    def text(self) -> str:
        """The explanation as indented lines."""
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> list[str]:
        count = "" if self.count is None else f" ({self.count:,})"
        text = f"{'    ' * depth}{self.words}{count}"
        return [text, *(inner for part in self.parts for inner in part._lines(depth + 1))]


def explain_query(node: Node, count: Count = lambda node: None) -> ExplanationNode:
    """Return the tree that explains a query; `count` returns how many notes a part of it finds."""
    return _explain_node(node, lambda inner: inner, count)


def _explain_node(node: Node, wrap: Callable[[Node], Node], count: Count) -> ExplanationNode:
    """Explain a part; `wrap` wraps it in its enclosing filter, on which its count depends."""
    number = count(wrap(node))
    match node:
        case And(items):
            return ExplanationNode(
                "All of these", number, tuple(_explain_node(item, wrap, count) for item in items)
            )
        case Or(items):
            return ExplanationNode(
                "Any of these", number, tuple(_explain_node(item, wrap, count) for item in items)
            )
        case Not(And() | Or() | FieldFilter() as item):
            return ExplanationNode("Without", number, (_explain_node(item, wrap, count),))
        case FieldFilter(name, And() | Or() | Not() | FieldFilter() as item):

            def wrap_in_field(inner: Node) -> Node:
                return wrap(FieldFilter(name, inner))

            return ExplanationNode(_WITHIN[name], number, (_explain_node(item, wrap_in_field, count),))
        case _:
            words = explain(node)
            return ExplanationNode(words[:1].upper() + words[1:], number)
