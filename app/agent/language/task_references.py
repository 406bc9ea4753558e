"""Find the tasks that a change means: "check it off" after a list of tasks, "mark “buy milk” as done"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.tokens import Token, span_text

TASK_CHANGES = ("complete_task", "reopen_task", "reschedule_task")
_SCORE = 0.98


def parse_task_change(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the readings of a request that completes or reopens a task without the word "task".

    The task is quoted, or one of the tasks listed or changed last. A pronoun that may mean any of several
    tasks has a reading for each of them.
    """
    for action, phrase in _phrases(request, tokens):
        named = _named_tasks(request, phrase)
        if named:
            return [
                Reading((_step(action, task),), _SCORE, language=request.language.code, verb_words=1)
                for task in named
            ]
        if every := _all_tasks(request, phrase):
            steps = tuple(_step(action, task) for task in every)
            return [Reading(steps, _SCORE, language=request.language.code, verb_words=1)]
    return []


def _step(action: str, task: tuple[str, str]) -> PipelineStep:
    path, text = task
    return PipelineStep(action, NoteSet(notes=(path,)) if path else None, {"query": text})


def _phrases(request: Request, tokens: tuple[Token, ...]) -> Iterator[tuple[str, tuple[Token, ...]]]:
    """Yield the actions whose phrases span all tokens, each with the words for the task."""
    for name in TASK_CHANGES:
        if name not in request.allowed:
            continue
        for phrase in request.language.phrases("task_changes", name):
            for match in phrase.match(tokens, 0):
                if match.end == len(tokens) and match.gap_start >= 0:
                    yield name, tokens[match.gap_start : match.gap_end]


def _named_tasks(request: Request, phrase: Sequence[Token]) -> list[tuple[str, str]]:
    """Return the tasks that the words mean, each as its note and its text."""
    language, dialog = request.language, request.dialog
    words = [token for token in phrase if token.key not in language.words("determiners")]
    if len(words) == 1 and words[0].kind == "quoted":
        text = words[0].value
        known = [task for task in dialog.tasks if task[1].casefold() == text.casefold()]
        return known[:1] or ([("", text)] if not request.vocabulary.notes(text) else [])
    if not dialog.tasks:
        return []
    ordinal = request.set_parser().ordinal_in(phrase)
    if ordinal is not None:
        is_listed = -len(dialog.tasks) <= ordinal <= len(dialog.tasks) and ordinal != 0
        return [dialog.tasks[ordinal - 1 if ordinal > 0 else ordinal]] if is_listed else []
    if any(language.matches_phrase(phrase, name) for name in ("it", "this")):
        last = dialog.last.last if dialog.last is not None and len(dialog.last.steps) == 1 else None
        changed = last.target if last is not None and last.action in TASK_CHANGES else None
        if last is not None and changed is not None and changed.is_single and last.arguments.get("query"):
            return [(changed.notes[0], str(last.arguments["query"]))]
        return list(dialog.tasks)
    text = span_text(request.text, tuple(phrase)).casefold()
    return [task for task in dialog.tasks if task[1].casefold() == text][:1]


def _all_tasks(request: Request, phrase: Sequence[Token]) -> list[tuple[str, str]]:
    """Return the listed tasks if the words mean all of them: "check them off"."""
    return list(request.dialog.tasks) if request.language.matches_phrase(phrase, "them") else []
