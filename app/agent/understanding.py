"""From a request to what it can mean: every intent's templates laid over it, best first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from app.agent.intents import MACROS, Intent
from app.agent.note_names import NoteNames
from app.agent.slot_values import SlotValue, Span, read_slot
from app.agent.wording import Node, Reading, parse_template, readings, tokenize

_TYPO_COST = 0.4
_KEPT = 8
_NEAR_GAIN = 0.4

_POLITE_START = re.compile(
    r"^(?:(?:please|pls|plz|kindly|hey|hi|hello|ok|okay|so|well|now|then|and|also|next|just|yes|actually"
    r"|right|alright|oops|ups|whoops|sorry|wait|hmm|no|oh|ah"
    r"|computer|scriptorium|agent|assistant|dear agent|go ahead and"
    r"|(?:can|could|would|will|won't|may|might) (?:you|i|we|u|ya)(?: (?:please|kindly|just|perhaps|maybe"
    r"|quickly))*"
    r"|(?:i|we)(?:'d| would|'ld)? (?:want|like|need|wish|love)(?: you)? to|i want you to|i'd like you to"
    r"|(?:would|do) you mind|let'?s|let us|you (?:should|must|can|could)|try to|help me(?: to)?|it would"
    r" be (?:nice|great)"
    r" if you could|is it possible to|i have to|i must|we should|i should|time to|quickly|immediately|i"
    r" think you should)"
    r"\b[\s,:;!.-]*)+",
    re.IGNORECASE,
)
_POLITE_END = re.compile(
    r"(?:[\s,.!?;-]+(?:please|pls|plz|thanks|thank you|thx|for me|right now|right away|now|if you can|if"
    r" possible"
    r"|if you don't mind|would you|will you|ok|okay|immediately|asap|cheers|will ya|kindly))+[\s.!?]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Understood:
    """One way to take a request: the intent, its slots, and how much of the request it explains, 0 to 1."""

    intent: Intent
    slots: Mapping[str, SlotValue]
    score: float
    words: int = 0
    typos: int = 0

    @property
    def missing(self) -> tuple[str, ...]:
        """The slots that the intent needs and that nothing was said for."""
        return tuple(slot for slot in self.intent.needs if not self._has(slot))

    def _has(self, slot: str) -> bool:
        value = self.slots.get(slot)
        return value is not None and bool(value.text or (value.meant and value.meant.paths))


def without_courtesies(text: str) -> str:
    """The request without "please", "could you", "thanks" and the like around it."""
    bare = text.strip()
    shorter = _POLITE_START.sub("", bare)
    shorter = shorter if shorter.strip(" ?!.") else bare
    if "\n" in shorter:
        return shorter
    cut = _POLITE_END.sub("", shorter)
    return cut if cut.strip() else shorter


class Understanding:
    """Reads requests by templates."""

    def __init__(self, intents: Iterable[Intent]) -> None:
        self.intents = tuple(intents)
        self._templates: list[tuple[Intent, Node]] = [
            (intent, parse_template(template, MACROS))
            for intent in self.intents
            for template in intent.templates
        ]

    def read(self, text: str, names: NoteNames) -> list[Understood]:
        """What `text` can mean, best first, at most one reading for each intent and tool call."""
        tokens = tokenize(text)
        size = sum(token.kind != "mark" for token in tokens)
        if not size:
            return []
        best: dict[str, list[Understood]] = {}
        for intent, template in self._templates:
            for reading in readings(template, tokens):
                if understood := _understood(intent, reading, Span(text, tokens), names, size):
                    best.setdefault(intent.id, []).append(understood)
        ranked = [one for found in best.values() for one in sorted(found, key=_rank)[:2]]
        near = [_with_near_notes(one, names, size) for one in sorted(ranked, key=_rank)[:_KEPT]]
        kept: dict[str, Understood] = {}
        for one in sorted(near, key=_rank):
            if not any(
                value.strict and not (value.meant and value.meant.path) for value in one.slots.values()
            ):
                kept.setdefault(one.intent.id, one)
        return list(kept.values())


def _rank(one: Understood) -> tuple[float, int, int]:
    return (-one.score, -one.words, one.typos)


def _understood(
    intent: Intent, reading: Reading, whole: Span, names: NoteNames, size: int
) -> Understood | None:
    slots: dict[str, SlotValue] = {}
    explained = reading.words - _TYPO_COST * reading.typos
    for slot, start, end in reading.slots:
        span = Span(whole.request, whole.tokens[start:end])
        value = read_slot(slot, span, names)
        if value is None:
            return None
        if slot != "any":
            slots[value.slot] = value
        if slot == "type":
            slots["key"] = SlotValue("key", "type", 1.0)
        explained += value.fit * sum(token.kind != "mark" for token in span.tokens)
    if slots:
        slots = _with_last_mark(slots, reading, whole)
    return Understood(intent, slots, round(explained / size, 6), reading.words, reading.typos)


def _with_last_mark(slots: dict[str, SlotValue], reading: Reading, whole: Span) -> dict[str, SlotValue]:
    """A text at the end of the request keeps its full stop."""
    name, start, end = reading.slots[-1]
    value = slots.get(name)
    ends_here = reading.end == end and end < len(whole.tokens)
    if (
        value is None
        or not ends_here
        or name not in ("text", "content")
        or (end - start == 1 and value.fit == 1.0)
    ):
        return slots
    text = whole.request[whole.tokens[start].start : whole.tokens[-1].end]
    return {**slots, name: replace(value, text=text)}


def _with_near_notes(one: Understood, names: NoteNames, size: int) -> Understood:
    """The same with notes that are nearly called so; a reading whose names come near to notes gains."""
    slots = dict(one.slots)
    score = one.score
    for key, value in one.slots.items():
        if key in ("name", "other") and value.text and value.meant is not None and not value.meant.paths:
            meant = names.nearly(value.text)
            if meant.paths:
                slots[key] = replace(value, meant=meant)
                score += _NEAR_GAIN * meant.certainty * len(value.text.split()) / size
    return replace(one, slots=slots, score=min(score, 1.0))
