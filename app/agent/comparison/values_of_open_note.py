"""Prefer the values of the note in talk, often the one on the screen, to a search over the vault."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import combinations

from app.agent.comparison.chosen_readings import is_settled
from app.agent.comparison.unnamed_properties import change_by_verb, change_of_period
from app.agent.language.changes.property_lines import PropertyLine, end_phrase, stated_lines
from app.agent.language.grammar.note_facts import PropertiesOf, own_property
from app.agent.language.grammar.note_references import without_possessive
from app.agent.language.grammar.questions import is_question
from app.agent.language.grammar.request import Request, request_tokens, without_marks_at_end
from app.agent.language.lookups.questions_about_open_note import parse_own_value
from app.agent.language.meaning.actions import TASK_ACTIONS
from app.agent.language.meaning.clarifications import with_readings_first
from app.agent.language.meaning.readings import (
    Clarification,
    Interpretation,
    ModelRequired,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.tokens import Token, span_text, tokenize
from app.vault.path import name_key
from app.vault.reference import parse_reference

_SEARCHES = frozenset(("find", "count"))
_MAX_DAY_WORDS = 3

ExistsNear = Callable[..., Awaitable[bool]]
"""Returns whether notes in the folders of some notes have a property, or a value of it."""


class OwnValues:
    """Reads questions about a value, and values, as those of the note in talk if it has the property.

    Args:
        properties_of: Returns the properties of the note at a path; without it, nothing is revised.
    """

    def __init__(self, properties_of: PropertiesOf | None) -> None:
        self._properties_of = properties_of

    async def prefer(
        self, interpretation: Interpretation, request: Request, exists_near: ExistsNear
    ) -> Interpretation:
        """Return the value that a request asks for, or the change of the value that it states.

        A change runs if only one note in talk has the property, if the request names the property itself with
        a word such as "is", and if a property with links gets the name of a note; else it is the first option
        of a question. Other interpretations stay unchanged.
        """
        if self._properties_of is None or is_settled(interpretation, request.text, request.dialog):
            return interpretation
        first = _first_reading(interpretation)
        if (change := self._change_of_own(request)) is not None:
            return change if change.is_certain else _with_first(interpretation, [change])
        is_lookup = _searches_vault(first) or (first is not None and first.last.action == "properties_of")
        if isinstance(interpretation, ModelRequired) or (
            isinstance(interpretation, Reading) and not is_lookup
        ):
            return interpretation
        if (state := self._stated_state(request)) is not None:
            return await _with_state(interpretation, state, request, exists_near)
        asked = parse_own_value(request, self._properties_of)
        if asked is not None and asked.last.target is not None:
            about, paths = str(asked.last.arguments["about"]), asked.last.target.notes
            if self._has(paths[0], about) or await exists_near(about, paths):
                return asked
        changes = await self._stated_changes(request, exists_near)
        is_change = first is not None and request.writes(first)
        if changes and changes[0].is_certain:
            is_other = is_change and first is not None and first.last.action != "set_property"
            return interpretation if is_other else changes[0]
        if is_change:
            changes = [change for change in changes if _is_other_value(first, change)]
        return _with_first(interpretation, changes) if changes else interpretation

    async def _stated_changes(self, request: Request, exists_near: ExistsNear) -> list[Reading]:
        """Return the change of each note in talk that a request may mean, or only the certain one.

        Return none for a question, and after a list.
        """
        dialog = request.dialog
        if of_day := self._change_of_day(request):
            return [of_day]
        lines = stated_lines(request) if "set_property" in request.allowed else []
        if not lines or (dialog.has_list and not dialog.asked) or is_question(request):
            return []
        lines_of = {
            path: [replace(line, key=self._own_name(path, line.key) or line.key) for line in lines]
            for path in (*dialog.it[:1], *dialog.this[:1])
        }
        notes = [path for path, own in lines_of.items() if all(self._has(path, line.key) for line in own)]
        is_led = all(line.is_led for line in lines)
        if not is_led and not all(_has_known_value(request, line) for line in lines):
            return []
        if len(notes) == 1 and all(_is_sure(request, line) for line in lines):
            return [_change(request, notes[0], lines_of[notes[0]], is_certain=True)]
        if not notes and is_led:
            notes = [
                path for path in lines_of if all([await exists_near(line.key, (path,)) for line in lines])
            ]
        return [_change(request, path, lines_of[path], is_certain=False) for path in notes]

    def _change_of_day(self, request: Request) -> Reading | None:
        """Return the change of a daily note if only it has the property: "mood today is 5"; else None."""
        if is_question(request) or "set_property" not in request.allowed:
            return None
        tokens, talk = request.tokens, {*request.dialog.it[:1], *request.dialog.this[:1]}
        for start, end in combinations(range(len(tokens) + 1), 2):
            words = tuple(map(without_possessive, tokens[start:end]))
            span = request.dates.parse_period(words) if end - start <= _MAX_DAY_WORDS else None
            if span is None or span.first != span.last or words[0].key.isdecimal():
                continue  # "4 today" has a value
            text = f"{request.text[: words[0].start]} {request.text[words[-1].end :]}".strip(" ,")
            own = replace(request, text=text, tokens=request_tokens(text, request.language))
            lines = [line for line in stated_lines(own) if line.is_led and line.is_plain]
            paths = request.vocabulary.notes(request.vocabulary.period_name(str(span.first)))
            is_known = len(paths) == 1 and all(self._has(paths[0], line.key) for line in lines)
            others = talk.difference(paths)
            if not lines or not is_known or any(line.is_hedged for line in lines):
                continue
            if not any(self._has(path, line.key) for line in lines for path in others):
                return _change(request, paths[0], lines, is_certain=True)
        return None

    def _stated_state(self, request: Request) -> Reading | None:
        """Return the change of "accept it" or "make it ready" if one property of the note has the value.

        Return None for other requests.
        """
        language = request.language
        if is_question(request):
            return None
        words = _last_clause(request)
        if request.tokens[0].key in language.verbs() and any(own.key == "," for own in request.tokens):
            return None  # "archive it, it is done"
        participles = language.table("property_values")["participles"]
        if len(words) > 1 and words[0].key not in language.verbs():
            forms = [f"{words[0].key}{ending}" for ending in participles]
            if (change := self._change_to(request, words[1:], forms)) is not None:
                return change
        for start in range(2, len(words)):
            notes = _noted_words(request, words[:start])
            value = span_text(request.text, words[start:])
            if notes and (change := self._change_to(request, notes, [name_key(value)])) is not None:
                return change
        return None

    def _change_to(self, request: Request, words: Sequence[Token], forms: Sequence[str]) -> Reading | None:
        """Return the change of the only property of a note, named by words, that has one of some values."""
        sets, names = request.set_parser(), request.vocabulary
        parsed = sets.parse_reference(words) or sets.find_named(words)
        named = parsed.notes if parsed is not None and parsed.notes.is_single else NoteSet()
        if not named.notes or self._properties_of is None or "set_property" not in request.allowed:
            return None
        values: dict[str, object] = {}
        for key, old in self._properties_of(named.notes[0]).items():
            if isinstance(old, bool) and name_key(key) in forms:
                values[key] = "true"
            texts = [names.find_text_of(key, form) for form in forms] if isinstance(old, str) else []
            if known := [text for text in texts if text is not None and name_key(text) in forms]:
                values[key] = known[0]
        if len(values) != 1:
            return None
        ((key, value),) = values.items()
        step = PipelineStep("set_property", named, {"key": key, "value": value})
        return Reading((step,), 0.97, language=request.language.code)

    def _change_of_own(self, request: Request) -> Reading | None:
        """Return the change of "rate it 4" or "from 2 to 9 May"; None for other requests and questions."""
        if "set_property" not in request.allowed or is_question(request) or self._properties_of is None:
            return None
        has_other = request.needs_confirmation or any(own.key == "," for own in request.tokens)
        for parse in (change_by_verb, change_of_period):
            if (change := parse(request, _last_clause(request), self._properties_of)) is not None:
                return replace(change, is_certain=change.is_certain and not has_other)
        return None

    def _has(self, path: str, key: str) -> bool:
        return name_key(self._own_name(path, key)) == name_key(key)

    def _own_name(self, path: str, key: str) -> str:
        return own_property(self._properties_of(path) if self._properties_of is not None else (), key)


def _last_clause(request: Request) -> tuple[Token, ...]:
    """Return the words of "it rained, so she's off" after the reason and courtesies: "she is off"."""
    language, polite = request.language, request.language.words("courtesies")
    is_ = language.table("property_values")["copulas"][0]
    short = {f"{own}'s": f"{own} {is_}" for own in language.words("personal_pronouns")}
    tokens = tokenize(request.text, {**language.contractions, **short}, language.words("noise"))
    words = without_marks_at_end(tokens)
    start = max((at for at, own in enumerate(words) if own.key == ","), default=-1) + 1
    while start < len(words) - 1 and words[start].key in polite:
        start += 1
    end = len(words)
    while end > start + 1 and (before := end_phrase(request, words, start + 1, end)) < end:
        end = before
    polite = polite.difference(language.table("task_changes")["denials"])  # "there is no shed"
    return tuple(own for own in words[start : end - 1] if own.key not in polite) + words[end - 1 : end]


def _noted_words(request: Request, head: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the words for the note of "make it" or "H4 is", which are before a value; none for others."""
    language = request.language
    table = language.table("property_values")
    has_verb = head[0].key in table["set"] or head[0].key in table["marks"]
    ends = (
        at for at in range(1, len(head)) if language.matches_phrase(head[at:], "property_values", "line_cues")
    )
    end = next(ends, len(head) if has_verb else 0)
    is_other_time = any(
        language.matches_phrase(head[end:], "property_values", cues) for cues in ("past_cues", "future_cues")
    )
    return () if is_other_time or (has_verb and end == 1) else head[has_verb:end]


