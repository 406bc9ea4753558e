"""Find what a change may mean besides the words of the request: other values, names, amounts or days."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, product

from app.agent.language.doubts.stated_amounts import note_sum
from app.agent.language.doubts.stated_days import next_weekend, other_order, weekday_of_next_week
from app.agent.language.doubts.stated_names import moves_of_rename, without_slash
from app.agent.language.doubts.stated_values import StatedValues
from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import PipelineStep, Reading
from app.agent.language.words.vault_words import VaultWords

_MAX_CHANGES = 8


class StatedChanges:
    """Finds the changes that the words of a request may mean.

    "Add 5 hours to Kestrel Bags" may mean its property `hours`, and "rename Insurance to Insurance 24/7" no
    folder "Insurance 24".

    Args:
        request: The request.
        properties_of: Returns the properties of the note at a path.
        words: The vault's properties.
    """

    def __init__(self, request: Request, properties_of: PropertiesOf, words: VaultWords) -> None:
        self._request = request
        self._properties_of = properties_of
        self._values = StatedValues(request, properties_of, words)

    def alternatives(self, reading: Reading) -> Sequence[Reading]:
        """Return the readings that may be meant, likeliest first; usually only the reading itself."""
        changes: list[Iterable[Sequence[PipelineStep]]] = []
        for step in reading.steps:
            moves = moves_of_rename(self._request, step)
            changes.append([moves] if moves else [(change,) for change in self._alternatives(step)])
        plans = islice(product(*changes), _MAX_CHANGES)
        return [replace(reading, steps=tuple(step for steps in plan for step in steps)) for plan in plans]

    def _alternatives(self, step: PipelineStep) -> Sequence[PipelineStep]:
        if later := weekday_of_next_week(self._request, step):
            return [*later, step]
        match step.action:
            case "set_property":
                return self._values.alternatives(step)
            case "rename" | "create_note":
                return [*without_slash(self._request, step), step]
            case "append" | "prepend" | "reschedule_task":
                sums = note_sum(self._request, step, self._properties_of)
                return [*sums, *next_weekend(self._request, step), step, *other_order(self._request, step)]
            case _:
                return [step]
