"""Parse the properties of a new note: "create a note Dune with type book and rating 7"."""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import MIN_WRITE_SCORE, NoteSet, PipelineStep, Reading
from app.agent.language.words.text_lists import split_tokens
from app.agent.language.words.tokens import Token

_SCORE = 0.98
_MAX_VALUE_WORDS = 3


def parse_creation_with_properties(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return a creation followed by the changes that set the properties; None for other requests.

    Every property is one of the vault.
    """
    language = request.language
    if "create_note" not in request.allowed or "set_property" not in request.allowed:
        return None
    for start in range(1, len(tokens)):
        after = language.match_prefix(tokens, start, "with_properties")
        if after == start:
            continue
        values = _values(request, tokens[after:])
        creation = plain_creation(request, tokens[:start]) if values else None
        if creation is None:
            continue
        kind = values.pop("type", None)
        named = _without_kind(request, creation)
        created = named if kind is None else named.with_argument("type", kind)
        changes = [
            PipelineStep("set_property", NoteSet(source="previous"), {"key": key, "value": value})
            for key, value in values.items()
        ]
        is_certain = named is creation
        steps = (created, *changes)
        return Reading(steps, _SCORE, language=language.code, verb_words=1, is_certain=is_certain)
    return None


def plain_creation(request: Request, tokens: tuple[Token, ...]) -> PipelineStep | None:
    """Return the step of a complete request to create a note without a text, or None."""
    best = next(iter(request.frame_parser(follows=False).readings(tokens)), None)
    if best is None or best.step.action != "create_note" or best.missing or best.unexplained:
        return None
    return best.step if best.score >= MIN_WRITE_SCORE and "text" not in best.step.arguments else None


def _without_kind(request: Request, creation: PipelineStep) -> PipelineStep:
    """Return the creation of "a recipe Miso soup" in the folder of recipes; others are returned unchanged."""
    language, name = request.language, str(creation.arguments["name"])
    leads = language.words("determiners") | language.words("new_words")
    words = name.split()
    while words and words[0].casefold() in leads:
        words = words[1:]
    is_marked = any(not token.is_word and token.value == name for token in request.tokens)
    if is_marked or len(words) < 2 or len(words) == len(name.split()):
        return creation
    if words[0][:1].isupper() and not language.has_capital_nouns:
        return creation  # "The Long Walk"
    folder = request.vocabulary.find_similar_folder(words[0])
    named = creation.with_argument("name", " ".join(words[1:]))
    return named.with_argument("folder", folder) if folder and "folder" not in named.arguments else named


def _values(request: Request, tokens: Sequence[Token]) -> dict[str, object]:
    """Return the values of a list of properties ("type book and rating 7"); empty for other words."""
    language = request.language
    frames = request.frame_parser(follows=False)
    frame = next((own for own in request.frames if own.action == "set_property"), None)
    values: dict[str, object] = {}
    for part in split_tokens(language, tokens):
        position = 0
        position = language.after_determiners(part, position, len(part) - 1)
        known = request.vocabulary.find_property
        token = part[position]
        name = language.property_name(token.key, known) or known(token.value)
        rest = part[language.match_prefix(part, position + 1, "comparisons", "=") :]
        if frame is None or name in (None, "tags", *values) or not 1 <= len(rest) <= _MAX_VALUE_WORDS:
            return {}
        bound = frames.fill(request.allowed["set_property"], frame, "value", rest)
        if bound is None:
            return {}
        values[str(name)] = bound["value"]
    return values
