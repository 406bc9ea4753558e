"""Parse the length of a summary at the end of a request: "summarize it in three lines", "in 50 words"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import Clarification, ClarificationOption, Interpretation, Reading

_WORD_CHARACTERS = 5
"""The characters that a summary of a number of words may have for each of them; few words are so short."""
_MAX_LENGTH = 4_000
_BULLETS = 5
"""The number of bullets of a summary "as bullets"."""


@dataclass(frozen=True, slots=True)
class SummaryLength:
    """The length that a request asks for: the rest of the request, and arguments of `summarize_node`."""

    rest: str
    arguments: Mapping[str, object]


def parse_summary_length(request: Request) -> SummaryLength | None:
    """Return the length at the end of a request, or None."""
    language, tokens = request.language, without_marks_at_end(request.tokens)
    for start in range(len(tokens)):
        at = language.match_prefix(tokens, start, "summaries", "leads")
        if at == start or at >= len(tokens):
            continue
        count = _count(request, tokens[at].key)
        noun = at + (count is not None)
        for kind in ("bullets", "sentences", "words"):
            end = language.match_prefix(tokens, noun, "summaries", kind)
            is_at_end = language.match_prefix(tokens, end, "summaries", "ends") == len(tokens)
            if end == noun or not is_at_end or (count is None and kind != "bullets"):
                continue
            after = request.text[tokens[end].start :] if end < len(tokens) else ""
            rest = f"{request.text[: tokens[start].start]}{after}".strip(" ,")
            return SummaryLength(rest, _arguments(kind, count))
    return None


def with_summary_length(interpretation: Interpretation, length: SummaryLength) -> Interpretation | None:
    """Return an interpretation with the length of its summary; None if it is no summary."""
    match interpretation:
        case Reading():
            return _limited(interpretation, length)
        case Clarification(options=(_, *_)):
            readings = [_limited(option.reading, length) for option in interpretation.options]
            if not any(readings):
                return None
            options = tuple(
                replace(option, reading=reading, label=_label(option, reading)) if reading else option
                for option, reading in zip(interpretation.options, readings, strict=True)
            )
            partial = interpretation.partial and _limited(interpretation.partial, length)
            return replace(interpretation, options=options, partial=partial or interpretation.partial)
        case Clarification(partial=Reading() as partial) if reading := _limited(partial, length):
            return replace(interpretation, partial=reading)
    return None


def _label(option: ClarificationOption, limited: Reading) -> str:
    """Return the label of a limited option: its notation, unless it has a label of its own."""
    return serialize(limited) if option.label == serialize(option.reading) else option.label


def _limited(reading: Reading, length: SummaryLength) -> Reading | None:
    if all(step.action != "summarize" for step in reading.steps):
        return None
    steps = (
        replace(step, arguments=length.arguments) if step.action == "summarize" else step
        for step in reading.steps
    )
    return replace(reading, steps=tuple(steps))


def _arguments(kind: str, count: int | None) -> dict[str, object]:
    if kind == "words":
        return {"max_length": min(_WORD_CHARACTERS * (count or 1), _MAX_LENGTH)}
    style: dict[str, object] = {"style": "bullets"} if kind == "bullets" else {}
    return {**style, "max_sentences": count or _BULLETS}


def _count(request: Request, word: str) -> int | None:
    """Return the positive number that a word means: "3", "three", "one", "a"; None for other words."""
    if word in request.language.words("one_of") or word in request.language.table("summaries")["one"]:
        return 1
    number = int(word) if word.isdecimal() else request.dates.parse_number(word)
    return number if number and number > 0 else None
