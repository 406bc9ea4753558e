"""Parse requests that replace every occurrence of a text: "replace May with June everywhere in Errands"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.agent.language.grammar.frames import ClauseReading
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.meaning.actions import ALL_OCCURRENCES
from app.agent.language.meaning.readings import Clarification, NoteSet, Reading
from app.agent.language.words.tokens import Token, span_text

_SCORE = 0.98
_MAX_LEAD_TOKENS = 4
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def parse_replacement_everywhere(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the replacement of all occurrences in one note that the request names, or None.

    "Everywhere" without a note may mean the whole vault.
    """
    language = request.language
    if every := _replacement_of_every(request, tokens):
        return every
    for start in range(1, len(tokens)):
        end = language.match_prefix(tokens, start, "replacements", "everywhere")
        if end == start:
            continue
        before = tokens[: start - (tokens[start - 1].kind == "mark")]
        after = tokens[end + (end < len(tokens) and tokens[end].kind == "mark") :]
        best = _replacement(request, (*before, *after))
        if best is None:
            return None
        if not _names_one_note(request, tokens, best):
            return None
        said = span_text(request.text, tokens[start:end])
        if any(said in str(best.step.arguments[role]) for role in ("old", "text")):
            return None  # the words are a part of a text
        return _everywhere(request, best)
    return None


def parse_replacement_here(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the replacement in the open note of a request such as "replace May with June here", or None."""
    language, opened = request.language, request.dialog.this
    places = language.table("doubts")["places"]
    at = next((at for at, token in enumerate(tokens) if token.key in places and token.is_word), 0)
    if not at or len(opened) != 1 or "replace" not in request.actions_at(tokens, 0):
        return None
    best = _replacement(request, (*tokens[:at], *tokens[at + 1 :]))
    if best is None:
        return None
    old, new = (str(best.step.arguments[role]).split() for role in ("old", "text"))
    # "Replace May with June here today": the word is a part of the text.
    is_inside = any(token.value in (*old, *new) for token in tokens[at + 1 : at + 2])
    names_note = any(
        mention.kind == "note" and not {token.value for token in mention.tokens} <= {*old, *new}
        for mention in request.mentions(tokens)
    )
    if is_inside or names_note:
        return None
    step = replace(best.step, target=NoteSet(notes=opened))
    return Reading((step,), _SCORE, language=language.code, verb_words=1, is_certain=best.is_certain)


def _replacement(request: Request, tokens: Sequence[Token]) -> ClauseReading | None:
    """Return the reading of all words as a replacement, or None."""
    best = next(iter(request.frame_parser(follows=False).readings(tuple(tokens))), None)
    is_complete = (
        best is not None and best.step.action == "replace" and not (best.missing or best.unexplained)
    )
    return best if is_complete else None


def _replacement_of_every(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the replacement of "every X" or "all occurrences of X" in one note, or None."""
    language = request.language
    for start in range(1, min(len(tokens), _MAX_LEAD_TOKENS)):
        end = language.match_prefix(tokens, start, "replacements", "every")
        if end == start or "replace" not in request.actions_at(tokens, 0):
            continue
        best = _replacement(request, (*tokens[:start], *tokens[end:]))
        # All occurrences are those as whole words, but a quoted text may be a part of words.
        is_quoted = end < len(tokens) and tokens[end].kind == "quoted"
        is_known = best is not None and not is_quoted and _names_one_note(request, tokens, best)
        return _everywhere(request, best) if best is not None and is_known else None
    return None


def _names_one_note(request: Request, tokens: Sequence[Token], best: ClauseReading) -> bool:
    """Return whether the request names the one note of a replacement, or has a pronoun for it."""
    target, language = best.step.target, request.language
    is_named = any(
        mention.kind == "note" and mention.notes == target for mention in request.mentions(tokens)
    ) or any(language.has_phrase(tokens, word) for word in ("it", "this"))
    return target is not None and target.is_single and is_named


def _everywhere(request: Request, best: ClauseReading) -> Reading:
    step = best.step.with_argument("occurrence", ALL_OCCURRENCES)
    return Reading((step,), _SCORE, language=request.language.code, verb_words=1, is_certain=best.is_certain)


def parse_place_answer(request: Request, question: Clarification) -> Reading | None:
    """Return the option that an answer to "which occurrence?" means, or None for other requests.

    "The last" is the last place, "all of them" every place, and "only in the Filling section" every place
    under that heading.
    """
    language = request.language
    everywhere = question.options[-1].reading if question.options else None
    if everywhere is None or everywhere.last.arguments.get("occurrence") != ALL_OCCURRENCES:
        return None
    places = [option.reading for option in (*question.options[:-1], *question.spare)]
    tokens = without_marks_at_end(request.tokens)
    ordinals = language.table("ordinals")
    named = [int(ordinals[token.key]) for token in tokens if token.key in ordinals]
    plain = language.words("result_nouns") | language.words("determiners") | _place_nouns(request)
    others = [token for token in tokens if token.key not in ordinals and token.key not in plain]
    if len(named) == 1 and not others:
        at = named[0] - 1 if named[0] > 0 else named[0]
        return places[at] if -len(places) <= at < len(places) else None
    if language.matches_phrase(tokens, "replacements", "all"):
        return everywhere
    start = language.match_prefix(tokens, 0, "replacements", "places")
    end = len(tokens)
    while end > start and tokens[end - 1].key in language.table("replacements")["place_ends"]:
        end -= 1
    if not 0 < start < end or any(token.kind == "mark" for token in tokens[start:end]):
        return None
    heading = tokens[start].value if end - start == 1 else span_text(request.text, tokens[start:end])
    step = everywhere.last.with_argument("heading", heading)
    return replace(everywhere, steps=(step,))


def _place_nouns(request: Request) -> frozenset[str]:
    return frozenset(request.language.table("replacements")["nouns"])
