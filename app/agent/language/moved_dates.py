"""Find the property that a request to reschedule means in a note without tasks: "move it to March 28"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.vault.path import name_key

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def moved_note(reading: Reading, focus: tuple[str, ...]) -> str:
    """Return the note whose task a reading reschedules without naming the task; empty for another reading.

    Args:
        reading: The reading.
        focus: The note that "it" means; the reading is about it if it names no notes.
    """
    step = reading.last
    if len(reading.steps) > 1 or step.action != "reschedule_task" or "query" in step.arguments:
        return ""
    if ".." in str(step.arguments.get("due", "")):
        return ""
    notes = focus[:1] if step.target is None else step.target.notes
    return notes[0] if len(notes) == 1 else ""


def moved_dates(reading: Reading, note: str, properties: Mapping[str, object], text: str) -> list[Reading]:
    """Return the readings that set a day in the note's properties instead, those named in `text` first."""
    day = reading.last.arguments["due"]
    names = [
        name
        for name, value in properties.items()
        if isinstance(value, date) or (isinstance(value, str) and _DAY.fullmatch(value))
    ]
    names.sort(key=lambda name: name_key(name) not in name_key(text))
    return [
        Reading(
            (PipelineStep("set_property", NoteSet(notes=(note,)), {"key": name, "value": day}),),
            reading.score,
            language=reading.language,
        )
        for name in names
    ]
