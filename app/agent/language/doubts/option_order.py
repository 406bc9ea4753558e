"""Rank the options of a question by what they would do in the vault."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from app.agent.language.doubts.stated_amounts import is_number
from app.agent.language.grammar.note_facts import FACTS, PropertiesOf, present_values
from app.agent.language.meaning.conditions import CATEGORY_PROPERTIES
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.vault_words import VaultWords
from app.index.query_serializer import quote_text
from app.index.value_order import property_of
from app.vault.path import name_key

_KINDS = frozenset(("type", *CATEGORY_PROPERTIES))
USEFUL, UNUSUAL, USELESS = range(3)
_MAX_NOTES = 50
"""Maximum number of notes whose properties are looked up for one option."""
_USUAL_SHARE = 0.8
"""Minimum share of numbers or days among the values of a property in which other text is unusual."""
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
_MAX_RATIO = 5.0
"""Maximum ratio of a property's next number to its present one, unless the request names the property."""


class OptionRanker:
    """Rank options: those that do something first, then unusual changes, then those without an effect.

    Args:
        text: The request.
        words: The vault's properties and their values.
        with_hits: Returns a set with the found notes in place of its search, or unchanged if that fails.
        properties_of: Returns the properties of the note at a path; without it, every option is useful.
    """

    def __init__(
        self,
        text: str,
        words: VaultWords,
        with_hits: Callable[[NoteSet], Awaitable[NoteSet]],
        properties_of: PropertiesOf | None,
    ) -> None:
        self._text_key = name_key(text)
        self._shares = {name_key(shares.name): shares for shares in words.value_shares}
        self._with_hits = with_hits
        self._properties_of = properties_of
        self._lists: set[str] = set()

    async def rank(self, found: Reading) -> int:
        """Return the rank of a reading that has the found notes in place of its searches."""
        rank, target = USEFUL, None
        for step in found.steps:
            # "These" in a later step are the notes of the step before it.
            target = target if step.target is not None and step.target.source and target else step.target
            rank = max(rank, await self._rank_of_step(step, target))
        return max(rank, self._rank_of_order(found))

    def _rank_of_order(self, found: Reading) -> int:
        """Rank a list in reverse alphabetical order as unusual if it was ranked before in that order."""
        target = found.last.target
        if target is None or target.limit or target.order not in ("name", "-name"):
            return USEFUL
        plain = replace(found.last, target=replace(target, order="name"))
        meaning = serialize(replace(found, steps=(*found.steps[:-1], plain)))
        is_known = meaning in self._lists
        self._lists.add(meaning)
        return UNUSUAL if is_known else USEFUL

    async def _rank_of_step(self, step: PipelineStep, target: NoteSet | None) -> int:
        if (
            self._properties_of is None
            or target is None
            or not target.notes
            or target.query
            or len(target.notes) > _MAX_NOTES
        ):
            return USEFUL
        order = property_of(target.order) if target.order and target.limit else ""
        about = str(step.arguments.get("about", "")) if step.action == "properties_of" else ""
        needed = about if about not in FACTS else ""
        if step.action == "remove_property":
            needed = str(step.arguments.get("key", ""))
        if any(name and not self._has(target.notes, name) for name in (order, needed)):
            return USELESS
        return UNUSUAL if await self._is_unusual(step, target.notes) else USEFUL

    async def _is_unusual(self, step: PipelineStep, notes: Sequence[str]) -> bool:
        """Return whether a change sets a property to a value that does not look like its other values.

        So is a property that the request does not name if no note of the notes' folders or kinds has it, or
        if the value is a number far from the present one.
        """
        if step.action == "set_confidence":
            return not await self._is_expected("confidence", notes)
        if step.action != "set_property":
            return False
        key = str(step.arguments["key"])
        value = step.arguments["value"]
        if not await self._is_expected(key, notes):
            return True
        shares = self._shares.get(name_key(key))
        if shares is None or not value:
            return False
        if isinstance(value, int | float):
            present = present_values(self._properties_of, notes, key) if self._properties_of else []
            is_named = name_key(key) in self._text_key
            return not shares.numbers or not (is_named or all(is_near(value, own) for own in present))
        if _DAY.fullmatch(str(value)):
            return not shares.dates
        return max(shares.numbers, shares.dates) >= _USUAL_SHARE

    async def is_plausible(self, found: Reading) -> bool:
        """Return whether a change has an effect, and sets no property that only other folders have.

        A change of many notes is plausible.
        """
        if await self.rank(found) != USEFUL:
            return False
        for step in found.steps:
            key, target = str(step.arguments.get("key", "")), step.target
            if step.action != "set_property" or target is None or name_key(key) not in self._shares:
                continue
            if len(target.notes) > _MAX_NOTES or self._has(target.notes, key):
                continue
            if not await self.exists_near(key, target.notes):
                return False
        return True

    async def _is_expected(self, name: str, notes: Sequence[str]) -> bool:
        if name_key(name) in self._text_key or self._has(notes, name):
            return True
        return await self.exists_near(name, notes)

    async def exists_near(self, name: str, notes: Sequence[str], value: str = "") -> bool:
        """Return whether a note in the folders of these notes, or of their kinds, has the property.

        With a value, a note has the property with this value. Return True if no folder or kind is known.
        """
        places = [f"path:{quote_text(folder)}" for folder in {_folder(path) for path in notes} if folder]
        places += [
            f"[{quote_text(kind)}:{quote_text(own)}]"
            for path in notes
            for kind, own in (self._properties_of(path) if self._properties_of is not None else {}).items()
            if name_key(kind) in _KINDS and isinstance(own, str) and own
        ]
        having = f"{quote_text(name)}:{quote_text(value)}" if value else quote_text(name)
        searches = [NoteSet(query=f"{place} [{having}]") for place in dict.fromkeys(places)]
        found = [await self._with_hits(search) for search in searches]
        return not found or any(hits.notes or hits.query for hits in found)

    def _has(self, notes: Sequence[str], name: str) -> bool:
        key = name_key(name)
        properties_of = self._properties_of
        return properties_of is None or any(key in map(name_key, properties_of(path)) for path in notes)


def is_near(value: object, present: object) -> bool:
    """Return whether a number may be the next one of a property: 450 after 400, but not after 3."""
    if not is_number(present) or not is_number(value):
        return present is None
    old, new = float(str(present)), float(str(value))
    return old * new <= 0 or 1 / _MAX_RATIO < new / old < _MAX_RATIO


def _folder(path: str) -> str:
    """Return the folder of a note with a slash at its end; empty for a note in no folder."""
    return "".join(path.rpartition("/")[:2])


def meaning_key(found: Reading) -> str:
    """Return a text that is the same for readings that do the same: the notation without details.

    The notation has two forms of an undo of the last change, a text may end with a period or not, and neither
    the order of arguments nor that of notes matters if the set has all of them.
    """
    return serialize(replace(found, steps=tuple(map(_plain, found.steps))))


def _plain(step: PipelineStep) -> PipelineStep:
    arguments = {
        name: value.rstrip(" .,") if isinstance(value, str) else value
        for name, value in sorted(step.arguments.items())
    }
    target = step.target
    if target is not None and target.limit is None and target.pick is None:
        target = replace(target, notes=tuple(sorted(target.notes)))
    if step.action == "undo" and step.target is None and arguments.get("scope") == "last":
        del arguments["scope"]
    return replace(step, target=target, arguments=arguments)
