"""Find the sums that an added amount may mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import NoteSet, PipelineStep
from app.agent.language.words.lexicon import Language
from app.vault.path import name_key

_AMOUNT = re.compile(r"(?P<before>[£$€]?)\s*(?P<number>\d[\d.,]*)\s*(?P<unit>[£$€]|[^\W\d_]+)?")


def note_sum(request: Request, step: PipelineStep, properties_of: PropertiesOf) -> list[PipelineStep]:
    """Return the change of the only number of a note to which an added amount fits; mostly none."""
    amount, target = added_amount(request, step), step.target
    if amount is None or not says_add(request) or target is None or len(target.notes) != 1 or target.query:
        return []
    number, names = amount
    properties = properties_of(target.notes[0]).items()
    numbers = {name: value for name, value in properties if is_number(value)}
    fitting = [name for name in numbers if names is None or name_key(name) in names]
    if len(fitting) != 1:
        return []
    arguments = {"key": fitting[0], "value": _sum_of(numbers[fitting[0]], number)}
    return [PipelineStep("set_property", NoteSet(notes=target.notes), arguments)]


def increased_number(
    request: Request, step: PipelineStep, value: object, old: Sequence[object]
) -> list[int | float]:
    """Return the sum of a property's number and an added one; none without a number.

    "Add 5 to the hours" adds an amount, unlike "add rating 5".

    Args:
        request: The request.
        step: The change that sets the property.
        value: The added number.
        old: The present values of the property.
    """
    key, tokens = str(step.arguments["key"]), request.tokens
    known = request.vocabulary.find_property
    names = [request.language.property_name(token.key, known) or known(token.value) for token in tokens]
    before = tokens[: names.index(key)] if key in names else tokens
    amount = Decimal(str(value))
    is_amount = any(_number(token.value, request.language) == amount for token in before)
    return [_sum_of(old[0], value)] if is_amount and len(old) == 1 and is_number(old[0]) else []


def changed_by(request: Request, value: object, old: Sequence[object]) -> int | float | None:
    """Return the number that results from "raise the price by 5" or "lower it by 5"; None for other requests.

    Args:
        request: The request.
        value: The number after "by".
        old: The present values of the property.
    """
    table, language = request.language.table("stated_values"), request.language
    keys = [token.key for token in request.tokens]
    amount = Decimal(str(value))
    is_change = any(
        cue.key in table["by"] and _number(token.value, language) == amount
        for cue, token in pairwise(request.tokens)
    )
    if not is_change or len(old) != 1 or not is_number(old[0]):
        return None
    return _sum_of(old[0], -amount if any(key in table["less"] for key in keys) else amount)


def added_amount(request: Request, step: PipelineStep) -> tuple[Decimal, frozenset[str] | None] | None:
    """Return the amount that a step adds to a note as its text, and the properties that may have its unit.

    The properties are name keys; None means any property. Return None for other texts: "add 2 eggs".
    """
    text, language = step.arguments.get("text"), request.language
    match = _AMOUNT.fullmatch(text.strip()) if isinstance(text, str) and step.action == "append" else None
    if match is None or request.is_marked(str(text)):
        return None
    table, unit = language.table("stated_values"), (match["unit"] or "").casefold()
    number = _number(match["number"], language)
    if number is None:
        return None
    if match["before"] or unit in table["currencies"]:
        return number, frozenset(table["money_properties"])
    if not unit:
        return number, None
    known = request.vocabulary.find_property
    name = language.property_name(unit, known) or known(unit)
    return (number, frozenset((name_key(name),))) if name else None


def says_add(request: Request) -> bool:
    """Return whether a request says "add" and not "set"."""
    keys, table = {token.key for token in request.tokens}, request.language.table("property_values")
    return not keys.isdisjoint(table["keep_others"]) and keys.isdisjoint(table["set"])


def is_number(value: object) -> bool:
    """Return whether a value is a number, and not a checkbox."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sum_of(first: object, second: object) -> int | float:
    total = Decimal(str(first)) + Decimal(str(second))
    return int(total) if total == total.to_integral_value() else float(total)


def _number(text: str, language: Language) -> Decimal | None:
    plain = language.plain_number(text)
    return Decimal(plain) if plain is not None else None
