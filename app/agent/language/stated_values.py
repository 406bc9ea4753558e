"""Find what a change may mean besides the value in the request: a link, a list, a sum, another day or name.

"Set author to Woolf" may mean the known author Virginia Woolf, "add 5 hours to Kestrel Bags" its property
`hours`, and "rename Insurance to Insurance 24/7" no folder "Insurance 24".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice, product

from app.agent.language.dates import ISO_DAY
from app.agent.language.lexicon import Language
from app.agent.language.note_facts import PropertiesOf, present_values
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.task_texts import OPEN_TASK, task_line
from app.agent.language.text_lists import split_items
from app.agent.language.tokens import Token, plain_number, tokenize
from app.agent.language.vocabulary import VaultWords, Vocabulary, property_label
from app.vault.markdown.tasks import task_facts
from app.vault.path import NotePath, name_key

_PLAIN = re.compile(r"[\d\s.,:/+%-]*|true|false", re.IGNORECASE)
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_AMOUNT = re.compile(r"(?P<before>[£$€]?)\s*(?P<number>\d[\d.,]*)\s*(?P<unit>[£$€]|[^\W\d_]+)?")
_MAX_KNOWN = 2
_MAX_COMPARED = 50
_MAX_CHANGES = 8
_MONTH_DAYS = 28
_MAX_DAY_TOKENS = 3
_SUNDAY = 6


def linked_value(vocabulary: Vocabulary, language: Language, name: str, text: str) -> str:
    """Return the text of a property as a link if its other texts are links and it names something.

    A known link or note is spelled as known. Other texts are links only if they may be names: "Brussels",
    but not "unknown" or "the ferry".
    """
    links = vocabulary.links_of(name)
    if not links or "[[" in text or _PLAIN.fullmatch(text):
        return text
    if known := vocabulary.known_link(name, text):
        return known
    may_be_noun = _may_be_noun(language, text) and _are_notes(vocabulary, links)
    return f"[[{text}]]" if _may_be_name(language, text) and not may_be_noun else text


def _may_be_name(language: Language, text: str) -> bool:
    """Return whether a text begins like a name; an article must precede another capital letter."""
    first, *others = text.split() or [""]
    if first.casefold() not in language.words("determiners") or not others:
        return first[:1].isupper()
    return first[:1].isupper() and others[0][:1].isupper() and not _has_capital_nouns(language)


def _may_be_noun(language: Language, text: str) -> bool:
    """Return whether a text is one word with a capital letter in a language that writes nouns so."""
    return _has_capital_nouns(language) and text[:1].isupper() and " " not in text


def _has_capital_nouns(language: Language) -> bool:
    return bool(language.table("stated_values")["has_capital_nouns"])


def _are_notes(vocabulary: Vocabulary, links: Sequence[str]) -> bool:
    compared = links[:_MAX_COMPARED]
    named = [link for link in compared if vocabulary.notes(property_label(link))]
    return 2 * len(named) > len(compared)


class StatedValues:
    """Finds the changes that the values of a request may mean.

    Args:
        request: The request.
        properties_of: Returns the properties of the note at a path.
        words: The vault's properties.
    """

    def __init__(self, request: Request, properties_of: PropertiesOf, words: VaultWords) -> None:
        self._request = request
        self._language = request.language
        self._names = request.vocabulary
        self._properties_of = properties_of
        self._words = words
        self._table = request.language.table("stated_values")

    def alternatives(self, reading: Reading) -> Sequence[Reading]:
        """Return the readings that may be meant, likeliest first; usually only the reading itself."""
        changes = []
        for step in reading.steps:
            moves = self._moves(step)
            changes.append([moves] if moves else [(change,) for change in self._alternatives(step)])
        plans = islice(product(*changes), _MAX_CHANGES)
        return [replace(reading, steps=tuple(step for steps in plan for step in steps)) for plan in plans]

    def _alternatives(self, step: PipelineStep) -> Sequence[PipelineStep]:
        match step.action:
            case "set_property":
                return self._values(step)
            case "rename" | "create_note":
                return [*self._without_slash(step), step]
            case "append" | "prepend" | "reschedule_task":
                likelier = [*self._sum(step), *self._next_weekend(step), *self._same_month(step)]
                return [*likelier, step, *self._other_order(step)]
            case _:
                return [step]

    # Properties

    def _values(self, step: PipelineStep) -> Sequence[PipelineStep]:
        """Return the changes that set a property to another value than the request's words."""
        key, value = str(step.arguments["key"]), step.arguments["value"]
        if _is_number(value) and (days := self._days(step, self._request.text.split()[-1])):
            return [*(step.with_argument("value", day) for day in days), step]
        if _is_number(value):
            numbers = [*self._increased(step, value), value] if self._adds else self._thousands(value)
            numbers = numbers or self._with_zeros(step, value)
            return [step.with_argument("value", number) for number in numbers] or [step]
        if isinstance(value, tuple):
            items = tuple(self._known_item(key, item) for item in value)
            plain = tuple(self._known_item(key, item, is_whole=True) for item in value)
            return [step.with_argument("value", values) for values in dict.fromkeys((items, plain))]
        if not isinstance(value, str) or not value or self._request.is_marked(value):
            return [step]
        if states := self._states(step, key, value):
            return [step.with_argument("value", state) for state in states]
        if days := self._days(step, value):
            return [*(step.with_argument("value", day) for day in days), step]
        if _PLAIN.fullmatch(value):
            return [step, *self._other_order(step)]
        if own := self._own_link(step, value):
            return [step.with_argument("value", own)]
        if parts := self._parts(step, key, value):
            return [step.with_argument("value", parts), step]
        if known := self._known_links(key, value):
            return [*(step.with_argument("value", link) for link in known), step]
        links = self._names.links_of(key)
        is_noun = _may_be_noun(self._language, value) and not self._names.known_link(key, value)
        if is_noun and links and _are_notes(self._names, links):
            return [step, step.with_argument("value", f"[[{value}]]")]
        return [step.with_argument("value", linked_value(self._names, self._language, key, value))]

    def _known_item(self, key: str, item: object, *, is_whole: bool = False) -> object:
        """Return an item of a list as known in the vault; one that may mean several links stays as it is.

        With `is_whole`, it is not a part of a known name.
        """
        if not isinstance(item, str) or not item or self._request.is_marked(item):
            return item
        known = () if is_whole else self._known_links(key, item)
        return known[0] if len(known) == 1 else linked_value(self._names, self._language, key, item)

    def _own_link(self, step: PipelineStep, value: str) -> str:
        """Return the present link of a property to the same name; empty without one."""
        links = [str(old) for old in self._old_values(step) if str(old).startswith("[[")]
        return next((link for link in links if name_key(property_label(link)) == name_key(value)), "")

    def _states(self, step: PipelineStep, key: str, value: str) -> list[str]:
        """Return the values of a checkbox that "yes" or "off" means; also the word if it may be a text."""
        table = self._language.table("property_values")
        states = {**dict.fromkeys(table["checked"], "true"), **dict.fromkeys(table["unchecked"], "false")}
        if value.casefold() not in states or not self._words.is_checkbox(key):
            return []
        is_checkbox = any(isinstance(old, bool) for old in self._old_values(step))
        return [states[value.casefold()], *([] if is_checkbox else [value])]

    def _with_zeros(self, step: PipelineStep, value: object) -> list[object]:
        """Return a number, and the text "007" in the request that means it; none without leading zeros."""
        texts = [token.value for token in self._request.tokens if token.value.startswith("0")]
        text = next((text for text in texts if text.lstrip("0") == str(value)), "")
        if not text:
            return []
        is_text = any(isinstance(old, str) for old in self._old_values(step))
        return [text, value] if is_text else [value, text]

    def _old_values(self, step: PipelineStep) -> list[object]:
        notes = step.target.notes if step.target is not None else ()
        return present_values(self._properties_of, notes, step.arguments["key"])

    @property
    def _adds(self) -> bool:
        """True if a request says "add" and not "set"."""
        keys, table = {token.key for token in self._request.tokens}, self._language.table("property_values")
        return not keys.isdisjoint(table["keep_others"]) and keys.isdisjoint(table["set"])

    def _increased(self, step: PipelineStep, value: object) -> list[int | float]:
        """Return the sum of a property's number and an added one; none without a number.

        "Add 5 to the hours" adds an amount, unlike "add rating 5".
        """
        key, tokens = str(step.arguments["key"]), self._request.tokens
        known = self._names.find_property
        names = [self._language.property_name(token.key, known) or known(token.value) for token in tokens]
        before = tokens[: names.index(key)] if key in names else tokens
        amount = Decimal(str(value))
        is_amount = any(_number(token.value, self._language) == amount for token in before)
        old = self._old_values(step)
        return [_sum_of(old[0], value)] if is_amount and len(old) == 1 and _is_number(old[0]) else []

    def _thousands(self, value: object) -> list[int | float]:
        """Return both numbers that "51.000" may mean; none for a number without such dots."""
        texts = (token.value for token in self._request.tokens)
        text = next((text for text in texts if _THOUSANDS.fullmatch(text) and "," not in text), "")
        if text.count(".") != 1 or float(text) != value:
            return []
        number = int(text.replace(".", ""))
        return [number, value] if self._table["has_dots_in_numbers"] else [value, number]

    def _days(self, step: PipelineStep, value: str) -> list[str]:
        """Return the days that a text such as "3.12.2027" may mean if the property has a day."""
        if not any(ISO_DAY.fullmatch(str(old)) for old in self._old_values(step)):
            return []
        day = self._request.dates.numeric_day(value)
        other = self._request.dates.other_numeric_day(value)
        return [known.isoformat() for known in (day, other) if known is not None]

    def _parts(self, step: PipelineStep, key: str, value: str) -> tuple[str, ...]:
        """Return the values of a list ("Theo and Ida") as known in the vault; none for a single value."""
        links = self._names.links_of(key)
        is_list = self._words.is_list(key) or any(isinstance(old, list) for old in self._old_values(step))
        is_known = self._words.has_text(key, value) or bool(self._names.notes(value))
        if not (links or is_list) or is_known or len(self._known_links(key, value)) == 1:
            return ()
        tokens = tokenize(value, self._language.contractions)
        items = split_items(value, tokens, self._language, with_links=True)
        return tuple(str(self._known_item(key, item)) for item in items)

    def _known_links(self, key: str, value: str) -> list[str]:
        """Return the linked texts of a property, and the note, of which a text is only a part."""
        links = self._names.links_of(key)
        if not links or self._names.known_link(key, value):
            return []
        known = [*self._names.links_with(key, value)]
        if not known and value[:1].isupper() and (path := self._names.note_with_words(value)):
            known = [f"[[{NotePath.on_disk(path).name}]]"]
        return known[:_MAX_KNOWN]

    # Names

    def _without_slash(self, step: PipelineStep) -> list[PipelineStep]:
        """Return the change with a name in which "-" replaces each slash: "Insurance 24/7"; mostly none.

        A slash after the name of an existing folder separates the folder from the note.
        """
        role = "new_name" if step.action == "rename" else "name"
        folder, name = str(step.arguments.get("folder", "")), str(step.arguments.get(role, ""))
        has_split = bool(folder) and f"{folder}/{name}".casefold() in self._request.text.casefold()
        whole = f"{folder}/{name}" if has_split else name
        first = whole.strip("/").partition("/")[0]
        parents = [folder, *(path.rpartition("/")[0] for path in (step.target.notes if step.target else ()))]
        places = (first, *(f"{parent}/{first}" for parent in parents))
        is_namespace = bool(self._names.find_namespace(first))
        if "/" not in whole.strip("/") or any(map(self._names.has_folder, places)) or is_namespace:
            return []
        plain = replace(
            step, arguments={own: value for own, value in step.arguments.items() if own != "folder"}
        )
        return [(plain if has_split else step).with_argument(role, whole.replace("/", "-"))]

    def _moves(self, step: PipelineStep) -> Sequence[PipelineStep]:
        """Return the move and the new name that "rename Pryce to Admin/Pryce" means; none for other names.

        The tool would make a folder `Admin` in the folder of the note, although there is one already. A path
        in the note's own folder is only a new name.
        """
        folder, _, name = str(step.arguments.get("new_name", "")).strip("/").rpartition("/")
        target = step.target
        if step.action != "rename" or target is None or len(target.notes) != 1 or not name:
            return ()
        own, place = target.notes[0].rpartition("/")[0], self._names.with_known_parent(folder)
        is_known = self._names.has_folder(folder.partition("/")[0])
        if not own or not is_known or self._names.has_folder(f"{own}/{folder}"):
            return ()
        if place == own:
            return (step.with_argument("new_name", name),)
        move = PipelineStep("move", target, {"folder": place})
        if name_key(NotePath.on_disk(target.notes[0]).name) == name_key(name):
            return (move,)
        return (move, PipelineStep("rename", NoteSet(source="previous"), {"new_name": name}))

    # Amounts

    def _sum(self, step: PipelineStep) -> list[PipelineStep]:
        """Return the change of the only number of a note to which an added amount fits; mostly none."""
        amount, target = added_amount(self._request, step), step.target
        if amount is None or not self._adds or target is None or len(target.notes) != 1 or target.query:
            return []
        number, names = amount
        properties = self._properties_of(target.notes[0]).items()
        numbers = {name: value for name, value in properties if _is_number(value)}
        fitting = [name for name in numbers if names is None or name_key(name) in names]
        if len(fitting) != 1:
            return []
        arguments = {"key": fitting[0], "value": _sum_of(numbers[fitting[0]], number)}
        return [PipelineStep("set_property", NoteSet(notes=target.notes), arguments)]

    # Days

    def _other_order(self, step: PipelineStep) -> list[PipelineStep]:
        """Return the change with the other day that "1/3/2027" may mean; none for other days."""
        for token in self._request.tokens:
            day = self._request.dates.numeric_day(token.value) if token.is_word else None
            other = self._request.dates.other_numeric_day(token.value) if day is not None else None
            if day is None or other is None:
                continue
            changed = {
                role: str(value).replace(day.isoformat(), other.isoformat())
                for role, value in step.arguments.items()
                if role in ("text", "due", "value") and day.isoformat() in str(value)
            }
            if changed:
                return [replace(step, arguments={**step.arguments, **changed})]
            if dated := self._undated_task(step, token.value, other):
                return [dated]
        return []

    def _undated_task(self, step: PipelineStep, text: str, day: date) -> PipelineStep | None:
        """Return a task with the day that its text means if the other day is in the past: "by 3/12/26"."""
        task = str(step.arguments.get("text", ""))
        if not task.startswith(OPEN_TASK) or not task.endswith(text):
            return None
        words = f"{task.removeprefix(OPEN_TASK).removesuffix(text)}{day.isoformat()}"
        line = task_line(words, self._language, self._request.dates)
        return step.with_argument("text", line) if task_facts(line.removeprefix(OPEN_TASK)).due else None

    def _next_weekend(self, step: PipelineStep) -> list[PipelineStep]:
        """Return a task for the next weekend if a request on a Sunday says "at the weekend"."""
        today, tokens = self._request.dates.today, self._request.tokens
        text = str(step.arguments.get("text", ""))
        is_task = text.startswith(OPEN_TASK) and task_facts(text.removeprefix(OPEN_TASK)).due == today
        if not is_task or today.weekday() != _SUNDAY or "\n" in text:
            return []
        positions = range(len(tokens))
        if not any(self._language.match_prefix(tokens, at, "dates", "weekend") > at for at in positions):
            return []
        next_sunday = (today + timedelta(weeks=1)).isoformat()
        return [step.with_argument("text", text.replace(today.isoformat(), next_sunday))]

    def _same_month(self, step: PipelineStep) -> list[PipelineStep]:
        """Return a task's change to the same month if a request only gives the day: "push it to the 25th"."""
        due, present = (
            str(step.arguments.get("due", "")),
            task_facts(str(step.arguments.get("query", ""))).due,
        )
        if present is None or not ISO_DAY.fullmatch(due) or not gives_only_day(self._request):
            return []
        day = in_month_of(present, date.fromisoformat(due), self._request.dates.today)
        return [step.with_argument("due", day.isoformat())] if day is not None else []


