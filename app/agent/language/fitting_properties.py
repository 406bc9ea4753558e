"""Find the property that a comparison or an order without a property means: "over 500", "the oldest"."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.agent.language.conditions import conditions_on_kind, replaced_conditions, top_level_parts
from app.agent.language.lexicon import languages
from app.agent.language.note_facts import PropertiesOf
from app.agent.language.other_readings import offered_first
from app.agent.language.readings import (
    Clarification,
    ContentQuestion,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.request import Request
from app.agent.language.tokens import Token
from app.index.query_serializer import quote_value
from app.index.value_order import property_of
from app.vault.path import name_key

_MAX_NOTES = 200
_MIN_SHARE = 0.5
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?")
_CURRENCIES = frozenset(("euro", "euros", "eur", "dollars", "pounds", "quid", "bucks"))
_STATED_DATES = frozenset(("date", "born", "year", "published"))
"""The properties that the order `dated` uses."""
_DATE_ORDERS = frozenset(("dated", "created", "modified", "name"))

Values = Mapping[str, Mapping[str, str]]
"""The values of properties as text, by the property's name and the note's path."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """The notes that a request is about: a search for a kind of notes or listed notes, and their values."""

    notes: NoteSet
    paths: tuple[str, ...]
    values: Values


async def with_fitting_property(
    request: Request,
    interpretation: Interpretation,
    with_hits: Callable[[NoteSet], Awaitable[NoteSet]],
    properties_of: PropertiesOf,
) -> Interpretation:
    """Return a question that offers the likeliest property for a comparison or an order that names none.

    Args:
        request: The request.
        interpretation: Its interpretation.
        with_hits: Returns a set with the found notes in place of its search.
        properties_of: Returns the properties of the note at a path.
    """
    readings = _searches(interpretation)
    amount, age = _amount_in(request), _age_in(request)
    if readings is None or not (amount or age) or _names_property(request, readings):
        return interpretation
    for notes in _kinds(request, readings, is_whole=bool(age)):
        found = await with_hits(notes)
        if not 1 < len(found.notes) <= _MAX_NOTES or found.query:
            continue
        kind = _Kind(notes, found.notes, _values(found.notes, properties_of))
        target = _compared(request, kind, *amount) if amount else _ordered(request, kind, readings, age)
        if target is None:
            continue
        step = PipelineStep("find", target)
        return offered_first(Reading((step,), 0.9, language=request.language.code), interpretation)
    return interpretation


def _searches(interpretation: Interpretation) -> list[Reading] | None:
    """Return the readings of an interpretation that may be an incomplete search; None for another one."""
    match interpretation:
        case Reading() if len(interpretation.steps) == 1 and interpretation.last.action in ("find", "open"):
            return [interpretation]
        case Clarification() if interpretation.partial is None:
            options = [option.reading for option in interpretation.options]
            return options if any(one.last.action == "find" for one in options) else None
        case Reply(understood=False) | ContentQuestion():
            return []
    return None


def _names_property(request: Request, readings: Sequence[Reading]) -> bool:
    """Return whether a request or its only reading has a property with which to compare or sort."""
    find_property = request.vocabulary.find_property
    if any(request.language.property_name(token.key, find_property) for token in request.tokens):
        return True
    target = readings[0].last.target if len(readings) == 1 else None
    return target is not None and (bool(property_of(target.order)) or "[" in target.query)


def _amount_in(request: Request) -> tuple[str, str] | None:
    """Return the comparison and the number of "over 500" or "under 200 euros"; None for other requests."""
    language, tokens = request.language, request.tokens
    plain = language.words("fillers")
    for at in range(len(tokens)):
        for sign in ("<=", ">=", "<", ">"):
            after = language.match_prefix(tokens, at, "comparisons", sign)
            number = tokens[after].value.strip("€$£") if at < after < len(tokens) else ""
            if not _NUMBER.fullmatch(number) or _YEAR.fullmatch(number):
                continue
            following = tokens[after + 1 : after + 2]
            is_unit = any(_is_content(token, plain) for token in following)
            return None if is_unit else (sign, number)
    return None


def _is_content(token: Token, plain: frozenset[str]) -> bool:
    return (
        token.is_word and token.key not in plain and token.key not in ("euro", "euros", "dollars", "pounds")
    )


def _age_in(request: Request) -> str:
    """Return "-" for an order with the oldest notes first, "+" for the newest first, or an empty text."""
    language, tokens = request.language, request.tokens
    for kind, sign in (("-age", "-"), ("age", "+")):
        if any(language.match_prefix(tokens, at, "order_hints", kind) > at for at in range(len(tokens))):
            return sign
    return ""


def _kinds(request: Request, readings: Sequence[Reading], *, is_whole: bool) -> list[NoteSet]:
    """Return the sets of notes that a request may be about: a kind, or the notes before it.

    If `is_whole`, all conditions of the last search apply, not only those on kinds.
    """
    targets = [one.last.target for one in readings if one.last.target is not None]
    kinds = [conditions_on_kind(target.query) for target in targets]
    stated = list(dict.fromkeys(" ".join(conditions) for conditions in kinds if conditions))
    dialog = request.dialog
    last = dialog.last.last.target if dialog.last is not None else None
    before: list[NoteSet] = []
    if last is not None and conditions_on_kind(last.query) and request.continues_list:
        before = [NoteSet(query=last.query if is_whole else " ".join(conditions_on_kind(last.query)))]
    elif len(dialog.them) > 1 and request.continues_list:
        folders = {path.rpartition("/")[0] for path in dialog.them}
        folder = folders.pop() if len(folders) == 1 else ""
        before = [NoteSet(notes=dialog.them), *([NoteSet(query=_folder(folder))] if folder else [])]
    elif len(dialog.recent) > 1 and _compares(request):
        before = [NoteSet(notes=dialog.recent)]
    return [*(NoteSet(query=query) for query in stated), *before]


def _folder(folder: str) -> str:
    return f"path:{quote_value(f'{folder}/')}"


def _compares(request: Request) -> bool:
    tokens = request.tokens
    return any(
        request.language.match_prefix(tokens, at, "order_hints", "compared") > at for at in range(len(tokens))
    )


def _values(paths: Sequence[str], properties_of: PropertiesOf) -> Values:
    values: dict[str, dict[str, str]] = {}
    for path in paths:
        for name, value in properties_of(path).items():
            if value not in (None, "", []) and not isinstance(value, bool):
                values.setdefault(name, {})[path] = str(value)
    return {name: own for name, own in values.items() if len(own) >= _MIN_SHARE * len(paths)}


def _compared(request: Request, kind: _Kind, sign: str, number: str) -> NoteSet | None:
    """Return the notes of a kind whose price, or whose only number of that size, fits a comparison."""
    numbers = {
        name: [float(value) for value in own.values()]
        for name, own in kind.values.items()
        if all(_NUMBER.fullmatch(value) for value in own.values())
        and not all(_YEAR.fullmatch(value) for value in own.values())
    }
    fitting = [name for name, own in numbers.items() if min(own) <= float(number) <= max(own)]
    name = _likeliest(fitting, "prices")
    if name is None:
        return None
    condition = f"[{quote_value(name)}:{sign}{number}]"
    last = request.dialog.last.last.target if request.dialog.last is not None else None
    if last is not None and kind.notes.query and kind.notes.query in last.query and request.continues_list:
        return NoteSet(query=" ".join(replaced_conditions(top_level_parts(last.query), [condition])))
    return kind.notes.with_query(condition)


def _ordered(request: Request, kind: _Kind, readings: Sequence[Reading], age: str) -> NoteSet | None:
    """Return the notes of a kind in the order of the property that tells their age."""
    today = request.dates.today.isoformat()
    dated = [
        name
        for name, own in kind.values.items()
        if all(
            _YEAR.fullmatch(value) or (_DAY.fullmatch(value) and value[:10] <= today)
            for value in own.values()
        )
    ]
    name = _likeliest(dated, "ages")
    targets = [one.last.target for one in readings if one.last.target is not None]
    if name is None or (len(readings) == 1 and targets and not _may_mean(targets[0], name)):
        return None
    limit = next((target.limit for target in targets if target.order and target.limit), None)
    order = f"-{name}" if age == "-" else name
    ordinals = request.language.table("ordinals")
    if ordinal := next(
        (ordinals[token.key] for token in request.tokens if ordinals.get(token.key, 0) > 1), None
    ):
        own = kind.values[name]
        paths = sorted(own, key=own.__getitem__, reverse=age == "+")
        return NoteSet(notes=(paths[ordinal - 1],)) if ordinal <= len(paths) else None
    if limit is None and _compares(request):
        limit = 1
    return replace(kind.notes, order=order, limit=limit)


def _is_past(value: str, today: str) -> bool:
    return bool(_YEAR.fullmatch(value) or (_DAY.fullmatch(value) and value[:10] <= today))


def _may_mean(target: NoteSet, name: str) -> bool:
    """Return whether an order by a date that all notes have may mean a property instead."""
    order = target.order.removeprefix("-")
    return order in _DATE_ORDERS and not (order == "dated" and name_key(name) in _STATED_DATES)


def _likeliest(names: Sequence[str], kind: str) -> str | None:
    """Return the first of the usual properties for prices or ages, or else the only property."""
    keys = {name_key(name): name for name in names}
    usual = (keys[name] for name in languages()[0].table("facts")[kind] if name in keys)
    return next(usual, None) or (names[0] if len(names) == 1 else None)
