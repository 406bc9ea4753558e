"""Interpret a request as a pipeline of steps, a question to the user, or work that needs a model.

The grammar splits the request into clauses and parses each one as an action on a set of notes; the request
model writes further readings. The agent runs the likeliest reading or asks a question. A change runs only as
the answer to a question, or if `ReadingChooser` has no doubt about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, partial

from app.agent.language.actions import CREATION_VALUES, GRAMMAR_ACTIONS, TOOL_PREFIX, Action
from app.agent.language.candidates import MeaningCandidate, candidates, have_same_meaning
from app.agent.language.choices import (
    MAX_OPTIONS,
    MIN_CONFIRM_SCORE,
    MIN_READ_SCORE,
    MIN_WRITE_SCORE,
    Describe,
    ReadingChooser,
    has_marks_in_names,
    is_clear,
    names_folder,
    note_sets_of,
)
from app.agent.language.compound_requests import keeps_links
from app.agent.language.conditions import condition_slots, top_level_parts
from app.agent.language.corrections import correcting_words, parse_correction
from app.agent.language.creation_properties import parse_creation_with_properties
from app.agent.language.dates import DateParser
from app.agent.language.decision import Option, bare_words, options_of, weigh_options
from app.agent.language.dialog import NOTE_ROLES, DialogState
from app.agent.language.dropped_conditions import with_every_condition
from app.agent.language.dropped_values import with_dropped_value
from app.agent.language.exclusions import with_excluded_names
from app.agent.language.follow_ups import (
    parse_follow_up,
    parse_plain_follow_up,
    parse_refined_question,
    with_undo_first,
)
from app.agent.language.frames import ClauseReading, FrameParser
from app.agent.language.lexicon import ActionFrame, Language
from app.agent.language.line_removals import parse_removed_line
from app.agent.language.list_orders import within_list
from app.agent.language.listed_notes import (
    parse_neighbor,
    refuse_position,
    with_listed,
    without_guessed_note,
)
from app.agent.language.negations import with_empty_values, with_negation
from app.agent.language.new_tasks import parse_new_tasks
from app.agent.language.note_sets import is_search
from app.agent.language.partial_readings import is_partial, likelier_parts, without_partial
from app.agent.language.property_questions import parse_property_question
from app.agent.language.property_values import parse_property_values
from app.agent.language.questions import question_language, source_note
from app.agent.language.readings import (
    Clarification,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.relations import parse_link_question, parse_relations
from app.agent.language.replacements import (
    parse_place_answer,
    parse_replacement_everywhere,
    parse_replacement_here,
)
from app.agent.language.request import Request, request_tokens, without_marks_at_end
from app.agent.language.request_model import request_model
from app.agent.language.summary_lengths import parse_summary_length, with_summary_length
from app.agent.language.task_lists import about_whole_vault, parse_task_list
from app.agent.language.task_references import parse_task_change
from app.agent.language.template_notes import (
    parse_note_from_template,
    parse_note_of_kind,
    parse_other_template,
)
from app.agent.language.text_additions import parse_added_line
from app.agent.language.tokens import Token, span_text
from app.agent.language.typed_search import parse_typed_search
from app.agent.language.undo import parse_redo, parse_undo, resolve_undo, undo_choices
from app.agent.language.vocabulary import Vocabulary, correct_spelling
from app.answering.question import is_unspaced_sentence
from app.vault.markdown.inline import is_valid_tag
from app.vault.path import NotePath

GUESS_SCORE = 0.63
"""Score of a request without a verb, read as a search for words."""
MAX_CORRECTED_WRITE_SCORE = MIN_WRITE_SCORE - 0.01
"""Maximum score of a change with corrected spelling: low enough that the agent asks."""
MIN_RUN_PROBABILITY = 0.6
"""Minimum probability of a reading that runs; a change also needs the grammar and the model to agree."""
MIN_SURE_PROBABILITY = 0.9
"""Minimum probability at which a note is moved without a question even if the folder does not exist yet."""
MIN_UNRELATED_PROBABILITY = 0.8
"""Minimum probability at which a question counts as unrelated to the notes."""
MIN_ANSWERED_PROBABILITY = 0.01
"""Minimum probability of an answer at which an unrelated question is still looked up in the notes."""
MIN_UNSEARCHED_PROBABILITY = 0.985
"""Minimum probability at which a request of a few words counts as unrelated and is not searched for."""
MIN_DOUBT_PROBABILITY = 0.65
"""Probability of the likeliest option from which the grammar's reading may be wrong."""
MIN_SCORE_WITHOUT_NOTE = 0.72
"""Minimum score at which the grammar alone decides on a reading that lacks only its note."""
MIN_COMPLETE_SCORE = 0.85
"""Minimum score at which the grammar alone decides on a long pipeline or a rare value, such as a due date."""
MIN_PIPELINE_STEPS = 3
"""Minimum number of steps of a pipeline on which the grammar decides: few training requests have as many."""
MIN_EXPECTED_PROBABILITY = 0.05
"""Minimum probability according to the request model of a change that runs without a question."""
MIN_STATED_PROBABILITY = 0.05
"""Minimum probability of a search for a value that is offered with an answer from the notes."""
MIN_RIVAL_PROBABILITY = 0.3
"""Minimum probability of a reading that the agent offers together with one that only the grammar expects."""
MIN_OFFERED_PROBABILITY = 0.005
"""Minimum probability at which a reading is offered in a question."""
MIN_OFFERED_INSTEAD_PROBABILITY = 0.3
"""Minimum probability at which a reading is offered instead of a search for the words of a short request."""
MIN_OFFERED_OUTCOME_PROBABILITY = 0.04
"""Minimum probability at which an answer from the notes, or a model, is offered in a question."""
MIN_CERTAIN_OUTCOME_PROBABILITY = 0.6
"""Minimum probability at which a request counts as a question, or as work for a model, without asking."""
MIN_READINGS_PROBABILITY = 0.05
"""Minimum probability of all readings together at which the user is asked about them."""
_CREATION_ROLES = dict(CREATION_VALUES.values())
"""The roles of "call it X and put it in People", with the roles that they fill in the note's creation."""
_FOLDER = re.compile(r'path:(?:"[^"]*/"|[^"\s]*/)')
_SIMILAR_ACTIONS = ({"open", "read"}, {"count", "count_these"})
_VALUES = re.compile(r"(?: ?\[[^:\]]+:[^<>=\]]+\])+")
_MAX_DEFINED_WORDS = 3
_SPLIT_PENALTY = 0.02
_MAX_CLAUSES = 4