def gives_only_day(request: Request) -> bool:
    """Return whether a request gives a day by its number alone: "move it to the 25th"."""
    tokens = request.tokens
    if any(_is_month(request, token) for token in tokens):
        return False
    ends = range(1, len(tokens) + 1)
    spans = (tokens[start:end] for end in ends for start in range(max(0, end - _MAX_DAY_TOKENS), end))
    return any(request.dates.parse_latest_day(span) is not None for span in spans)


def _is_month(request: Request, token: Token) -> bool:
    if token.key not in request.language.table("dates")["words"]:
        return False
    span = request.dates.parse_ahead((token,), 0)
    if span is None or span.first is None or span.last is None:
        return False
    return (span.last - span.first).days + 1 >= _MONTH_DAYS


def in_month_of(present: date, day: date, today: date) -> date | None:
    """Return a day moved to the month of a present due date; None if it stays, or would be in the past."""
    try:
        moved = present.replace(day=day.day)
    except ValueError:
        return None
    return moved if moved != day and moved >= today else None


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


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sum_of(first: object, second: object) -> int | float:
    total = Decimal(str(first)) + Decimal(str(second))
    return int(total) if total == total.to_integral_value() else float(total)


def _number(text: str, language: Language) -> Decimal | None:
    if _THOUSANDS.fullmatch(text) and language.table("stated_values")["has_dots_in_numbers"]:
        return Decimal(text.replace(".", "").replace(",", "."))
    plain = plain_number(text)
    return Decimal(plain) if plain is not None else None
