"""Recognize questions about one property of a note: "who directed it?", "where is Kyoto?"."""

from __future__ import annotations

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import PipelineStep, Reading
from app.agent.language.words.tokens import Token

_SCORE = 0.98


def parse_property_question(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the reading of a question whose verb or question word names a property of the vault, or None.

    The other words must name exactly one note.
    """
    language = request.language
    if "properties_of" not in request.allowed:
        return None
    find_property = request.vocabulary.find_property
    start = language.match_prefix(tokens, 0, "place_questions")
    about = language.property_name(tokens[0].key, find_property) if start else None
    if not start and len(tokens) > 1 and tokens[0].key in language.words("person_questions"):
        names = language.properties_of_verb(tokens[1].key)
        known = (name for name in map(find_property, names) if name is not None)
        about = next(known, None) or language.property_name(tokens[1].key, find_property)
        start, about = 2, about or request.vocabulary.find_property_of_verb(tokens[1].key)
    if about is None or start >= len(tokens):
        return None
    sets = request.set_parser()
    parsed = sets.parse_reference(tokens[start:]) or sets.find_named(tokens[start:])
    if parsed is None or not parsed.notes.is_single:
        return None
    step = PipelineStep("properties_of", parsed.notes, {"about": about})
    return Reading((step,), _SCORE, language=language.code)
