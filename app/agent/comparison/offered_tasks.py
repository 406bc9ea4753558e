"""Offer the tasks that would be changed instead of words for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.agent.comparison.chosen_readings import is_settled
from app.agent.comparison.plain_task_changes import with_meant_task
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.actions import TASK_ACTIONS
from app.agent.language.meaning.clarifications import with_options
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    Interpretation,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.tasks.task_matching import matching_tasks, names_task
from app.agent.pipeline.task_questions import task_reading
from app.answering.question import stop_words
from app.index.records import TaskRecord

MAX_TASKS = 10_000
"""Maximum number of tasks of a vault among which words are looked up."""
_MAX_OFFERED_TASKS = 3
"""Maximum number of tasks that are offered instead of the same words."""

TasksOf = Callable[[], Sequence[TaskRecord]]
"""Returns the open and completed tasks of the vault."""


@dataclass(frozen=True, slots=True)
class _Described:
    """An option, and the tasks that its words mean; None for an option that changes no task by its words."""

    option: ClarificationOption
    tasks: tuple[TaskRecord, ...] | None = None

    def is_vague_form_of(self, other: _Described) -> bool:
        """Return whether the other option makes the same change of the only task that it means."""
        if self.tasks is None or other.tasks is None or not len(self.tasks) > len(other.tasks) == 1:
            return False
        step, other_step = self.option.reading.last, other.option.reading.last
        is_same = step.action == other_step.action
        is_same = is_same and step.arguments.get("due") == other_step.arguments.get("due")
        return is_same and other.tasks[0] in self.tasks


class OfferedTasks:
    """Finds the tasks that the options of a question would change.

    Args:
        tasks_of: Returns the tasks of the vault; without it, options stay as they are.
    """

    def __init__(self, tasks_of: TasksOf | None) -> None:
        self._tasks_of = tasks_of

    def name_tasks(
        self, options: Sequence[ClarificationOption], request: Request
    ) -> tuple[ClarificationOption, ...]:
        """Return the options with the texts of tasks in place of words for them.

        Words for a few tasks become an option for each, those of the notes in focus first. Words for no task
        of a note may mean the only ones of other notes that contain all of them. Options for words without a
        task are left out if others are left.
        """
        if self._tasks_of is None or not any(map(_words, options)):
            return tuple(options)
        tasks = self._tasks_of()
        if len(tasks) >= MAX_TASKS:
            return tuple(options)  # the right task may be missing
        described = [
            _Described(option, _matches(option.reading.last, words, tasks, request))
            if (words := _words(option))
            else _Described(option)
            for option in options
        ]
        kept = [
            own
            for own in described
            if own.tasks != () and not any(own.is_vague_form_of(other) for other in described)
        ]
        return tuple(option for own in kept for option in _named(own, tasks)) or tuple(options)

    def compare_tasks(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Return a question without tasks that notes lack, or the change of the only task that can be meant.

        Such a change is also offered instead of a list of tasks, which no statement asks for.
        """
        lists = isinstance(interpretation, Reading) and interpretation.last.action == "list_tasks"
        is_reply = isinstance(interpretation, Reply) and not interpretation.understood
        if self._tasks_of is None or not (lists or is_reply or isinstance(interpretation, Clarification)):
            return interpretation
        if is_settled(interpretation, request.text, request.dialog):
            return interpretation
        tasks = self._tasks_of()
        if len(tasks) >= MAX_TASKS:
            return interpretation
        known = interpretation if isinstance(interpretation, Clarification) else Clarification("", ())
        if isinstance(interpretation, Reading):
            known = replace(known, options=(ClarificationOption(serialize(interpretation), interpretation),))
        offered = [own for own in self.name_tasks(known.options, request) if _has_task(own, tasks, request)]
        if offered != list(known.options):
            known = with_options(known, [*offered, *known.spare])
        changed = with_meant_task(known, request, [own for own in tasks if not own.done])
        if isinstance(interpretation, Clarification):
            is_left = isinstance(changed, Reading) or changed.options or not interpretation.options
            return changed if is_left else Reply("", understood=False)
        return interpretation if changed is known else changed


def _has_task(option: ClarificationOption, tasks: Sequence[TaskRecord], request: Request) -> bool:
    """Return whether the notes of an option have the task that it changes; True for other options."""
    step, code = option.reading.last, request.language.code
    if step.action not in TASK_ACTIONS or len(option.reading.steps) > 1:
        return True
    words = str(step.arguments.get("query", ""))
    if "query" in step.arguments and stop_words(code).issuperset(words.casefold().split()):
        return False
    if step.target is None or not step.target.notes or step.target.query:
        return True
    is_done, paths = _changes_completed(step), step.target.notes
    own = [(str(task.path), task.text) for task in tasks if task.done == is_done and str(task.path) in paths]
    return bool(matching_tasks(words, own, code) if words else own)


def _words(option: ClarificationOption) -> str:
    """Return the words for the task that an option changes; "" for another option."""
    step = option.reading.last
    is_one = len(option.reading.steps) == 1 and not {"which", "occurrence"} & set(step.arguments)
    is_known = step.target is None or (bool(step.target.notes) and not step.target.query)
    is_task = step.action in TASK_ACTIONS and is_one and is_known
    return str(step.arguments.get("query", "")) if is_task else ""


def _changes_completed(step: PipelineStep) -> bool:
    return step.action == "reopen_task"


def _matches(
    step: PipelineStep, words: str, tasks: Sequence[TaskRecord], request: Request
) -> tuple[TaskRecord, ...]:
    """Return the tasks that words mean, those of the notes in focus first."""
    code = request.language.code
    candidates = [task for task in tasks if task.done == _changes_completed(step)]
    notes = step.target.notes if step.target is not None else ()
    here = [task for task in candidates if not notes or str(task.path) in notes]
    pairs = [(str(task.path), task.text) for task in here]
    found = set(matching_tasks(words, pairs, code))
    matches = [task for task, pair in zip(here, pairs, strict=True) if pair in found]
    matches = matches or [task for task in candidates if names_task(words, task.text, code)]
    focus = (*request.dialog.it, *request.dialog.this)
    return tuple(sorted(matches, key=lambda task: str(task.path) not in focus))


def _named(described: _Described, tasks: Sequence[TaskRecord]) -> list[ClarificationOption]:
    """Return an option for each task that an option means; the option itself if these are too many."""
    option, matches = described.option, described.tasks
    if matches is None or len(matches) > _MAX_OFFERED_TASKS:
        return [option]
    # The change counts equal tasks among those that it can be made to.
    is_done = _changes_completed(option.reading.last)
    lines = [(str(task.path), task.text, task.line) for task in tasks if task.done == is_done]
    readings = [
        replace(
            option.reading,
            steps=task_reading(option.reading.last, [(str(task.path), task.text, task.line)], lines).steps,
        )
        for task in matches
    ]
    share = option.share / len(readings)
    return [replace(option, label=serialize(own), reading=own, share=share) for own in readings]
