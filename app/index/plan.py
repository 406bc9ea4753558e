"""What a scan has to do: what was found on disk compared with what the index knows."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from app.index.extract import Task
from app.index.records import Problem
from app.index.walk import FoundFile, Walk
from app.vault.path import NotePath


@dataclass(frozen=True, slots=True)
class Known:
    """What the index knows of a file: `hash` is None for a note that was never read."""

    id: int
    size: int
    seen_ns: int
    hash: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a scan has to do: files to list, notes to read, files that are gone."""

    listed: tuple[FoundFile, ...]
    tasks: tuple[Task, ...]
    removed: tuple[NotePath, ...]
    unchanged: int
    problems: tuple[Problem, ...]


def known_files(connection: sqlite3.Connection) -> Mapping[str, Known]:
    """What the index knows of each file, by path."""
    rows = connection.execute("SELECT path, id, size, seen_ns, hash FROM files")
    return {path: Known(*rest) for path, *rest in rows}


def make_plan(found: Walk, known: Mapping[str, Known], touched: frozenset[str]) -> Plan:
    """Compare what was found with what is known; files touched meanwhile are left alone."""
    listed: list[FoundFile] = []
    tasks: list[Task] = []
    unchanged = 0
    for file in (*found.notes, *found.attachments):
        path = file.path.text
        if path in touched:
            unchanged += file.path.is_note
            continue
        was = known.get(path)
        as_before = was is not None and (was.size, was.seen_ns) == (file.size, file.modified_ns)
        if was is None or not (file.path.is_note or as_before):
            listed.append(file)
        if file.path.is_note:
            if was and as_before and was.hash is not None:
                unchanged += was.hash != ""
            else:
                tasks.append(Task(path, was.hash if was else None))
    there = {file.path.text for file in found.notes} | {file.path.text for file in found.attachments}
    removed = tuple(NotePath(path) for path in known if path not in there and path not in touched)
    return Plan(tuple(listed), tuple(tasks), removed, unchanged, tuple(found.problems))
