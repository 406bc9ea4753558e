"""Answer questions about a note with its properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.agent.comparison.chosen_readings import is_settled
from app.agent.language.grammar.note_facts import (
    FACTS,
    PropertiesOf,
    find_fact,
    join_facts,
    may_answer,
    says_sum,
    split_questions,
)
from app.agent.language.grammar.questions import question_language
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.clarifications import MAX_OPTIONS, with_options
from app.agent.language.meaning.conditions import top_level_parts
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.model.candidates import have_same_meaning
from app.agent.language.words.lexicon import languages
from app.agent.request_interpreter import RequestInterpreter
from app.agent.shown_results import MIN_OTHER_PROBABILITY, MIN_SHOWN_PROBABILITY
from app.vault.path import name_key

_QUESTION_ACTIONS = frozenset(("properties_of", "question"))


class FactAnswers:
    """Answers questions with a property of the note that they are about.

    Args:
        requests: Interprets the parts of a question.
        properties_of: Returns the properties of the note at a path; without it, no question is answered.
    """

    def __init__(self, requests: RequestInterpreter, properties_of: PropertiesOf | None) -> None:
        self._requests = requests
        self._properties_of = properties_of

    def joined_facts(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation | None:
        """Return the answer to two questions about properties of one note; None for other requests."""
        is_question = question_language(text, languages()) is not None
        if self._properties_of is None or is_settled(interpretation, text, state) or not is_question:
            return None
        state = self._requests.state_for(text, state)
        for first, second in split_questions(self._requests.request_of(text, state)):
            parts = (self._requests.request_of(first, state), self._requests.request_of(second, state))
            if joined := join_facts(parts, self._properties_of, state):
                return joined
        return None

    def with_fact(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Answer the question with the property of the note that fits; offer the other readings with it."""
        is_understood = isinstance(interpretation, Reply) and interpretation.understood
        if self._properties_of is None or is_understood or isinstance(interpretation, ModelRequired):
            return interpretation
        is_sum = says_sum(request)
        if isinstance(interpretation, Reading):
            is_sum = is_sum and interpretation.last.action == "count"
            if not is_sum and not _asks_for_missing(interpretation, self._properties_of):
                return interpretation
        offered = interpretation.options if isinstance(interpretation, Clarification) else ()
        actions = {option.reading.last.action for option in offered}
        if isinstance(interpretation, Clarification) and not (is_sum or actions & _QUESTION_ACTIONS):
            return interpretation
        fact = find_fact(request, self._properties_of)
        if fact is None:
            is_asked = is_sum or _asks_for_first(interpretation, request)
            return _with_values_first(interpretation, is_sum=is_sum) if is_asked else interpretation
        if isinstance(interpretation, Reading):
            # "When was it published?" means `published` in a note without the more common `year`.
            is_same_note = fact.reading.last.target == interpretation.last.target
            return fact.reading if is_same_note or is_sum else interpretation
        if fact.is_named and not offered:
            return fact.reading
        if not offered and isinstance(interpretation, ContentQuestion):
            step = PipelineStep("question", None, {"query": request.text})
            other = Reading((step,), fact.reading.score, language=fact.reading.language)
            offered = (ClarificationOption(serialize(other), other),)
        is_look = not any(request.writes(known.reading) for known in offered)
        is_question = question_language(request.text, (request.language,)) is not None
        share = MIN_SHOWN_PROBABILITY if is_question and is_look else 0.0
        option = ClarificationOption(serialize(fact.reading), fact.reading, share)
        others = [
            replace(known, share=max(known.share, MIN_OTHER_PROBABILITY))
            for known in offered
            if not have_same_meaning(known.reading, fact.reading)
        ]
        return with_options(Clarification("", ()), (option, *others))

    def without_other_facts(self, clarification: Clarification, request: Request) -> Clarification:
        """Return a question without properties that are no answer; it then offers one from the notes."""
        offered = clarification.options + clarification.spare
        actions = {option.reading.last.action for option in offered}
        is_question = question_language(request.text, languages()) is not None
        if self._properties_of is None or not is_question or not actions & _QUESTION_ACTIONS:
            return clarification
        before = (
            [option.reading for option in request.dialog.question.options]
            if request.dialog.question is not None
            else []
        )
        before += [request.dialog.last] if request.dialog.last is not None else []
        asked = {reading.last.arguments.get("about") for reading in before}  # "and the last one?"

        def is_answer(option: ClarificationOption) -> bool:
            step = option.reading.last
            is_fact = step.action == "properties_of" and "about" in step.arguments
            if not is_fact or step.target is None or step.arguments["about"] in asked:
                return True
            about, notes = str(step.arguments["about"]), step.target.notes
            properties = self._properties_of(notes[0]) if self._properties_of and len(notes) == 1 else {}
            value = {name_key(name): value for name, value in properties.items()}.get(name_key(about))
            return len(notes) != 1 or may_answer(request, about, value)

        kept = [option for option in offered if is_answer(option)]
        if len(kept) == len(offered):
            return clarification
        if "question" not in actions and len(kept) < MAX_OPTIONS:
            step = PipelineStep("question", None, {"query": request.text})
            other = Reading((step,), 1.0, language=request.language.code)
            kept.append(ClarificationOption(serialize(other), other))
        return with_options(clarification, kept)


def _asks_for_first(interpretation: Interpretation, request: Request) -> bool:
    """Return whether a question names the property that its first option shows: "what rent do they pay?"."""
    if not isinstance(interpretation, Clarification) or not interpretation.options:
        return False
    step, keys = interpretation.options[0].reading.last, {token.key for token in request.tokens}
    is_named = step.action == "properties_of" and name_key(str(step.arguments.get("about"))) in keys
    return is_named and question_language(request.text, languages()) is not None


def _with_values_first(interpretation: Interpretation, *, is_sum: bool) -> Interpretation:
    """Return a question with the first option that shows values of several notes as the likeliest one.

    No sum leaves out a condition that a search has: "the total rent of the paid ones".
    """
    if not isinstance(interpretation, Clarification):
        return interpretation
    offered = (*interpretation.options, *interpretation.spare)
    for option in offered:
        step, target = option.reading.last, option.reading.last.target
        if step.action == "properties_of" and target is not None and not target.is_single:
            if is_sum and _leaves_out_condition(step, offered):
                return interpretation
            likeliest = replace(option, share=max(option.share, MIN_SHOWN_PROBABILITY))
            return with_options(interpretation, [likeliest, *(own for own in offered if own is not option)])
    return interpretation


def _leaves_out_condition(step: PipelineStep, offered: Sequence[ClarificationOption]) -> bool:
    """Return whether one of some searches narrows the notes of a step by another property than its own."""
    about, queries = f"[{step.arguments.get('about')}", [step.target.query if step.target else ""]
    finds = [own.reading.last for own in offered if own.reading.last.action == "find"]
    queries += [own.target.query for own in finds if own.target]
    known, *others = ({*top_level_parts(query)} for query in queries)
    return any(known < own and any(not part.startswith(about) for part in own - known) for own in others)


def _asks_for_missing(reading: Reading, properties_of: PropertiesOf) -> bool:
    """Return whether a reading shows only one property of one note, which is missing or a checkbox."""
    step = reading.last
    if len(reading.steps) > 1 or step.action != "properties_of" or "about" not in step.arguments:
        return False
    about = str(step.arguments["about"])
    if about in FACTS or step.target is None or len(step.target.notes) != 1:
        return False
    properties = {name_key(name): value for name, value in properties_of(step.target.notes[0]).items()}
    return isinstance(properties.get(name_key(about), True), bool)
