"""Plan the undo of commits as a change set that keeps later edits. Pure.

The planner reads the current state of the files that the commits touched, reverts each commit from newest to
oldest in memory, and turns the difference into one change set. If a file has changed since, the reversal is
merged into it line by line; if that conflicts, the change set omits the file and the plan contains both
texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.errors import InvalidParametersError
from app.vault.changes import VAULT, ChangeSet, Create, Delete, FileChange, Move, Update, content_hash
from app.vault.commits import Commit, CommittedFile
from app.vault.merge import merge
from app.vault.path import NotePath

FileReader = Callable[[NotePath], bytes | None]
ContentReader = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A file that undo cannot merge: its current text, the text to restore, and their common base.

    `theirs` includes later edits that do not conflict with the undo. `ours_missing` means that the file does
    not exist now, `theirs_missing` that undo would delete it. `restored_path` is the file's path before a
    move that is also undone, or None if the file stays in its place.
    """

    path: NotePath
    ours: bytes
    theirs: bytes
    base: bytes
    ours_missing: bool = False
    theirs_missing: bool = False
    restored_path: NotePath | None = None


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The changes that undo `commits`, and the conflicts that the user has to resolve."""

    change_set: ChangeSet
    conflicts: tuple[MergeConflict, ...]
    commits: tuple[int, ...]

    def resolve(self, choices: Mapping[NotePath, bytes | None]) -> ChangeSet:
        """Return the change set with the user's choice for each conflict (None: no file).

        A conflict without a choice keeps the file's current text. A file that is kept moves back to its
        former path, if the undo reverts a move, because the reverted links of other notes point there.

        Raises:
            InvalidParametersError: There is a choice for a file that is not in conflict.
        """
        conflicts = {conflict.path: conflict for conflict in self.conflicts}
        if unknown := [str(path) for path in choices if path not in conflicts]:
            raise InvalidParametersError("These files are not in conflict.", paths=unknown)
        changes = list(self.change_set.changes)
        for path, conflict in conflicts.items():
            current = None if conflict.ours_missing else conflict.ours
            if (change := _resolving_change(conflict, current, choices.get(path, current))) is not None:
                changes.append(change)
        return ChangeSet.of(*changes, summary=self.change_set.summary, place=self.change_set.place)


def _resolving_change(
    conflict: MergeConflict, current: bytes | None, chosen_content: bytes | None
) -> FileChange | None:
    """Return the change that gives the file the chosen bytes at its path after the undo."""
    path, target = conflict.path, conflict.restored_path or conflict.path
    if current is None:
        return None if chosen_content is None else Create(target, chosen_content)
    if chosen_content is None:
        return Delete(path, current)
    return (
        Update(path, current, chosen_content)
        if target == path
        else Move(path, target, current, chosen_content)
    )


class LaterChange(NamedTuple):
    """A change by a later commit: the commit's number, the commits it undoes, and the change."""

    commit: int
    undoes: tuple[int, ...]
    change: CommittedFile


@dataclass(slots=True)
class _UndoFile:
    """A file during an undo: its target path, its path on disk, and its bytes."""

    path: NotePath
    origin: NotePath | None
    content: bytes


@dataclass(slots=True)
class _StuckFile:
    """A file in conflict, which stays unchanged; older commits only change the text to restore.

    `original_path` is the path to restore: the file's path before the moves that are undone.
    """

    file: _UndoFile | None
    path: NotePath
    base: bytes
    theirs: bytes | None
    original_path: NotePath | None = None


