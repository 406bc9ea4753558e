"""Find the note of "foxglove's rate" or "toby's note" by a word of its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from app.agent.comparison.chosen_readings import is_settled
from app.agent.language.grammar.note_facts import FACTS, PropertiesOf, present_values
from app.agent.language.grammar.note_references import without_possessive
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.clarifications import with_readings_first
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    Interpretation,
    ModelRequired,
    NoteSet,
    Reading,
)
from app.agent.language.words.tokens import Token
from app.vault.path import NotePath, name_key

_MAX_NOTES = 50
"""The most notes that a possessive word may name; a word in more names hardly means one of them."""


class OwnedNotes:
    """Offers the notes whose names have a possessive word of a request.

    Args:
        interpret: Returns the interpretation of another text in the dialog of a request.
        properties_of: Returns the properties of the note at a path.
    """

    def __init__(
        self,
        interpret: Callable[[str, Request], Awaitable[Interpretation]],
        properties_of: PropertiesOf | None,
    ) -> None:
        self._interpret = interpret
        self._properties_of = properties_of

    async def with_owned_note(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Return the request about the note with a possessive word in its name, or a question about several.

        A listed note is preferred, and one that has the property of the request. A change of a note that is
        not listed is only offered. Searches for a known value with the word stay as they are, and so does a
        request about a note with the word in its name.
        """
        first: object = interpretation
        if isinstance(interpretation, Clarification) and interpretation.options:
            first = interpretation.options[0].reading
        if isinstance(interpretation, ModelRequired) or self._properties_of is None:
            return interpretation
        if is_settled(interpretation, request.text, request.dialog):
            return interpretation
        is_read = isinstance(interpretation, Reading) and not request.writes(interpretation)
        said = serialize(interpretation).casefold() if isinstance(interpretation, Reading) and is_read else ""
        named = first.last.target if isinstance(first, Reading) else None
        for token in request.tokens:
            if without_possessive(token).key in said and token.key not in said:
                continue  # for example `[pupil:"Toby Fenn"]`
            paths = self._notes_of_owner(request, token)
            word = without_possessive(token).key
            if paths and not (
                named is not None and set(named.notes) & {*request.vocabulary.notes_with_word(word)}
            ):
                return await self._about_one_of(request, token, paths) or interpretation
        return interpretation

    async def _about_one_of(
        self, request: Request, token: Token, paths: Sequence[str]
    ) -> Interpretation | None:
        """Return the request about one of the notes that a word may name, a question about several, or None.

        A change runs only if its note is listed.
        """
        name = NotePath.on_disk(paths[0]).name
        ending = token.value[len(without_possessive(token).key) :]
        text = f"{request.text[: token.start]}{name}{ending}{request.text[token.end :]}"
        own = await self._interpret(text, request)  # once, since it takes long
        reading = _reading_about(own, paths[0])
        if reading is None:
            return None
        is_change = request.writes(reading)
        is_free = not is_change or isinstance(own, Clarification) or paths[0] in request.dialog.them
        if len(paths) == 1 and is_free:
            return own
        others = paths[1:] if not is_change or _is_stated(request, reading) else ()
        readings = [reading, *(_about_other(reading, path) for path in others)]
        readings = [reading for reading in readings if self._has_property(reading)] or readings
        if len(readings) == 1 and not is_change:
            return readings[0]
        return with_readings_first(Clarification("", ()), readings)

    def _notes_of_owner(self, request: Request, token: Token) -> Sequence[str]:
        """Return the notes with a possessive word in their names, those of the last list if there are any.

        Notes with a property of the request come first. There are no notes for a word with another meaning
        ("today's", "the recipe's"), or in the names of too many notes.
        """
        names, owner = request.vocabulary, without_possessive(token)
        known = request.language.vocabulary() | request.language.function_words()
        if (
            owner.key == token.key
            or owner.key in known
            or names.notes(owner.key)
            or names.has_kind(owner.key)
        ):
            return ()
        if request.dates.parse_day((owner,)) is not None:
            return ()
        paths = sorted(
            names.notes_with_word(owner.key),
            key=lambda path: not name_key(NotePath.on_disk(path).name).startswith(owner.key),
        )
        at = request.tokens.index(token) + 1
        folder = names.find_folder(request.tokens[at].key) if at < len(request.tokens) else None
        listed = [path for path in paths if path in request.dialog.them]
        paths = listed or [path for path in paths if folder and path.startswith(f"{folder}/")] or paths
        if len(paths) > _MAX_NOTES or self._properties_of is None:
            return ()
        paths = [path for path in paths if names.notes(NotePath.on_disk(path).name) == (path,)]
        keys = {key for token in request.tokens if (key := _property(request, token))}
        properties = {path: {*map(name_key, self._properties_of(path))} for path in paths}
        return sorted(paths, key=lambda path: keys.isdisjoint(properties[path]))

    def _has_property(self, reading: Reading) -> bool:
        """Return whether the note of a reading has the property that the reading is about."""
        step = reading.last
        key = step.arguments.get("key", step.arguments.get("about", ""))
        notes = step.target.notes if step.target is not None else ()
        is_free = not key or key in FACTS or self._properties_of is None
        return is_free or bool(self._properties_of and present_values(self._properties_of, notes, key))


def _reading_about(interpretation: Interpretation | None, path: str) -> Reading | None:
    """Return the reading of an interpretation, or that of its first option, if it is about a note."""
    match interpretation:
        case Clarification(options=(first, *_)):
            reading = first.reading
        case Reading():
            reading = interpretation
        case _:
            return None
    return reading if reading.last.target == NoteSet(notes=(path,)) else None


def _property(request: Request, token: Token) -> str:
    """Return the key of the property that a word names; empty without one."""
    find = request.vocabulary.find_property
    return name_key(find(token.key) or request.language.property_name(token.key, find) or "")


def _is_stated(request: Request, reading: Reading) -> bool:
    """Return whether a request contains the value of a change: "to 50", but not "by 5"."""
    value = reading.last.arguments.get("value", "")
    return name_key(str(value)) in name_key(request.text)


def _about_other(reading: Reading, path: str) -> Reading:
    """Return a reading about another note."""
    target = reading.last.target
    other = NoteSet(notes=(path,))
    steps = (replace(step, target=other) if step.target == target else step for step in reading.steps)
    return replace(reading, steps=tuple(steps))
