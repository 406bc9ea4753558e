"""Programs: readings as sequences of symbols that copy their values from the words of a request.

The request model writes a program, and `ProgramReader` turns it into a reading. A symbol is a word of the
notation ("add_tag", "links-to:", "tag="), a reference to the conversation ("it", "these", "n2"), a span of
the request's items, or a property or condition that the request implies: the positions after the last item
stand for the vocabulary's `fields`, and those after the fields for the `known_conditions`. "same" is the
value of the same role in the last step; after "value:" it is the text of the property that the last step
showed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

from app.agent.language.grammar.frames import FrameParser
from app.agent.language.grammar.note_facts import FACTS
from app.agent.language.grammar.note_sets import NoteSetParser
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.actions import ROLE_KINDS, TASK_ACTIONS, Action
from app.agent.language.meaning.readings import PipelineStep, Reading
from app.agent.language.model.item_spans import ItemSpans, RequestItem
from app.agent.language.model.program_sets import ProgramSets
from app.agent.language.model.symbols import (
    CONDITION,
    END,
    NEXT,
    OVERDUE,
    PROPERTY_ORDERS,
    USES,
    Span,
    Symbol,
    is_role,
)
from app.agent.language.words.lexicon import Language
from app.agent.language.words.task_texts import OPEN_TASK
from app.agent.language.words.tokens import span_text


class ProgramReader:
    """Turn programs into readings.

    Args:
        request: The request.
        items: Its items.
    """

    def __init__(self, request: Request, items: Sequence[RequestItem]) -> None:
        self._request = request
        self._items = items
        self.spans = ItemSpans(request, items)
        """The values of the spans of items."""
        self._language: Language = request.language
        self._vocabulary = request.vocabulary
        self._dialog = request.dialog
        self._sets: NoteSetParser = request.set_parser()
        self._frames: FrameParser = request.frame_parser(follows=False)
        self.sets = ProgramSets(request, items, self.spans)
        """The sets of notes, conditions and properties of programs."""

    def read(self, program: Sequence[Symbol], score: float = 1.0) -> Reading | None:
        """Return the reading of a program, with the given score; None if the program is not valid."""
        if not all(self._is_valid(symbol, before) for before, symbol in pairwise(("", *program))):
            return None
        steps: list[PipelineStep] = []
        step_symbols: list[Symbol] = []
        for symbol in (*program, NEXT):
            if symbol == NEXT:
                step = self._step(step_symbols, follows=bool(steps)) if step_symbols else None
                if step is None:
                    return None
                steps.append(step)
                step_symbols = []
            elif symbol != END:
                step_symbols.append(symbol)
        return Reading(tuple(steps), score, language=self._language.code)

    def _is_valid(self, symbol: Symbol, before: Symbol) -> bool:
        """Return whether a span consists of items, or is one property where a program names a property."""
        if not isinstance(symbol, tuple) or symbol[1] < len(self._items):
            return True
        if symbol[0] != symbol[1]:
            return False
        if symbol[0] >= len(self._items) + len(self._vocabulary.fields):
            return before == CONDITION and self.sets.known_condition(symbol) is not None
        return before in ("prop", "key=", "about=", *PROPERTY_ORDERS)

    def _step(self, symbols: Sequence[Symbol], *, follows: bool) -> PipelineStep | None:
        action = self._request.allowed.get(str(symbols[0]))
        if action is None:
            return None
        position = 1
        while position < len(symbols) and not is_role(symbols[position]):
            position += 1
        conditions = symbols[1:position]
        if list(conditions) == ["it"] and self._says_both(is_change=action.writes):
            conditions = ["both"]
        notes = self.sets.notes(conditions, follows=follows) if conditions else None
        if conditions and notes is None:
            return None
        arguments: dict[str, object] = {}
        while position < len(symbols):
            role = str(symbols[position])[:-1]
            position += 1
            values: list[Symbol] = []
            while position < len(symbols) and not is_role(symbols[position]):
                values.append(symbols[position])
                position += 1
            value = (
                self.sets.known_value(values[1:], str(arguments.get("key", "")))
                if role == "value" and values[:1] == [CONDITION]
                else self._argument(action, role, values, follows=follows)
            )
            if role == "value" and values and isinstance(values[0], tuple):
                key = arguments.get("key")
                if self.spans.is_due(key):
                    value = self._sets.days_ahead(self.spans.tokens(values[0])) or value
                if str(key).casefold() != "minutes" and self.spans.has_time_unit(values[0]):
                    value = self.spans.written(values[0])
            if value is None:
                return None
            arguments[role] = value
        if action.id == "create_note":
            arguments = _with_folder(arguments)
            if "day" in symbols and "folder" not in arguments and self._vocabulary.daily_folder:
                arguments = {**arguments, "folder": self._vocabulary.daily_folder}
        if notes is None and action.implies_note:
            notes = self._sets.implied_notes()
        if notes is None and action.id in TASK_ACTIONS:
            notes = self._sets.notes_of_tasks()
        step = PipelineStep(action.id, notes, arguments)
        required = [role for role in action.needs if role != "target"]
        if any(role not in arguments for role in required) or ("target" in action.needs and notes is None):
            return None
        return step

    def _says_both(self, *, is_change: bool) -> bool:
        """Return whether the request is about the last two single notes: "what did both cost?".

        A change is about both only if the last request created both.
        """
        tokens, recent = self._request.tokens, self._dialog.recent
        last = self._dialog.last.steps if self._dialog.last is not None else ()
        if is_change and [step.action for step in last] != ["create_note", "create_note"]:
            return False
        return len(recent) == 2 and self._language.has_phrase(tokens, "both")

    def _argument(
        self, action: Action, role: str, values: Sequence[Symbol], *, follows: bool
    ) -> object | None:
        """Return the value of a role that symbols mean; None if they mean none."""
        if not values:
            return None
        if values == ["same"]:
            last = self._dialog.last.last.arguments if self._dialog.last else {}
            return last.get(role)
        if role in ("tag", "new_tag"):
            return self._tags(role, values)
        if role in ("to", "other"):
            symbols = values[1:] if values[0] == "@" else values
            if symbols and isinstance(symbols[0], tuple):
                return self.sets.named(symbols[0])
            return self.sets.notes(symbols, follows=follows)
        first = values[0]
        if first == CONDITION:
            return None
        if role in ("key", "about") and first not in FACTS:
            name = self.sets.property_name(first)
            return name if role == "key" or (name is not None and self.sets.is_known(name)) else None
        return self._copied(action, role, first) if isinstance(first, tuple) else self._literal(values)

    def _literal(self, values: Sequence[Symbol]) -> object | None:
        """Return the value that a symbol of the notation stands for."""
        match values:
            case ["task", (int(), int()) as span]:
                return f"{OPEN_TASK}{self.spans.written(span)}"
            case ["day", (int(), int()) as span]:
                return self.spans.day_ahead(span)
            case ["empty", *_]:
                return ""
            case ["now", *_]:
                return self._request.dates.today.isoformat()
            case [str(uses), *_] if uses in USES:
                return int(uses.removeprefix("uses"))
            case [symbol, *_] if symbol == OVERDUE:
                return f"..{self._request.dates.today - timedelta(days=1)}"
        return str(values[0]).removeprefix("p:")

    def _copied(self, action: Action, role: str, span: Span) -> object | None:
        """Return the value of a role that the words of a span name; None if they do not fit."""
        tokens = self.spans.tokens(span)
        is_link = [token.kind for token in tokens] == ["link"]
        mention, number = self.spans.mention(span), self.spans.number(span)
        match role:
            case "value" | "text" | "old" if is_link:
                return span_text(self._request.text, tokens)  # a link is written with its brackets
            case "due" if action.id == "reschedule_task":
                return self._request.dates.due_days(tokens)
            case "due":
                return self._sets.days_ahead(tokens)
            case "uses":
                return int(number) if number is not None and number.isdecimal() else None
            case "value" if mention is not None and mention.kind == "date":
                return self._plain_argument(role, span)
            case "query":
                start, end = span
                ignored = self._language.words("determiners") if action.id in TASK_ACTIONS else ()
                while start < end and self._items[start].tokens[0].key in ignored:
                    start += 1
                return self.spans.text((start, end)).rstrip(" .,!?")
            case "text":
                return self.spans.written(span)
            case "old" | "name" | "new_name" | "heading":
                return self.spans.text(span)
        if role not in ROLE_KINDS:
            return None
        frame = next((frame for frame in self._request.frames if frame.action == action.id), None)
        bound = self._frames.fill(action, frame, role, tokens) if frame is not None else None
        if bound is not None and role in bound and (role != "value" or number is None):
            return bound[role]
        return self._plain_argument(role, span)

    def _plain_argument(self, role: str, span: Span) -> object:
        text = self.spans.written(span) if role == "value" else self.spans.text(span)
        if role in ("value", "confidence"):
            number = self.spans.number(span)
            if number is not None:
                return float(number) if "." in number else int(number)
            days = self._request.dates.parse_span(self.spans.tokens(span), 0)
            if days is not None and days.first is not None and days.first == days.last:
                return days.first.isoformat()
        if role == "type":
            mention = self.spans.mention(span)
            if mention is not None and mention.kind == "rel":
                return mention.value
            return self._sets.type_of(text) or text
        if role == "folder":
            return self._vocabulary.find_similar_folder(text) or text
        return text

    def _tags(self, role: str, values: Sequence[Symbol]) -> object | None:
        tags: list[str] = []
        for before, value in pairwise(("", *values)):
            if value == CONDITION:
                continue
            if before == CONDITION:
                known = self.sets.known_condition(value)
                if known is None or not known.startswith("tag:"):
                    return None
                tags.append(known.removeprefix("tag:").strip('"'))
                continue
            if not isinstance(value, tuple):
                return None
            text = self.spans.text(value).removeprefix("#")
            if "," in text:
                return None  # "it works again, take the to-fix tag off"
            own = self._vocabulary.find_own_tag(text) if role == "tag" else None
            tags.append(own or text)
        return tuple(dict.fromkeys(tags)) or None


def _with_folder(arguments: dict[str, object]) -> dict[str, object]:
    """Split the name of a new note that begins with a folder ("Concepts/Parallax")."""
    folder, slash, name = str(arguments.get("name", "")).rpartition("/")
    if not slash or not folder.strip() or not name.strip() or "folder" in arguments:
        return arguments
    return {**arguments, "name": name.strip(), "folder": folder.strip()}
