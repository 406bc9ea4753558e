"""Offer the days in a note's properties and the days of its tasks for each other."""

from __future__ import annotations

from dataclasses import replace

from app.agent.comparison.chosen_readings import is_chosen
from app.agent.comparison.found_notes import FoundNotes
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
from app.agent.language.words.lexicon import languages
from app.index.query_serializer import quote_text


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
            changes = self._date_changes(option.reading, note, request.text) if note else []
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

    async def _has_open_tasks(self, note: str) -> bool:
        # The path makes the search fast.
        query = f'{TASK_FIELDS["open"]}:"" path:{quote_text(note)}'
        tasks = await self._found.with_hits(NoteSet(query=query, notes=(note,)))
        return bool(tasks.query or tasks.notes)

    def _date_changes(self, reading: Reading, note: str, text: str) -> list[Reading]:
        """Return changes of the days in a note's properties."""
        if self._properties_of is None:
            return []
        due = {name for language in languages() for name in language.words("due_properties")}
        return date_changes(reading, note, self._properties_of(note), text, due)


def _names_day(request: Request, note: str) -> bool:
    """Return whether a request names a note or a property, but no task: the day may be the note's own."""
    said = SaidWords(request, Reading((), 1.0))
    says_task = not request.language.words("task_nouns").isdisjoint(token.key for token in request.tokens)
    says_property = any(mention.kind == "prop" for mention in said.mentions)
    return not says_task and (says_property or said.names(NoteSet(notes=(note,))))
