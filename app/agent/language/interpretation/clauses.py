"""Parse a request as one or several clauses, each of which is an action on a set of notes."""

from __future__ import annotations

from collections.abc import Iterable

from app.agent.language.grammar.frames import ClauseReading, FrameParser
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import MIN_CONFIRM_SCORE, PipelineStep, Reading
from app.agent.language.words.courtesies import without_courtesies
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token

_SPLIT_PENALTY = 0.02
_MAX_CLAUSES = 4


def clause_readings(
    request: Request, tokens: tuple[Token, ...], *, follows: bool, depth: int = 0
) -> list[Reading]:
    """Return the readings of the tokens as one or several steps, best first."""
    tokens = without_courtesies(request.language, tokens)
    if not tokens:
        return []
    frames = request.frame_parser(follows=follows)
    unsplit = [_to_reading(clause, request.language) for clause in frames.readings(tokens)]
    readings = unsplit[:6]
    if not follows and (phrase := _noun_phrase(request, tokens)):
        readings.append(phrase)
    if depth < _MAX_CLAUSES:
        for first, second in _split_clauses(request, frames, tokens):
            heads = [
                _to_reading(clause, request.language)
                for clause in frames.readings(without_courtesies(request.language, first))
            ][:2]
            if not heads or heads[0].score < MIN_CONFIRM_SCORE or heads[0].missing:
                continue
            tails = clause_readings(request, second, follows=True, depth=depth + 1)
            for head in heads[:1]:
                for tail in tails[:2]:
                    readings.append(_join_readings(head, tail))
    return sorted(readings, key=lambda reading: -reading.score)


def _noun_phrase(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Parse a request without a verb, such as "notes tagged core", as a search for these notes."""
    if "find" not in request.allowed:
        return None
    sets = request.set_parser()
    parsed = sets.parse(tokens)
    if parsed is None or parsed.notes.notes or parsed.notes.unknown or not parsed.has_head:
        return None
    if tokens[0].key in request.language.verbs() and parsed.has_bare_topic:
        return None
    if parsed.notes.is_everything and not parsed.notes.order:
        return None
    return Reading(
        (PipelineStep("find", parsed.notes),),
        parsed.fit - 0.03,
        parsed.unexplained,
        language=request.language.code,
    )


def _split_clauses(
    request: Request, frames: FrameParser, tokens: tuple[Token, ...]
) -> Iterable[tuple[tuple[Token, ...], tuple[Token, ...]]]:
    """Yield the pairs of clauses into which a conjunction or a mark may split the tokens."""
    language = request.language
    for position in range(1, len(tokens)):
        after = max(
            language.match_prefix(tokens, position, "then"),
            language.match_prefix(tokens, position, "and"),
        )
        if tokens[position].kind == "mark" and tokens[position].key in (",", ";", ".", "!", "?"):
            after = max(after, position + 1)
            after = max(
                after,
                language.match_prefix(tokens, after, "then"),
                language.match_prefix(tokens, after, "and"),
            )
        if after == position or after >= len(tokens):
            continue
        rest = without_courtesies(language, tokens[after:])
        if rest and frames.has_trigger(rest):
            yield tokens[:position], tokens[after:]


def _normalize_step(step: PipelineStep) -> PipelineStep:
    """Return a step as the more specific action that it means, if any: `read` one note, or `set_type`."""
    if step.action == "find" and step.target is not None and step.target.is_single:
        return PipelineStep("read", step.target)  # "what is in it?"
    names_type = step.arguments.get("key") == "type" and "value" in step.arguments
    if step.action == "set_property" and names_type:
        return PipelineStep("set_type", step.target, {"type": step.arguments["value"]})
    return step


def _to_reading(clause: ClauseReading, language: Language) -> Reading:
    missing = clause.missing[0] if clause.missing else ""
    return Reading(
        (_normalize_step(clause.step),),
        clause.score,
        clause.unexplained,
        missing,
        language.code,
        clause.verb_words,
        clause.is_certain,
    )


def _join_readings(head: Reading, tail: Reading) -> Reading:
    """Join two readings; "it" in the second refers to the notes of the first."""
    # After a step without notes (a renamed tag), "it" refers to no note.
    refers = tail.steps[0].target is not None and bool(tail.steps[0].target.source)
    has_notes = head.last.target is not None or head.last.action == "create_note"
    score = (head.score * 0.5 + tail.score * 0.5 + min(head.score, tail.score)) / 2 - _SPLIT_PENALTY
    return Reading(
        (*head.steps, *tail.steps),
        score,
        (*head.unexplained, *tail.unexplained),
        tail.missing,
        head.language,
        head.verb_words + tail.verb_words,
        head.is_certain and tail.is_certain and (has_notes or not refers),
    )
