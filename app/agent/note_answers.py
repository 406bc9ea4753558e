"""Answer questions about the contents of the notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from app.agent.answered_call import AnsweredCall
from app.agent.language.grammar.questions import (
    defined_note,
    has_antecedent,
    listed_source,
    source_note,
    with_name_for_pronouns,
    with_topic_of,
)
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import (
    ContentQuestion,
    ModelRequired,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.words.answers import localize
from app.agent.language.words.lexicon import Language, languages
from app.agent.replies import (
    NOT_UNDERSTOOD,
    ONLY_ENGLISH,
    model_required_text,
)
from app.agent.request_interpreter import RequestInterpreter
from app.agent.result_formatting import format_outcome, shown_passages
from app.agent.transcript import SET_UP_MODEL, AnswerChoice
from app.agent.turn import Turn
from app.answering.question import asks_for_time, is_unspaced_sentence
from app.index.resolver import Resolver
from app.toolkit.outcome import ToolOutcome
from app.vault.path import NotePath, name_key

MAX_PASSAGES = 3
"""The maximum number of passages in an answer."""
_MAX_CONTINUATION_WORDS = 5
_MAX_NAME_WORDS = 8
_MIN_NAME_LENGTH = 4
_PROPERTY = re.compile(r"[\w -]+:\s")
_ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class _Search:
    """A search for passages.

    Attributes:
        text: The question, with a name instead of a pronoun.
        subject: The notes that the question is about.
        notes: The notes to search; empty for all of them.
        is_guess: Whether `notes` is a guess: if they have no answer, all notes are searched.
    """

    text: str
    subject: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_guess: bool = False

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the tool `find_passages`."""
        limits: dict[str, Any] = {"notes": [*self.notes]} if self.notes else {}
        return {"question": self.text, "limit": MAX_PASSAGES, **limits}


class NoteAnswers:
    """Answers questions with passages of the notes.

    Args:
        requests: Interprets questions.
        is_english_only: Returns whether the semantic search model supports only English.
    """

    def __init__(self, requests: RequestInterpreter, is_english_only: Callable[[], bool]) -> None:
        self._requests = requests
        self._is_english_only = is_english_only

    async def answer(
        self,
        turn: Turn,
        question: ContentQuestion,
        state: DialogState,
        language: Language,
        resolver: Resolver,
        *,
        is_certain: bool = True,
    ) -> DialogState | Reading | None:
        """Show the passages that answer a question about the notes, or report that none does.

        Return the state after the answer, or the reading that shows what the note itself states.

        Args:
            turn: The turn.
            question: The question.
            state: The state of the dialog before it.
            language: Its language.
            resolver: The names of the notes that may be known.
            is_certain: Whether the request is a question; otherwise, return None if no passage answers it.
        """
        if not self._requests.is_on("find_passages"):
            turn.say(localize(NOT_UNDERSTOOD, language))
            return state.without_question()
        request = self._requests.question_request(question.text, state, resolver)
        search = self._passages_wanted(request, question.text, state, language, resolver)
        search, outcome = await _find(turn, search)
        is_question = is_certain or asks_for_time(search.text)
        if is_question and not (search.notes or search.is_guess or _is_answered(outcome)):
            search, outcome = await _find_in_talk(turn, search, outcome, request, state.it[:1])
        if not search.notes:
            outcome = _without_templates(outcome, request, language)
        is_answered = _is_answered(outcome)
        if not (is_certain or is_answered):
            return None
        if outcome.success and question.needs_model and not is_answered:
            say_model_required(turn, question.needs_model, language)
            return replace(state, question=None, focus=search.subject, is_lost=not search.subject)
        defined = defined_note(request)
        is_known = outcome.success and bool(defined) and self._requests.is_on("get_metadata")
        if is_known and not _quotes(outcome.result, defined):
            # Only properties of other notes mention the name: what this note states says more.
            return Reading(
                (PipelineStep("properties_of", NoteSet(notes=(defined,))),), 1.0, language=language.code
            )
        answer = format_outcome(AnsweredCall("find_passages", search.arguments), outcome)
        is_foreign = language.code != _ENGLISH or is_unspaced_sentence(search.text)
        if outcome.success and not is_answered and is_foreign and self._is_english_only():
            answer = f"{answer}\n\n{ONLY_ENGLISH}"
        turn.say(localize(answer, language))
        return _state_after(state, search, outcome)

    def _passages_wanted(
        self, request: Request, text: str, state: DialogState, language: Language, resolver: Resolver
    ) -> _Search:
        """Return the search that a question asks for."""
        source, asked = source_note(request)
        if source:
            asked = with_name_for_pronouns(asked, NotePath.on_disk(source).name, languages())
            return _Search(asked, (source,), (source,))
        listed, asked_of_list = listed_source(request)
        wanted = asked or asked_of_list or with_topic_of(text, state.asked, languages())
        subject, before = _named_note(wanted, resolver), state.subject if state.asked else state.it
        if has_antecedent(request) and (
            not (state.asked or state.focus) or _has_word_of_other_name(request, before)
        ):
            before = ()
        if not subject and before and wanted == text:
            wanted = with_name_for_pronouns(wanted, NotePath.on_disk(before[0]).name, languages())
            is_continued = bool(state.focus) and self._continues(wanted, state, language, resolver)
            refers = any(request.language.has_phrase(request.tokens, name) for name in ("it", "this"))
            subject = before if wanted != text or is_continued or refers else ()
        if not listed and subject and wanted != text and not state.asked:
            return _Search(wanted, subject, subject[:1], is_guess=True)  # "how long does it bake?"
        return _Search(wanted, subject, listed)

    def _continues(self, text: str, state: DialogState, language: Language, resolver: Resolver) -> bool:
        """Return whether a question without names is about the note in focus: "and how many last year?"."""
        request = self._requests.question_request(text, state, resolver)
        if any(mention.kind == "note" for mention in request.mentions(request.tokens)):
            return False
        words = [token for token in request.tokens if token.is_word]
        refers = language.has_phrase(words, "it")
        return refers or len(words) <= _MAX_CONTINUATION_WORDS


