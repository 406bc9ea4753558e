"""The built-in agent, which needs no language model: parse the request, call tools, format their results."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from app.agent.comparison.chosen_readings import is_chosen, is_option
from app.agent.comparison.found_notes import FoundNotes
from app.agent.comparison.note_headings import HeadingsOf
from app.agent.comparison.offered_tasks import TasksOf
from app.agent.comparison.vault_comparison import VaultComparison
from app.agent.language.changes.text_additions import verbatim_texts
from app.agent.language.changes.undo import describe_undo
from app.agent.language.doubts.stated_days import gives_only_day
from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.questions import question_language
from app.agent.language.meaning.actions import Action
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import PREFIX, serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.words.answers import localize
from app.agent.language.words.chips import Chip, describe_readings, reading_chips
from app.agent.language.words.lexicon import Language, languages
from app.agent.language.words.linked_values import linked_value
from app.agent.language.words.vault_words import VaultWords
from app.agent.language.words.vocabulary import Vocabulary
from app.agent.note_answers import NoteAnswers, model_choice, say_model_required
from app.agent.pipeline.host import ChangesToday, FindNotes, PipelineHost
from app.agent.pipeline.pipeline import Pipeline
from app.agent.replies import AMBIGUOUS_MESSAGE, HELP, READ_ONLY_MESSAGE, reply_text
from app.agent.request_interpreter import RequestInterpreter
from app.agent.shown_results import answer_first, other_readings, shown_result, with_answer_last
from app.agent.transcript import AnswerChoice, ReadingChip
from app.agent.turn import Turn
from app.index.resolver import Resolver
from app.permissions.pluralize import pluralize
from app.toolkit.registry import ToolRegistry

BUILTIN_NAME = "Built-in agent"
"""The agent's name as the caller of tools, also in the audit log."""
_SEARCHED_FOLDER = re.compile(r'(?<!-)path:(?:"([^"]*/)"|([^\s()"]*/))')


class Responder(Protocol):
    """An agent that answers turns: the built-in agent or a model."""

    async def respond(self, turn: Turn) -> None:
        """Answer by streaming text and calling tools; the turn ends on return."""
        ...


