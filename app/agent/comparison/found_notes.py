"""Put the found notes in place of searches."""

from __future__ import annotations

from dataclasses import replace

from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import NoteSet, Reading
from app.agent.pipeline.host import FindNotes
from app.errors import QueryError, TimeoutExpiredError


class FoundNotes:
    """Searches for the notes of a reading before it runs.

    Args:
        find_notes: Returns every note that a search matches; without it, searches stay as they are.
    """

    def __init__(self, find_notes: FindNotes | None) -> None:
        self._find_notes = find_notes

    @property
    def can_search(self) -> bool:
        """True if notes can be found before a reading runs."""
        return self._find_notes is not None

    async def with_listed_hits(self, state: DialogState, reading: Reading) -> Reading:
        """Return the reading with the listed notes in place of "these", and the found ones for searches."""
        return await self.with_found_notes(_with_listed_notes(reading, state))

    async def with_found_notes(self, reading: Reading) -> Reading:
        """Return the reading with the found notes in place of its searches."""
        steps = [
            step if step.target is None else replace(step, target=await self.with_hits(step.target))
            for step in reading.steps
        ]
        return replace(reading, steps=tuple(steps))

    async def with_hits(self, notes: NoteSet) -> NoteSet:
        """Return a note set with the hits in place of its search, or the set itself if the search fails."""
        if not notes.query or self._find_notes is None:
            return notes
        try:
            paths = {str(path) for path in await self._find_notes(f"{notes.query} ")}
        except (QueryError, TimeoutExpiredError):
            return notes
        kept = paths & set(notes.notes) if notes.notes else paths
        return replace(notes, query="", notes=tuple(sorted(kept)))


def finds_nothing(reading: Reading, found: Reading) -> bool:
    """Return whether a search of a reading finds nothing; `found` has its notes in place of searches."""
    return any(
        step.target is not None
        and step.target.query
        and found_step.target is not None
        and not (found_step.target.query or found_step.target.notes or found_step.target.source)
        for step, found_step in zip(reading.steps, found.steps, strict=True)
    )


def _with_listed_notes(reading: Reading, state: DialogState) -> Reading:
    """Return a change with the listed notes in place of "these"."""
    first, *later = reading.steps
    target = first.target
    if target is None or not target.source or target.query or not state.them:
        return reading
    notes = NoteSet(notes=target.first_notes(state.them))
    return replace(reading, steps=(replace(first, target=notes), *later))
