"""Find the property that "move it to March 28" means in a note without open tasks, and the reverse."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.vault_words import name_parts
from app.vault.path import name_key

_WORD = re.compile(r"[\w-]+")
_DATES_OF_ORIGIN = frozenset(("created", "modified", "updated", "published", "date-created", "date-modified"))


def rescheduled_note(request: Request, reading: Reading) -> str:
    """Return the only note whose task a reading reschedules without naming the task; otherwise an empty text.

    That is the note in focus if the reading names no notes. "The deadline of Dune" names only the note.
    """
    step = reading.last
    if len(reading.steps) > 1 or step.action != "reschedule_task":
        return ""
    if not ISO_DAY.fullmatch(str(step.arguments.get("due", ""))):
        return ""
    notes = request.dialog.it[:1] if step.target is None else step.target.notes
    if "query" in step.arguments:
        due = request.language.words("due_properties")
        words = str(step.arguments["query"]).split()
        plain = due | request.language.function_words()
        while words and (words[0].casefold() in plain or words[-1].casefold() in plain):
            words = words[1:] if words[0].casefold() in plain else words[:-1]
        says_due = not due.isdisjoint(str(step.arguments["query"]).casefold().split())
        notes = request.vocabulary.notes(" ".join(words)) if says_due and words else ()
    return notes[0] if len(notes) == 1 else ""


def task_of_date(reading: Reading, dialog: DialogState) -> Reading | None:
    """Return the change of a task's due date that "set the due to March 28" may mean right after the task.

    Return None if the reading sets another property, or if the last request was not about a single task of
    the note.
    """
    step = reading.last
    is_due = step.action == "set_property" and name_key(str(step.arguments.get("key"))) == "due"
    if not is_due or len(reading.steps) > 1 or step.target is None or len(dialog.tasks) != 1:
        return None
    day, (path, task) = str(step.arguments.get("value")), dialog.tasks[0]
    is_listed = dialog.last is not None and dialog.last.last.action == "list_tasks"
    if not ISO_DAY.fullmatch(day) or step.target.notes != (path,) or not (dialog.made or is_listed):
        return None
    moved = PipelineStep("reschedule_task", step.target, {"query": task, "due": day})
    return replace(reading, steps=(moved,))


def date_changes(
    reading: Reading,
    note: str,
    properties: Mapping[str, object],
    text: str,
    due: Collection[str],
    today: date,
) -> list[Reading]:
    """Return readings that change a day in a note's properties instead of a task.

    Args:
        reading: The reading that reschedules a task.
        note: The note.
        properties: Its properties.
        text: The request; the properties that it names come first.
        due: The names of properties that hold future days; they come next.
        today: The present day; past days, such as that of a birth, move only if no other one can.
    """
    names = [
        name
        for name, value in properties.items()
        if name_key(name) not in _DATES_OF_ORIGIN
        and (isinstance(value, date) or (isinstance(value, str) and ISO_DAY.fullmatch(value)))
    ]
    coming = [name for name in names if str(properties[name]) >= today.isoformat()]
    said = set(_WORD.findall(text.casefold()))
    names = [name for name in names if not coming or name in coming or name_key(name) in said]
    names.sort(key=lambda name: (name_parts(name_key(name)).isdisjoint(said), name_key(name) not in due))
    day = reading.last.arguments["due"]
    return [
        Reading(
            (PipelineStep("set_property", NoteSet(notes=(note,)), {"key": name, "value": day}),),
            reading.score,
            language=reading.language,
        )
        for name in names
    ]
