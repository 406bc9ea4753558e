"""Answer questions about the contents of the notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
        source, asked = source_note(request)
        listed, asked_of_list = listed_source(request)
        text = asked or asked_of_list or with_topic_of(question.text, state.asked, languages())
        subject, before = _named_note(text, resolver), state.subject if state.asked else state.it
        if has_antecedent(request) and (
            not (state.asked or state.focus) or _has_word_of_other_name(request, before)
        ):
            before = ()
        if not subject and before and text == question.text:
            text = with_name_for_pronouns(text, NotePath.on_disk(before[0]).name, languages())
            is_continued = bool(state.focus) and self._continues(text, state, language, resolver)
            refers = any(request.language.has_phrase(request.tokens, name) for name in ("it", "this"))
            is_about_it = text != question.text or is_continued or refers
            subject = before if is_about_it else ()
        if source:
            text = with_name_for_pronouns(asked, NotePath.on_disk(source).name, languages())
            subject = (source,)
        only = (source,) if source else listed
        if not only and subject and text != question.text and not state.asked:
            only = subject[:1]  # "how long does it bake?"
        arguments = {"question": text, "limit": MAX_PASSAGES, **({"notes": [*only]} if only else {})}
        outcome = await turn.call("find_passages", arguments)
        if only and only == subject[:1] and not source and not _is_answered(outcome):
            # The question is about this note, but the answer may be in another one.
            arguments = {"question": text, "limit": MAX_PASSAGES}
            wide = await turn.call("find_passages", arguments, repeats=True)
            wide = _with_passages_about(wide, only[0])
            outcome = wide if _is_answered(wide) else _with_closer(wide, outcome)
        elif (
            (is_certain or asks_for_time(text))
            and not (only or _is_answered(outcome))
            and (in_talk := state.it[:1])
            and not _has_word_of_other_name(request, in_talk)
        ):
            # "Who came along?" names no note, so it may be about a property of the note in talk.
            arguments_in_talk = {**arguments, "notes": [*in_talk]}
            stated = await turn.call("find_passages", arguments_in_talk, repeats=True)
            if _is_answered(stated):
                only, subject, arguments, outcome = in_talk, in_talk, arguments_in_talk, stated
            else:
                outcome = _with_closer(outcome, stated)
        templates = request.vocabulary.templates_folder
        nouns = language.table("template_notes")["nouns"]
        if not only and templates and not any(token.key in nouns for token in request.tokens):
            outcome = _without_folder(outcome, templates)
        if not is_certain and not _is_answered(outcome):
            return None
        if outcome.success and question.needs_model and not outcome.result["answered"]:
            say_model_required(turn, question.needs_model, language)
            return replace(state, question=None, focus=subject, is_lost=not subject)
        defined = defined_note(request)
        is_known = outcome.success and bool(defined) and self._requests.is_on("get_metadata")
        if is_known and not _quotes(outcome.result, defined):
            # Only properties of other notes mention the name: what this note states says more.
            return Reading(
                (PipelineStep("properties_of", NoteSet(notes=(defined,))),), 1.0, language=language.code
            )
        answer = format_outcome(AnsweredCall("find_passages", arguments), outcome)
        is_foreign = language.code != _ENGLISH or is_unspaced_sentence(text)
        if outcome.success and not outcome.result["answered"] and is_foreign and self._is_english_only():
            answer = f"{answer}\n\n{ONLY_ENGLISH}"
        turn.say(localize(answer, language))
        passages = shown_passages(outcome.result) if outcome.success else []
        paths = tuple(dict.fromkeys(str(passage["path"]) for passage in passages))
        # "Open that" means the note of the first passage, "when was he born?" still the one asked about.
        focus = subject if not paths or set(subject) & set(paths) else paths[:1]
        # The closest passages without an answer may be about anything, so their note is in doubt.
        found = Reading((PipelineStep("find", NoteSet(notes=paths)),), 1.0, is_certain=_is_answered(outcome))
        last_reading = found if paths else state.last
        return replace(
            state,
            results=paths or state.results,
            rest=(),
            asked=text,
            subject=subject or (paths if len(paths) == 1 and _is_answered(outcome) else ()),
            question=None,
            focus=focus,
            is_lost=not focus,
            last=last_reading,
        )

    def _continues(self, text: str, state: DialogState, language: Language, resolver: Resolver) -> bool:
        """Return whether a question without names is about the note in focus: "and how many last year?"."""
        request = self._requests.question_request(text, state, resolver)
        if any(mention.kind == "note" for mention in request.mentions(request.tokens)):
            return False
        words = [token for token in request.tokens if token.is_word]
        refers = language.has_phrase(words, "it")
        return refers or len(words) <= _MAX_CONTINUATION_WORDS


def say_model_required(turn: Turn, required: ModelRequired, language: Language) -> None:
    """Tell the user that a request needs a model, and offer to set one up."""
    text = model_required_text(localize(required.work, language))
    turn.ask(
        localize(text, language),
        (AnswerChoice(label="Set up a model…", reply="", action=SET_UP_MODEL),),
    )


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


def _without_folder(outcome: ToolOutcome, folder: str) -> ToolOutcome:
    """Return found passages without those of the notes in a folder."""
    if not outcome.success:
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
