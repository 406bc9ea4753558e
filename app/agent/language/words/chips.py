"""Chips: the parts of a reading, most of which the user can change or remove."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.agent.language.meaning.actions import ALL_OCCURRENCES, ALL_TASKS, NO_DUE, TASK_ACTIONS, TOOL_PREFIX
from app.agent.language.meaning.notation import PREFIX, serialize
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.answers import localize
from app.agent.language.words.lexicon import Language, languages
from app.agent.language.words.vocabulary import NAMESPACE_MARK
from app.errors import QueryError
from app.index.query import parse
from app.index.query_ast import And
from app.index.query_serializer import quote_value
from app.index.query_serializer import serialize_query as query_text
from app.vault.markdown.tasks import task_facts
from app.vault.path import NotePath

_FIXED_ARGUMENTS = frozenset(
    ("scope", "state", "op", "what", "due", "about", "uses", "side", "occurrence", "whole", "which")
)
_ACTION_LABELS = {
    "find": "notes",
    "count": "count",
    "list_tasks": "tasks",
    "open": "open",
    "read": "read",
    "tags_of": "tags",
    "properties_of": "properties",
    "meaning": "search by meaning",
    "what_supports": "evidence",
    "question": "an answer from the notes",
    "model": "a language model",
    "vault_info": "this vault",
}
_ORDER_LABELS = {
    "modified": "most recently changed first",
    "-modified": "least recently changed first",
    "created": "newest first",
    "-created": "oldest first",
    "name": "by name",
    "-name": "by name, from Z to A",
    "words": "longest first",
    "-words": "shortest first",
    "size": "largest first",
    "-size": "smallest first",
    "links": "most links first",
    "-links": "fewest links first",
    "backlinks": "most backlinks first",
    "-backlinks": "fewest backlinks first",
    "outgoing": "most outgoing links first",
    "-outgoing": "fewest outgoing links first",
    "dated": "latest date first",
    "-dated": "earliest date first",
}
_STATE_LABELS = {"open": "not done", "done": "done", "all": "done and not done"}
_SCOPE_LABELS = {
    "last": "the last change",
    "all": "all changes of this conversation",
    "today": "all changes of today",
}
_MAX_NOTE_CHIPS = 8
_MAX_NAMED_NOTES = 3
"""Maximum number of notes that a label names, and a search shows as chips; more are counted."""
_MAX_LABEL_LENGTH = 40

_NAME_PATTERN = re.compile(r"file:/\^([\w.-]+)/")

SLOT = "\ue000"
"""Placeholder for the value in `Chip.change`."""

ValueKind = Literal["", "text", "note", "value", "condition"]
_OPERATOR_BY_ROLE = {
    "tag": "tag:",
    "new_tag": "tag:",
    "folder": "path:",
    "type": "type:",
    "key": "[",
    "to": "links-to:",
    "other": "links-to:",
}
_OPERATOR = re.compile(r"-?(tag|path|type|links-to|linked-from|rel|backlinks):(\"[^\"]*\"|[^\s\"()]+)")


@dataclass(frozen=True, slots=True)
class Chip:
    """One part of a reading.

    Args:
        label: The chip's text.
        without: The request without this part; empty if the user can't remove it.
        value: The value that the user can change; empty if there is none.
        change: The request with `SLOT` in place of the value; empty without a value.
        kind: The format of the value in the request.
        lead: The search operator that supplies completions for the value; empty if there is none.
    """

    label: str
    without: str = ""
    value: str = ""
    change: str = ""
    kind: ValueKind = ""
    lead: str = ""


def with_value(change: str, kind: ValueKind, value: str) -> str:
    """Return `change` with a value in place of `SLOT`, escaped or stripped as its kind requires."""
    text = " ".join(value.split())
    match kind:
        case "text":
            text = text.replace("\\", "\\\\").replace('"', '\\"')
        case "note":
            text = text.replace("]", "").replace("[", "").replace('"', "")
        case "value":
            text = quote_value(text)
    return change.replace(SLOT, text)


def reading_chips(
    reading: Reading, *, shorten: bool = True, max_notes: int = _MAX_NOTE_CHIPS
) -> tuple[Chip, ...]:
    """Return the chips of a reading, in order.

    Args:
        reading: The reading.
        shorten: Whether long values are cut in their labels.
        max_notes: The maximum number of notes of a change that have chips; more have one chip, their number.
    """
    language = next(language for language in languages() if language.code == reading.language)
    return tuple(
        chip
        for index, step in enumerate(reading.steps)
        for chip in _StepChips(reading, index, step, language, shorten, max_notes).make()
    )


def describe_readings(readings: Sequence[Reading]) -> list[str]:
    """Return a label for each reading, made of its chips; equal labels get their long values in full."""

    def describe(reading: Reading, *, shorten: bool) -> str:
        max_notes = _MAX_NAMED_NOTES if shorten else _MAX_NOTE_CHIPS
        chips = reading_chips(reading, shorten=shorten, max_notes=max_notes)
        return " · ".join(chip.label for chip in chips)

    labels = [describe(reading, shorten=True) for reading in readings]
    return [
        label if labels.count(label) == 1 else describe(reading, shorten=False)
        for label, reading in zip(labels, readings, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _StepChips:
    """Makes the chips of one step of a reading (see `reading_chips`)."""

    reading: Reading
    index: int
    step: PipelineStep
    language: Language
    shorten: bool
    max_notes: int

    def make(self) -> Iterator[Chip]:
        """Yield the chips of the action, of its notes and of its arguments."""
        step = self.step
        action = step.action.removeprefix(TOOL_PREFIX).replace("_", " ")
        verb = self._label(_ACTION_LABELS.get(step.action, action))
        yield Chip(self._label(f"then {verb}") if self.index else verb)
        if step.action in ("question", "model"):
            return  # the query is the whole request
        if step.target is not None:
            yield from self._note_chips(step.target)
            yield from self._condition_chips(step.target)
            yield from self._order_chips(step.target)
        for name, value in step.arguments.items():
            yield from self._argument_chips(name, value)

    def _note_chips(self, target: NoteSet) -> Iterator[Chip]:
        is_search = self.step.action in ("find", "count")
        max_notes = min(self.max_notes, _MAX_NAMED_NOTES) if is_search else self.max_notes
        if len(target.notes) > max_notes:
            yield Chip(self._label(f"{len(target.notes)} notes"))
            return
        for path in target.notes:
            rest = tuple(note for note in target.notes if note != path)
            notes_with_slot = tuple(SLOT if note == path else note for note in target.notes)
            yield Chip(
                NotePath.on_disk(path).name,
                self._with_target(replace(target, notes=rest)) if rest else "",
                str(NotePath.on_disk(path).stem_path),
                self._with_target(replace(target, notes=notes_with_slot)),
                "note",
                _OPERATOR_BY_ROLE["to"],
            )

    def _condition_chips(self, target: NoteSet) -> Iterator[Chip]:
        parts = split_conditions(target.query)
        is_removable = len(parts) > 1 or bool(target.notes or target.source)
        for part in parts:
            others = " ".join(other for other in parts if other is not part)
            without = self._with_target(replace(target, query=others)) if is_removable else ""
            lead, text, kind = _split_condition(part)
            query = " ".join(f"{lead}{SLOT}" if other is part else other for other in parts)
            change = self._with_target(replace(target, query=query))
            yield Chip(_condition_label(part), without, text, change, kind, lead.lstrip("-"))

    def _order_chips(self, target: NoteSet) -> Iterator[Chip]:
        if target.is_everything:
            yield Chip(self._label("all"))
        if target.source:
            pick = target.pick
            all_notes = "the same" if self.index else "these"
            picked = all_notes if pick is None else f"number {pick}" if pick > 0 else "the last"
            yield Chip(self._label(picked))
        if target.order:
            without = self._with_target(replace(target, order=""))
            yield Chip(self._label(_order_label(target.order)), without)
        if target.limit:
            without = self._with_target(replace(target, limit=None))
            yield Chip(self._label(_limit_label(target.limit)), without)

    def _argument_chips(self, name: str, value: object) -> Iterator[Chip]:
        role = self._label(name).replace("_", " ")
        is_relation = name == "type" and self.step.action == "relate"
        lead = "rel:" if is_relation else _OPERATOR_BY_ROLE.get(name, "")
        if isinstance(value, NoteSet):
            label = f"{role}: {', '.join(NotePath.on_disk(path).name for path in value.notes)}"
            if len(value.notes) != 1:
                yield Chip(label)
                return
            name_text = str(NotePath.on_disk(value.notes[0]).stem_path)
            change = self._with_argument(name, NoteSet(notes=(SLOT,)))
            yield Chip(label, "", name_text, change, "note", lead)
        elif isinstance(value, tuple):
            for item in value:
                rest = tuple(other for other in value if other != item)
                without = self._with_argument(name, rest) if rest else ""
                with_slot = tuple(SLOT if other == item else other for other in value)
                change = self._with_argument(name, with_slot)
                yield Chip(f"{role}: {item}", without, str(item), change, "text", lead)
        elif name in _FIXED_ARGUMENTS:
            label = _fixed_label(name, str(value))
            yield Chip(self._label(label) if label else f"{role}: {value}")
        else:
            text = str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
            if name == "query" and self.step.action in TASK_ACTIONS:
                role, text = self._label("task"), task_facts(text).text
            is_cut = self.shorten and len(text) > _MAX_LABEL_LENGTH
            shown = f"{text[: _MAX_LABEL_LENGTH - 1]}…" if is_cut else text
            change = self._with_argument(name, SLOT)
            yield Chip(f"{role}: {shown}", "", str(value), change, "text", lead)

    def _with_target(self, target: NoteSet) -> str:
        return self._request(replace(self.step, target=target))

    def _with_argument(self, name: str, value: object) -> str:
        return self._request(self.step.with_argument(name, value))

    def _request(self, step: PipelineStep) -> str:
        """Return the request with another step in place of this one."""
        steps = (*self.reading.steps[: self.index], step, *self.reading.steps[self.index + 1 :])
        return f"{PREFIX} {serialize(replace(self.reading, steps=steps))}"

    def _label(self, text: str) -> str:
        return localize(text, self.language)


def _condition_label(part: str) -> str:
    """Return the label of a condition; patterns for names are shown as the words that the names contain."""
    shown = _NAME_PATTERN.sub(lambda match: f"{match[1].replace(NAMESPACE_MARK, '/')}…", part)
    return f"−{shown[1:]}" if shown.startswith("-") else shown


def _order_label(order: str) -> str:
    if label := _ORDER_LABELS.get(order):
        return label
    return f"by {order[1:]}, lowest first" if order.startswith("-") else f"by {order}, highest first"


def _fixed_label(name: str, value: str) -> str:
    """Return the label of a value that the user can't change; empty if it is shown with its name."""
    count = value.partition(":")[2] if name == "scope" else value
    match name:
        case "state":
            return _STATE_LABELS.get(value, "")
        case "scope" if count.isdecimal():
            return f"the last {count} changes"
        case "scope":
            return _SCOPE_LABELS.get(value, "")
        case "occurrence" if value == ALL_OCCURRENCES:
            return "everywhere"
        case "occurrence" if value == "-1":
            return "the last one"
        case "occurrence" if count.isdecimal():
            return f"place {count}"
        case "whole":
            return "the whole line"
        case "which" if value == ALL_TASKS:
            return "all tasks"
        case "which" if ".." not in value:
            return f"due on {value}"
        case "due" if value == NO_DUE:
            return "no due date"
        case "due" | "which" if ".." in value:
            first, _, last = value.partition("..")
            return (
                f"due {first} to {last}"
                if first and last
                else f"due by {last}"
                if last
                else f"due from {first}"
            )
    return ""


def _limit_label(limit: int) -> str:
    if abs(limit) == 1:
        return "only the first" if limit > 0 else "only the last"
    return f"the first {limit}" if limit > 0 else f"the last {-limit}"


def _split_condition(part: str) -> tuple[str, str, ValueKind]:
    """Split a condition into its operator (empty if it has none), its value, and the value's format."""
    if match := _OPERATOR.fullmatch(part):
        return part[: match.start(2)], match[2].strip('"'), "value"
    return "", part, "condition"


def split_conditions(query: str) -> tuple[str, ...]:
    """Split a search into its conditions, each in the search language; do not split an invalid search."""
    if not query:
        return ()
    try:
        node = parse(f"{query} ")
    except QueryError:
        return (query,)
    if node is None:
        return ()
    items = node.items if isinstance(node, And) else (node,)
    return tuple(query_text(item).strip() for item in items)