class _UndoPlanner:
    """Reverts commits in memory, newest first; `changes` and then `conflicts` return the result."""

    def __init__(
        self, later_changes: Sequence[LaterChange], content: ContentReader, read: FileReader
    ) -> None:
        self._later_changes = sorted(later_changes, key=lambda other: other.commit)
        self._content = content
        self._read = read
        self._disk: dict[str, _UndoFile] = {}
        self._files: dict[str, _UndoFile | None] = {}
        self._stuck: dict[str, _StuckFile] = {}

    def revert(self, commit: Commit) -> None:
        """Revert one commit in memory."""
        for change in reversed(commit.changes):
            path = change.path if change.after is None else self._follow_moves(change.final_path, commit.id)
            if (stuck := self._stuck.get(path.key)) is not None:
                stuck.theirs = None if change.before is None else self._content(change.before)
                self._record_stuck(path, change, commit.id)
            elif change.before is None:
                self._revert_create(path, change.after or "")
            elif change.after is None:
                self._revert_delete(path, change.before, commit.id)
            else:
                self._revert_update(path, change, commit.id)

    def _follow_moves(self, path: NotePath, since: int) -> NotePath:
        """Return the file's path after the later moves that are not being undone.

        A deleted file is followed further if an undo restored it. Changes to another file that had its name
        in the meantime are ignored.
        """
        deleted_by: int | None = None
        for other in self._later_changes:
            change = other.change
            if other.commit <= since or change.path.key != path.key:
                continue
            if deleted_by is None and change.after is None:
                deleted_by = other.commit
            elif deleted_by is None and change.to is not None:
                path = change.to
            elif deleted_by in other.undoes and change.before is None:
                deleted_by = None
        return path

    def _record_move(self, change: CommittedFile, number: int) -> None:
        if change.to is not None:
            self._later_changes = sorted(
                [*self._later_changes, LaterChange(number, (), change)], key=lambda other: other.commit
            )

    def _record_stuck(self, path: NotePath, change: CommittedFile, number: int) -> None:
        """Remember where a file in conflict was before a move, unless it has been moved again since."""
        stuck = self._stuck[path.key]
        target = stuck.original_path or stuck.path
        if change.to is not None and change.final_path.key == target.key:
            stuck.original_path = change.path
        self._record_move(change, number)

    def _read_file(self, path: NotePath) -> _UndoFile | None:
        if path.key not in self._files:
            content = self._read(path)
            self._files[path.key] = None
            if content is not None:
                self._files[path.key] = _UndoFile(path, path, content)
                self._disk[path.key] = _UndoFile(path, path, content)
        return self._files[path.key]

    def _occupant(self, path: NotePath, since: int) -> _UndoFile | None:
        """Return the file that has this name now, even if a later change altered its case."""
        if (file := self._read_file(path)) is not None:
            return file
        for other in reversed(self._later_changes):
            final_path = other.change.final_path
            if other.commit > since and other.change.after is not None and final_path.key == path.key:
                del self._files[path.key]
                return self._read_file(final_path)
        return None

    def _revert_create(self, path: NotePath, after: str) -> None:
        file = self._read_file(path)
        if file is None:
            return
        if content_hash(file.content) == after:
            self._files[path.key] = None
        else:
            self._stuck[path.key] = _StuckFile(file, path, self._content(after), None)

    def _revert_delete(self, path: NotePath, before: str, number: int) -> None:
        file, old_content = self._occupant(path, number), self._content(before)
        if file is None:
            self._files[path.key] = _UndoFile(path, None, old_content)
        elif file.content != old_content:
            self._stuck[path.key] = _StuckFile(file, file.path, b"", old_content)

    def _revert_update(self, path: NotePath, change: CommittedFile, number: int) -> None:
        file = self._read_file(path)
        before, after = change.before or "", change.after or ""
        if file is None:
            self._stuck[path.key] = _StuckFile(None, path, self._content(after), self._content(before))
            self._record_stuck(path, change, number)
            return
        if before != after and not self._merge(file, path, before, after):
            self._record_stuck(path, change, number)
        elif change.to is not None:
            self._revert_move(file, path, change, number)

    def _merge(self, file: _UndoFile, path: NotePath, before: str, after: str) -> bool:
        """Revert a change to the file's bytes; return False if it conflicts with a later edit."""
        current_hash = content_hash(file.content)
        if current_hash == before:
            return True
        old_content = self._content(before)
        if current_hash == after:
            file.content = old_content
            return True
        base = self._content(after)
        merged = merge(base, file.content, old_content)
        if merged.conflicts:
            self._stuck[path.key] = _StuckFile(file, path, base, old_content)
            return False
        file.content = merged.text
        return True

    def _revert_move(self, file: _UndoFile, path: NotePath, change: CommittedFile, number: int) -> None:
        if path.key != change.final_path.key:
            self._record_move(change, number)
            return
        if change.path.key != path.key:
            occupant = self._occupant(change.path, number)
            if occupant is not None:
                self._stuck[change.path.key] = _StuckFile(occupant, occupant.path, b"", file.content)
                self._record_move(change, number)
                return
            self._files[path.key] = None
        file.path = change.path
        self._files[change.path.key] = file

    def changes(self) -> list[FileChange]:
        """Return the changes that perform the undo on disk, except for the files in conflict."""
        self._propagate_conflicts()
        stuck_origins = {
            stuck.file.origin.key for stuck in self._stuck.values() if stuck.file and stuck.file.origin
        }
        files = {key: file for key, file in self._files.items() if file and key not in self._stuck}
        moved_keys = {file.origin.key for key, file in files.items() if file.origin and key not in self._disk}
        changes: list[FileChange] = []
        for key, file in files.items():
            disk = self._disk.get(key)
            if disk is not None:
                changes += _rewrite(disk, file)
            elif file.origin is not None and file.origin.key not in {*files, *stuck_origins}:
                old_content = self._disk[file.origin.key].content
                changes.append(Move(file.origin, file.path, old_content, file.content))
            else:
                changes.append(Create(file.path, file.content))
        for key, disk in self._disk.items():
            if (
                key not in files
                and key not in stuck_origins
                and key not in moved_keys
                and key not in self._stuck
            ):
                changes.append(Delete(disk.path, disk.content))
        return changes

    def _propagate_conflicts(self) -> None:
        """Also mark files that would replace a file in conflict as conflicts."""
        while True:
            stuck_origins = {
                stuck.file.origin.key for stuck in self._stuck.values() if stuck.file and stuck.file.origin
            }
            for key, file in self._files.items():
                if file and key in stuck_origins and key not in self._stuck:
                    self._stuck[key] = _StuckFile(file, file.path, b"", file.content)
                    break
            else:
                return

    def conflicts(self) -> list[MergeConflict]:
        """Return the conflicts, each with the file's current path on disk; `changes` may add to them."""
        return [self._conflict(stuck) for stuck in self._stuck.values()]

    def _conflict(self, stuck: _StuckFile) -> MergeConflict:
        origin = stuck.file.origin if stuck.file else None
        path = origin or stuck.path
        disk = self._disk.get(path.key)
        ours, theirs = disk.content if disk else b"", stuck.theirs or b""
        missing = disk is None, stuck.theirs is None
        if not any(missing):
            theirs = merge(stuck.base, ours, theirs).text
        restored_path = self._original_path(stuck, path)
        return MergeConflict(path, ours, theirs, stuck.base, *missing, restored_path)

    def _original_path(self, stuck: _StuckFile, path: NotePath) -> NotePath | None:
        """Return the path to restore for a file in conflict, if it differs from `path` and stays free."""
        original_path = stuck.original_path or (stuck.file.path if stuck.file else stuck.path)
        if original_path == path or stuck.theirs is None:
            return None
        occupant = self._read_file(original_path)
        is_free = (occupant is None or occupant is stuck.file) and original_path.key not in self._disk
        return original_path if is_free or original_path.key == path.key else None


