"""Offer the days in a note's properties and the days of its tasks for each other."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from app.agent.comparison.chosen_readings import is_chosen
from app.agent.comparison.found_notes import FoundNotes
from app.agent.language.doubts.stated_days import in_year, names_month
from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.request import Request
from app.agent.language.grammar.said_words import SaidWords
from app.agent.language.meaning.clarifications import MAX_OPTIONS, question_about
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    Interpretation,
    NoteSet,
    Reading,
)
from app.agent.language.tasks.rescheduling import date_changes, rescheduled_note, task_of_date
from app.agent.language.tasks.task_matching import TASK_FIELDS
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.lexicon import languages
from app.index.query_serializer import quote_text

_YEAR = re.compile(r"\d{4}")
_DAY_IN_CONDITION = re.compile(r"(?<=[:<>=])\d{4}-\d\d-\d\d(?=\])")


class DateChanges:
    """Finds the other date that a change of a date may mean.

    Args:
        found: Searches for the tasks of a note.
        properties_of: Returns the properties of the note at a path; without it, no other date is found.
    """

    def __init__(self, found: FoundNotes, properties_of: PropertiesOf | None) -> None:
        self._found = found
        self._properties_of = properties_of

    async def with_date_changes(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Offer to change a date property if a request reschedules a task of a note without open tasks.

        Offer to reschedule the task of the last request if a request sets the due date of its note.
        """
        if self._properties_of is None or not isinstance(interpretation, Reading | Clarification):
            return interpretation
        offered = (
            (ClarificationOption(serialize(interpretation), interpretation),)
            if isinstance(interpretation, Reading)
            else interpretation.options
        )
        may_be_task = isinstance(interpretation, Clarification) or not is_chosen(
            interpretation, request.text, request.dialog
        )
        options: list[ClarificationOption] = []
        for option in offered:
            note = rescheduled_note(request, option.reading)
            has_tasks = not note or await self._has_open_tasks(note)
            changes = self._date_changes(option.reading, note, request) if note else []
            if has_tasks and not (changes and _names_day(request, note)):
                changes = []
            task = task_of_date(option.reading, request.dialog) if may_be_task else None
            changes = [*changes, *([task] if task is not None else [])]
            options += [ClarificationOption(serialize(change), change, option.share) for change in changes]
            if has_tasks or task is not None or not changes:
                options.append(option)
        if options == list(offered):
            return interpretation
        options = options[:MAX_OPTIONS]
        if isinstance(interpretation, Clarification):
            return replace(interpretation, question=question_about(options), options=tuple(options))
        return Clarification(question_about(options), tuple(options))

    async def with_likely_year(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Return an interpretation with the coming month instead of the last one where the notes suggest it.

        A month without a year in a search means the coming one if only this one is found, and a new value if
        notes have later values of its property.
        """
        if (
            not isinstance(interpretation, Reading | Clarification)
            or _YEAR.search(request.text)
            or not names_month(request)
        ):
            return interpretation
        if isinstance(interpretation, Reading):
            return await self._in_likely_year(interpretation, request)
        options = [
            replace(own, label=serialize(reading), reading=reading)
            for own in interpretation.options
            if (reading := await self._in_likely_year(own.reading, request))
        ]
        return replace(interpretation, options=tuple(options))

    async def _in_likely_year(self, reading: Reading, request: Request) -> Reading:
        step, today = reading.last, request.dates.today
        target, value = step.target, str(step.arguments.get("value"))
        coming = _DAY_IN_CONDITION.sub(lambda day: _year_later(day[0], today), target.query) if target else ""
        if target is not None and coming != target.query:
            if await self._finds(target.query) or not await self._finds(coming):
                return reading
            step = replace(step, target=replace(target, query=coming))
        elif step.action == "set_property" and ISO_DAY.fullmatch(value):
            later = _year_later(value, today)
            if later == value or not await self._finds(f"[{step.arguments['key']}:>{today}]"):
                return reading
            step = step.with_argument("value", later)
        return replace(reading, steps=(*reading.steps[:-1], step))

    async def _finds(self, query: str) -> bool:
        return bool((await self._found.with_hits(NoteSet(query=query))).notes)

    async def _has_open_tasks(self, note: str) -> bool:
        # The path makes the search fast.
        query = f'{TASK_FIELDS["open"]}:"" path:{quote_text(note)}'
        tasks = await self._found.with_hits(NoteSet(query=query, notes=(note,)))
        return bool(tasks.query or tasks.notes)

    def _date_changes(self, reading: Reading, note: str, request: Request) -> list[Reading]:
        """Return changes of the days in a note's properties."""
        if self._properties_of is None:
            return []
        due = {name for language in languages() for name in language.words("due_properties")}
        today = request.dates.today
        return date_changes(reading, note, self._properties_of(note), request.text, due, today)


def _year_later(text: str, today: date) -> str:
    """Return a past day one year later if it is still to come then; otherwise the same text."""
    day = date.fromisoformat(text)
    later = in_year(day, day.year + 1)
    return later.isoformat() if later is not None and day < today <= later else text


def _names_day(request: Request, note: str) -> bool:
    """Return whether a request names a note or a property, but no task: the day may be the note's own."""
    said = SaidWords(request, Reading((), 1.0))
    says_task = not request.language.words("task_nouns").isdisjoint(token.key for token in request.tokens)
    says_property = any(mention.kind == "prop" for mention in said.mentions)
    return not says_task and (says_property or said.names(NoteSet(notes=(note,))))
