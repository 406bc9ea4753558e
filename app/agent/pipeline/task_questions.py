"""The tasks that a search found, and the question which of them is meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.tasks.task_matching import names_task, task_text
from app.agent.pipeline.run_state import RunState

MAX_CHOICES = 5
TaskLine = tuple[str, str, int]
"""A task as its note's path, its line, and the number of the line."""


def tasks_in(hits: Iterable[Mapping[str, Any]]) -> list[TaskLine]:
    """Return the tasks in the lines of hits."""
    return [
        (str(hit["path"]), str(line["text"]).strip(), int(line["line"]))
        for hit in hits
        for line in hit["lines"]
    ]


def ask_for_task_elsewhere(
    state: RunState, step: PipelineStep, hits: Sequence[Mapping[str, Any]], notes: Collection[str]
) -> bool:
    """Ask which task of other notes is meant by a step's words; return False if they name none.

    The words are the step's query, or the text that it removes.
    """
    role = "query" if "query" in step.arguments else "old"
    words = str(step.arguments[role])
    tasks = tasks_in(hit for hit in hits if hit["path"] not in notes)
    matches = [task for task in tasks if names_task(words, task_text(task[1]), state.language.code)]
    readings = [
        Reading((replace(step, target=NoteSet(notes=(path,))).with_argument(role, task_text(line)),), 1.0)
        for path, line, _ in matches[:MAX_CHOICES]
    ]
    if readings:
        is_one = len(readings) == 1
        state.ask("Is this what you mean?" if is_one else "Which task do you mean?", readings)
    return bool(readings)


def task_reading(step: PipelineStep, tasks: Sequence[TaskLine], matches: Sequence[TaskLine]) -> Reading:
    """Return the reading that selects `tasks` among `matches`, by their numbers if texts are not unique."""
    steps: list[PipelineStep] = []
    for task in tasks:
        path, line, _ = task
        text = task_text(line)
        equal_tasks = [
            match
            for match in dict.fromkeys(matches)
            if match[0] == path and task_text(match[1]).casefold() == text.casefold()
        ]
        arguments = {**step.arguments, "query": text}
        if len(equal_tasks) > 1:
            arguments["occurrence"] = str(equal_tasks.index(task) + 1)
        steps.append(PipelineStep(step.action, NoteSet(notes=(path,)), arguments))
    return Reading(tuple(steps), 1.0)
