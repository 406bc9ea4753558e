"""Find the note of "foxglove's rate" or "toby's note" by a word of its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from app.agent.comparison.chosen_readings import is_settled
from app.agent.language.choices import MAX_OPTIONS, question_about
from app.agent.language.notation import serialize
from app.agent.language.note_facts import FACTS, PropertiesOf, present_values
from app.agent.language.note_references import without_possessive
from app.agent.language.readings import (
    Clarification,
    ClarificationOption,
    Interpretation,
    ModelRequired,
    NoteSet,
    Reading,
)
from app.agent.language.request import Request
from app.agent.language.tokens import Token
from app.vault.path import NotePath, name_key


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

        A listed note is preferred, and one that has the property of the request. Searches for a known value
        with the word stay as they are, and so does a request about a note with the word in its name.
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
        for token in request.tokens:
            if without_possessive(token).key in said and token.key not in said:
                continue  # for example `[pupil:"Toby Fenn"]`
            paths = _notes_of_owner(request, token)
            named = first.last.target if isinstance(first, Reading) else None
            if not paths or (named is not None and set(named.notes) & set(paths)):
                continue
            found = [(path, await self._about(request, token, path)) for path in paths]
            if len(found) == 1 and found[0][1] is not None and _reading_about(found[0][1], paths[0]):
                return found[0][1]
            readings = [reading for path, own in found if (reading := _reading_about(own, path)) is not None]
            readings = [reading for reading in readings if self._has_property(reading)] or readings
            options = tuple(ClarificationOption(serialize(own), own) for own in readings[:MAX_OPTIONS])
            if len(readings) == 1 and not request.writes(readings[0]):
                return readings[0]
            if options:
                return Clarification(question_about(options), options)
        return interpretation

    async def _about(self, request: Request, token: Token, path: str) -> Interpretation | None:
        """Return the interpretation of a request with a note's whole name; None if others have the name."""
        name = NotePath.on_disk(path).name
        if request.vocabulary.notes(name) != (path,):
            return None
        ending = token.value[len(without_possessive(token).key) :]
        text = f"{request.text[: token.start]}{name}{ending}{request.text[token.end :]}"
        return await self._interpret(text, request)

    def _has_property(self, reading: Reading) -> bool:
        """Return whether the note of a reading has the property that the reading is about."""
        step = reading.last
        key = step.arguments.get("key", step.arguments.get("about", ""))
        notes = step.target.notes if step.target is not None else ()
        is_free = not key or key in FACTS or self._properties_of is None
        return is_free or bool(self._properties_of and present_values(self._properties_of, notes, key))


def _notes_of_owner(request: Request, token: Token) -> Sequence[str]:
    """Return the notes with a possessive word in their names, those of the last list if there are any.

    There are none for a word with another meaning: "today's", "the recipe's".
    """
    names, owner = request.vocabulary, without_possessive(token)
    known = request.language.vocabulary() | request.language.function_words()
    if owner.key == token.key or owner.key in known or names.notes(owner.key) or names.has_kind(owner.key):
        return ()
    if request.dates.parse_day((owner,)) is not None:
        return ()
    paths = sorted(
        names.notes_with_word(owner.key).paths,
        key=lambda path: not name_key(NotePath.on_disk(path).name).startswith(owner.key),
    )
    at = request.tokens.index(token) + 1
    folder = names.find_folder(request.tokens[at].key) if at < len(request.tokens) else None
    listed = [path for path in paths if path in request.dialog.them]
    return listed or [path for path in paths if folder and path.startswith(f"{folder}/")] or paths


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
