"""Answer questions about a note with its properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.agent.comparison.chosen_readings import is_settled
from app.agent.comparison.found_notes import FoundNotes
from app.agent.language.grammar.joined_facts import join_facts, split_questions
from app.agent.language.grammar.linked_facts import MAX_WORDS, find_fact_of_link, find_linked_fact
from app.agent.language.grammar.note_facts import (
    FACTS,
    NoteFact,
    PropertiesOf,
    asked_kinds,
    find_fact,
    may_answer,
    notes_asked_about,
    present_values,
    says_sum,
)
from app.agent.language.grammar.questions import is_question, question_language
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
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.model.candidates import have_same_meaning
from app.agent.language.words.lexicon import languages
from app.agent.request_interpreter import RequestInterpreter
from app.agent.shown_results import MIN_OTHER_PROBABILITY, MIN_SHOWN_PROBABILITY
from app.index.query_serializer import quote_value
from app.vault.path import name_key

_QUESTION_ACTIONS = frozenset(("properties_of", "question"))


class FactAnswers:
    """Answers questions with a property of the note that they are about.

    Args:
        requests: Interprets the parts of a question.
        found: Searches for the notes that link to the one in a question.
        properties_of: Returns the properties of the note at a path; without it, no question is answered.
    """

    def __init__(
        self, requests: RequestInterpreter, found: FoundNotes, properties_of: PropertiesOf | None
    ) -> None:
        self._requests = requests
        self._found = found
        self._properties_of = properties_of

    def joined_facts(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation | None:
        """Return the answer to two questions about properties of one note; None for other requests."""
        asks = question_language(text, languages()) is not None
        if self._properties_of is None or is_settled(interpretation, text, state) or not asks:
            return None
        state = self._requests.state_for(text, state)
        for first, second in split_questions(self._requests.request_of(text, state)):
            parts = (self._requests.request_of(first, state), self._requests.request_of(second, state))
            if joined := join_facts(parts, self._properties_of, state):
                return joined
        return None

    async def with_fact(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Answer the question with the property of the note that fits; offer the other readings with it."""
        is_understood = isinstance(interpretation, Reply) and interpretation.understood
        if self._properties_of is None or is_understood or isinstance(interpretation, ModelRequired):
            return interpretation
        is_sum = says_sum(request)
        if isinstance(interpretation, Reading) and not (is_sum and interpretation.last.action == "count"):
            if not _asks_for_one(interpretation):
                return interpretation
            return await self._with_known_value(interpretation, request, self._properties_of)
        offered = interpretation.options if isinstance(interpretation, Clarification) else ()
        actions = {option.reading.last.action for option in offered}
        fact = find_fact_of_link(request, self._properties_of)
        is_free = is_sum or bool(actions & _QUESTION_ACTIONS) or (fact is not None and is_question(request))
        if isinstance(interpretation, Clarification) and not is_free:
            return interpretation
        fact = fact or await self._fact(request, self._properties_of)
        if fact is None:
            is_asked = is_sum or _asks_for_first(interpretation, request)
            return _with_values_first(interpretation, is_sum=is_sum) if is_asked else interpretation
        if isinstance(interpretation, Reading) or (fact.is_named and not offered):
            return fact.reading
        if not offered and isinstance(interpretation, ContentQuestion):
            step = PipelineStep("question", None, {"query": request.text})
            other = Reading((step,), fact.reading.score, language=fact.reading.language)
            offered = (ClarificationOption(serialize(other), other),)
        is_look = not any(request.writes(known.reading) for known in offered)
        asks = question_language(request.text, (request.language,)) is not None
        share = MIN_SHOWN_PROBABILITY if asks and is_look else 0.0
        option = ClarificationOption(serialize(fact.reading), fact.reading, share)
        others = [
            replace(known, share=max(known.share, MIN_OTHER_PROBABILITY))
            for known in offered
            if not have_same_meaning(known.reading, fact.reading)
        ]
        others.sort(key=lambda known: known.reading.last.action != "question")
        return with_options(Clarification("", ()), (option, *others))

    async def _with_known_value(
        self, reading: Reading, request: Request, properties_of: PropertiesOf
    ) -> Interpretation:
        """Return the answer to a question about one value of one note, which the note may lack.

        "When was it published?" means `published` in a note without the more common `year`, and "his email?"
        that of a linked note. "How old is she?" asks for no time of the note's file. Without a value, the
        answer is a passage.
        """
        if fact := find_fact_of_link(request, properties_of):
            return fact.reading
        step = reading.last
        is_age = step.arguments["about"] in FACTS and "ages" in asked_kinds(request, request.tokens)
        notes, about = step.target.notes if step.target else (), step.arguments["about"]
        values = present_values(properties_of, notes, about)
        if not is_age and (about in FACTS or not all(isinstance(value, bool) for value in values)):
            return reading
        is_missing = not values and not is_age
        fact = await self._fact(request, properties_of) if is_missing else find_fact(request, properties_of)
        if fact is not None and (is_missing or fact.reading.last.target == step.target):
            return fact.reading
        persons = request.language.words("personal_pronouns")
        is_of_person = is_age and any(token.key in persons for token in request.tokens)
        return (
            ContentQuestion(request.text)
            if is_of_person or (is_missing and is_question(request))
            else reading
        )

    async def _fact(self, request: Request, properties_of: PropertiesOf) -> NoteFact | None:
        """Return the fact that a question names in its notes, or else in a note one link away."""
        own = find_fact(request, properties_of)
        if own is not None and (own.is_named or not says_sum(request)):
            return own
        return await self._linked_fact(request, properties_of) or own

    async def _linked_fact(self, request: Request, properties_of: PropertiesOf) -> NoteFact | None:
        """Return the fact of a note one link away from the one in a question, or None."""
        if (fact := find_linked_fact(request, properties_of)) or not self._found.can_search:
            return fact
        paths = asked[0] if (asked := notes_asked_about(request, MAX_WORDS)) is not None else ()
        if len(paths) != 1:
            return None
        linking = await self._found.with_hits(NoteSet(query=f"links-to:{quote_value(paths[0])}"))
        return find_linked_fact(request, properties_of, linking.notes)

    def without_other_facts(self, clarification: Clarification, request: Request) -> Clarification:
        """Return a question without properties that are no answer; it then offers one from the notes."""
        offered = clarification.options + clarification.spare
        actions = {option.reading.last.action for option in offered}
        asks = question_language(request.text, languages()) is not None
        if self._properties_of is None or not asks or not actions & _QUESTION_ACTIONS:
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


def _asks_for_one(reading: Reading) -> bool:
    """Return whether a reading shows only one value of one note."""
    step = reading.last
    is_value = len(reading.steps) == 1 and step.action == "properties_of" and "about" in step.arguments
    return is_value and step.target is not None and len(step.target.notes) == 1
