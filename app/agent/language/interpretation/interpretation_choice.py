"""Choose among the readings of the grammar and of the request model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.agent.language.doubts.partial_readings import is_partial, likelier_parts, without_partial
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.interpretation.choices import ReadingChooser
from app.agent.language.interpretation.grammar_certainty import (
    MIN_PIPELINE_STEPS,
    grammar_decides,
    is_seldom_seen,
    states_condition,
)
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE, has_wrong_number
from app.agent.language.interpretation.offered_options import is_change_by_noun, names_note, offered_options
from app.agent.language.interpretation.outcomes import Outcomes
from app.agent.language.meaning.actions import GRAMMAR_ACTIONS, TOOL_PREFIX
from app.agent.language.meaning.conditions import condition_slots, top_level_parts
from app.agent.language.meaning.readings import (
    MIN_CONFIRM_SCORE,
    MIN_READ_SCORE,
    ContentQuestion,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
    is_clear,
)
from app.agent.language.model.candidates import MeaningCandidate, have_same_meaning
from app.agent.language.model.decision import Option, bare_words, options_of, weigh_options
from app.agent.language.model.request_model import request_model
from app.vault.markdown.inline import is_valid_tag

MIN_RUN_PROBABILITY = 0.6
"""Minimum probability of a reading that runs; a change also needs the grammar and the model to agree."""
MIN_SURE_PROBABILITY = 0.9
"""Minimum probability at which a note is moved without a question even if the folder does not exist yet."""
MIN_UNSEARCHED_PROBABILITY = 0.985
"""Minimum probability at which a request of a few words counts as unrelated and is not searched for."""
MIN_EXPECTED_PROBABILITY = 0.05
"""Minimum probability according to the request model of a change that runs without a question."""
MIN_STATED_PROBABILITY = 0.05
"""Minimum probability of a search for a value that is offered with an answer from the notes."""
MIN_RIVAL_PROBABILITY = 0.3
"""Minimum probability of a reading that the agent offers together with one that only the grammar expects."""
MIN_OFFERED_INSTEAD_PROBABILITY = 0.3
"""Minimum probability at which a reading is offered instead of a search for the words of a short request."""
_SIMILAR_ACTIONS = ({"open", "read"}, {"count", "count_these"})
_VALUES = re.compile(r"(?: ?\[[^:\]]+:[^<>=\]]+\])+")
_MAX_DEFINED_WORDS = 3


class InterpretationChooser:
    """Chooses the reading to run, an outcome without an action, or a question.

    Args:
        chooser: Decides whether a reading runs, and asks questions.
        outcomes: Interprets requests that ask for no action.
    """

    def __init__(self, chooser: ReadingChooser, outcomes: Outcomes) -> None:
        self._chooser = chooser
        self._outcomes = outcomes

    def decide(
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
        if best is not None and states_condition(best, grammar_request):
            return self._chooser.decide(grammar_request, grammar_readings)
        if _asks_for_permission(likeliest, best):
            return ContentQuestion(likeliest.text)
        weighed = weigh_options(
            options_of(written(), grammar_readings, asks=self._outcomes.is_question(likeliest))
        )
        options = without_partial(likeliest, weighed)
        if best is not None and grammar_decides(grammar_request, best, options):
            decision = self._chooser.decide(grammar_request, grammar_readings)
            rival = _rival(likeliest, best, written()) if decision == best else None
            return decision if rival is None else self._chooser.ask(likeliest, [rival, best])
        offered = offered_options([*options, *likelier_parts(likeliest, weighed, options)], likeliest)
        readings_share = sum(option.share for option in options if option.reading is not None)
        shares = {option.outcome: option.share for option in options if option.outcome}
        is_guess = best is not None and best.score == GUESS_SCORE
        if (outcome := self._outcomes.likely(likeliest, shares, readings_share)) is not None:
            is_unrelated = isinstance(outcome, Reply) and shares["none"] < MIN_UNSEARCHED_PROBABILITY
            # "Compost" alone is searched for: the answer says so if no note contains it.
            if best is not None and is_guess and is_unrelated:
                return best
            return self._with_stated(likeliest, outcome, written())
        top = next((option for option in options if option.reading is not None), None)
        if top is not None and (run := self._run(likeliest, top, grammar_request, grammar_readings)):
            return run
        is_instead = top is None or top.share < MIN_OFFERED_INSTEAD_PROBABILITY
        # A search for the words of "where does H4 appear" would find nothing.
        if best is not None and is_guess and is_instead and not names_note(likeliest):
            return best
        is_read = best is not None and best.score >= MIN_CONFIRM_SCORE
        lacks_part = best is not None and (bool(best.missing) or not is_clear(best))
        if is_read and lacks_part and shares["ask"] > readings_share:
            return self._chooser.decide(grammar_request, grammar_readings)
        is_possible = is_read or options[0].outcome != "none"
        return self._ask(likeliest, offered, top, is_possible=is_possible)

    def _with_stated(
        self, request: Request, outcome: Interpretation, written: Sequence[MeaningCandidate]
    ) -> Interpretation:
        """Return an outcome, or a question if a search for a value may be meant instead of an answer."""
        if not isinstance(outcome, ContentQuestion) or (stated := _stated_value(written)) is None:
            return outcome
        question = self._outcomes.option_reading(Option({}, outcome="question"), request)
        return self._chooser.ask(request, [question, stated])

    def _run(
        self, likeliest: Request, top: Option, grammar_request: Request, grammar_readings: list[Reading]
    ) -> Reading | None:
        """Return the likeliest reading if it may run: a change only if the grammar agrees; else None."""
        if top.reading is None or not top.is_clear or top.share < MIN_RUN_PROBABILITY:
            return None
        if not likeliest.writes(top.reading):
            return top.reading
        if not top.is_agreed:
            return None
        is_expected = top.reading.last.action == "move" and top.share >= MIN_SURE_PROBABILITY
        run = self._chooser.decide(grammar_request, grammar_readings, is_expected=is_expected)
        if not isinstance(run, Reading):
            return None
        return replace(run, is_certain=run.is_certain or is_expected)

    def _ask(
        self, request: Request, offered: Sequence[Option], top: Option | None, *, is_possible: bool
    ) -> Interpretation:
        """Return a question with some options, or an outcome if none of them is possible.

        Args:
            request: The request.
            offered: The options.
            top: The likeliest reading, which is offered if the options contain none.
            is_possible: Whether the request may be about the notes.
        """
        if not any(option.reading for option in offered):
            if offered and (top is None or offered[0].share > top.share):
                return self._outcomes.interpret(offered[0].outcome, request)
            offered = [top] if top is not None and not is_change_by_noun(top, request) else []
        if offered and is_possible:
            answers = [self._outcomes.option_reading(option, request) for option in offered]
            return self._chooser.ask(request, answers, [option.share for option in offered])
        is_question = request.tokens[0].key in request.language.words("asking_words")
        return ContentQuestion(request.text) if is_question else Reply("", understood=False)

    def ask_if_unexpected(
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
        options = options_of(written(), [interpretation], asks=self._outcomes.is_question(request))
        others = [
            self._outcomes.option_reading(option, request)
            for option in offered_options(without_partial(request, weigh_options(options)), request)
            if option.reading is None or not have_same_meaning(option.reading, interpretation)
        ]
        return self._chooser.ask(request, [interpretation, *others])


def _asks_for_permission(request: Request, best: Reading | None) -> bool:
    """Return whether a request asks what may be done, and is no order: "can I use peaches instead?"."""
    start = request.language.match_prefix(request.tokens, 0, "permission_leads")
    is_order = bool(request.actions_at(request.tokens, start))
    if best is None or best.score == GUESS_SCORE or best.score < MIN_READ_SCORE or not start:
        return bool(start) and not is_order
    nouns, target = request.language.words("note_nouns"), best.last.target
    is_topic = best.last.action == "find" and target is not None and bool(bare_words(target.query))
    return is_topic and not is_order and nouns.isdisjoint(token.key for token in request.tokens)


def _asks_for_definition(request: Request) -> bool:
    """Return whether a request asks what something is, not about a note: "what is a daily note?"."""
    language, tokens = request.language, without_marks_at_end(request.tokens)
    after = language.match_prefix(tokens, 0, "definitions", "one")
    names_note = any(mention.kind == "note" for mention in request.mentions(tokens))
    is_one = 0 < after < len(tokens) <= after + _MAX_DEFINED_WORDS and not names_note
    return is_one or language.matches_phrase(tokens, "definitions", "several")


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
    if is_seldom_seen(best):
        return None
    if first is None or expected >= MIN_EXPECTED_PROBABILITY or request.writes(best):
        return None
    is_confident = written[0].probability >= MIN_RIVAL_PROBABILITY
    is_possible = is_clear(first) and not request.writes(first) and not has_wrong_number(first.steps[0])
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