async def _with_state(
    interpretation: Interpretation, state: Reading, request: Request, exists_near: ExistsNear
) -> Interpretation:
    """Return the change to a stated state, or a question with it if the words may be about something else."""
    first, target = _first_reading(interpretation), state.last.target
    if target is None or (first is not None and first.last.action in TASK_ACTIONS):
        return interpretation
    key, value = map(str, state.last.arguments.values())
    question = request.dialog.question
    is_asked = question is not None and any(request.writes(own.reading) for own in question.options)
    has_reason = any(token.key == "," for token in request.tokens)
    if not (is_asked or has_reason) and await exists_near(key, target.notes, value):
        return state
    return _with_first(interpretation, [state])


def _first_reading(interpretation: Interpretation) -> Reading | None:
    """Return the reading of an interpretation, or that of its first option; None without one."""
    if isinstance(interpretation, Clarification):
        return interpretation.options[0].reading if interpretation.options else interpretation.partial
    return interpretation if isinstance(interpretation, Reading) else None


def _searches_vault(reading: Reading | None) -> bool:
    """Return whether a reading lists or counts the notes of a search of the whole vault."""
    step = reading.last if reading is not None and len(reading.steps) == 1 else None
    target = step.target if step is not None and step.action in _SEARCHES else None
    return target is not None and not (target.notes or target.source or target.limit or target.pick)


