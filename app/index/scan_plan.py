"""Plans for scans, from a comparison of the files on disk with the index."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.index.directory_walk import FoundFile, WalkResult
from app.index.extract import ExtractTask, read_content
from app.index.records import Problem
from app.vault.path import NotePath

_MAX_HASHED_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file's data in the index; `hash` is None for an attachment and for a note that must be (re)read."""

    id: int
    size: int
    seen_ns: int
    hash: str | None


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """The work of a scan: files to list, notes to read, removed files and moved notes.

    `moved` has pairs of old and new paths: the old paths are also in `removed`, the new ones in `tasks`.
    `unchanged` is the number of notes that need no work.
    """

    listed: tuple[FoundFile, ...]
    tasks: tuple[ExtractTask, ...]
    removed: tuple[NotePath, ...]
    unchanged: int
    problems: tuple[Problem, ...]
    moved: tuple[tuple[NotePath, NotePath], ...] = ()


def known_files(connection: sqlite3.Connection) -> Mapping[str, IndexedFile]:
    """Return every indexed file by its path."""
    rows = connection.execute("SELECT path, id, size, seen_ns, hash FROM files")
    return {path: IndexedFile(*rest) for path, *rest in rows}


def make_plan(
    root: Path, walked: WalkResult, known: Mapping[str, IndexedFile], touched: frozenset[str]
) -> ScanPlan:
    """Compare found files with known ones, ignoring those touched in the meantime.

    The content of new notes is read if a removed note of the same size may have been moved there.
    """
    listed: list[FoundFile] = []
    tasks: list[ExtractTask] = []
    unchanged = 0
    for file in (*walked.notes, *walked.attachments):
        path = file.path.text
        if path in touched:
            unchanged += file.path.is_note
            continue
        indexed = known.get(path)
        is_unchanged = indexed is not None and (indexed.size, indexed.seen_ns) == (
            file.size,
            file.modified_ns,
        )
        if indexed is None or not (file.path.is_note or is_unchanged):
            listed.append(file)
        if file.path.is_note:
            if indexed and is_unchanged and indexed.hash is not None:
                unchanged += indexed.hash != ""
            else:
                tasks.append(ExtractTask(path, indexed.hash if indexed else None))
    existing = {file.path.text for file in walked.notes} | {file.path.text for file in walked.attachments}
    removed = tuple(NotePath(path) for path in known if path not in existing and path not in touched)
    moved = _find_moves(root, [file for file in listed if file.path.is_note], removed, known)
    return ScanPlan(tuple(listed), tuple(tasks), removed, unchanged, tuple(walked.problems), tuple(moved))


def pair_moves(
    missing: Iterable[tuple[NotePath, str]], added: Iterable[tuple[NotePath, str]]
) -> list[tuple[NotePath, NotePath]]:
    """Pair removed and new notes with equal hashes as moves.

    Among several with the same content, one with the same name is preferred; empty hashes never match.
    """
    added_by_hash: dict[str, list[NotePath]] = {}
    for path, digest in added:
        added_by_hash.setdefault(digest, []).append(path)
    pairs: list[tuple[NotePath, NotePath]] = []
    for old_path, digest in missing:
        if digest and (candidates := added_by_hash.get(digest)):
            new_path = next(
                (candidate for candidate in candidates if candidate.file_name == old_path.file_name),
                candidates[0],
            )
            candidates.remove(new_path)
            pairs.append((old_path, new_path))
    return pairs


def _find_moves(
    root: Path, new_files: Sequence[FoundFile], removed: Sequence[NotePath], known: Mapping[str, IndexedFile]
) -> list[tuple[NotePath, NotePath]]:
    """Return the pairs of old and new paths of notes that were only moved.

    Only new files with a matching size are hashed.
    """
    missing = [(path, known[path.text]) for path in removed]
    sizes = {indexed.size for _, indexed in missing if indexed.hash}
    added = [(file.path, _hash(root, file.path)) for file in new_files if file.size in sizes]
    return pair_moves(((path, indexed.hash or "") for path, indexed in missing), added)


def _hash(root: Path, path: NotePath) -> str:
    try:
        content, _ = read_content(root, path, _MAX_HASHED_BYTES, {})
    except OSError:
        return ""
    return hashlib.sha256(content).hexdigest() if content is not None else ""
