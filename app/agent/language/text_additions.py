"""Parse requests that add a line to the note in focus: "add a line at the end", with or without its text."""

from __future__ import annotations

from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.tokens import Token

_SCORE = 0.95


def parse_added_line(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the addition of a line to the note in focus, or None for other requests.

    The text follows a colon; without it, the reading lacks its text.
    """
    language = request.language
    colon = next((at for at, token in enumerate(tokens) if token.key == ":"), len(tokens))
    words, text = tokens[:colon], tokens[colon + 1 :]
    for action in ("append", "prepend"):
        target = _named_target(request, words, action)
        is_line = target is not None or language.matches_phrase(words, "added_lines", action)
        if not is_line or action not in request.allowed:
            continue
        target = target or request.set_parser().implied_notes()
        is_one = len(text) == 1 and text[0].kind == "quoted"
        # With the final period, which is no token.
        written = (text[0].value if is_one else request.text[tokens[colon].end :].strip()) if text else ""
        step = PipelineStep(action, target, {"text": written} if written else {})
        missing = "target" if target is None else "" if written else "text"
        return Reading((step,), _SCORE, (), missing, language.code, len(words))
    return None


def _named_target(request: Request, words: tuple[Token, ...], action: str) -> NoteSet | None:
    """Return the note that is named at the end of a request: "add a line at the end of H1"; else None."""
    has_particle = bool(words) and words[-1].key in request.language.table("property_values")["ends"]
    end = len(words) - has_particle
    for at in range(2, end):
        head = (*words[:at], *words[end:])
        if request.language.matches_phrase(head, "added_lines", f"{action}_to"):
            named = request.set_parser().find_named(words[at:end])
            if named is not None and named.notes.is_single:
                return named.notes
    return None
