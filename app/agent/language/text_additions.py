"""Parse requests that add a line to the note in focus: "add a line at the end", with or without its text."""

from __future__ import annotations

from app.agent.language.readings import PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.tokens import Token, span_text

_SCORE = 0.95


def parse_added_line(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the addition of a line to the note in focus, or None for other requests.

    The text follows a colon; without it, the reading lacks its text.
    """
    language = request.language
    colon = next((at for at, token in enumerate(tokens) if token.key == ":"), len(tokens))
    words, text = tokens[:colon], tokens[colon + 1 :]
    for action in ("prepend", "append"):
        if action not in request.allowed or not language.matches_phrase(words, "added_lines", action):
            continue
        target = request.set_parser().implied_notes()
        is_one = len(text) == 1 and text[0].kind == "quoted"
        written = (text[0].value if is_one else span_text(request.text, text)) if text else ""
        step = PipelineStep(action, target, {"text": written} if written else {})
        missing = "target" if target is None else "" if written else "text"
        return Reading((step,), _SCORE, (), missing, language.code, len(words))
    return None
