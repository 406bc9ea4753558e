"""Interpret requests with the names of the vault and the tools that are turned on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property

from app.agent.language.grammar.request import Request, writes
from app.agent.language.grammar.request_parser import RequestContext
from app.agent.language.interpretation.outcomes import is_outcome, meaning_of, meaning_of_choice
from app.agent.language.interpreter import Interpreter
from app.agent.language.meaning.actions import ACTIONS, Action
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import PREFIX, parse, serialize
from app.agent.language.meaning.readings import (
    Interpretation,
    Reading,
    Reply,
    note_sets_of,
)
from app.agent.language.words.lexicon import ActionFrame, Language, languages
from app.agent.language.words.tool_frames import tool_frames
from app.agent.language.words.vault_words import VaultWords
from app.agent.language.words.vocabulary import Vocabulary
from app.agent.replies import (
    LACKS_VALUE,
    NO_SUCH_NOTE,
)
from app.errors import NotFoundError
from app.index.resolver import Resolver
from app.toolkit.registry import ToolRegistry
from app.vault.path import NotePath, name_key


class RequestInterpreter:
    """Interprets requests.

    Args:
        registry: The tools; requests for tools that are turned off are not understood.
        resolver: Finds notes by name.
        words: Returns the vault's tags, types, properties and their texts.
        now: Returns the current time.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        resolver: Resolver,
        words: Callable[[], VaultWords],
        now: Callable[[], datetime],
    ) -> None:
        self._registry = registry
        self._resolver = resolver
        self._words = words
        self.now = now

    @cached_property
    def _interpreter(self) -> Interpreter:
        # Loading the language files can wait until the first request.
        return Interpreter(languages(), serialize, self._tool_actions[1])

    @cached_property
    def _tool_actions(self) -> tuple[Mapping[str, Action], tuple[ActionFrame, ...]]:
        return tool_frames(self._registry.all_tools())

    def interpret(self, text: str, state: DialogState) -> Interpretation:
        """Interpret a request in the state of a conversation.

        A request in the app's own notation, which choices and chips send, is parsed directly. If it names a
        missing note or lacks a value, the result is a reply that says so.
        """
        return self.interpret_in(text, state, self.vocabulary_of(self._words()))

    def interpret_without_guesses(self, text: str, state: DialogState) -> Interpretation:
        """Interpret a request, but not as a search for its words."""
        return self.interpret_in(text, state, self.vocabulary_of(self._words()), guesses=False)

    def interpret_in(
        self,
        text: str,
        state: DialogState,
        vocabulary: Callable[[Language], Vocabulary],
        *,
        guesses: bool = True,
    ) -> Interpretation:
        """Interpret a request with other names than those of the vault (see `interpret`)."""
        if text.lstrip().startswith(PREFIX) and (found := self._interpret_notation(text, state, vocabulary)):
            return found
        now = self.now().replace(second=0, microsecond=0)
        state = self.state_for(text, state)
        context = RequestContext(state, vocabulary, self.actions(), now)
        return self._interpreter.interpret(text, context, guesses=guesses)

    def _interpret_notation(
        self, text: str, state: DialogState, vocabulary: Callable[[Language], Vocabulary]
    ) -> Interpretation | None:
        """Return the meaning of a request in the app's own notation; None if it can't be parsed."""
        if (selected := _selected_reading(text, state)) is not None:
            return meaning_of_choice(selected, self.actions())
        reading = parse(text, vocabulary(languages()[0]).notes, self.actions())
        if reading is None:
            return None
        reading = replace(reading, language=_language_for_notation(reading, state))
        if len(reading.steps) > 1 and any(map(is_outcome, reading.steps)):
            return Reply("", understood=False)
        # The name of a missing note must not select all notes.
        missing = next((notes.unknown for notes in note_sets_of(reading) if notes.unknown), "")
        if missing:
            return Reply(NO_SUCH_NOTE.format(missing))
        for step in reading.steps:
            needs = self.actions()[step.action].needs
            lacking = next((role for role in needs if role not in (*step.arguments, "target")), "")
            if lacking:
                return Reply(LACKS_VALUE.format(step.action, lacking))
        return meaning_of(reading)

    def state_for(self, text: str, state: DialogState) -> DialogState:
        """Return the state in which a request is read after an answer.

        A request with a pronoun may be about the note in which the answer is, unless it is a change. "Here"
        is the note on the screen, and so is the note of a change without a pronoun after a question about no
        note that was named before.
        """
        if not state.asked:
            return state
        request = self.request_of(text, state)
        verbs = (request.actions_at(request.tokens, at) for at in range(len(request.tokens)))
        is_change = any(writes(request.allowed, verb) for verb in next(filter(None, verbs), ()))
        has_pronoun = self._interpreter.has_pronoun(text)
        names = (name for path in state.subject for name in name_key(NotePath.on_disk(path).name).split())
        is_named = any(f" {name}" in f" {name_key(state.asked)}" for name in names)
        is_known = is_named or not set(state.subject).isdisjoint(state.recent)
        is_on_screen = is_change and not (has_pronoun or is_known) and state.open_note is not None
        says_here = any(token.key in request.language.table("doubts")["places"] for token in request.tokens)
        if is_on_screen or says_here:
            return replace(state, focus=(), is_lost=False)
        return state if has_pronoun and not is_change else state.about_subject(is_change=is_change)

    def request_of(self, text: str, state: DialogState) -> Request:
        """Return a request in its likeliest language."""
        now = self.now().replace(second=0, microsecond=0)
        vocabulary = self.vocabulary_of(self._words())
        return self._interpreter.request_of(text, RequestContext(state, vocabulary, self.actions(), now))

    def question_request(self, text: str, state: DialogState, resolver: Resolver) -> Request:
        """Return a question as a request that knows only the names of notes."""
        now = self.now().replace(second=0, microsecond=0)
        vocabulary = self.vocabulary_of(VaultWords(), resolver)
        return self._interpreter.request_of(text, RequestContext(state, vocabulary, self.actions(), now))

    def vocabulary_of(
        self, words: VaultWords, resolver: Resolver | None = None
    ) -> Callable[[Language], Vocabulary]:
        """Return a function that returns names and words as the vocabulary of a language."""

        def vocabulary(language: Language) -> Vocabulary:
            return Vocabulary(
                self._resolver if resolver is None else resolver,
                words,
                language.data.get("plurals", ()),
                language.table("types"),
                language.table("nouns"),
            )

        return vocabulary

    def actions(self) -> Mapping[str, Action]:
        """Return the actions whose tools are available and turned on, by id."""
        all_actions = {**ACTIONS, **self._tool_actions[0]}
        return {
            action.id: action for action in all_actions.values() if not action.tool or self.is_on(action.tool)
        }

    def is_change(self, reading: Reading) -> bool:
        """Return whether a reading changes something."""
        return any(self.actions()[step.action].writes for step in reading.steps)

    def is_on(self, tool: str) -> bool:
        """Return whether a tool is available and turned on."""
        try:
            return self._registry.category(self._registry.get(tool).category).on
        except NotFoundError:
            return False

    def language_of(self, text: str, state: DialogState) -> Language:
        """Return the language that knows the largest share of a request's words, or that of the dialog."""
        return self._interpreter.language_of(text, state)


def _language_for_notation(reading: Reading, state: DialogState) -> str:
    """Return the language of a reading in the app's notation, which has none of its own.

    That is the language of the option that does the same, or else of the request before it, whose chips it
    may come from.
    """
    options = state.question.options if state.question is not None else ()
    same = (option.reading for option in options if option.reading.has_same_steps(reading))
    before = next(same, state.last)
    return before.language if before is not None else reading.language


def _selected_reading(text: str, state: DialogState) -> Reading | None:
    """Return the option of the open question that a request in the app's notation selects, or None.

    An option may name notes that only its first step restores.
    """
    options = state.question.options if state.question is not None else ()
    notation = text.strip().removeprefix(PREFIX).strip()
    selected = (option.reading for option in options if serialize(option.reading) == notation)
    return next((Reading(own.steps, 1.0, language=own.language) for own in selected), None)
