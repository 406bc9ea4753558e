"""Interpret a request as the answer to the open question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.agent.language.changes.replacements import parse_place_answer
from app.agent.language.grammar.coverage import has_marks_in_names
from app.agent.language.grammar.questions import question_language
from app.agent.language.grammar.request import Request, request_tokens, without_marks_at_end
from app.agent.language.grammar.request_parser import RequestContext, RequestParser
from app.agent.language.interpretation.choices import ReadingChooser
from app.agent.language.interpretation.clauses import clause_readings
from app.agent.language.interpretation.corrections import correcting_words
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE
from app.agent.language.interpretation.outcomes import meaning_of_choice
from app.agent.language.meaning.actions import CREATION_VALUES
from app.agent.language.meaning.dialog import NOTE_ROLES
from app.agent.language.meaning.readings import (
    MIN_COMPLETE_SCORE,
    MIN_CONFIRM_SCORE,
    MIN_WRITE_SCORE,
    Clarification,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
    is_clear,
)
from app.agent.language.words.courtesies import without_courtesies
from app.agent.language.words.lexicon import Language
from app.agent.language.words.small_talk import is_answer
from app.agent.language.words.tokens import Token

_CREATION_ROLES = dict(CREATION_VALUES.values())
"""The roles of "call it X and put it in People", with the roles that they fill in the note's creation."""

_CONTINUING = ("same", "also")
"""The phrases of `refine` that continue an earlier request: "and K1"."""
_MIN_NEW_SCORE = 0.95
"""Minimum score of an answer without a verb that is a new request."""


class QuestionAnswers:
    """Interprets answers to the open question of a conversation.

    Args:
        parser: Makes requests of texts.
        chooser: Decides whether a completed reading runs.
        interpret: Interprets a text as a new request.
    """

    def __init__(
        self,
        parser: RequestParser,
        chooser: ReadingChooser,
        interpret: Callable[[str, RequestContext], Interpretation],
    ) -> None:
        self._parser = parser
        self._chooser = chooser
        self._interpret = interpret

    def interpret(self, text: str, question: Clarification, context: RequestContext) -> Interpretation | None:
        """Interpret a text as the answer to a question; None if it is a new request."""
        if (chosen := self._choose(text, question, context)) is not None:
            return chosen
        plain = replace(context, dialog=replace(context.dialog, question=None))
        # The open question decides between languages that know as many words.
        requests = [replace(request, dialog=plain.dialog) for request in self._parser.requests(text, context)]
        for request in requests:
            if (creation := _complete_creation(request, question)) is not None:
                return creation
        partial = question.partial
        if partial is None or not partial.missing:
            return None
        if partial.missing in NOTE_ROLES and question_language(text, self._parser.languages) is not None:
            return None
        return self._complete(text, partial, requests, plain)

    def _choose(self, text: str, question: Clarification, context: RequestContext) -> Interpretation | None:
        """Interpret a text that chooses or declines an option: its label, "yes", "no" or "the second one"."""
        wanted = " ".join(text.split()).strip(" .!?").casefold()
        for option in question.options:
            if wanted in (option.label.casefold(), option.label.casefold().removesuffix(".md")):
                return meaning_of_choice(option.reading, context.allowed)
        for language in self._parser.languages:
            tokens = without_marks_at_end(request_tokens(text, language))
            if not tokens:
                continue
            if is_answer(language, tokens, "no"):
                return Reply("cancelled")
            tokens = correcting_words(language, tokens)
            if question.options and is_answer(language, tokens, "yes"):
                return meaning_of_choice(question.options[0].reading, context.allowed)
            if place := parse_place_answer(self._parser.request(text, language, tokens, context), question):
                return place
            index = _parse_ordinal(language, tokens, len(question.options)) if question.options else None
            if index is not None:
                return meaning_of_choice(question.options[index].reading, context.allowed)
        return None

    def _complete(
        self, text: str, partial: Reading, requests: Sequence[Request], plain: RequestContext
    ) -> Interpretation | None:
        """Interpret a text as the value that a reading lacks; None for a new request.

        Args:
            text: The text.
            partial: The reading.
            requests: The text in each language.
            plain: The context without the open question.
        """
        is_note = partial.missing in NOTE_ROLES
        for request in requests:
            fresh = _new_reading(request)
            leads = (request.language.match_prefix(request.tokens, 0, "refine", kind) for kind in _CONTINUING)
            if (is_note and any(leads)) or _is_new_request(request, fresh):
                return None
            filled = _fill_missing(request, partial)
            if filled is None:
                continue
            is_phrase = len(request.tokens) > 1
            if is_note and not _names_notes(request):
                if self._is_own_request(text, plain):
                    return None
                target = filled.last.target
                if target is not None and (target.query or (target.unknown and not target.candidates)):
                    continue  # not the name of a note
            elif not is_note and is_phrase and fresh is not None and is_clear(fresh) and _is_whole(fresh):
                return self._chooser.ask(request, [filled, fresh])
            verbs = (known.verbs() for known in self._parser.languages)
            if partial.missing == "name" and is_phrase and any(request.tokens[0].key in own for own in verbs):
                filled = replace(filled, is_certain=False)  # perhaps a request, not the name
            return self._chooser.decide(request, [filled])
        return None

    def _is_own_request(self, text: str, context: RequestContext) -> bool:
        """Return whether words after a question are understood without it, as more than a note's name."""
        meaning = self._interpret(text, context)
        if not isinstance(meaning, Reading) or meaning.score <= GUESS_SCORE:
            return False
        target = meaning.last.target
        return target is None or not target.is_single


