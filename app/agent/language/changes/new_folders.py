"""Parse requests that move notes into a new folder: "create a folder Old jobs and move H4 into it"."""

from __future__ import annotations

from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.lookups.described_sets import described_set
from app.agent.language.meaning.readings import PipelineStep, Reading
from app.agent.language.words.tokens import Token, span_text

_SCORE = 0.98
_MAX_NAME_WORDS = 6


def parse_move_to_new_folder(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the move of notes into the folder that a request names first; none for others.

    A folder exists once a note is in it.
    """
    language = request.language
    start = language.match_prefix(tokens, 0, "folders", "creations")
    if not start or "move" not in request.allowed:
        return []
    purposes, ends_of_order = language.table("folders")["purposes"], language.table("property_values")["ends"]
    ends = [end for end in range(start + 1, len(tokens)) if _is_into_it(request, tokens[end:])]
    for at in range(start + 1, min(len(tokens), start + _MAX_NAME_WORDS + 1)):
        verb = max(language.match_prefix(tokens, at, "and"), at + (tokens[at].key == ","))
        first = language.match_prefix(tokens, verb, "folders", "moves") if verb > at else verb
        end = next((end for end in ends if end > first), 0)
        if first == verb or not end:
            continue
        name = trim_marks([token for token in tokens[start:at] if token.key not in ends_of_order])
        # "A folder for recipes" has a purpose, and perhaps no name; "In progress" is a name.
        is_lead = name and name[0].key in purposes and name[0].value.islower()
        said = name[1:] if is_lead else name
        if not said:
            return []
        sets, described = request.set_parser(), described_set(request, tokens[first:end])
        parsed = sets.parse_reference(tokens[first:end]) or sets.find_named(tokens[first:end])
        certain = parsed is not None and parsed.is_certain and not parsed.is_near
        if parsed is not None and not (parsed.notes.query and described):
            notes = parsed.notes
        elif described is not None:
            notes, certain = described, True
        elif (parsed := sets.parse(tokens[first:end])) is not None:
            notes = parsed.notes
            is_word_search = bool(notes.query) and ":" not in notes.query
            certain = parsed.is_certain and not parsed.is_near and not is_word_search
        else:
            return []
        folder = span_text(request.text, tuple(said)).strip('"“”„')
        certain = certain and len(said) == len(name)
        step = PipelineStep("move", notes, {"folder": folder})
        return [Reading((step,), _SCORE, language=language.code, verb_words=2, is_certain=certain)]
    return []


def _is_into_it(request: Request, tokens: tuple[Token, ...]) -> bool:
    return request.language.matches_phrase(tokens, "folders", "into_it")
