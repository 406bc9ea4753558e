"""The symbols of programs."""

from __future__ import annotations

NEXT, END = "|", "</s>"
OUTCOMES = ("model", "question", "none", "ask")
"""Programs without a step.

"model" needs a language model, "question" is about the content of the notes, "none" asks for nothing that the
agent can do, and "ask" is unclear.
"""
REFERENCES = ("it", "this", "these", "all", "prev", "kind", "swap", "unlike", "target", "others", "both")
"""References to the conversation.

"prev" means the notes and conditions of the last step, "kind" only its conditions on kinds of notes, "swap"
its conditions except those that the new ones replace, "unlike" its kinds with its only other condition
negated, and "target" only its notes. "others" are the listed notes that are not among its notes, "both" the
last two single notes.
"""
NTH = tuple(f"n{ordinal}" for ordinal in (1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2))
FLAGS = ("orphan:", "unresolved:", "untagged:", 'task:""', 'task-todo:""', 'task-done:""', 'backlinks:""')
FIELDS = (
    "tag:",
    "path:",
    "type:",
    "value:",
    "file:",
    "day:",
    "word",
    "rel:",
    "backlinks:",
    "modified:",
    "created:",
)
LINK_FIELDS = ("links-to:", "linked-from:")
CONDITION = "cond"
"""A known condition follows."""
COMPARISONS = ("=", "<", "<=", ">", ">=", "during", "exists")
ORDERS = (
    *("modified", "created", "name", "words", "links", "backlinks", "outgoing", "dated"),
    *("confidence", "born", "died", "year", "date"),
)
PROPERTY_ORDERS = ("order:prop", "order:-prop")
LAST_PROPERTY = "p:same"
"""The only property in the conditions of the last step."""
LITERALS = ("true", "false", "open", "done", "last", "today", "same", "empty", "now", "day")
SIDES = ("supports", "contradicts")
USES = ("uses1", "uses2", "uses3")
OVERDUE = "overdue"
LIMITS = tuple(f"l{number}" for number in (*range(1, 11), -1, -2, -3))

Span = tuple[int, int]
"""The positions of the first and the last of some items of a request."""
Symbol = str | Span


def is_role(symbol: Symbol) -> bool:
    """Return whether a symbol names the role of the values after it, such as "tag="."""
    return isinstance(symbol, str) and len(symbol) > 2 and symbol.endswith("=") and symbol not in COMPARISONS
