"""Decide whether a missing checkbox counts as one that is not set."""

from __future__ import annotations

import re
from dataclasses import replace

from app.agent.comparison.found_notes import FoundNotes
from app.agent.language.readings import NoteSet, PipelineStep, Reading

_NOT_SET = re.compile(r'-(\["?[^:\]"]+"?:)true\]')


async def with_unset_checkboxes(found: FoundNotes, reading: Reading) -> Reading:
    """Return a reading that searches for `false` where the notes that it describes state it.

    "Which invoices are unpaid?" means those with `paid: false`. Only if no invoice has that, it means those
    without `paid: true`.
    """
    steps = tuple([await _with_unset(found, step) for step in reading.steps])
    return reading if steps == reading.steps else replace(reading, steps=steps)


async def _with_unset(found: FoundNotes, step: PipelineStep) -> PipelineStep:
    target = step.target
    if target is None or not _NOT_SET.search(target.query):
        return step
    query = _NOT_SET.sub(r"\1false]", target.query)
    hits = await found.with_hits(NoteSet(query=query))
    return replace(step, target=replace(target, query=query)) if hits.notes else step
