"""Compare the interpretation of a request with the vault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.agent.comparison.abbreviated_properties import with_abbreviation
from app.agent.comparison.alternatives import with_alternatives
from app.agent.comparison.change_questions import ChangeQuestions
from app.agent.comparison.chosen_readings import is_chosen, is_option
from app.agent.comparison.compared_properties import ComparedProperties
from app.agent.comparison.daily_notes import DailyNotes
from app.agent.comparison.date_changes import DateChanges
from app.agent.comparison.described_tasks import DescribedTasks
from app.agent.comparison.explained_lists import with_explained_list
from app.agent.comparison.fact_answers import FactAnswers
from app.agent.comparison.found_notes import FoundNotes, finds_nothing
from app.agent.comparison.joined_orders import JoinedOrders
from app.agent.comparison.merged_options import MergedOption, meant_options, merge_options
from app.agent.comparison.note_headings import HeadingsOf, NoteHeadings
from app.agent.comparison.offered_changes import (
    without_asked_changes,
    without_deletions,
    without_self_relations,
)
from app.agent.comparison.offered_order import (
    with_fitting_number_first,
    with_known_property_first,
    with_named_note_first,
    with_note_in_talk,
    with_stated_value_first,
)
from app.agent.comparison.offered_tasks import OfferedTasks, TasksOf
from app.agent.comparison.plain_changes import VALUE_ACTIONS, is_plain_change, only_states_value
from app.agent.comparison.possessive_names import OwnedNotes
from app.agent.comparison.values_of_open_note import OwnValues
from app.agent.language.changes.property_changes import PropertyChanges
from app.agent.language.doubts.option_order import USELESS, OptionRanker
from app.agent.language.doubts.stated_changes import StatedChanges
from app.agent.language.grammar.coverage import accounts_for_all
from app.agent.language.grammar.note_facts import PropertiesOf, present_values
from app.agent.language.grammar.questions import is_question
from app.agent.language.grammar.request import Request
from app.agent.language.interpretation.compound_requests import without_dropped_orders
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE
from app.agent.language.interpretation.interpretation_choice import MIN_RUN_PROBABILITY
from app.agent.language.interpretation.outcomes import meaning_of
from app.agent.language.lookups.list_orders import (
    asks_by_date,
    asks_by_length,
    asks_for_age,
    by_age,
    by_stated_date,
    by_stated_length,
)
from app.agent.language.lookups.periods import asks_for_period, by_day_names, with_stated_dates
from app.agent.language.meaning.clarifications import MAX_OPTIONS, question_about
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    ContentQuestion,
    Interpretation,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.words.vault_words import VaultWords
from app.agent.request_interpreter import RequestInterpreter

MIN_SHARED_MEANING_PROBABILITY = 0.75
"""The minimum total probability of readings that mean the same notes at which the first one runs."""
MIN_PLAIN_CHANGE_PROBABILITY = 0.75
"""The minimum total probability of readings with the same plain change at which it runs."""
MIN_FALLBACK_PROBABILITY = 0.05
"""Minimum probability of a question's likeliest option when the search for the words found nothing."""


