"""Parse requests that replace every occurrence of a text: "replace May with June everywhere in Errands"."""

from __future__ import annotations

from app.agent.language.readings import Reading
from app.agent.language.request import Request
from app.agent.language.tokens import Token, span_text

_SCORE = 0.98
ALL_OCCURRENCES = "all"


def parse_replacement_everywhere(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the replacement of all occurrences in one note that the request names, or None.

    "Everywhere" without a note may mean the whole vault.
    """
    language = request.language
    for start in range(1, len(tokens)):
        end = language.match_prefix(tokens, start, "replacements", "everywhere")
        if end == start:
            continue
        before = tokens[: start - (tokens[start - 1].kind == "mark")]
        after = tokens[end + (end < len(tokens) and tokens[end].kind == "mark") :]
        best = next(iter(request.frame_parser(follows=False).readings((*before, *after))), None)
        if best is None or best.step.action != "replace" or best.missing or best.unexplained:
            return None
        target = best.step.target
        is_named = any(
            mention.kind == "note" and mention.notes == target for mention in request.mentions(tokens)
        ) or any(
            language.match_prefix(tokens, at, word) > at
            for at in range(len(tokens))
            for word in ("it", "this")
        )
        if target is None or not target.is_single or not is_named:
            return None
        said = span_text(request.text, tokens[start:end])
        if any(said in str(best.step.arguments[role]) for role in ("old", "text")):
            return None  # the words are a part of a text
        step = best.step.with_argument("occurrence", ALL_OCCURRENCES)
        return Reading((step,), _SCORE, language=language.code, verb_words=1, is_certain=best.is_certain)
    return None
