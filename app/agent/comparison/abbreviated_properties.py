"""Find the property of the note in talk whose name abbreviates a word: `loc` for "the locations"."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import pairwise

from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.clarifications import with_readings_first
from app.agent.language.meaning.readings import Clarification, Interpretation, NoteSet, Reading
from app.agent.language.words.tokens import Token
from app.answering.question import stems
from app.vault.path import name_key

_MIN_LENGTH, _MIN_LEFT_OUT = 3, 2


async def with_abbreviation(
    interpretation: Interpretation,
    request: Request,
    properties_of: PropertiesOf | None,
    interpret: Callable[[str, Request], Awaitable[Interpretation]],
) -> Interpretation:
    """Return a question that offers the abbreviated property first; other interpretations stay unchanged."""
    if not isinstance(interpretation, Clarification) or properties_of is None or not request.dialog.it:
        return interpretation
    language, path = request.language, request.dialog.it[0]
    leads = language.words("determiners").union(language.table("property_values")["possessives"])
    for before, token in pairwise(request.tokens):
        is_known = request.vocabulary.find_property(token.key) or request.vocabulary.notes(token.key)
        keys = [own for own in properties_of(path) if _abbreviates(own, token, language.code)]
        if before.key not in leads or is_known or len(keys) != 1:
            continue
        own = await interpret(f"{request.text[: token.start]}{keys[0]}{request.text[token.end :]}", request)
        reading = own.options[0].reading if isinstance(own, Clarification) and own.options else own
        if not isinstance(reading, Reading) or reading.last.target != NoteSet(notes=(path,)):
            continue
        if keys[0] in (reading.last.arguments.get("key"), reading.last.arguments.get("about")):
            return with_readings_first(replace(interpretation, partial=None), [reading])
    return interpretation


def _abbreviates(key: str, token: Token, code: str) -> bool:
    """Return whether a name is the start of a word, and not of one of its own forms: `end` in "ending"."""
    own, word = name_key(key), token.key
    is_start = _MIN_LENGTH <= len(own) <= len(word) - _MIN_LEFT_OUT and word.startswith(own)
    return is_start and token.kind == "word" and stems(own, code) != stems(word, code)