async def _find(turn: Turn, search: _Search) -> tuple[_Search, ToolOutcome]:
    """Search for passages; if the notes are a guess and have no answer, search all notes.

    Return the search that found them, and the outcome.
    """
    outcome = await turn.call("find_passages", search.arguments)
    if not search.is_guess or _is_answered(outcome):
        return search, outcome
    everywhere = replace(search, notes=())
    wide = await turn.call("find_passages", everywhere.arguments, repeats=True)
    wide = _with_passages_about(wide, search.notes[0])
    return everywhere, wide if _is_answered(wide) else _with_closer(wide, outcome)


async def _find_in_talk(
    turn: Turn, search: _Search, outcome: ToolOutcome, request: Request, in_talk: tuple[str, ...]
) -> tuple[_Search, ToolOutcome]:
    """Search the note in talk for an answer that no note has: "who came along?" may ask for its property."""
    if not in_talk or _has_word_of_other_name(request, in_talk):
        return search, outcome
    narrow = _Search(search.text, in_talk, in_talk)
    stated = await turn.call("find_passages", narrow.arguments, repeats=True)
    return (narrow, stated) if _is_answered(stated) else (search, _with_closer(outcome, stated))


def _state_after(state: DialogState, search: _Search, outcome: ToolOutcome) -> DialogState:
    """Return the state of the dialog after the passages were shown."""
    is_answered = _is_answered(outcome)
    passages = shown_passages(outcome.result) if outcome.success else []
    paths = tuple(dict.fromkeys(str(passage["path"]) for passage in passages))
    # "Open that" means the note of the first passage, "when was he born?" still the one asked about.
    focus = search.subject if not paths or set(search.subject) & set(paths) else paths[:1]
    # The closest passages without an answer may be about anything, so their note is in doubt.
    found = Reading((PipelineStep("find", NoteSet(notes=paths)),), 1.0, is_certain=is_answered)
    return replace(
        state,
        results=paths or state.results,
        rest=(),
        asked=search.text,
        subject=search.subject or (paths if len(paths) == 1 and is_answered else ()),
        question=None,
        focus=focus,
        is_lost=not focus,
        last=found if paths else state.last,
    )