class Interpreter:
    """Interpret requests in several languages.

    Args:
        languages: The languages, default first.
        describe: Describes a reading in a few words, for the options of a question.
        tool_frames: The frames of the tools' examples, which are in the first language.
    """

    def __init__(
        self, languages: Sequence[Language], describe: Describe, tool_frames: Sequence[ActionFrame] = ()
    ) -> None:
        self._languages = languages
        self._chooser = ReadingChooser(describe)
        self._tool_frames = tool_frames

    def interpret(
        self,
        text: str,
        dialog: DialogState,
        vocabulary_in: Callable[[Language], Vocabulary],
        allowed: Mapping[str, Action],
        now: datetime,
        *,
        guesses: bool = True,
    ) -> Interpretation:
        """Return the interpretation of `text`, perhaps as the answer to the conversation's open question.

        Args:
            text: The request.
            dialog: The state of the conversation.
            vocabulary_in: Returns the vault's vocabulary for a language.
            allowed: The actions that may run, by id.
            now: The time that relative dates refer to.
            guesses: Whether a request without a verb may be read as a search for its words.
        """
        if dialog.question is not None and (
            answer := self._interpret_answer(text, dialog, vocabulary_in, allowed, now)
        ):
            return answer
        if is_unspaced_sentence(text) and self._is_in_no_language(text):
            names = vocabulary_in(self._languages[0])
            if not names.notes(text.strip()):
                return ContentQuestion(text)
        for language in self._languages:
            words = without_marks_at_end(request_tokens(text, language))
            if dialog.question is None and _is_answer(language, words, "no"):
                return self._interpret_objection(language, dialog, allowed)
            if reply := self._small_talk(language, words):
                return reply
        grammar_readings: list[Reading] = []
        by_language = self._by_likelihood(text, dialog)
        requests = [
            with_listed(
                Request(
                    text,
                    language,
                    tokens,
                    vocabulary_in(language),
                    DateParser(language, now),
                    dialog,
                    allowed,
                    self._frames_of(language),
                )
            )
            for language, tokens in by_language
        ]
        likeliest = requests[0]
        if summary := self._summary_of_length(likeliest, vocabulary_in, now):
            return summary
        grammar_request = likeliest
        for request in requests:
            fixed, checked_request, readings = self._apply_grammar(request)
            if fixed is not None:
                complete = with_empty_values(request, with_every_condition(request, fixed))
                return with_excluded_names(request, complete)
            if request is not likeliest:
                # A language that knows fewer of the words would search for those of the other language.
                readings = [
                    reading
                    for reading in readings
                    if reading.score > GUESS_SCORE and not _searches_for_words_of(likeliest.language, reading)
                ]
            if readings and (not grammar_readings or readings[0].score > grammar_readings[0].score):
                grammar_readings, grammar_request = readings, checked_request
            if grammar_readings and grammar_readings[0].score >= MIN_READ_SCORE:
                break
        if not guesses:
            grammar_readings = [reading for reading in grammar_readings if reading.score != GUESS_SCORE]
        written = _candidates_once(likeliest)
        decision = self._decide(likeliest, grammar_request, grammar_readings, written)
        expected = self._ask_if_unexpected(likeliest, with_negation(likeliest, decision), written)
        whole = with_dropped_value(likeliest, expected, written)
        complete = with_every_condition(likeliest, about_whole_vault(likeliest, whole))
        complete = with_empty_values(likeliest, complete)
        return with_excluded_names(likeliest, without_guessed_note(likeliest, complete))

    def _summary_of_length(
        self, request: Request, vocabulary_in: Callable[[Language], Vocabulary], now: datetime
    ) -> Interpretation | None:
        """Interpret a request for a summary of a certain length: "summarize it in three lines"; else None.

        The length alone is that of another summary of the notes just summarized.
        """
        dialog, allowed = request.dialog, request.allowed
        length = parse_summary_length(request)
        if length is None:
            return None
        if not length.rest:
            return with_summary_length(dialog.last, length) if dialog.last is not None else None
        rest = self.request_of(length.rest, dialog, vocabulary_in, allowed, now)
        words = self._correct_words(rest, rest.tokens)
        if not any("summarize" in rest.actions_at(words, at) for at in range(len(words))):
            return None
        return with_summary_length(self.interpret(length.rest, dialog, vocabulary_in, allowed, now), length)

    def request_of(
        self,
        text: str,
        dialog: DialogState,
        vocabulary_in: Callable[[Language], Vocabulary],
        allowed: Mapping[str, Action],
        now: datetime,
    ) -> Request:
        """Return `text` as a request in its likeliest language."""
        language, tokens = self._by_likelihood(text, dialog)[0]
        dates = DateParser(language, now)
        vocabulary = vocabulary_in(language)
        frames = self._frames_of(language)
        request = Request(text, language, tokens, vocabulary, dates, dialog, allowed, frames)
        return with_listed(request)

    def has_pronoun(self, text: str) -> bool:
        """Return whether a request has a pronoun for a note, such as "it" or "that note"."""
        language, tokens = self._by_likelihood(text, DialogState())[0]
        return any(language.match_prefix(tokens, at, "it") > at for at in range(len(tokens)))

    def language_of(self, text: str, dialog: DialogState) -> Language:
        """Return the language that knows the largest share of a request's words, or that of the dialog."""
        return self._by_likelihood(text, dialog)[0][0]

    def _is_in_no_language(self, text: str) -> bool:
        by_language = self._by_likelihood(text, DialogState())
        return all(language.coverage(tokens) == 0 for language, tokens in by_language)

    def _by_likelihood(self, text: str, dialog: DialogState) -> list[tuple[Language, tuple[Token, ...]]]:
        """Return the request's tokens in each language, the language that knows the most words first.

        If several languages know as many, the one of the open question or of the last request comes first.
        """
        tokenized = [(language, request_tokens(text, language)) for language in self._languages]
        question = dialog.question
        asked = [option.reading for option in question.options] if question is not None else []
        asked += [question.partial] if question is not None and question.partial is not None else []
        before = asked[0] if asked else dialog.last
        last = before.language if before is not None else ""
        return sorted(tokenized, key=lambda pair: (-pair[0].coverage(pair[1]), pair[0].code != last))

    def _frames_of(self, language: Language) -> tuple[ActionFrame, ...]:
        own = self._tool_frames if language is self._languages[0] else ()
        return (*language.frames, *own)

    # One language

    def _apply_grammar(self, request: Request) -> tuple[Interpretation | None, Request, list[Reading]]:
        """Return the grammar's fixed interpretation or None, the request, and the readings, best first.

        Small talk, a typed search, an unambiguous follow-up and a request without words have a fixed
        interpretation and no readings. The returned request may need confirmation.
        """
        language = request.language
        bare = without_marks_at_end(request.tokens)
        if not bare:
            return Reply("", understood=False), request, []
        if reply := self._small_talk(language, bare):
            return reply, request, []
        if typed := parse_typed_search(request):
            return typed, request, []
        tokens = self._without_courtesies(language, bare)
        if not tokens:
            return None, request, []
        if reply := self._small_talk(language, tokens) or self._only_small_talk(language, tokens):
            return reply, request, []
        for words in dict.fromkeys((bare, tokens)):
            if refusal := self._refuse(request, words) or refuse_position(request, words):
                return refusal, request, []
            if neighbor := parse_neighbor(request, words):
                return neighbor, request, []
            if redo := parse_redo(request, words):
                return redo, request, []
            if from_template := parse_note_from_template(request, words):
                created, other_words = from_template
                if isinstance(created, Reading):
                    created = self._chooser.decide(replace(request, tokens=other_words), [created])
                return created, request, []
            if other := parse_other_template(request, words):
                return self._chooser.decide(request, [other]), request, []
            if of_kind := parse_note_of_kind(request, words):
                return self._chooser.ask(request, of_kind), request, []
            if undo := parse_undo(request, words):
                return undo, request, []
            if creation := parse_creation_with_properties(request, words):
                return self._chooser.decide(request, [creation]), request, []
            if properties := parse_property_values(request, words):
                return self._chooser.decide(request, [properties]), request, []
            if source_note(request)[0]:
                return ContentQuestion(request.text), request, []
            if opened := _open_by_name(request, words):
                return self._chooser.decide(request, [opened]), request, []
            if question := parse_property_question(request, words) or parse_task_list(request, words):
                return question, request, []
            if linked := parse_link_question(request, words):
                return linked, request, []
            if relations := parse_relations(request, words):
                return self._chooser.decide(request, [relations]), request, []
            if line := parse_added_line(request, words):
                return self._chooser.decide(request, [line]), request, []
            if removals := parse_removed_line(request, words):
                is_one = len(removals) == 1
                asked = self._chooser.decide if removals[0].missing else self._chooser.ask
                return (
                    removals[0] if is_one and not removals[0].missing else asked(request, removals),
                    request,
                    [],
                )
            if replacement := parse_replacement_everywhere(request, words) or parse_replacement_here(
                request, words
            ):
                return self._chooser.decide(request, [replacement]), request, []
            if narrower := parse_refined_question(request, words):
                is_one = len(narrower) == 1
                answer = narrower[0] if is_one else self._chooser.ask(request, narrower)
                return answer, request, []
            if corrected := parse_correction(request, words):
                asked = self._chooser.decide if corrected[0].missing else self._chooser.ask
                is_one = len(corrected) == 1 and not corrected[0].missing and corrected[0].is_certain
                return corrected[0] if is_one else asked(request, corrected), request, []
            if of_tasks := parse_new_tasks(request, words) or parse_task_change(request, words):
                is_one = len(of_tasks) == 1 and of_tasks[0].is_certain and not of_tasks[0].missing
                asked = self._chooser.decide if of_tasks[0].missing else self._chooser.ask
                return of_tasks[0] if is_one else asked(request, of_tasks), request, []
            follow_up = parse_plain_follow_up(request, words)
            if follow_up and all(step.action in request.allowed for step in follow_up.steps):
                return self._chooser.decide(request, [follow_up]), request, []
            refined = parse_follow_up(request, words)
            if refined is None or refined.score < MIN_READ_SCORE:
                continue
            if any(step.action not in request.allowed for step in refined.steps):
                continue  # its tools were turned off meanwhile
            is_other_change = words[0].key in language.verbs() and self._is_change(request, words)
            if request.writes(refined) or not is_other_change:
                readings = with_undo_first(request, refined)
                if refined.is_certain:
                    decision = self._chooser.decide(request, readings)
                    expected = self._ask_if_unexpected(request, decision, _candidates_once(request))
                    return expected, request, []
                return None, request, readings
        first = next((token.key for token in tokens if token.is_word), "")
        plain = self._without_reason(language, tokens)
        # The reading does not account for the words of a reason, so a change needs confirmation.
        request = replace(
            request, needs_confirmation=first in language.words("question_words") or plain != tokens
        )
        tokens = plain
        asks = tokens[0].key in {*language.words("asking_words"), *language.table("doubts")["asking_verbs"]}
        readings = self._valid_readings(request, tokens, asks=asks)
        if not readings or readings[0].score < MIN_WRITE_SCORE:
            corrected_tokens = self._correct_words(request, tokens)
            if corrected_tokens != tokens:
                again = [
                    replace(
                        reading,
                        score=min(reading.score * 0.97, MAX_CORRECTED_WRITE_SCORE)
                        if request.writes(reading)
                        else reading.score * 0.97,
                    )
                    for reading in self._valid_readings(request, corrected_tokens, asks=asks)
                ]
                readings = sorted([*readings, *again], key=lambda reading: -reading.score)
        is_unlikely = not readings or readings[0].score < MIN_CONFIRM_SCORE
        bare_name = self._bare_name(request, tokens) if is_unlikely else None
        if bare_name is not None and (not readings or bare_name.last.action == "open"):
            readings = [bare_name]
        return None, request, [_within_list(request, reading) for reading in readings]

    @staticmethod
    def _refuse(request: Request, tokens: tuple[Token, ...]) -> Interpretation | None:
        """Return the reply to a request that no tool can carry out; None for other requests."""
        kinds = request.language.table("refusals")
        kind = next((k for k in kinds if request.language.matches_phrase(tokens, "refusals", k)), "")
        work = {"compare": "Comparing notes", "table": "Making a table"}.get(kind)
        return ModelRequired(work) if work else Reply(kind, understood=False) if kind else None

    def _is_change(self, request: Request, tokens: tuple[Token, ...]) -> bool:
        """Return whether the words are a complete change: "add a note called X" adds no notes to a list."""
        best = next(iter(self._valid_readings(request, tokens, asks=False)), None)
        return (
            best is not None
            and request.writes(best)
            and best.score >= MIN_WRITE_SCORE
            and not (best.missing or best.unexplained)
        )

    def _valid_readings(self, request: Request, tokens: tuple[Token, ...], *, asks: bool) -> list[Reading]:
        return [
            own
            for reading in self._readings(request, tokens, follows=False)
            for own in undo_choices(request, resolve_undo(request, reading))
            if all(step.target is None or is_search(step.target.query) for step in reading.steps)
            and not (asks and request.writes(reading))
            and not _has_wrong_number(reading.steps[0])
        ]

    def _interpret_objection(
        self, language: Language, dialog: DialogState, allowed: Mapping[str, Action]
    ) -> Interpretation:
        """Interpret "no" without an open question: offer to undo the change just made, if there is one."""
        if not dialog.made or "undo" not in allowed:
            return Reply("cancelled")
        return self._chooser.confirm(Reading((dialog.undo_of_request,), 1.0, language=language.code))

    # The decision

    def _decide(
        self,
        likeliest: Request,
        grammar_request: Request,
        grammar_readings: list[Reading],
        written: Callable[[], list[MeaningCandidate]],
    ) -> Interpretation:
        """Return the reading to run, an outcome without an action, or a question.

        Args:
            likeliest: The request in its likeliest language.
            grammar_request: The request in the language of the grammar's readings.
            grammar_readings: The readings of the grammar, best first.
            written: Returns the candidates of the request model for `likeliest`.
        """
        best = grammar_readings[0] if grammar_readings else None
        if best is not None and best.last.action.startswith(TOOL_PREFIX) and best.score >= MIN_READ_SCORE:
            return self._chooser.decide(grammar_request, grammar_readings)
        is_about_contents = likeliest.language.match_prefix(likeliest.tokens, 0, "about_contents") > 0
        if is_about_contents or _asks_for_definition(likeliest):
            return ContentQuestion(likeliest.text)
        weighed = weigh_options(options_of(written(), grammar_readings, asks=self._is_question(likeliest)))
        options = without_partial(likeliest, weighed)
        if best is not None and _states_condition(best, grammar_request):
            return self._chooser.decide(grammar_request, grammar_readings)
        if best is not None and _grammar_decides(grammar_request, best, options):
            decision = self._chooser.decide(grammar_request, grammar_readings)
            rival = _rival(likeliest, best, written()) if decision == best else None
            return decision if rival is None else self._chooser.ask(likeliest, [rival, best])
        offered = _offered([*options, *likelier_parts(likeliest, weighed, options)], likeliest)
        readings_share = sum(option.share for option in options if option.reading is not None)
        shares = {option.outcome: option.share for option in options if option.outcome}
        is_guess = best is not None and best.score == GUESS_SCORE
        if (outcome := self._likely_outcome(likeliest, shares, readings_share)) is not None:
            is_unrelated = isinstance(outcome, Reply) and shares["none"] < MIN_UNSEARCHED_PROBABILITY
            # "Compost" alone is searched for: the answer says so if no note contains it.
            if best is not None and is_guess and is_unrelated:
                return best
            if isinstance(outcome, ContentQuestion) and (stated := _stated_value(written())):
                question = self._option_reading(Option({}, outcome="question"), likeliest)
                return self._chooser.ask(likeliest, [question, stated])
            return outcome
        top = next((option for option in options if option.reading is not None), None)
        if top is not None and top.reading is not None and top.is_clear and top.share >= MIN_RUN_PROBABILITY:
            if not likeliest.writes(top.reading):
                return top.reading
            if top.is_agreed:
                is_expected = top.reading.last.action == "move" and top.share >= MIN_SURE_PROBABILITY
                run = self._chooser.decide(grammar_request, grammar_readings, is_expected=is_expected)
                if isinstance(run, Reading):
                    return replace(run, is_certain=run.is_certain or is_expected)
        is_instead = top is None or top.share < MIN_OFFERED_INSTEAD_PROBABILITY
        # A search for the words of "where does H4 appear" would find nothing.
        if best is not None and is_guess and is_instead and not _names_note(likeliest):
            return best
        is_read = best is not None and best.score >= MIN_CONFIRM_SCORE
        lacks_part = best is not None and (bool(best.missing) or not is_clear(best))
        if is_read and lacks_part and shares["ask"] > readings_share:
            return self._chooser.decide(grammar_request, grammar_readings)
        if not any(option.reading for option in offered):
            if offered and (top is None or offered[0].share > top.share):
                return self._interpret_outcome(offered[0].outcome, likeliest, is_sure=False)
            offered = [top] if top is not None and not _is_change_by_noun(top, likeliest) else []
        if offered and (is_read or options[0].outcome != "none"):
            answers = [self._option_reading(option, likeliest) for option in offered]
            return self._chooser.ask(likeliest, answers, [option.share for option in offered])
        is_question = likeliest.tokens[0].key in likeliest.language.words("asking_words")
        return ContentQuestion(likeliest.text) if is_question else Reply("", understood=False)

    def _ask_if_unexpected(
        self,
        request: Request,
        interpretation: Interpretation,
        written: Callable[[], list[MeaningCandidate]],
    ) -> Interpretation:
        """Return a question instead of a change that the request model does not expect.

        The grammar alone decides on actions that the model does not know or has seldom seen, such as moving a
        task to another day, and on long pipelines, of which the model has seen few. A single quoted word for
        "it" may also be a tag.

        Args:
            request: The request.
            interpretation: Its interpretation.
            written: Returns the candidates of the request model for it.
        """
        if not isinstance(interpretation, Reading) or not request.writes(interpretation):
            return interpretation
        if (other := _as_tag(request, interpretation)) is not None:
            return self._chooser.ask(request, [interpretation, other])
        steps, known = interpretation.steps, set(request_model().symbols) - GRAMMAR_ACTIONS
        is_rare = any(step.action not in known or "what" in step.arguments for step in steps)
        if len(steps) >= MIN_PIPELINE_STEPS or is_rare:
            return interpretation
        expected = sum(
            candidate.probability
            for candidate in written()
            if candidate.reading is not None
            and (
                have_same_meaning(candidate.reading, interpretation)
                or is_partial(request, candidate.reading, interpretation)
            )
        )
        if expected >= MIN_EXPECTED_PROBABILITY:
            return interpretation
        options = options_of(written(), [interpretation], asks=self._is_question(request))
        others = [
            self._option_reading(option, request)
            for option in _offered(without_partial(request, weigh_options(options)), request)
            if option.reading is None or not have_same_meaning(option.reading, interpretation)
        ]
        return self._chooser.ask(request, [interpretation, *others])

    def _likely_outcome(
        self, request: Request, shares: Mapping[str, float], readings_share: float
    ) -> Interpretation | None:
        """Return the outcome that is likelier than "ask" and all readings together; None if there is none.

        Also return None for an uncertain outcome that a question can offer together with the readings.

        Args:
            request: The request.
            shares: The probabilities of the outcomes.
            readings_share: The probability of all readings.
        """
        outcome = max(("question", "model", "none"), key=lambda name: shares[name])
        contents = shares["question"] + shares["model"] if self._is_question(request) else 0.0
        # A question that is perhaps unrelated to the notes is looked up in them as well.
        if shares["question"] >= MIN_ANSWERED_PROBABILITY and shares["none"] < MIN_UNRELATED_PROBABILITY:
            contents += shares["none"] if contents else 0.0
        probability = max(contents, shares[outcome])
        if probability <= readings_share + shares["ask"]:
            return None
        # A question can also offer "question" and "model" as options, but not "none".
        if (
            outcome != "none"
            and probability < MIN_CERTAIN_OUTCOME_PROBABILITY
            and readings_share >= MIN_READINGS_PROBABILITY
        ):
            return None
        if contents > shares[outcome]:
            outcome = max(("question", "model"), key=lambda name: shares[name])
        is_sure = (
            shares[outcome] >= MIN_UNRELATED_PROBABILITY or shares["question"] < MIN_ANSWERED_PROBABILITY
        )
        return self._interpret_outcome(outcome, request, is_sure=is_sure)

    def _option_reading(self, option: Option, request: Request) -> Reading:
        """Return the reading that selects an option in a question."""
        match option.outcome:
            case "question":
                step = PipelineStep("question", None, {"query": request.text})
            case "model":
                step = PipelineStep("model", None, {"query": self._model_work(request)})
            case _:
                assert option.reading is not None
                return option.reading
        return Reading((step,), option.share, language=request.language.code)

    def _is_question(self, request: Request) -> bool:
        return question_language(request.text, self._languages) is not None

    def _interpret_outcome(self, outcome: str, request: Request, *, is_sure: bool) -> Interpretation:
        """Return the interpretation of a request that asks for no action."""
        is_question = self._is_question(request)
        match outcome:
            case "none" if is_question and not is_sure:
                return ContentQuestion(request.text)
            case "model":
                model = ModelRequired(self._model_work(request))
                is_order = self._is_polite_order(request)
                return ContentQuestion(request.text, model) if is_question and not is_order else model
            case "question":
                return ContentQuestion(request.text)
            case "none":
                reminds = any(
                    request.language.match_prefix(request.tokens, at, "reminders", "leads") > at
                    for at in range(len(request.tokens))
                )
                return Reply("reminder" if reminds else "unsupported", understood=False)
            case _:
                return Reply("", understood=False)

    def _is_polite_order(self, request: Request) -> bool:
        """Return whether a request is an order in the form of a question: "can you write a poem?"."""
        tokens = self._without_courtesies(request.language, request.tokens)
        return tokens[:1] != request.tokens[:1] and not any(
            token.key in request.language.words("asking_words") for token in tokens
        )

    def _model_work(self, request: Request) -> str:
        """Return the work that needs a model, as the subject of a sentence; "This" if it is unknown."""
        tokens = self._without_courtesies(request.language, request.tokens)
        return next(
            (
                work.work
                for work in request.language.model_work
                for phrase in work.say
                for position in range(min(3, len(tokens)))
                if phrase.longest_match(tokens, position)
            ),
            "This",
        )

    def _small_talk(self, language: Language, tokens: Sequence[Token]) -> Interpretation | None:
        if language.matches_phrase(tokens, "small_talk", "help"):
            return Reading((PipelineStep("help"),), 1.0, language=language.code)
        for kind in ("greeting", "thanks", "cancelled"):
            if language.matches_phrase(tokens, "small_talk", kind):
                return Reply(kind)
        return None

    def _only_small_talk(self, language: Language, tokens: Sequence[Token]) -> Interpretation | None:
        """Return the reply to the first of several small-talk phrases ("thanks, that was all"), or None."""
        replies = [self._small_talk(language, clause) for clause in _clauses(tokens)]
        return replies[0] if len(replies) > 1 and all(isinstance(reply, Reply) for reply in replies) else None

    def _without_reason(self, language: Language, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        """Return the tokens without a final clause that gives a reason: ", it is a guess"."""
        for position in range(1, len(tokens) - 1):
            if (
                tokens[position].kind == "mark"
                and language.match_prefix(tokens, position + 1, "reasons") > position + 1
            ):
                return tokens[:position]
        return tokens

    def _without_courtesies(self, language: Language, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        phrases = language.phrases("courtesies")
        ending = (*phrases, *language.phrases("scopes", "totals"))
        position, end = 0, len(tokens)
        while position < end:
            if tokens[position].kind == "mark":
                position += 1
                continue
            after = max(
                (m.end for p in phrases if (m := p.longest_match(tokens, position))), default=position
            )
            if after == position or after >= end:
                break
            position = after
        changed = True
        while changed and end > position:
            changed = False
            if tokens[end - 1].kind == "mark":
                end, changed = end - 1, True
                continue
            for start in range(max(position + 1, end - 5), end):
                is_ending = any(phrase.matches_all(tokens[start:end]) for phrase in ending)
                is_ending = is_ending or keeps_links(language, tokens[:end], start)
                if is_ending and tokens[start].key not in (
                    "then",
                    "again",
                    "first",
                    "next",
                ):
                    end, changed = start, True
                    break
        return tokens[position:end]

    def _correct_words(self, request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        """Return the tokens with the language's misspelled words corrected; names of notes stay."""
        known = request.language.vocabulary()
        corrected: list[Token] = []
        for token in tokens:
            right = None
            if token.is_word and token.key not in known and not request.vocabulary.notes(token.value):
                right = correct_spelling(token.key, known, request.language.data.get("endings", ()))
            corrected.append(replace(token, key=right) if right else token)
        return tuple(corrected)

    # Clauses

    def _readings(
        self, request: Request, tokens: tuple[Token, ...], *, follows: bool, depth: int = 0
    ) -> list[Reading]:
        """Return the readings of the tokens as one or several steps, best first."""
        tokens = self._without_courtesies(request.language, tokens)
        if not tokens:
            return []
        frames = request.frame_parser(follows=follows)
        unsplit = [_to_reading(clause, request.language) for clause in frames.readings(tokens)]
        readings = unsplit[:6]
        if not follows and (phrase := self._noun_phrase(request, tokens)):
            readings.append(phrase)
        if depth < _MAX_CLAUSES:
            for first, second in self._split_clauses(request, frames, tokens):
                heads = [
                    _to_reading(clause, request.language)
                    for clause in frames.readings(self._without_courtesies(request.language, first))
                ][:2]
                if not heads or heads[0].score < MIN_CONFIRM_SCORE or heads[0].missing:
                    continue
                tails = self._readings(request, second, follows=True, depth=depth + 1)
                for head in heads[:1]:
                    for tail in tails[:2]:
                        readings.append(_join_readings(head, tail))
        return sorted(readings, key=lambda reading: -reading.score)

    def _noun_phrase(self, request: Request, tokens: tuple[Token, ...]) -> Reading | None:
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
        self, request: Request, frames: FrameParser, tokens: tuple[Token, ...]
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
            rest = self._without_courtesies(language, tokens[after:])
            if rest and frames.has_trigger(rest, 0):
                yield tokens[:position], tokens[after:]

    def _bare_name(self, request: Request, tokens: tuple[Token, ...]) -> Reading | None:
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

    # Answers to a question

    def _interpret_answer(
        self,
        text: str,
        dialog: DialogState,
        vocabulary_in: Callable[[Language], Vocabulary],
        allowed: Mapping[str, Action],
        now: datetime,
    ) -> Interpretation | None:
        """Interpret `text` as the answer to the open question; None if it is a new request."""
        question = dialog.question
        assert question is not None
        wanted = " ".join(text.split()).strip(" .!?").casefold()
        for option in question.options:
            if wanted in (option.label.casefold(), option.label.casefold().removesuffix(".md")):
                return meaning_of(option.reading)
        for language in self._languages:
            tokens = without_marks_at_end(request_tokens(text, language))
            if not tokens:
                continue
            if _is_answer(language, tokens, "no"):
                return Reply("cancelled")
            tokens = correcting_words(language, tokens)
            if question.options and _is_answer(language, tokens, "yes"):
                return meaning_of(question.options[0].reading)
            vocabulary, dates = vocabulary_in(language), DateParser(language, now)
            frames = self._frames_of(language)
            request = Request(text, language, tokens, vocabulary, dates, dialog, allowed, frames)
            if place := parse_place_answer(request, question):
                return place
            if (
                question.options
                and (index := _parse_ordinal(language, tokens, len(question.options))) is not None
            ):
                return meaning_of(question.options[index].reading)
        plain = replace(dialog, question=None)
        requests = [
            Request(
                text,
                language,
                tokens,
                vocabulary_in(language),
                DateParser(language, now),
                plain,
                allowed,
                self._frames_of(language),
            )
            for language, tokens in self._by_likelihood(text, dialog)
        ]
        for request in requests:
            if (creation := self._complete_creation(request, question)) is not None:
                return creation
        if question.partial is None or not question.partial.missing:
            return None
        if question.partial.missing in NOTE_ROLES and question_language(text, self._languages) is not None:
            return None
        for request in requests:
            language = request.language
            is_continued = any(
                language.match_prefix(request.tokens, 0, "refine", kind) for kind in ("same", "also")
            )
            if is_continued and question.partial.missing in NOTE_ROLES:
                return None  # "and K1" continues an earlier request
            fresh = self._readings(
                request,
                self._without_courtesies(language, without_marks_at_end(request.tokens)),
                follows=False,
            )
            starts_with_verb = request.tokens[0].key in language.verbs() if request.tokens else False
            if fresh and (
                (fresh[0].score >= 0.95 and not fresh[0].missing and not fresh[0].unexplained)
                or (starts_with_verb and fresh[0].score >= MIN_CONFIRM_SCORE)
            ):
                return None
            filled = self._fill_missing(request, question.partial)
            if filled is None:
                continue
            if question.partial.missing in NOTE_ROLES and not self._names_note(request):
                if self._is_own_request(text, plain, vocabulary_in, allowed, now):
                    return None
                target = filled.last.target
                if target is not None and (target.query or (target.unknown and not target.candidates)):
                    continue  # not the name of a note
            elif (
                question.partial.missing not in NOTE_ROLES
                and len(request.tokens) > 1
                and fresh
                and is_clear(fresh[0])
                and fresh[0].score >= MIN_COMPLETE_SCORE
                and not (fresh[0].missing or fresh[0].unexplained)
            ):
                return self._chooser.ask(request, [filled, fresh[0]])
            verbs = frozenset[str]().union(*(known.verbs() for known in self._languages))
            first = request.tokens[0].key if request.tokens else ""
            if question.partial.missing == "name" and first in verbs and len(request.tokens) > 1:
                filled = replace(filled, is_certain=False)  # perhaps a request, not the name
            return self._chooser.decide(request, [filled])
        return None

    def _names_note(self, request: Request) -> bool:
        """Return whether an answer names its notes exactly, by a pronoun, or as "the note about …"."""
        tokens = self._without_courtesies(request.language, without_marks_at_end(request.tokens))
        sets = request.set_parser()
        return bool(
            sets.parse_reference(tokens)
            or sets.find_named(tokens)
            or request.language.match_prefix(tokens, 0, "name_leads")
        )

    def _is_own_request(
        self,
        text: str,
        dialog: DialogState,
        vocabulary_in: Callable[[Language], Vocabulary],
        allowed: Mapping[str, Action],
        now: datetime,
    ) -> bool:
        """Return whether words after a question are understood without it, as more than a note's name."""
        meaning = self.interpret(text, dialog, vocabulary_in, allowed, now)
        if not isinstance(meaning, Reading) or meaning.score <= GUESS_SCORE:
            return False
        target = meaning.last.target
        return target is None or not target.is_single

    def _complete_creation(self, request: Request, question: Clarification) -> Reading | None:
        """Return the creation that the question is about, with the name and values of "call it X".

        Return None if the question is about something else or the request does not name the note.
        """
        readings = [*(option.reading for option in question.options), question.partial]
        base = next(
            (known for known in readings if known is not None and known.steps[0].action == "create_note"),
            None,
        )
        if base is None:
            return None
        tokens = self._without_courtesies(request.language, without_marks_at_end(request.tokens))
        completion = next(iter(self._readings(request, tokens, follows=True)), None) if tokens else None
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

    def _fill_missing(self, request: Request, partial: Reading) -> Reading | None:
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


def _asks_for_definition(request: Request) -> bool:
    """Return whether a request asks what something is, not about a note: "what is a daily note?"."""
    language, tokens = request.language, without_marks_at_end(request.tokens)
    after = language.match_prefix(tokens, 0, "definitions", "one")
    names_note = any(mention.kind == "note" for mention in request.mentions(tokens))
    is_one = 0 < after < len(tokens) <= after + _MAX_DEFINED_WORDS and not names_note
    return is_one or language.matches_phrase(tokens, "definitions", "several")


def is_outcome(step: PipelineStep) -> bool:
    """Return whether a step represents an outcome that no pipeline runs: "question" or "model"."""
    return step.action in ("question", "model")


def meaning_of(reading: Reading) -> Interpretation:
    """Return the interpretation that a chosen reading represents: the reading itself, or an outcome."""
    query = str(reading.last.arguments.get("query", ""))
    match reading.last.action:
        case "question":
            return ContentQuestion(query)
        case "model":
            return ModelRequired(query or "This")
    return reading


def _grammar_decides(request: Request, best: Reading, options: Sequence[Option]) -> bool:
    """Return whether the grammar alone decides on its best reading; strong doubt can overrule it."""
    is_change = request.writes(best)
    is_doubted = options[0].share >= MIN_DOUBT_PROBABILITY
    if _is_for_grammar(best, is_change=is_change):
        return is_clear(best) or not (is_doubted and options[0].reading is None)
    complete = _complete_option(options)
    if complete is None:
        return False
    if len(best.steps) >= MIN_PIPELINE_STEPS and best.score >= MIN_COMPLETE_SCORE:
        return not is_doubted
    if is_change:
        return best.is_certain and best.score >= MIN_COMPLETE_SCORE and names_folder(request, best)
    if _is_folder(best) and len(request.mentions(request.tokens)) == 1:
        return not (is_doubted and options[0].reading is None)
    if complete.is_considered:
        return True
    # The grammar reads "and the records?" without the search before it, but not "and the newest?".
    target = best.last.target
    is_ordered = target is not None and bool(target.order)
    continues = request.language.match_prefix(request.tokens, 0, "refine", "same") > 0 and not is_ordered
    return complete.is_plain and not is_doubted and (not continues or complete is options[0])


def _stated_value(written: Sequence[MeaningCandidate]) -> Reading | None:
    """Return the likeliest search only for values of properties ("what is there by X?"), or None."""
    for meaning in written:
        reading = meaning.reading
        if reading is None or meaning.probability < MIN_STATED_PROBABILITY or len(reading.steps) > 1:
            continue
        target = reading.last.target
        if reading.last.action != "find" or target is None or target != NoteSet(query=target.query):
            continue
        if _VALUES.fullmatch(target.query):
            return reading
    return None


def _rival(request: Request, best: Reading, written: Sequence[MeaningCandidate]) -> Reading | None:
    """Return the likeliest reading of the request model if it is confident and does not expect `best`."""
    expected = sum(
        meaning.probability
        for meaning in written
        if meaning.reading is not None and have_same_meaning(meaning.reading, best)
    )
    first = written[0].reading if written else None
    if _is_seldom_seen(best):
        return None
    if first is None or expected >= MIN_EXPECTED_PROBABILITY or request.writes(best):
        return None
    is_confident = written[0].probability >= MIN_RIVAL_PROBABILITY
    is_possible = is_clear(first) and not request.writes(first) and not _has_wrong_number(first.steps[0])
    return first if is_confident and is_possible and not _are_similar(first, best) else None


def _are_similar(reading: Reading, other: Reading) -> bool:
    """Return whether a reading shows the notes of another one, or has conditions on the same things.

    The grammar reads numbers and dates more reliably than the model.
    """
    step, other_step = reading.last, other.last
    actions = {step.action, other_step.action}
    if actions in _SIMILAR_ACTIONS:
        return True
    notes, other_notes = step.target, other_step.target
    if len(actions) > 1 or "about" in step.arguments:
        return False
    if notes is None or other_notes is None:
        return notes == other_notes
    # "The shortest" by words or by bytes is a question that no one asks.
    if (
        notes.limit
        and notes.limit == other_notes.limit
        and _is_by_length(notes)
        and _is_by_length(other_notes)
    ):
        return notes.order.startswith("-") == other_notes.order.startswith("-")
    # "The biggest budget of all projects" is one of them.
    is_limited = bool(notes.limit) and notes.order == other_notes.order != "" and not other_notes.limit
    is_list = "previous" in (notes.source, other_notes.source)
    has_same_notes = _slots(notes) <= _slots(other_notes) and (is_list or notes.notes == other_notes.notes)
    return has_same_notes and not is_limited


def _is_by_length(notes: NoteSet) -> bool:
    return notes.order.lstrip("-") in ("size", "words")


def _slots(notes: NoteSet) -> set[str]:
    """Return what the conditions of a set are about."""
    return {slot for part in top_level_parts(notes.query) for slot in condition_slots(part)}


def _states_condition(best: Reading, request: Request) -> bool:
    """Return whether a complete search has a condition on a maker, or on the year of a kind of notes.

    The request model has seen few such searches, and misreads them as questions or as other kinds of years.
    """
    target = best.last.target
    if request.language.match_prefix(request.tokens, 0, "refine", "same"):
        return False  # "and by X?" keeps the kind of the last search
    if request.writes(best) or best.score < MIN_COMPLETE_SCORE or best.unexplained or target is None:
        return False
    if not best.is_certain:
        return False
    tags = [part for part in top_level_parts(target.query) if part.startswith("tag:")]
    if len(tags) > 1 and not bare_words(target.query):
        return True  # "tagged a and b" means both, which the request model reads as one or the other
    # In "anything by Varda on my list", the other words may mean nothing.
    return not bare_words(target.query) and any(
        condition in target.query for condition in request.set_parser().stated_conditions(request.tokens)
    )


def _offered(options: Sequence[Option], request: Request) -> list[Option]:
    """Return the options that a question offers, including the grammar's complete reading.

    An outcome is offered only if it is also an action: an answer from the notes, or work for a model. A
    single noun offers no change.
    """
    offered = [
        option
        for option in options
        if (
            option.is_clear
            and option.share >= MIN_OFFERED_PROBABILITY
            and not _is_change_by_noun(option, request)
        )
        or (option.outcome in request.allowed and option.share >= MIN_OFFERED_OUTCOME_PROBABILITY)
    ]
    complete = _complete_option(options) or _plain_option(options)
    if complete is not None and complete not in offered[:MAX_OPTIONS]:
        rest = [option for option in offered if option is not complete]
        offered = [*rest[: MAX_OPTIONS - 1], complete, *rest[MAX_OPTIONS - 1 :]]
    return offered


def _is_folder(reading: Reading) -> bool:
    """Return whether a reading searches for all notes of one folder."""
    target = reading.last.target
    if len(reading.steps) > 1 or reading.last.action != "find" or target is None:
        return False
    return target == NoteSet(query=target.query) and bool(_FOLDER.fullmatch(target.query))


def _is_change_by_noun(option: Option, request: Request) -> bool:
    """Return whether an option is a change, but the request only one word: no verb, and no note's name."""
    words = [token for token in request.tokens if token.kind != "mark"]
    is_noun = len(words) == 1 and words[0].is_word and words[0].key not in request.language.verbs()
    return (
        is_noun and option.reading is not None and request.writes(option.reading) and not _names_note(request)
    )


def _names_note(request: Request) -> bool:
    """Return whether a request contains the name of a note, spelled correctly."""
    return any(mention.kind == "note" and not mention.is_near for mention in request.mentions(request.tokens))


def _complete_option(options: Sequence[Option]) -> Option | None:
    return next((option for option in options if option.is_clear and option.features.get("complete")), None)


def _plain_option(options: Sequence[Option]) -> Option | None:
    """Return the grammar's first reading if it explains every word without searching for one; else None."""
    for option in options:
        if option.reading is None or not option.is_clear or not option.features.get("first"):
            continue
        target = option.reading.last.target
        is_plain = not option.reading.unexplained and (target is None or not bare_words(target.query))
        return option if is_plain and option.reading.score >= MIN_COMPLETE_SCORE else None
    return None


def _is_for_grammar(best: Reading, *, is_change: bool) -> bool:
    """Return whether the best reading has a value or an action that the request model does not know well.

    That is a missing or unknown note or, in a complete reading, an ambiguous name, or a value or an action
    with few examples.
    """
    target = best.last.target
    if not best.missing and target is not None and target.unknown and not target.candidates:
        if not target.unknown.strip():
            return best.score >= MIN_SCORE_WITHOUT_NOTE  # "summarize the first one", without a list
        is_name = target.unknown[0].isupper() or target.unknown[0].isdigit()
        if is_name and " " not in target.unknown and is_change:
            return True  # a name that no note has, or the day of a missing daily note
    if best.last.action in GRAMMAR_ACTIONS and not best.unexplained:
        return best.score >= (MIN_SCORE_WITHOUT_NOTE if best.missing else MIN_COMPLETE_SCORE)
    if best.score < MIN_COMPLETE_SCORE or not best.is_certain or best.missing or best.unexplained:
        return False
    rare = any(name in best.last.arguments for name in ("due", "uses", "about", "what", "side"))
    return (
        rare
        or _is_seldom_seen(best)
        or any(notes.candidates or "backlinks:" in notes.query for notes in note_sets_of(best))
    )


def _is_seldom_seen(reading: Reading) -> bool:
    """Return whether the request model has seen no or few such readings.

    These are the unresolved links of certain notes, and names that start with a word.
    """
    target = reading.last.target
    return target is not None and (reading.last.action == "unresolved_links" or "file:/" in target.query)


def _clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the tokens between the marks, without empty clauses."""
    clauses: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "mark":
            clauses.append([])
        else:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]


def _is_answer(language: Language, tokens: Sequence[Token], kind: str) -> bool:
    """Return whether the tokens say "yes" or "no" (`kind`), perhaps with a courtesy: "no, never mind"."""
    clauses = _clauses(tokens)
    others: list[tuple[str, ...]] = [("courtesies",), ("small_talk", "thanks")]
    if kind == "no":
        others.append(("small_talk", "cancelled"))
    is_kind = [language.matches_phrase(clause, "refine", kind) for clause in clauses]
    return any(is_kind) and all(
        known or any(language.matches_phrase(clause, *path) for path in others)
        for clause, known in zip(clauses, is_kind, strict=True)
    )


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


def normalize_step(step: PipelineStep) -> PipelineStep:
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
        (normalize_step(clause.step),),
        clause.score,
        clause.unexplained,
        missing,
        language.code,
        clause.verb_words,
        clause.is_certain,
    )


def _open_by_name(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the note of "open Tags", spelled as its name with a capital letter; None for other requests."""
    name = span_text(request.text, without_marks_at_end(tokens[1:]))
    paths = request.vocabulary.notes(name) if name[:1].isupper() else ()
    is_open = "open" in request.allowed and "open" in request.actions_at(tokens, 0)
    if not is_open or len(paths) != 1 or NotePath.on_disk(paths[0]).name != name:
        return None
    return Reading((PipelineStep("open", NoteSet(notes=paths)),), 1.0, language=request.language.code)


def _candidates_once(request: Request) -> Callable[[], list[MeaningCandidate]]:
    """Return a function that runs the request model at most once, since that is slow."""
    return cache(partial(candidates, request))


def _searches_for_words_of(language: Language, reading: Reading) -> bool:
    """Return whether a reading searches for function words of a language: "without", "a"."""
    targets = [step.target for step in reading.steps if step.target is not None]
    searched = {word.strip("-").casefold() for target in targets for word in bare_words(target.query)}
    return not searched.isdisjoint(language.function_words())


def _as_tag(request: Request, reading: Reading) -> Reading | None:
    """Return the tag that `add "draft" to this one` may mean instead of a line; None for other requests."""
    step = reading.last
    words = [token for token in request.tokens if token.kind != "mark"]
    quoted = [token.value for token in words if token.kind == "quoted"]
    nouns = request.language.words("text_nouns") - request.language.words("determiners")
    says_text = any(token.key in nouns for token in words)
    is_named = any(mention.kind == "note" for mention in request.mentions(request.tokens))
    is_word = len(quoted) == 1 and is_valid_tag(quoted[0])
    is_plain = step.action == "append" and set(step.arguments) == {"text"} and len(reading.steps) == 1
    if not is_plain or not is_word or says_text or is_named or step.arguments["text"] != quoted[0]:
        return None
    tagged = PipelineStep("add_tag", step.target, {"tag": (quoted[0],)})
    return replace(reading, steps=(tagged,)) if "add_tag" in request.allowed else None


def _has_wrong_number(step: PipelineStep) -> bool:
    """Return whether a step counts a single note, or reads every note or a property of every note.

    "How much was the first one?" asks for a price, and "which company has the most employees?" for a note.
    """
    target = step.target
    if target is None:
        return False
    reads = step.action in ("read", "open") or (step.action == "properties_of" and "about" in step.arguments)
    reads_all = reads and target.is_everything
    return (step.action == "count" and target.is_single) or reads_all


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


def _within_list(request: Request, reading: Reading) -> Reading:
    """Limit a reading that orders all notes to those just listed if the request continues the list."""
    first, *later = reading.steps
    if first.target is None:
        return reading
    return replace(reading, steps=(replace(first, target=within_list(request, first.target)), *later))
