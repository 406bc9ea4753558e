"""Ask about a change that is in doubt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from app.agent.comparison.chosen_readings import is_chosen
from app.agent.comparison.found_notes import FoundNotes
from app.agent.language.doubts.change_doubts import ChangeDoubts
from app.agent.language.doubts.option_order import OptionRanker
from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.request import Request
from app.agent.language.interpretation.preferred_reading import preferred_reading
from app.agent.language.meaning.clarifications import with_readings_first
from app.agent.language.meaning.readings import Clarification, Interpretation, Reading
from app.agent.language.words.vault_words import VaultWords


class ChangeQuestions:
    """Asks before a change that may be meant for something else.

    Args:
        found: Searches for the notes of a change.
        words: Returns the vault's templates.
        properties_of: Returns the properties of the note at a path; without it, no change is in doubt.
    """

    def __init__(
        self, found: FoundNotes, words: Callable[[], VaultWords], properties_of: PropertiesOf | None
    ) -> None:
        self._found = found
        self._words = words
        self._properties_of = properties_of

    async def ask_in_doubt(self, reading: Reading, request: Request, ranker: OptionRanker) -> Interpretation:
        """Return a question instead of a change that is in doubt, has no effect or sets an unusual value."""
        state = request.dialog
        if self._properties_of is None or is_chosen(reading, request.text, state):
            return reading
        found = await self._found.with_found_notes(reading)
        doubts = ChangeDoubts(request, reading, found, self._properties_of, self._words().templates)
        is_doubtful = doubts.means_others or doubts.is_in_doubt
        offered = state.question.options if state.question is not None else ()
        before: list[Reading | None] = [option.reading for option in offered]
        before = before or [state.last]
        # A correction keeps the notes of the last change, even if they lack the property.
        is_settled = any(
            known.last.action == reading.last.action
            and known.last.target == reading.last.target
            and known.last.arguments.get("key") == reading.last.arguments.get("key")
            for known in before
            if known is not None
        )
        others = doubts.other_changes()
        if not is_doubtful and (doubts.names_notes or is_settled or await ranker.is_plausible(found)):
            preferred = await preferred_reading(
                request, reading, partial(self._found.with_listed_hits, state)
            )
            if preferred is None:
                return reading
            others = [preferred, *others]
        if others and doubts.links_note_to_itself:
            changes = tuple(others)
        else:
            changes = (*others, reading) if doubts.means_others else (reading, *others)
        return with_readings_first(Clarification("", ()), changes)

    def with_note_on_screen(self, question: Clarification, request: Request) -> Clarification:
        """Return a question that first offers the note on the screen if another one was only mentioned."""
        reading = question.options[0].reading if question.options else None
        if reading is None or self._properties_of is None or not request.writes(reading):
            return question
        doubts = ChangeDoubts(request, reading, reading, self._properties_of, self._words().templates)
        on_screen = doubts.change_on_screen(reading.last) if len(reading.steps) == 1 else None
        if on_screen is None:
            return question
        return with_readings_first(question, [replace(reading, steps=(on_screen,))])
