"""Group a vault's tasks by note, due date or tag. No widgets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from app.desktop.runtime.translation import translate
from app.index.records import TaskRecord
from app.vault.markdown.tasks import TaskFacts, task_facts

Grouping = Literal["note", "due", "tag"]


@dataclass(frozen=True, slots=True)
class TaskItem:
    """A task, and the data parsed from its text."""

    record: TaskRecord
    facts: TaskFacts


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Tasks under one heading; `key` is stable while tasks are added and removed."""

    key: str
    title: str
    tasks: tuple[TaskItem, ...]


def filter_tasks(records: Iterable[TaskRecord], search_text: str = "") -> list[TaskItem]:
    """Return the tasks whose text and path together contain all words of `search_text`."""
    words = search_text.casefold().split()
    tasks = []
    for record in records:
        searched = f"{record.text} {record.path}".casefold()
        if all(word in searched for word in words):
            tasks.append(TaskItem(record, task_facts(record.text)))
    return tasks


def group_tasks(tasks: Iterable[TaskItem], grouping: Grouping, today: date) -> list[TaskGroup]:
    """Group tasks by note, due date or tag; a task with several tags is in several groups.

    Args:
        tasks: The tasks, ordered by note and line.
        grouping: The property that a group's tasks share.
        today: The date to compare due dates with.
    """
    if grouping == "note":
        return _by_note(tasks)
    return _by_due(tasks, today) if grouping == "due" else _by_tag(tasks)


def _by_note(tasks: Iterable[TaskItem]) -> list[TaskGroup]:
    groups: dict[str, list[TaskItem]] = defaultdict(list)
    for task in tasks:
        groups[task.record.path.text].append(task)
    return [TaskGroup(path, group[0].record.path.name, tuple(group)) for path, group in groups.items()]


def _by_due(tasks: Iterable[TaskItem], today: date) -> list[TaskGroup]:
    titles = (
        ("overdue", translate("Tasks", "Overdue")),
        ("today", translate("Tasks", "Today")),
        ("tomorrow", translate("Tasks", "Tomorrow")),
        ("week", translate("Tasks", "Within a week")),
        ("later", translate("Tasks", "Later")),
        ("", translate("Tasks", "No due date")),
    )
    groups: dict[str, list[TaskItem]] = defaultdict(list)
    for task in tasks:
        groups[_due_group(task.facts.due, today)].append(task)
    for group in groups.values():
        group.sort(key=lambda task: task.facts.due or date.max)
    return [TaskGroup(key, title, tuple(groups[key])) for key, title in titles if key in groups]


def _due_group(due: date | None, today: date) -> str:
    if due is None:
        return ""
    if due < today:
        return "overdue"
    if due == today:
        return "today"
    if due == today + timedelta(days=1):
        return "tomorrow"
    return "week" if due <= today + timedelta(days=7) else "later"


def _by_tag(tasks: Iterable[TaskItem]) -> list[TaskGroup]:
    groups: dict[str, list[TaskItem]] = defaultdict(list)
    names: dict[str, str] = {}
    for task in tasks:
        for tag in task.facts.tags or ("",):
            key = tag.casefold()
            names.setdefault(key, tag)
            groups[key].append(task)
    order = sorted(groups, key=lambda key: (not key, key))
    return [
        TaskGroup(
            key, f"#{names[key]}" if key else translate("Tasks", "No tag"), tuple(dict.fromkeys(groups[key]))
        )
        for key in order
    ]