def _rewrite(disk: _UndoFile, file: _UndoFile) -> list[FileChange]:
    """Return the change to a file whose path stays the same, apart from letter case."""
    if file.path != disk.path:
        return [Move(disk.path, file.path, disk.content, file.content)]
    return [Update(disk.path, disk.content, file.content)] if disk.content != file.content else []


def plan_undo(
    commits: Sequence[Commit], later_changes: Sequence[LaterChange], content: ContentReader, read: FileReader
) -> UndoPlan:
    """Plan the undo of commits.

    Args:
        commits: The commits, all from one store, in any order.
        later_changes: The creations, moves and deletions of other commits newer than the oldest of these.
        content: Returns the bytes for a hash; raises NotFoundError if they are no longer stored.
        read: Returns the current bytes of a file, or None if it does not exist.

    Raises:
        NotFoundError: Bytes that the undo needs are no longer stored.
    """
    planner = _UndoPlanner(later_changes, content, read)
    ordered = sorted(commits, key=lambda commit: commit.id, reverse=True)
    for commit in ordered:
        planner.revert(commit)
    summary = _undo_summary(ordered[0]) if len(ordered) == 1 else f"Undo {len(ordered)} changes"
    place = ordered[0].place if ordered else VAULT
    change_set = ChangeSet.of(*planner.changes(), summary=summary, place=place)
    return UndoPlan(change_set, tuple(planner.conflicts()), tuple(commit.id for commit in ordered))


def _undo_summary(commit: Commit) -> str:
    """Return the summary of the undo of one commit; the undo of an undo makes the change again."""
    verb, rest = commit.summary[:4], commit.summary[4:]
    if commit.undoes and verb in ("Undo", "Redo"):
        return f"{'Redo' if verb == 'Undo' else 'Undo'}{rest}"
    return f"Undo: {commit.summary}" if commit.summary else "Undo"