def _new_reading(request: Request) -> Reading | None:
    """Return the best reading of an answer as a request of its own, or None."""
    tokens = without_courtesies(request.language, without_marks_at_end(request.tokens))
    return next(iter(clause_readings(request, tokens, follows=False)), None)


def _is_new_request(request: Request, reading: Reading | None) -> bool:
    """Return whether an answer is certainly a request of its own, with the given reading."""
    if reading is None:
        return False
    starts_with_verb = bool(request.tokens) and request.tokens[0].key in request.language.verbs()
    return _is_whole(reading, _MIN_NEW_SCORE) or (starts_with_verb and reading.score >= MIN_CONFIRM_SCORE)


def _is_whole(reading: Reading, min_score: float = MIN_COMPLETE_SCORE) -> bool:
    """Return whether a reading has a minimum score, lacks no value and accounts for every word."""
    return reading.score >= min_score and not (reading.missing or reading.unexplained)


def _names_notes(request: Request) -> bool:
    """Return whether an answer names its notes exactly, by a pronoun, or as "the note about …"."""
    tokens = without_courtesies(request.language, without_marks_at_end(request.tokens))
    sets = request.set_parser()
    return bool(
        sets.parse_reference(tokens)
        or sets.find_named(tokens)
        or request.language.match_prefix(tokens, 0, "name_leads")
    )


def _complete_creation(request: Request, question: Clarification) -> Reading | None:
    """Return the creation that the question is about, with the name and values of "call it X".

    Return None if the question is about something else or the request does not name the note. A creation that
    is only one of the other options is not what the question is about: "call it X" renames a note then.
    """
    base = question.options[0].reading if question.options else question.partial
    if base is None or base.steps[0].action != "create_note":
        return None
    tokens = without_courtesies(request.language, without_marks_at_end(request.tokens))
    tokens = correcting_words(request.language, tokens)
    completion = next(iter(clause_readings(request, tokens, follows=True)), None) if tokens else None
    if completion is None or completion.score < MIN_WRITE_SCORE:
        return None
    if completion.missing or completion.unexplained:
        return None
    values = dict(base.steps[0].arguments)
    for step in completion.steps:
        own = dict(step.arguments)
        if step.target is None or step.target.source != "previous" or set(own) - set(_CREATION_ROLES):
            return None
        values.update({_CREATION_ROLES[name]: value for name, value in own.items()})
    if not any("new_name" in step.arguments for step in completion.steps):
        return None  # the request does not name the note
    created = PipelineStep("create_note", None, values)
    reading = Reading((created,), MIN_WRITE_SCORE, language=request.language.code)
    return None if has_marks_in_names(request, reading) else reading


def _fill_missing(request: Request, partial: Reading) -> Reading | None:
    """Return the reading with the request's text as its missing value; None if the text does not fit."""
    step, role = partial.last, partial.missing
    frame = next((own for own in request.frames if own.action == step.action and not own.known), None)
    if frame is None:
        return None  # no words for the action in this language
    frames = request.frame_parser(follows=len(partial.steps) > 1)
    tokens = without_marks_at_end(request.tokens)
    cues = (cue.longest_match(tokens, 0) for cue in frame.roles.get(role, ()))
    lead = max((match.end for match in cues if match and match.end < len(tokens)), default=0)
    bound = frames.fill(request.allowed[step.action], frame, role, tokens[lead:])
    if bound is None:
        return None
    values = dict(bound)
    target = values.pop("target", step.target)
    merged = PipelineStep(
        step.action, target if isinstance(target, NoteSet) else None, {**step.arguments, **values}
    )
    missing = next(
        (
            need
            for need in request.allowed[step.action].needs
            if (merged.target is None if need == "target" else need not in merged.arguments)
        ),
        "",
    )
    return Reading((*partial.steps[:-1], merged), 0.95, (), missing, request.language.code)


def _parse_ordinal(language: Language, tokens: Sequence[Token], count: int) -> int | None:
    """Return the zero-based index that an answer names ("the second one", "2" or "number 2"), or None."""
    table = language.table("ordinals")
    words = [token for token in tokens if token.kind != "mark"]
    named = [table[token.key] for token in words if token.key in table]
    plain = language.words("result_nouns") | language.words("fillers") | language.words("determiners")
    if len(named) == 1 and all(token.key in table or token.key in plain for token in words):
        ordinal = int(named[0])
        return count - 1 if ordinal == -1 else ordinal - 1 if ordinal <= count else None
    start = language.match_prefix(words, 0, "number_nouns")
    if len(words) == start + 1 and words[start].value.isdecimal() and 1 <= int(words[start].value) <= count:
        return int(words[start].value) - 1
    return None
