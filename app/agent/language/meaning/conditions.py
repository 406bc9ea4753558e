"""Parse search conditions, and select those that a follow-up keeps or replaces."""

from __future__ import annotations

import re

CATEGORY_PROPERTIES = ("categories", "category", "collection", "kind")
"""Properties whose values say what a note is, besides its type."""

_BRACKETS = r"\[(?:[^\]\"]|\"[^\"]*\")*\]"
_CONDITION = re.compile(
    rf"-?(?:\((?:[^()\"]|\"[^\"]*\")*\)|{_BRACKETS}|[\w-]+:(?:\"[^\"]*\"|\([^)]*\))|\"[^\"]*\"|[^\s\"()]+)"
)
_PLAIN_CONDITION = re.compile(rf"-?(?:{_BRACKETS}|[\w-]+:\"[^\"]*\"|\"[^\"]*\"|[^\s\"()]+)")

_PROPERTY_VALUE = re.compile(r'\["?([^:"\]]+)"?:(?:"([^"]*)"|([^<>="\]][^"\]]*))\]')
_NUMBER = re.compile(r"\[(?P<name>[^:\]]+):(?P<sign><=|>=|<|>|)(?P<value>[\d.]+)\]")
_STATED_KIND = re.compile(rf"\[(?:{'|'.join(CATEGORY_PROPERTIES)}):|type:", re.IGNORECASE)


def top_level_parts(query: str) -> list[str]:
    """Return the words, conditions and operators of a search; a group in parentheses is one part."""
    return [match[0].strip() for match in _CONDITION.finditer(query)]


def property_value(condition: str) -> tuple[str, str] | None:
    """Return the property and the value of `[property:value]`; None for comparisons and other conditions."""
    match = _PROPERTY_VALUE.fullmatch(condition)
    return (match[1], match[2] or match[3] or "") if match is not None else None


def condition_slots(condition: str) -> set[str]:
    """Return the slots of a condition: "kind", a property, another field or "word"; several for a group."""
    inner = condition.removeprefix("-")
    if inner.startswith("("):
        parts = [part for part in top_level_parts(inner[1:-1]) if part != "OR"]
        return {slot for part in parts for slot in condition_slots(part)}
    if match := re.match(r"\[([^:\]]+)", inner):
        return {"kind" if match[1].casefold() in CATEGORY_PROPERTIES else match[1].casefold()}
    field = re.match(r"[a-z-]+(?=:)", inner)
    return {"kind" if field and field[0] in ("tag", "path", "type") else field[0] if field else "word"}


def replaced_conditions(conditions: list[str], new: list[str]) -> list[str]:
    """Return conditions in which new ones replace those of the same slots: "and the records?".

    A new kind replaces the conditions of its own field, if there are any, or else every kind. A new number
    takes over the comparison that it replaces: after "at most 30 minutes", "and 45?" means at most 45.
    """
    slots = {slot for part in new for slot in condition_slots(part)}
    fields = {field for part in new if (field := _kind_field(part))}
    has_own_field = any(_kind_field(part) in fields for part in conditions)
    replaced = [
        part
        for part in conditions
        if slots & condition_slots(part)
        and not (has_own_field and condition_slots(part) == {"kind"} and _kind_field(part) not in fields)
    ]
    kept = [part for part in conditions if part not in replaced]
    return [*kept, *(_with_comparison(part, replaced) for part in new)]


def _kind_field(condition: str) -> str:
    """Return the field of a condition on kinds of notes, one name for all categories; else an empty text."""
    if condition.startswith("(") or condition_slots(condition) != {"kind"}:
        return ""
    return "category" if "[" in condition else condition.removeprefix("-").partition(":")[0]


def _with_comparison(condition: str, replaced: list[str]) -> str:
    """Return a condition on a number with the comparison of the only condition that it replaces."""
    number = _NUMBER.fullmatch(condition)
    others = [match for part in replaced if (match := _NUMBER.fullmatch(part))]
    if number is None or number["sign"] or len(others) != 1 or others[0]["name"] != number["name"]:
        return condition
    return f"[{number['name']}:{others[0]['sign']}{number['value']}]"


def is_kind_condition(query: str) -> bool:
    """Return whether a search is one condition on the category or the type of notes."""
    parts = top_level_parts(query)
    return len(parts) == 1 and _STATED_KIND.match(parts[0]) is not None


def states_kind(query: str) -> bool:
    """Return whether a search has a condition on the category or the type of notes that is not negated."""
    return any(_STATED_KIND.search(part) for part in top_level_parts(query) if not part.startswith("-"))


def date_slot(condition: str) -> str:
    """Return the subject of a date condition ("modified", "file", a property); empty for other conditions."""
    slots = condition_slots(condition)
    slot = slots.pop() if len(slots) == 1 else ""
    is_dated = re.search(r":[<>=]*\d{4}(-\d\d){0,2}(?!\d)", condition) is not None
    return slot if is_dated or slot in ("modified", "created") else ""


def conditions_on_kind(query: str) -> list[str]:
    """Return a search's non-negated conditions on kinds of notes: tags, folders, types and categories.

    Return an empty list for a search with alternatives.
    """
    if " OR " in query:
        return []
    conditions = top_level_parts(query)
    return [part for part in conditions if not part.startswith("-") and condition_slots(part) == {"kind"}]


def last_property(query: str) -> str | None:
    """Return the property if a search's conditions have exactly one, ignoring categories; otherwise None."""
    names = {match[1] for match in re.finditer(r"\[([^:\]]+)", query)} - set(CATEGORY_PROPERTIES)
    return names.pop() if len(names) == 1 else None


def condition_kinds(query: str) -> list[str]:
    """Return the distinct kinds of a search's conditions, even inside groups: "tag:", "[", "OR", "word"."""
    kinds: list[str] = []
    for part in _PLAIN_CONDITION.findall(query):
        field = re.match(r"-?([a-z-]+:)", part)
        kinds.append(field[1] if field else "[" if "[" in part[:2] else part if part == "OR" else "word")
    return list(dict.fromkeys(kinds))


def opposite_conditions(query: str) -> list[str]:
    """Return a search's conditions on kinds of notes and the opposite of its only other condition.

    Return an empty list for a search with alternatives, or without exactly one other condition.
    """
    if " OR " in query:
        return []
    kinds = conditions_on_kind(query)
    folders = [part for part in top_level_parts(query) if part.startswith("-path:")]
    others = [part for part in top_level_parts(query) if part not in kinds and part not in folders]
    if len(others) != 1:
        return []
    return [*kinds, *folders, others[0].removeprefix("-") if others[0].startswith("-") else f"-{others[0]}"]