class BuiltinAgent:
    """Answer requests by parsing them, and keep each conversation's state to resolve words such as "it".

    Args:
        registry: The tools; requests for tools that are turned off are not understood.
        resolver: Finds notes by name.
        words: Returns the vault's tags, types, properties and their texts.
        changes_today: Returns the audit entries of this agent's changes since midnight, oldest first.
        now: Returns the current time.
        find_notes: Returns every note that a search matches; without it, a question may offer several
            searches with the same notes.
        public_words: Returns the words that a model may know; without it, a model's requests name none.
        public_resolver: Returns the names of the notes that a model may know; without it, none.
        properties_of: Returns the properties of the note at a path; without it, a question about a note is
            never answered with a property that it does not name, and no change is in doubt.
        is_english_only: Returns whether the semantic search model supports only English.
        tasks_of: Returns the tasks of the vault; without it, a question shows the words for a task.
        headings_of: Returns the headings of the note at a path; without it, a question may name missing ones.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        resolver: Resolver,
        words: Callable[[], VaultWords],
        changes_today: ChangesToday = tuple,
        now: Callable[[], datetime] = datetime.now,
        find_notes: FindNotes | None = None,
        public_words: Callable[[], VaultWords] | None = None,
        public_resolver: Callable[[], Resolver] | None = None,
        properties_of: PropertiesOf | None = None,
        is_english_only: Callable[[], bool] = lambda: False,
        tasks_of: TasksOf | None = None,
        headings_of: HeadingsOf | None = None,
    ) -> None:
        self._registry = registry
        self._resolver = resolver
        self._words = words
        self._public_words = public_words or VaultWords
        self._public_resolver = public_resolver or Resolver
        self._changes_today = changes_today
        self._find_notes = find_notes
        self._properties_of = properties_of
        self._requests = RequestInterpreter(registry, resolver, words, now)
        self._found = FoundNotes(find_notes)
        self._comparison = VaultComparison(
            self._requests, self._found, words, properties_of, tasks_of, headings_of
        )
        self._answers = NoteAnswers(self._requests, is_english_only)
        self._states: dict[tuple[str, str], DialogState] = {}

    async def respond(self, turn: Turn) -> None:
        """Carry out or answer the request, ask for clarification, or explain that it needs a model."""
        state = self.state(turn)
        if turn.caller.uses_model:
            # Not compared with the vault: the answer must not depend on what hidden notes contain.
            words, resolver = await asyncio.to_thread(self._public_names)
            vocabulary = self._requests.vocabulary_of(words, resolver)
            interpretation = self._requests.interpret_in(turn.prompt.text, state, vocabulary)
        else:
            text = turn.prompt.text
            interpretation = await self.compare_with_vault(self.interpret(text, state), text, state)
        language = self._requests.language_of(turn.prompt.text, state)
        # The open question ends here, whatever the outcome of this turn.
        is_answered = isinstance(interpretation, Reading) and is_chosen(
            interpretation, turn.prompt.text, state
        )
        is_settled = is_answered or (isinstance(interpretation, Reply) and interpretation.understood)
        later = replace(state, question=None, unanswered=()) if is_settled else state.without_question()
        self._states[_state_key(turn)] = later
        match interpretation:
            case Clarification() if interpretation.options and turn.caller.uses_model:
                # A model asks: the answer must not name notes that are hidden from it.
                turn.say(localize(AMBIGUOUS_MESSAGE, language))
            case Clarification() if shown := self.shown_result(interpretation):
                reading, others = shown
                if await self._carry_out(turn, reading, later) and others is not None:
                    await self._ask(turn, others, language)
            case Clarification():
                if (question := answer_first(interpretation, turn.prompt.text)) is not None:
                    if await self._answer_from_notes(turn, question, state, language, is_certain=False):
                        await self._ask(turn, other_readings(interpretation), language)
                        return
                    interpretation = with_answer_last(interpretation)
                # The second question in a row: the options of the first one were wrong.
                is_stuck = state.question is not None and len(interpretation.options) > 1 and not is_answered
                await self._ask(turn, interpretation, language, offers_model=is_stuck)
                self._states[_state_key(turn)] = replace(later, question=interpretation)
            case Reading():
                await self._carry_out(
                    turn,
                    interpretation,
                    later,
                    was_offered=is_option(interpretation, turn.prompt.text, state),
                )
            case ModelRequired():
                say_model_required(turn, interpretation, language)
                # "It" may refer to the result that the model would have produced.
                self._states[_state_key(turn)] = replace(later, focus=(), is_lost=True)
            case ContentQuestion():
                await self._answer_from_notes(turn, interpretation, state, language)
            case Reply():
                reply = localize(reply_text(interpretation), language)
                if interpretation.text or turn.caller.uses_model:
                    turn.say(reply)
                else:
                    turn.ask(reply, (model_choice(language),))
                if not interpretation.understood:
                    self._states[_state_key(turn)] = replace(later, focus=(), is_lost=True)

    def interpret(self, text: str, state: DialogState) -> Interpretation:
        """Interpret a request in the state of a conversation (see `RequestInterpreter.interpret`)."""
        return self._requests.interpret(text, state)

    async def compare_with_vault(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation:
        """Return the interpretation of a request, revised by the vault (see `VaultComparison.compare`)."""
        return await self._comparison.compare(interpretation, text, state)

    def shown_result(self, question: Clarification) -> tuple[Reading, Clarification | None] | None:
        """Return the reading to carry out instead of a question, and the question that offers the others."""
        return shown_result(question, self._requests.is_change)

    def actions(self) -> Mapping[str, Action]:
        """Return the actions whose tools are available and turned on, by id."""
        return self._requests.actions()

    def is_content_question(self, text: str) -> bool:
        """Return whether a request is a question about the content of the notes."""
        is_question = question_language(text, languages()) is not None
        return is_question and isinstance(self.interpret(text, DialogState()), ContentQuestion)

    def state(self, turn: Turn) -> DialogState:
        """Return the dialog state of the turn's conversation, with the turn's open and attached notes."""
        state = self._states.get(_state_key(turn), DialogState())
        return state.with_notes(turn.prompt.open_note, turn.prompt.notes)

    async def _carry_out(
        self, turn: Turn, reading: Reading, state: DialogState, *, was_offered: bool = False
    ) -> bool:
        """Run a reading and keep the state after it; return False if a question remains open."""
        if reading.steps[0].action == "help":
            turn.say(localize(HELP, _language_of(reading)))
            return True
        if turn.caller.uses_model:
            # A model must not learn the names of hidden notes.
            words, resolver = await asyncio.to_thread(self._public_names)
            reading = _with_known_values(reading, Vocabulary(resolver, words))
        chips = reading_chips(reading)
        if turn.prompt.mode != "propose" and self._requests.is_change(reading):
            message = READ_ONLY_MESSAGE.format(" · ".join(chip.label for chip in chips))
            turn.say(localize(message, self._requests.language_of(turn.prompt.text, state)))
            return True
        turn.show_reading(tuple(map(_reading_chip, chips)))
        next_state = await self.run(
            turn,
            reading,
            turn.prompt.text,
            state,
            was_offered=was_offered,
            uses_model=turn.caller.uses_model,
        )
        self._states[_state_key(turn)] = next_state
        if next_state.question is not None:
            await self._ask(turn, next_state.question, _language_of(reading))
        return next_state.question is None

    async def run(
        self,
        host: PipelineHost,
        reading: Reading,
        text: str,
        state: DialogState,
        *,
        was_offered: bool = False,
        uses_model: bool = False,
    ) -> DialogState:
        """Run a reading; return the dialog state after it, which may have a question.

        Args:
            host: Calls the tools and shows the answers.
            reading: The reading.
            text: The request that it is a reading of.
            state: The state of the dialog before the request.
            was_offered: Whether the user has chosen the reading among the options of a question.
            uses_model: Whether a model sees the answers; it must not learn what hidden notes contain.
        """
        request = self._requests.request_of(text, state)
        pipeline = Pipeline(
            host,
            self._registry,
            _language_of(reading),
            state,
            self._changes_today,
            self._requests.actions(),
            self._public_words if uses_model else self._words,
            None if uses_model else self._find_notes,
            self._requests.now,
            self._properties_of,
            gives_only_day=not was_offered and gives_only_day(request, reading),
            verbatim=verbatim_texts(request, reading),
            keeps_words=was_offered,
        )
        return await pipeline.run(reading)

    async def _ask(
        self, turn: Turn, clarification: Clarification, language: Language, *, offers_model: bool = False
    ) -> None:
        options = clarification.options
        changes = self.state(turn).changes
        labels = [
            describe_undo(option.reading, changes) or label
            for option, label in zip(
                options, describe_readings([option.reading for option in options]), strict=True
            )
        ]
        choices = []
        for option, label in zip(options, labels, strict=True):
            notation = serialize(option.reading)
            # Some options have a label other than their notation: the path of a note, or words around a text.
            own_label = option.label if option.label != notation else label
            # A model must not learn how many hidden notes a change is about.
            if extent := "" if turn.caller.uses_model else await self._extent(option.reading):
                own_label = f"{own_label} · {localize(extent, language)}"
            choices.append(AnswerChoice(label=own_label, reply=f"{PREFIX} {notation}"))
        if offers_model and all(option.reading.last.action != "model" for option in options):
            choices.append(model_choice(language))
        turn.ask(localize(clarification.question, language), tuple(choices))

    async def _extent(self, reading: Reading) -> str:
        """Return how many notes of a search a change is about, and how many of them are in subfolders.

        Return an empty text for other readings.
        """
        target = reading.steps[0].target
        is_change = self._requests.actions()[reading.steps[0].action].writes
        if not is_change or target is None or not target.query or target.notes or not self._found.can_search:
            return ""
        found = await self._found.with_hits(target)
        if found.query:
            return ""  # the search failed
        folders = {(quoted or plain).casefold() for quoted, plain in _SEARCHED_FOLDER.findall(target.query)}
        parents = [f"{path.rpartition('/')[0]}/".casefold() for path in found.notes]
        below = sum(parent not in folders and parent.startswith(tuple(folders)) for parent in parents)
        count = pluralize(len(found.notes), "note")
        return f"{count}, {below:,} in subfolders" if below else count

    def _public_names(self) -> tuple[VaultWords, Resolver]:
        return self._public_words(), self._public_resolver()

    async def _answer_from_notes(
        self,
        turn: Turn,
        question: ContentQuestion,
        state: DialogState,
        language: Language,
        *,
        is_certain: bool = True,
    ) -> bool:
        """Answer a question and keep the state after it; return False if a doubtful one has no answer."""
        resolver = self._resolver
        if turn.caller.uses_model:
            resolver = await asyncio.to_thread(self._public_resolver)
        answered = await self._answers.answer(
            turn, question, state, language, resolver, is_certain=is_certain
        )
        if isinstance(answered, Reading):
            await self._carry_out(turn, answered, state)
        elif answered is not None:
            self._states[_state_key(turn)] = answered
        return answered is not None


def _language_of(reading: Reading) -> Language:
    return next(language for language in languages() if language.code == reading.language)


def _reading_chip(chip: Chip) -> ReadingChip:
    return ReadingChip(
        label=chip.label,
        without=chip.without,
        value=chip.value,
        change=chip.change,
        value_kind=chip.kind,
        lead=chip.lead,
    )


def _state_key(turn: Turn) -> tuple[str, str]:
    return turn.conversation, turn.agent


def _with_known_values(reading: Reading, vocabulary: Vocabulary) -> Reading:
    """Return a reading with the links that the texts of its properties mean in the vault."""
    language = _language_of(reading)

    def known(key: str, value: object) -> object:
        is_text = isinstance(value, str) and bool(value)
        return linked_value(vocabulary, language, key, str(value)) if is_text else value

    def with_value(step: PipelineStep) -> PipelineStep:
        if step.action != "set_property" or "value" not in step.arguments:
            return step
        key, value = str(step.arguments.get("key")), step.arguments["value"]
        items = tuple(known(key, item) for item in value) if isinstance(value, tuple) else known(key, value)
        return step.with_argument("value", items)

    return replace(reading, steps=tuple(map(with_value, reading.steps)))
