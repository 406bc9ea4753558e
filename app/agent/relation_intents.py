"""Intents about relations between two notes: write one, explain it, change it, take it away."""

from __future__ import annotations

from collections.abc import Callable

from app.agent.intents import Arguments, Intent, Slots

_TYPES: tuple[tuple[str, str, str], ...] = (
    ("SUPPORTS", "supports", "(supports|confirms|backs up|speaks for|is evidence for)"),
    ("CONTRADICTS", "contradicts", "(contradicts|refutes|speaks against|disagrees with|conflicts with)"),
    ("CITES", "cites", "(cites|quotes)"),
    ("DERIVED_FROM", "is derived from", "(is derived from|derives from|follows from)"),
    ("PART_OF", "is part of", "is [a] part of"),
    ("CAUSES", "causes", "(causes|leads to|brings about)"),
    ("PRECEDES", "precedes", "(precedes|came before|comes before)"),
    ("INSPIRED_BY", "is inspired by", "(is inspired by|was inspired by)"),
)
_SAY = "(say|note|state|record|write) that"
_RELATION = "(relation|relationship|edge|connection)"
_JOINED = "(and|with|to)"


def _related(kind: str) -> Callable[[Slots], Arguments]:
    return lambda slots: {"from_id": slots["name"], "to_id": slots["other"], "relationship_type": kind}


def _any_type(slots: Slots) -> Arguments:
    return {
        "from_id": slots["name"],
        "to_id": slots["other"],
        "relationship_type": slots.get("value", "RELATES_TO"),
    }


def _edge(slots: Slots) -> Arguments:
    """The one relation between two notes, whichever it starts from."""
    return {"edge_id": f"{slots['name']} -- {slots['other']}"}


def _retyped(slots: Slots) -> Arguments:
    return {**_edge(slots), "new_type": slots["value"]}


_TYPED = tuple(
    Intent(
        f"relate:{kind}",
        "create_relationship",
        (f"{_SAY} {{name}} {wording} {{other}}", f"{{name}} {wording} {{other}}"),
        ("name", "other"),
        f"Write that {{name}} {words} {{other}}.",
        f"say that {{name}} {words} {{other}}",
        build=_related(kind),
        examples=(f"say that a note {words} another note",),
    )
    for kind, words, wording in _TYPES
)

RELATING: tuple[Intent, ...] = (
    *_TYPED,
    Intent(
        "relate",
        "create_relationship",
        (
            "relate {name} (to|with) {other}",
            f"(add|create|make|write|insert) [a|the] [new] {_RELATION} (between|from) {{name}} (and|to)"
            " {other}",
            f"{_SAY} {{name}} (relates to|is related to) {{other}}",
            "relate {name} (to|with) {other} (as|by|:) {value}",
        ),
        ("name", "other"),
        "Write a relation from {name} to {other}.",
        "relate {name} to {other}",
        build=_any_type,
        examples=("relate a note to another note", "add a relation between two notes"),
    ),
    Intent(
        "explain-relation",
        "summarize_relationship",
        (
            f"(explain|summarize|summarise|describe|show) [the] {_RELATION} (between|from|of) {{name}}"
            f" {_JOINED} {{other}}",
            "how (is|are) {name} (related|connected|linked) (to|with) {other}",
            "how are {name} and {other} (related|connected|linked)",
            "what (connects|links|joins) {name} (and|with|to) {other}",
        ),
        ("name", "other"),
        "Explain the relation between {name} and {other}.",
        "explain the relation between {name} and {other}",
        build=_edge,
        examples=("explain how two notes are related",),
    ),
    Intent(
        "weigh-relation",
        "recalculate_edge_confidence",
        (
            f"(recalculate|update|recompute) [the] confidence of [the] {_RELATION} (between|from) {{name}}"
            f" {_JOINED} {{other}}",
            f"how (sure|strong|certain) is [the] {_RELATION} (between|from) {{name}} {_JOINED} {{other}}",
        ),
        ("name", "other"),
        "Work out the confidence of the relation between {name} and {other}.",
        "recalculate the confidence of the relation between {name} and {other}",
        build=_edge,
        examples=("recalculate the confidence of a relation",),
    ),
    Intent(
        "retype-relation",
        "reclassify_relationship",
        (
            f"(change|reclassify|turn|set) [the] [type of] [the] {_RELATION} (between|from) {{name}}"
            f" {_JOINED} {{other}} (to|into|as) {{value}}",
        ),
        ("name", "other", "value"),
        "Make the relation between {name} and {other} {value}.",
        "change the relation between {name} and {other} to {value}",
        build=_retyped,
        examples=("change the type of a relation",),
    ),
    Intent(
        "suggest-type",
        "reclassify_relationship",
        (
            f"reclassify [the] {_RELATION} (between|from) {{name}} {_JOINED} {{other}}",
            f"which type should [the] {_RELATION} (between|from) {{name}} {_JOINED} {{other}} have",
        ),
        ("name", "other"),
        "Find the type of the relation between {name} and {other}.",
        "reclassify the relation between {name} and {other}",
        build=_edge,
    ),
    Intent(
        "unrelate",
        "delete_relationship",
        (f"@remove [the] {_RELATION} (between|from) {{name}} {_JOINED} {{other}}",),
        ("name", "other"),
        "Remove the relation between {name} and {other}.",
        "remove the relation between {name} and {other}",
        build=_edge,
        risky=True,
        examples=("remove the relation between two notes",),
    ),
)
