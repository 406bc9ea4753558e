"""Search for the words of a request as one phrase: "find pages containing TODO Fill out this page"."""

from __future__ import annotations

from dataclasses import replace

from app.agent.language.readings import (
    Clarification,
    ContentQuestion,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.request import Request, without_marks_at_end
from app.agent.language.tokens import span_text
from app.index.query_serializer import quote_text

_MIN_WORDS = 3


def phrase_search(request: Request, interpretation: Interpretation) -> Reading | None:
    """Return the search for the last words of a request as a phrase, if it is interpreted as another search.

    The words follow a noun for notes and a word such as "containing". The phrase may be in no note, so the
    caller compares it with the vault.
    """
    text = _phrase(request)
    match interpretation:
        case Reading():
            reading = interpretation
        case Clarification(options=(first, *_)):
            reading = first.reading
        case ContentQuestion():
            reading = Reading((PipelineStep("find"),), 1.0, language=request.language.code)
        case _:
            return None
    is_narrower = request.language.match_prefix(request.tokens, 0, "refine", "only") > 0
    is_limited = is_narrower or request.set_parser().order_in(request.tokens) is not None
    if not text or len(reading.steps) > 1 or request.writes(reading) or is_limited:
        return None
    action = "count" if reading.last.action == "count" else "find"
    return replace(reading, steps=(PipelineStep(action, NoteSet(query=quote_text(text))),))


def _phrase(request: Request) -> str:
    """Return the words after "notes containing" at the end of a request, or no text if they are too few."""
    language, tokens = request.language, without_marks_at_end(request.tokens)
    nouns = language.words("note_nouns")
    for at in range(1, len(tokens)):
        before = tokens[at - 1] if tokens[at - 1].kind != "mark" else tokens[max(at - 2, 0)]
        if before.key not in nouns:
            continue
        for phrase in language.phrases("phrase_searches", "leads"):
            for match in phrase.match(tokens, at):
                words = tokens[match.gap_start : match.gap_end] if match.gap_start >= 0 else ()
                is_whole = match.end == len(tokens) and len(words) >= _MIN_WORDS
                joins = any(
                    language.match_prefix(words, part, name) > part
                    for part in range(len(words))
                    for name in ("and", "or")
                )
                if is_whole and not joins and all(token.is_word for token in words):
                    return span_text(request.text, words)
    return ""
