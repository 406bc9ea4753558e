"""List tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.agent.generic_formatting import wikilink
from app.agent.language.meaning.readings import PipelineStep
from app.agent.language.tasks.task_lists import DUE_KINDS
from app.agent.language.tasks.task_matching import TASK_FIELDS, days_within, task_text
from app.agent.language.words.dates import ISO_DAY
from app.agent.pipeline.logseq_notices import LogseqNotices
from app.agent.pipeline.note_search import NoteSearch
from app.agent.pipeline.run_state import RunState
from app.agent.pipeline.tool_calls import ToolCalls
from app.permissions.pluralize import pluralize
from app.vault.markdown.tasks import task_facts

_MAX_LISTED_TASKS = 50


class TaskLists:
    """Lists tasks, and remembers them for the next request.

    Args:
        tools: Shows the list.
        search: Searches for tasks.
        state: The state of the dialog.
        notices: Tells the user about tasks in the syntax of Logseq.
    """

    def __init__(self, tools: ToolCalls, search: NoteSearch, state: RunState, notices: LogseqNotices) -> None:
        self._tools = tools
        self._search = search
        self._state = state
        self._notices = notices

    async def list(self, step: PipelineStep, previous: tuple[str, ...]) -> tuple[str, ...] | None:
        """List the tasks of a step; return their notes, or None if a search failed."""
        field = TASK_FIELDS.get(str(step.arguments.get("state")), "task")
        parts = re.findall(r'"[^"]+"|\w[\w-]*', str(step.arguments.get("query", "")))
        words = " ".join(f'"{part}"' if part == "OR" else part for part in parts)
        due = str(step.arguments.get("due", ""))
        query = (
            f"{field}:({words})"
            if words
            else f"{field}:/{ISO_DAY.pattern}/"
            if due and due not in DUE_KINDS
            else f'{field}:""'
        )
        allowed_paths: frozenset[str] | None = None
        if step.target is not None:
            if (notes := await self._search.resolve(step.target, previous)) is None:
                return None
            allowed_paths = frozenset(notes)
            if len(allowed_paths) == 1:
                self._state.dialog = replace(self._state.dialog, focus=notes[:1], is_lost=False)
        all_hits = await self._search.search_all(query)
        if all_hits is None:
            return None
        hits = [hit for hit in all_hits if allowed_paths is None or hit["path"] in allowed_paths]
        found = [(str(hit["path"]), str(line["text"]).strip()) for hit in hits for line in hit["lines"]]
        if due in DUE_KINDS:
            found = _tasks_by_due_date(found, due)
        elif due:
            found = [task for task in found if days_within(task[1], due)]
            found.sort(key=lambda task: min(days_within(task[1], due)))
        lines = [f"- {wikilink(path)}: {' '.join(text.split())}" for path, text in found]
        paths = tuple(dict.fromkeys(path for path, _ in found))
        listed_tasks = [(path, task_text(text)) for path, text in found]
        state = {"open": "open task", "done": "completed task"}.get(str(step.arguments.get("state")), "task")
        total = pluralize(len(lines), state)
        listed = "\n".join(lines[:_MAX_LISTED_TASKS])
        if len(lines) > _MAX_LISTED_TASKS:
            listed += f"\n\n… and {len(lines) - _MAX_LISTED_TASKS} more."
        is_filtered = bool(words or (due and due != "sorted") or step.target is not None)
        none = f"No {state} matches." if is_filtered else f"There are no {state}s."
        self._tools.say(f"{total}:\n\n{listed}" if lines else none)
        if not found:
            await self._notices.say_unread_tasks()
        self._state.dialog = replace(
            self._state.dialog, results=paths, tasks=tuple(listed_tasks[:_MAX_LISTED_TASKS])
        )
        return paths


def _tasks_by_due_date(tasks: Sequence[tuple[str, str]], kind: str) -> list[tuple[str, str]]:
    """Return the tasks that a kind of due date selects (see `DUE_KINDS`), those due first on top."""
    pairs = [(task_facts(task_text(task[1])).due, task) for task in tasks]
    undated = [task for day, task in pairs if day is None]
    by_day = sorted(((day, task) for day, task in pairs if day is not None), key=lambda pair: pair[0])
    dated = [task for _, task in by_day]
    match kind:
        case "first":
            return [task for day, task in by_day if day == by_day[0][0]]
        case "undated":
            return undated
        case "dated":
            return dated
        case _:
            return [*dated, *undated]
