"""Requests that hold two: "create a note called Tea and tag it with #drink"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from app.agent.understanding import Understood

_JOIN = re.compile(
    r"(?:[,;.]?\s+(?:and then|and also|and|then|after that|afterwards)\s+|\s*;\s+|[.]\s+(?:then\s+)?)", re.I
)
_BOTH = 0.8
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|\[\[[^\]]*\]\]|`[^`]*`|«[^»]*»")


def split_in_two(
    text: str, whole: list[Understood], read: Callable[[str], list[Understood]]
) -> tuple[Understood, Understood] | None:
    """The two requests that `text` holds, when each explains its part better than one explains all.

    In the second, "it" means what the first one makes; then its note is left out and the first goes first.
    """
    if "\n" in text:
        return None
    hidden = [(found.start(), found.end()) for found in _QUOTED.finditer(text)]
    score = whole[0].score if whole else 0.0
    for join in _JOIN.finditer(text):
        if any(start < join.start() < end for start, end in hidden):
            continue
        first, second = read(text[: join.start()]), read(text[join.end() :])
        both = first and second and _is_command(first[0]) and _is_command(second[0])
        if both and min(first[0].score, second[0].score) > max(score, _BOTH):
            return first[0], _after(first[0], second[0])
    return None


def _is_command(one: Understood) -> bool:
    """Whether it is a request by itself, more than a note's name; "it" may still be open."""
    return one.words > 0 and all(slot in one.slots for slot in one.intent.needs)


def _after(first: Understood, second: Understood) -> Understood:
    name = second.slots.get("name")
    if first.intent.id != "create" or name is None or name.text.casefold() not in ("", "it", "that", "this"):
        return second
    return replace(second, slots={slot: value for slot, value in second.slots.items() if slot != "name"})
