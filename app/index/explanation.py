"""Explanations of queries: a tree of descriptions with the number of notes that each part finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.index.query_ast import And, FieldFilter, FieldName, Node, Not, Or, explain
from app.translatable_text import TranslatableText

_WITHIN: dict[FieldName, TranslatableText] = {
    "file": TranslatableText("Query", "In the file name"),
    "path": TranslatableText("Query", "In the path"),
    "content": TranslatableText("Query", "In the text"),
    "tag": TranslatableText("Query", "In the tags"),
    "line": TranslatableText("Query", "In one line"),
    "block": TranslatableText("Query", "In one paragraph"),
    "section": TranslatableText("Query", "In one section"),
    "task": TranslatableText("Query", "In a task"),
    "task-todo": TranslatableText("Query", "In an open task"),
    "task-done": TranslatableText("Query", "In a completed task"),
    "match-case": TranslatableText("Query", "Matching case"),
    "ignore-case": TranslatableText("Query", "Ignoring case"),
    "type": TranslatableText("Query", "In the type"),
    "rel": TranslatableText("Query", "In a relation type"),
    "backlinks": TranslatableText("Query", "In a backlink type"),
    "links-to": TranslatableText("Query", "Linking to"),
    "linked-from": TranslatableText("Query", "Linked from"),
}
Count = Callable[[Node], int | None]


@dataclass(frozen=True, slots=True)
class ExplanationNode:
    """A part of a query in words, the number of notes that it alone finds (None: unknown), and its parts."""

    words: TranslatableText
    count: int | None = None
    parts: tuple[ExplanationNode, ...] = ()


def explain_query(node: Node, count: Count = lambda node: None) -> ExplanationNode:
    """Return the tree that explains a query; `count` returns how many notes a part of it finds."""
    return _explain_node(node, lambda inner: inner, count)


def _explain_node(node: Node, wrap: Callable[[Node], Node], count: Count) -> ExplanationNode:
    """Explain a part; `wrap` wraps it in its enclosing filter, on which its count depends."""
    number = count(wrap(node))
    match node:
        case And(items):
            return ExplanationNode(
                TranslatableText("Query", "All of these"),
                number,
                tuple(_explain_node(item, wrap, count) for item in items),
            )
        case Or(items):
            return ExplanationNode(
                TranslatableText("Query", "Any of these"),
                number,
                tuple(_explain_node(item, wrap, count) for item in items),
            )
        case Not(And() | Or() | FieldFilter() as item):
            return ExplanationNode(
                TranslatableText("Query", "Without"), number, (_explain_node(item, wrap, count),)
            )
        case FieldFilter(name, And() | Or() | Not() | FieldFilter() as item):

            def wrap_in_field(inner: Node) -> Node:
                return wrap(FieldFilter(name, inner))

            return ExplanationNode(_WITHIN[name], number, (_explain_node(item, wrap_in_field, count),))
        case _:
            return ExplanationNode(explain(node).capitalized(), number)