def _is_sure(request: Request, line: PropertyLine) -> bool:
    """Return whether a line states the present value of a property; a link must be one to a note."""
    values = line.value if isinstance(line.value, tuple) else (line.value,)
    names = request.vocabulary
    is_missing = names.links_of(line.key) and not all(
        names.notes(parse_reference(str(value)).target) for value in values
    )
    return line.is_present and line.is_plain and not line.is_hedged and not is_missing


def _is_other_value(first: Reading | None, change: Reading) -> bool:
    """Return whether two changes give different values to the same property."""
    if first is None or first.steps == change.steps or len(first.steps) > 1 or len(change.steps) > 1:
        return False
    value = change.last.arguments["value"]
    return first.last.with_argument("value", value) == change.last


def _has_known_value(request: Request, line: PropertyLine) -> bool:
    """Return whether the value of a line is a known text of its property, a number or a day."""
    value = line.value
    is_known = line.is_known or bool(request.vocabulary.find_text_of(line.key, str(value)))
    return is_known or not isinstance(value, str | tuple) or ISO_DAY.fullmatch(str(value)) is not None


def _change(request: Request, path: str, lines: Sequence[PropertyLine], *, is_certain: bool) -> Reading:
    steps = tuple(
        PipelineStep("set_property", NoteSet(notes=(path,)), {"key": line.key, "value": line.value})
        for line in lines
    )
    return Reading(steps, 0.97, language=request.language.code, is_certain=is_certain)


def _with_first(interpretation: Interpretation, changes: Sequence[Reading]) -> Clarification:
    """Return the question that offers some changes before what an interpretation means."""
    known = interpretation if isinstance(interpretation, Clarification) else Clarification("", ())
    others = [interpretation] if isinstance(interpretation, Reading) else []
    return with_readings_first(replace(known, partial=None), [*changes, *others])