def say_model_required(turn: Turn, required: ModelRequired, language: Language) -> None:
    """Tell the user that a request needs a model, and offer to set one up."""
    text = model_required_text(localize(required.work, language))
    turn.ask(localize(text, language), (model_choice(language),))


def model_choice(language: Language) -> AnswerChoice:
    """Return the choice that opens the model settings."""
    return AnswerChoice(label=localize("Set up a model…", language), reply="", action=SET_UP_MODEL)


def _named_note(text: str, resolver: Resolver) -> tuple[str, ...]:
    """Return the note that a question names; empty if it names none or several."""
    words = text.strip(" ?.!").split()
    matches: set[str] = set()
    for length in range(min(len(words), _MAX_NAME_WORDS), 0, -1):
        for start in range(len(words) - length + 1):
            name = " ".join(words[start : start + length]).strip('",;:?!“”')
            paths = [str(path) for path in resolver.resolve(name, None).candidates if path.is_note]
            if paths and (length > 1 or name[:1].isupper()):
                matches.update(paths)
        if matches:
            break
    return tuple(matches) if len(matches) == 1 else ()


def _has_word_of_other_name(request: Request, paths: Sequence[str]) -> bool:
    """Return whether a question has a word of another note's name: "what comes from Greenfield?"."""
    plain, find = request.language.function_words(), request.vocabulary.notes_with_word
    words = [token.key for token in request.tokens if token.is_word and token.key not in plain]
    return any(not {*find(word)} <= {*paths} for word in words)


def _is_answered(outcome: ToolOutcome) -> bool:
    """Return whether the found passages answer the question."""
    return outcome.success and bool(outcome.result["answered"])


def _quotes(result: Mapping[str, Any], path: str) -> bool:
    """Return whether an answer quotes the note at `path`, or more than a property of another one."""
    passages = shown_passages(result)
    return any(passage["path"] == path or not _PROPERTY.match(passage["source"]) for passage in passages)


def _without_templates(outcome: ToolOutcome, request: Request, language: Language) -> ToolOutcome:
    """Return found passages without those of templates, unless the question mentions templates."""
    folder, nouns = request.vocabulary.templates_folder, language.table("template_notes")["nouns"]
    if not outcome.success or not folder or any(token.key in nouns for token in request.tokens):
        return outcome
    found = cast("list[Mapping[str, Any]]", outcome.result["passages"])
    kept = [passage for passage in found if not str(passage["path"]).startswith(f"{folder}/")]
    is_answer = outcome.result["answered"] and any(not passage["weak"] for passage in kept)
    return replace(outcome, result={**outcome.result, "passages": kept, "answered": is_answer})


def _with_closer(outcome: ToolOutcome, stated: ToolOutcome) -> ToolOutcome:
    """Return found passages; if all of them are far from an answer, the properties in `stated` instead."""
    if not outcome.success or not stated.success or shown_passages(outcome.result):
        return outcome
    passages = [passage for passage in shown_passages(stated.result) if _PROPERTY.match(passage["source"])]
    return replace(outcome, result={**outcome.result, "passages": passages})


def _with_passages_about(outcome: ToolOutcome, path: str) -> ToolOutcome:
    """Return found passages of the note at a path; without any, those of other notes that name it."""
    if not outcome.success:
        return outcome
    names = [word for word in name_key(NotePath.on_disk(path).name).split() if len(word) >= _MIN_NAME_LENGTH]
    found = shown_passages(outcome.result)
    own = [passage for passage in found if passage["path"] == path]
    kept = own or [
        passage for passage in found if any(word in name_key(str(passage["source"])) for word in names)
    ]
    is_answer = bool(kept) and outcome.result["answered"]
    return replace(outcome, result={**outcome.result, "passages": kept, "answered": is_answer})
