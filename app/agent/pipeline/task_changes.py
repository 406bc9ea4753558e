"""Complete, reopen and reschedule tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice, product

from app.agent.language.doubts.stated_days import in_month_of
from app.agent.language.meaning.actions import ALL_TASKS, NO_DUE
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.tasks.task_matching import (
    TASK_BOX,
    days_within,
    field_of_tasks,
    matching_tasks,
    named_parts,
    names_task,
    says_not,
    task_text,
)
from app.agent.language.words.dates import shifted_day
from app.agent.language.words.lexicon import Language
from app.agent.pipeline.host import Arguments
from app.agent.pipeline.note_search import NoteSearch
from app.agent.pipeline.run_state import RunState
from app.agent.pipeline.task_questions import (
    MAX_CHOICES,
    TaskLine,
    ask_for_task_elsewhere,
    task_reading,
    tasks_in,
)
from app.agent.pipeline.tool_calls import ToolCalls
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.tasks import task_facts, with_due_date, without_due_date
from app.vault.path import NotePath


class TaskChanges:
    """Changes tasks, which the words of a step name.

    Args:
        tools: Calls the tools and shows their outcomes.
        search: Searches for tasks.
        state: The state of the dialog.
        language: The language of the request.
        today: Returns the current day.
        gives_only_day: Whether the request gives a new due date by its day alone, without a month.
    """

    def __init__(
        self,
        tools: ToolCalls,
        search: NoteSearch,
        state: RunState,
        language: Language,
        today: Callable[[], date],
        *,
        gives_only_day: bool,
    ) -> None:
        self._tools = tools
        self._search = search
        self._state = state
        self._language = language
        self._today = today
        self._gives_only_day = gives_only_day

    async def change(
        self, step: PipelineStep, previous: tuple[str, ...], later: Sequence[PipelineStep]
    ) -> tuple[str, ...] | None:
        """Check, clear or reschedule the task that a step's words name; ask if they name several tasks.

        Without words, the only open task of the notes is rescheduled.

        Args:
            step: The step.
            previous: The notes of the step before it.
            later: The steps after it, which a question about the month includes.
        """
        due: date | str | None = None
        if step.action == "reschedule_task":
            day = str(step.arguments["due"]).partition("..")[0]
            due = _parse_due(day)
            if due is None:
                self._tools.say(f"“{day}” is not a date such as 2026-03-25. Nothing was changed.")
                return None
        notes = await self._search.resolve(step.target, previous) if step.target is not None else None
        if step.target is not None and notes is None:
            return None
        hits = await self._search.search_all(f'{field_of_tasks(step.action)}:""')
        if hits is None:
            return None
        tasks = tasks_in(hit for hit in hits if notes is None or hit["path"] in notes)
        if "which" in step.arguments:
            return await self._change_set(step, tasks, due)
        words, occurrence = (str(step.arguments.get(name, "")) for name in ("query", "occurrence"))
        if occurrence and not words:
            # The position in the note, in which the next request may name another one.
            self._state.dialog = replace(
                self._state.dialog, tasks=tuple((path, task_text(line)) for path, line, _ in tasks)
            )
        needs_words = due is None and not occurrence
        lacks_task = needs_words and (notes is None or "query" in step.arguments)
        matches = tasks
        if (words or lacks_task) and not _is_name_of(step.target, words):
            if not occurrence and (parts := self._tasks_of_parts(words, tasks)):
                return await self._change_several_tasks(step, parts, due, later)
            matches = self._matching_tasks(words, tasks)
        matches = _at_occurrence(matches, occurrence)
        if len(matches) == 1:
            return await self._change_tasks(step, matches, due, later)
        if matches:
            readings = [task_reading(step, [task], matches) for task in matches[:MAX_CHOICES]]
            self._state.ask("Which task do you mean?", readings)
        elif not (words and notes is not None and ask_for_task_elsewhere(self._state, step, hits, notes)):
            self._say_no_task(step, words if words or needs_words else None)
        return None

    def _ask_for_month(
        self, step: PipelineStep, tasks: Sequence[TaskLine], day: date, later: Sequence[PipelineStep]
    ) -> bool:
        """Ask whether a day is one of the month in which tasks are due; return False if there is no doubt.

        "Push it to the 25th" may mean the 25th of that month, or the next 25th.
        """
        if not self._gives_only_day:
            return False
        given = (*task_reading(step, tasks, tasks).steps, *later)
        texts = [line for _, line, _ in tasks] + [str(own.arguments.get("query", "")) for own in later]
        own_month = tuple(
            self._in_month_of_task(own, text, day) for own, text in zip(given, texts, strict=True)
        )
        if own_month == given:
            return False
        readings = [Reading(steps, 1.0) for steps in (own_month, given)]
        self._state.ask("Which day?", readings, includes_later_steps=True)
        return True

    def _in_month_of_task(self, step: PipelineStep, task: str, day: date) -> PipelineStep:
        """Return a step that moves a task to a day with that day of the month in which the task is due."""
        present = task_facts(task).due
        if step.arguments.get("due") != day.isoformat() or present is None:
            return step
        moved = in_month_of(present, day, self._today())
        return step.with_argument("due", moved.isoformat()) if moved is not None else step

    async def change_each(self, steps: Sequence[PipelineStep]) -> tuple[str, ...] | None:
        """Change the tasks of several steps, which differ only in their tasks, in one change.

        A task that is already as the steps want it is left out.
        """
        hits = await self._search.search_all(f'{field_of_tasks(steps[0].action)}:""')
        if hits is None:
            return None
        wanted = {
            (path, str(step.arguments["query"]).casefold()): str(step.arguments.get("occurrence", ""))
            for step in steps
            if step.target is not None
            for path in step.target.notes
        }
        found: dict[tuple[str, str], list[TaskLine]] = {}
        for task in tasks_in(hits):
            if (key := (task[0], task_text(task[1]).casefold())) in wanted:
                found.setdefault(key, []).append(task)
        tasks = [
            task
            for key, equal_tasks in found.items()
            for at, task in enumerate(equal_tasks, 1)
            if wanted[key] in ("", str(at))
        ]
        if not tasks:
            self._say_no_task(steps[0], None)
            return None
        return await self._change_tasks(
            steps[0], tasks, _parse_due(str(steps[0].arguments.get("due", ""))), ()
        )

    async def _change_set(
        self, step: PipelineStep, tasks: Sequence[TaskLine], due: date | str | None
    ) -> tuple[str, ...] | None:
        """Change all tasks that a step selects by their due dates; a shift leaves out those without one."""
        days = str(step.arguments["which"])
        chosen = [task for task in tasks if days == ALL_TASKS or days_within(task[1], days)]
        if isinstance(due, str):
            chosen = [task for task in chosen if task_facts(task[1]).due is not None]
        if not chosen:
            self._tools.say(f"No {'completed' if step.action == 'reopen_task' else 'open'} task matches.")
            return None
        return await self._change_tasks(step, chosen, due, ())

    def _matching_tasks(self, words: str, tasks: Sequence[TaskLine]) -> list[TaskLine]:
        matching = set(matching_tasks(words, [task[:2] for task in tasks], self._language.code))
        return [task for task in tasks if task[:2] in matching]

    def _say_no_task(self, step: PipelineStep, words: str | None) -> None:
        which = f" that matches “{words}”" if words is not None else ""
        self._tools.say(f"There is no {'completed' if step.action == 'reopen_task' else 'open'} task{which}.")

    def _tasks_of_parts(self, words: str, tasks: Sequence[TaskLine]) -> list[tuple[str, list[TaskLine]]]:
        """Return the parts of the words for several tasks, each with its tasks; none for a single task.

        Of several tasks that match a part, a listed one is meant.
        """
        parts, code = named_parts(words, self._language), self._language.code
        if len(parts) < 2:
            return []
        texts = [task_text(line) for _, line, _ in tasks]
        if any(
            names_task(words, text, code) and len(named_parts(text, self._language)) > 1 for text in texts
        ):
            return []
        found: list[tuple[str, list[TaskLine]]] = []
        for part in parts:
            matches = self._matching_tasks(part, tasks)
            listed = [task for task in matches if (task[0], task_text(task[1])) in self._state.dialog.tasks]
            found.append((part, listed if len(listed) == 1 else matches))
        matched = [matches for _, matches in found if matches]
        is_one = len(matched) == len(found) and all(matches == matched[0] for matches in matched)
        return found if matched and not is_one else []

    async def _change_several_tasks(
        self,
        step: PipelineStep,
        parts: Sequence[tuple[str, list[TaskLine]]],
        due: date | str | None,
        later: Sequence[PipelineStep],
    ) -> tuple[str, ...] | None:
        """Change the task that each part of the words names; ask unless each part names another one."""
        tasks = [matches[0] for _, matches in parts if len(matches) == 1]
        is_sure = len(set(tasks)) == len(parts) and not says_not(str(step.arguments["query"]), self._language)
        is_sure = is_sure and all(
            names_task(part, f"{task_text(line)} {NotePath.on_disk(path).name}", self._language.code)
            for part, ((path, line, _), *_) in parts
        )
        if is_sure:
            return await self._change_tasks(step, tasks, due, later)
        for part, matches in parts:
            if not matches:
                self._say_no_task(step, part)
        choices = (
            tuple(dict.fromkeys(choice)) for choice in product(*(found for _, found in parts if found))
        )
        readings = [
            task_reading(step, choice, [task for _, matches in parts for task in matches])
            for choice in islice(dict.fromkeys(choices), MAX_CHOICES)
        ]
        is_one = all(len(reading.steps) == 1 for reading in readings)
        self._state.ask("Which task do you mean?" if is_one else "Which tasks do you mean?", readings)
        return None

    async def _change_tasks(
        self,
        step: PipelineStep,
        tasks: Sequence[TaskLine],
        due: date | str | None,
        later: Sequence[PipelineStep],
    ) -> tuple[str, ...] | None:
        """Check, clear or reschedule tasks in one change; ask if their new day may be in another month."""
        if isinstance(due, date) and self._ask_for_month(step, tasks, due, later):
            return None
        calls: list[Arguments] = []
        changed_tasks: dict[tuple[str, str], tuple[str, str]] = {}
        # Replace the last line of a note first, so that the occurrences before it keep their numbers.
        dated = [task for task in tasks if task_facts(task[1]).due is not None]
        tasks = dated or tasks if due == NO_DUE else tasks
        for path, line, number in sorted(tasks, key=lambda task: -task[2]):
            new_due = due
            if isinstance(due, str):
                present = task_facts(line).due
                new_due = shifted_day(present, due) if present is not None and due != NO_DUE else None
                if present is None or (new_due is None and due != NO_DUE):
                    which = "The task" if len(tasks) == 1 else f"“{task_text(line)}”"
                    that = "" if due == NO_DUE else " that can be moved"
                    self._tools.say(f"{which} has no due date{that}. Nothing was changed.")
                    return None
            if isinstance(new_due, date):
                changed = with_due_date(line, new_due)
            elif due == NO_DUE:
                changed = without_due_date(line)
            else:
                box = " " if step.action == "reopen_task" else "x"
                changed = TASK_BOX.sub(rf"\g<1>[{box}]", line, count=1)
            call: Arguments = {"name": path, "op": "replace", "old": line, "text": changed}
            if index := await self._occurrence_at(path, line, number):
                call["occurrence"] = index
            calls.append(call)
            changed_tasks[path, task_text(line)] = (path, task_text(changed))
        paths = tuple(dict.fromkeys(path for path, _, _ in tasks))
        if len(calls) == 1:
            outcome = await self._tools.call_step(step, "edit_note", calls[0])
        else:
            outcome = await self._tools.call_batch("edit_note", calls)
        if not outcome.success:
            return None
        known = self._state.dialog.tasks if len(self._state.dialog.tasks) > 1 else tuple(changed_tasks)
        known = tuple(changed_tasks.get(task, task) for task in known)
        self._state.dialog = replace(self._state.dialog, tasks=known)
        self._state.record_change(step, outcome, paths)
        return paths

    async def _occurrence_at(self, path: str, old: str, number: int) -> int | None:
        """Return which occurrence of `old` in a note begins line `number`; None if that line differs.

        The result is also None if the note can't be read.
        """
        outcome = await self._tools.call("read_note", {"name": path})
        if not outcome.success:
            return None
        text = str(outcome.result["text"])
        lines = text.split("\n")
        if number > len(lines) or not lines[number - 1].lstrip().startswith(old):
            return None
        line_start = sum(len(line) + 1 for line in lines[: number - 1])
        return text.count(old, read_frontmatter(text).body_start, line_start) + 1


def _parse_due(text: str) -> date | str | None:
    """Parse a due date; a shift of the present one ("+1 week") or no date stays text; None for other text."""
    if text == NO_DUE or shifted_day(date.today(), text) is not None:
        return text
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _at_occurrence(tasks: list[TaskLine], occurrence: str) -> list[TaskLine]:
    """Return the task at a place, the last one for -1, or all tasks without a place."""
    if occurrence == "-1":
        return tasks[-1:]
    return tasks[max(0, int(occurrence) - 1) : int(occurrence)] if occurrence.isdecimal() else tasks


def _is_name_of(notes: NoteSet | None, words: str) -> bool:
    """Return whether the words for a task are only the name of its note: "the task in Errands"."""
    if notes is None or not notes.is_single:
        return False
    return words.casefold() == NotePath.on_disk(notes.notes[0]).name.casefold()