class VaultComparison:
    """Revises interpretations according to the vault.

    Args:
        requests: Interprets requests with the names of the vault.
        found: Searches for the notes of readings; if it can't, only questions about properties are compared.
        words: Returns the vault's tags, types, properties and their texts.
        properties_of: Returns the properties of the note at a path; without it, a question about a note is
            never answered with a property that it does not name, and no change is in doubt.
        tasks_of: Returns the tasks of the vault; without it, options show the words for tasks.
        headings_of: Returns the headings of the note at a path; without it, options may name missing ones.
    """

    def __init__(
        self,
        requests: RequestInterpreter,
        found: FoundNotes,
        words: Callable[[], VaultWords],
        properties_of: PropertiesOf | None,
        tasks_of: TasksOf | None = None,
        headings_of: HeadingsOf | None = None,
    ) -> None:
        self._requests = requests
        self._words = words
        self._properties_of = properties_of
        self._found = found
        self._facts = FactAnswers(requests, found, properties_of)
        self._own_values = OwnValues(properties_of)
        self._headings = NoteHeadings(headings_of)
        self._owned = OwnedNotes(self._compare_text, properties_of)
        self._tasks = DescribedTasks(found)
        self._offered_tasks = OfferedTasks(tasks_of)
        self._daily = DailyNotes(found)
        self._dates = DateChanges(found, properties_of)
        self._questions = ChangeQuestions(found, words, properties_of)
        self._compared = ComparedProperties(found, properties_of)
        self._orders = JoinedOrders(requests, found, self.compare, self._compare_one)

    async def compare(self, interpretation: Interpretation, text: str, state: DialogState) -> Interpretation:
        """Return the interpretation of a request, revised according to the vault.

        If a guess finds nothing, the request is interpreted without guesses. In a question, options that do
        the same are merged into the likeliest one; unusual changes, and then options without an effect, come
        last; changes without one are left out. If the first
        option changes nothing, it is returned instead of the question, provided that it is the only one or
        likely enough after the merge. A change runs if all options of a likely question mean it. Properties
        have the names that the request gives them. A question about one note may be answered by one of its
        properties. If a request reschedules a task of a note without open tasks, the days in the note's
        properties are offered. A change in doubt becomes a question. Several orders in one request are
        compared one by one, and no reading drops one of them. Other interpretations stay unchanged.
        """
        if facts := self._facts.joined_facts(interpretation, text, state):
            return facts
        is_split, joined = False, None
        if self._found.can_search:
            is_split, joined = await self._orders.join(interpretation, text, state)
        request = self._requests.request_of(text, state)
        if joined is not None:
            return self._offered_tasks.compare_tasks(joined, request)
        compared = await self._compare_one(interpretation, text, state)
        compared = await self._owned.with_owned_note(compared, request)
        compared = await with_abbreviation(compared, request, self._properties_of, self._compare_text)
        kept = without_dropped_orders(request, compared)
        if not is_split and not (isinstance(compared, Clarification) and isinstance(kept, Clarification)):
            kept = compared
        compared = self._offered_tasks.compare_tasks(kept, request)
        if not isinstance(compared, Clarification) or not self._found.can_search:
            return compared
        return await with_explained_list(compared, request, self._finds)

    async def _finds(self, reading: Reading) -> bool:
        """Return whether a search finds notes."""
        return not finds_nothing(reading, await self._found.with_found_notes(reading))

    async def _compare_text(self, text: str, request: Request) -> Interpretation:
        """Return the interpretation of another text in the dialog of a request, revised by the vault."""
        interpretation = self._requests.interpret(text, request.dialog)
        return await self._compare_one(interpretation, text, request.dialog)

    async def _compare_one(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation:
        """Return the interpretation of one order, revised according to the vault."""
        request = self._requests.request_of(text, self._requests.state_for(text, state))
        interpretation = await self._facts.with_fact(interpretation, request)
        if not self._found.can_search:
            return interpretation
        ranker = OptionRanker(text, self._words(), self._found.with_hits, self._properties_of)
        interpretation = await self._with_vault_values(interpretation, request, ranker)
        is_guess = isinstance(interpretation, Reading) and interpretation.score == GUESS_SCORE
        if isinstance(interpretation, Reading) and (is_guess or is_question(request)):
            finds = await self._finds(interpretation)
            if is_guess and finds:
                return interpretation
            if not is_guess and not finds:
                fact = await self._facts.with_fact(ContentQuestion(text), request)
                return interpretation if isinstance(fact, ContentQuestion) else fact
        if is_guess:  # it finds nothing
            plain = self._requests.interpret_without_guesses(text, request.dialog)
            interpretation = await self._facts.with_fact(plain, request)
            interpretation = await self._tasks.with_described_task(interpretation, request)
        if isinstance(interpretation, Reading) and request.writes(interpretation):
            interpretation = await self._questions.ask_in_doubt(interpretation, request, ranker)
        if not isinstance(interpretation, Clarification):
            return interpretation
        return await self._compare_question(interpretation, request, ranker, is_wrong_guess=is_guess)

    async def _with_vault_values(
        self, interpretation: Interpretation, request: Request, ranker: OptionRanker
    ) -> Interpretation:
        """Return an interpretation with the headings, tasks, values and days of the vault that it means."""
        interpretation = await self._own_values.prefer(interpretation, request, ranker.exists_near)
        interpretation = self._headings.with_heading(interpretation, request)
        interpretation = await self._tasks.with_described_task(interpretation, request)
        interpretation = await self._tasks.with_tasks_of_notes(interpretation, request)
        interpretation = await self._dates.with_date_changes(interpretation, request)
        interpretation = await self._dates.with_likely_year(interpretation, request)
        interpretation = self._with_property_changes(interpretation, request)
        interpretation = self._with_stated_changes(interpretation, request)
        interpretation = await self._daily.restrict(interpretation, request)
        interpretation = await self._compared.with_compared_property(interpretation, request)
        if isinstance(interpretation, Reading):
            interpretation = await self._with_days_and_order(interpretation, request)
        return interpretation

    async def _compare_question(
        self, question: Clarification, request: Request, ranker: OptionRanker, *, is_wrong_guess: bool
    ) -> Interpretation:
        """Return a question with the options that the vault allows, the likeliest one first.

        Return the meaning of an option that is left alone, and no unlikely options after a wrong guess.
        """
        question = self._facts.without_other_facts(question, request)
        options = [await self._option_in_order(option, request) for option in question.options]
        if [option.reading.last.action for option in options] == ["question"]:
            return meaning_of(options[0].reading)
        spare = [await self._option_in_order(option, request) for option in question.spare]
        question = replace(question, options=tuple(options), spare=tuple(spare))
        question = self._headings.without_missing_headings(question, request)
        question = without_asked_changes(without_deletions(question, request), request)
        question = without_self_relations(question)
        merged = await self._merge_options(question, request, ranker, is_wrong_guess=is_wrong_guess)
        if not isinstance(merged, Clarification):
            return merged
        question = with_note_in_talk(with_stated_value_first(merged, request), request)
        question = self._questions.with_note_on_screen(question, request)
        question = with_named_note_first(question, request)
        if self._properties_of is None:
            return question
        question = with_fitting_number_first(question, request, self._properties_of)
        return await with_known_property_first(
            question, request.dialog, self._properties_of, ranker.exists_near
        )

    async def _option_in_order(self, option: ClarificationOption, request: Request) -> ClarificationOption:
        """Return an option with the dates and the order that the request states."""
        reading = await self._with_days_and_order(option.reading, request)
        same = reading == option.reading
        return option if same else ClarificationOption(serialize(reading), reading, option.share)

    async def _with_days_and_order(self, reading: Reading, request: Request) -> Reading:
        """Return a search with the dates and the order that the request states for properties of notes."""
        if self._properties_of is None or is_chosen(reading, request.text, request.dialog):
            return reading
        reading = with_stated_dates(request, reading, self._properties_of)
        reading = await self._by_day_names(request, reading)
        is_by_date, is_by_length = asks_by_date(request, reading), asks_by_length(request, reading)
        if not is_by_date and not is_by_length and not asks_for_age(request, reading):
            return reading
        notes = (await self._found.with_found_notes(reading)).last.target
        paths = (notes.notes if notes is not None else ()) or request.dialog.them
        if is_by_date:
            return by_stated_date(request, reading, paths, self._properties_of)
        if is_by_length:
            return by_stated_length(request, reading, paths, self._properties_of)
        return by_age(request, reading, paths, self._properties_of)

    async def _merge_options(
        self, question: Clarification, request: Request, ranker: OptionRanker, *, is_wrong_guess: bool
    ) -> Interpretation:
        """Merge the options of a question that do the same; return the meaning of one that is left alone."""
        named = self._offered_tasks.name_tasks((*question.options, *question.spare), request)
        merged = await merge_options(named, request, self._found, ranker)
        likeliest = max((own.share for own in merged if own.rank != USELESS), default=0.0)
        if is_wrong_guess and likeliest < MIN_FALLBACK_PROBABILITY:
            return Reply("", understood=False)
        if not merged:
            return question
        offered = tuple(own.option for own in merged[:MAX_OPTIONS])
        meant = meant_options(merged)[:MAX_OPTIONS]
        shown = meant or offered
        if (stated := self._stated_value(request, meant)) is not None:
            asked = await self._questions.ask_in_doubt(stated.reading, request, ranker)
            if isinstance(asked, Reading):
                return asked
            shown = (stated, *(option for option in shown if option is not stated))[:MAX_OPTIONS]
        first, is_alone = merged[0], len(merged) == 1
        reading, is_new = first.option.reading, question.options not in (shown, offered)
        is_same = is_alone and len(question.options) > 1 and first.share >= MIN_RUN_PROBABILITY
        is_same = is_same and reading.last.action != "undo"  # which change is meant is the question
        is_expected = first.is_change and is_new and is_same and accounts_for_all(request, reading)
        if is_expected or await self._is_plain_change(first, request):
            return await self._questions.ask_in_doubt(reading, request, ranker)
        is_likely = is_alone or first.share >= MIN_SHARED_MEANING_PROBABILITY
        if is_new and is_likely and not first.is_change:
            return meaning_of(reading)
        if shown == question.options:
            return question
        return replace(question, question=question_about(shown), options=shown, spare=())

    def _stated_value(
        self, request: Request, options: Sequence[ClarificationOption]
    ) -> ClarificationOption | None:
        """Return the first option that changes a property of one note if it alone gives the stated value.

        Return None for other options.
        """
        if (properties_of := self._properties_of) is None:
            return None
        sets = [option for option in options if option.reading.last.action in VALUE_ACTIONS]
        changes = [own for own in sets if own.reading.last.target and own.reading.last.target.is_single]
        stated = [own for own in changes if only_states_value(request, own.reading, properties_of)]
        # A note that lacks the property is less likely than one that has it.
        having = [own for own in changes if _present(properties_of, own.reading.last)]
        return stated[0] if len(stated) == 1 and stated[0] is (having or changes)[0] else None

    async def _is_plain_change(self, merged: MergedOption, request: Request) -> bool:
        """Return whether a change runs although the grammar does not expect it."""
        if merged.share < MIN_PLAIN_CHANGE_PROBABILITY or not merged.is_change:
            return False
        reading = merged.option.reading
        found = await self._found.with_listed_hits(request.dialog, reading)
        return is_plain_change(request, found, self._properties_of) and accounts_for_all(request, reading)

    async def _by_day_names(self, request: Request, reading: Reading) -> Reading:
        """Return a search for the notes of a period by their names if none was changed in that period."""
        if not asks_for_period(request, reading) or await self._finds(reading):
            return reading
        named = by_day_names(request, reading)
        return named if named is not None and await self._finds(named) else reading

    def _with_property_changes(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Return an interpretation that sets properties as the request names them, and keeps other values."""
        if self._properties_of is None or not isinstance(interpretation, Reading | Clarification):
            return interpretation
        if isinstance(interpretation, Reading) and is_chosen(interpretation, request.text, request.dialog):
            return interpretation
        changes = PropertyChanges(request, self._properties_of)
        return with_alternatives(interpretation, changes.alternatives)

    def _with_stated_changes(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Return an interpretation with the other values that its changes may mean: sums, lists and days."""
        if self._properties_of is None or not isinstance(interpretation, Reading | Clarification):
            return interpretation
        if isinstance(interpretation, Reading) and is_option(interpretation, request.text, request.dialog):
            return interpretation
        changes = StatedChanges(request, self._properties_of, self._words())
        return with_alternatives(interpretation, changes.alternatives, likelier_first=True)


def _present(properties_of: PropertiesOf, step: PipelineStep) -> list[object]:
    """Return the values that the property of a change has in its notes."""
    notes = step.target.notes if step.target is not None else ()
    return present_values(properties_of, notes, step.arguments.get("key"))
