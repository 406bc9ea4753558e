"""Restrict changes of "my daily notes" to the notes that are named for a day."""

from __future__ import annotations

from dataclasses import replace

from app.agent.comparison.found_notes import FoundNotes
from app.agent.language.grammar.request import Request, writes
from app.agent.language.meaning.conditions import top_level_parts
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.vault.path import NotePath, name_key


class DailyNotes:
    """Restricts changes of daily notes: their folder may also hold other notes.

    Args:
        found: Searches for the notes of the folder.
    """

    def __init__(self, found: FoundNotes) -> None:
        self._found = found

    async def restrict(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Return the interpretation with the notes named for a day in place of their folder.

        A request such as "move my journal to Archive" names the folder, and stays unchanged.
        """
        words = request.language.words("daily_nouns") - request.language.words("note_nouns")
        stems = request.vocabulary.plural_stems
        keys = [token.key for token in request.tokens if token.is_word]
        said = words & {form for key in keys for form in (key, *stems(key))}
        folder = name_key(request.vocabulary.daily_folder or "") if said else ""
        if not folder or any(word in folder for word in said):
            return interpretation
        if isinstance(interpretation, Reading):
            return await self._restricted(interpretation, request)
        if not isinstance(interpretation, Clarification):
            return interpretation
        partial = interpretation.partial
        return replace(
            interpretation,
            options=tuple([await self._option(option, request) for option in interpretation.options]),
            spare=tuple([await self._option(option, request) for option in interpretation.spare]),
            partial=await self._restricted(partial, request) if partial is not None else None,
        )

    async def _option(self, option: ClarificationOption, request: Request) -> ClarificationOption:
        reading = await self._restricted(option.reading, request)
        return (
            option
            if reading is option.reading
            else replace(option, label=serialize(reading), reading=reading)
        )

    async def _restricted(self, reading: Reading, request: Request) -> Reading:
        steps = tuple([await self._restricted_step(step, request) for step in reading.steps])
        return reading if steps == reading.steps else replace(reading, steps=steps)

    async def _restricted_step(self, step: PipelineStep, request: Request) -> PipelineStep:
        query = step.target.query if step.target is not None else ""
        is_change = writes(request.allowed, step.action)
        if not query or not is_change or not request.vocabulary.means_daily_notes(top_level_parts(query)):
            return step
        paths = (await self._found.with_hits(NoteSet(query=query))).notes
        days = tuple(path for path in paths if request.vocabulary.names_day(NotePath.on_disk(path).name))
        if step.target is None or not days or len(days) == len(paths):
            return step
        return replace(step, target=replace(step.target, query="", notes=days))
