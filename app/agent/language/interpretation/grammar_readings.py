"""The readings of a request by the grammar alone."""

from __future__ import annotations

from dataclasses import replace

from app.agent.language.changes.undo import resolve_undo, undo_choices
from app.agent.language.grammar.note_sets import is_search
from app.agent.language.grammar.request import Request
from app.agent.language.interpretation.clauses import clause_readings
from app.agent.language.lookups.list_orders import within_list
from app.agent.language.meaning.readings import (
    MIN_CONFIRM_SCORE,
    MIN_WRITE_SCORE,
    NoteSet,
    PipelineStep,
    Reading,
    note_sets_of,
)
from app.agent.language.words.spelling import correct_spelling
from app.agent.language.words.tokens import Token

GUESS_SCORE = 0.63
"""Score of a request without a verb, read as a search for words."""
MAX_CORRECTED_WRITE_SCORE = MIN_WRITE_SCORE - 0.01
"""Maximum score of a change with corrected spelling: low enough that the agent asks."""


def grammar_readings(request: Request, tokens: tuple[Token, ...]) -> tuple[Request, list[Reading]]:
    """Return the readings of some tokens of a request, best first, with the request.

    The returned request may need confirmation.
    """
    language = request.language
    first = next((token.key for token in tokens if token.is_word), "")
    request = replace(request, needs_confirmation=first in language.words("question_words"))
    asks = tokens[0].key in {*language.words("asking_words"), *language.table("doubts")["asking_verbs"]}
    readings = _valid_readings(request, tokens, asks=asks)
    if not readings or readings[0].score < MIN_WRITE_SCORE:
        corrected_tokens = correct_words(request, tokens)
        if corrected_tokens != tokens:
            again = [
                replace(
                    reading,
                    score=min(reading.score * 0.97, MAX_CORRECTED_WRITE_SCORE)
                    if request.writes(reading)
                    else reading.score * 0.97,
                )
                for reading in _valid_readings(request, corrected_tokens, asks=asks)
            ]
            readings = sorted([*readings, *again], key=lambda reading: -reading.score)
    is_unlikely = not readings or readings[0].score < MIN_CONFIRM_SCORE
    bare_name = _bare_name(request, tokens) if is_unlikely else None
    if bare_name is not None and (not readings or bare_name.last.action == "open"):
        readings = [bare_name]
    return request, [_within_list(request, reading) for reading in readings]


def _valid_readings(request: Request, tokens: tuple[Token, ...], *, asks: bool) -> list[Reading]:
    """Return the readings that can be meant; a request that asks something changes nothing."""
    return [
        own
        for reading in clause_readings(request, tokens, follows=False)
        for own in undo_choices(request, resolve_undo(request, reading))
        if all(step.target is None or is_search(step.target.query) for step in reading.steps)
        and not (asks and request.writes(reading))
        and not has_wrong_number(reading.steps[0])
        and not any(notes.unknown.isdecimal() for notes in note_sets_of(reading))  # "set the fee to 20"
    ]


def is_change(request: Request, tokens: tuple[Token, ...]) -> bool:
    """Return whether the words are a complete change: "add a note called X" adds no notes to a list."""
    best = next(iter(_valid_readings(request, tokens, asks=False)), None)
    return (
        best is not None
        and request.writes(best)
        and best.score >= MIN_WRITE_SCORE
        and not (best.missing or best.unexplained)
    )


def correct_words(request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens with the language's misspelled words corrected; names of notes stay."""
    known = request.language.vocabulary()
    corrected: list[Token] = []
    for token in tokens:
        right = None
        if token.is_word and token.key not in known and not request.vocabulary.notes(token.value):
            right = correct_spelling(token.key, known, request.language.data.get("endings", ()))
        corrected.append(replace(token, key=right) if right else token)
    return tuple(corrected)


def _bare_name(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Interpret a request that is only a name or a condition: open the note, or find the notes."""
    sets = request.set_parser()
    named = sets.parse_reference(tokens) or sets.find_named(tokens)
    if "open" in request.allowed and named and len(named.notes.notes) == 1:
        return Reading((PipelineStep("open", named.notes),), 0.8, language=request.language.code)
    if "find" not in request.allowed or len(tokens) > 4:
        return None
    parsed = sets.parse(tokens)
    asks = parsed is not None and parsed.notes.query.casefold() in request.language.words("asking_words")
    if parsed and not parsed.notes.unknown and parsed.fit >= 0.55 and parsed.notes.query and not asks:
        return Reading((PipelineStep("find", parsed.notes),), GUESS_SCORE, language=request.language.code)
    known = request.language.vocabulary() - request.language.words("note_nouns")
    known |= request.language.words("question_words")
    if len(tokens) <= 2 and all(token.is_word and token.key not in known for token in tokens):
        return Reading(
            (PipelineStep("find", NoteSet(query=" ".join(t.value for t in tokens))),),
            GUESS_SCORE,
            language=request.language.code,
        )
    return None


def has_wrong_number(step: PipelineStep) -> bool:
    """Return whether a step counts a single note, or reads every note or a property of every note.

    "How much was the first one?" asks for a price, and "which company has the most employees?" for a note.
    """
    target = step.target
    if target is None:
        return False
    reads = step.action in ("read", "open") or (step.action == "properties_of" and "about" in step.arguments)
    reads_all = reads and target.is_everything
    return (step.action == "count" and target.is_single) or reads_all


def _within_list(request: Request, reading: Reading) -> Reading:
    """Limit a reading that orders all notes to those just listed if the request continues the list."""
    first, *later = reading.steps
    if first.target is None:
        return reading
    return replace(reading, steps=(replace(first, target=within_list(request, first.target)), *later))
