"""Commits as values: what was changed, by whom, and which content each file had before and after."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from app.vault.changes import VAULT, ChangeSet, Move, after_of, before_of, content_hash
from app.vault.path import NotePath


class CommittedFile(NamedTuple):
    """One file of a commit: its path, where it went (a move), and its hashes before and after.

    `before` is None for a file that was made, `after` for one that was deleted.
    """

    path: NotePath
    to: NotePath | None
    before: str | None
    after: str | None

    @property
    def place(self) -> NotePath:
        """Where the file was after the commit."""
        return self.to or self.path


@dataclass(frozen=True, slots=True)
class CommitDraft:
    """A commit that is about to happen: all that will be recorded, except its number.

    `uid` tells a commit that was recorded just before a crash from one that was not. `trash` says, per
    change, the name under `.trash/` of a deleted file. `folders` are the folders that the commit makes.
    `undoes` are the commits that it takes back. `place` is that of the change set.
    """

    uid: str
    time: float
    author: str
    digest: str
    changes: tuple[CommittedFile, ...]
    trash: tuple[str | None, ...]
    turn: str = ""
    note: str = ""
    entry: str = ""
    summary: str = ""
    folders: tuple[str, ...] = ()
    undoes: tuple[int, ...] = ()
    place: str = VAULT


@dataclass(frozen=True, slots=True)
class Commit:
    """A change set that reached the disk, in the documents of `place`.

    `time` is in Unix seconds. `entry` names the audit entry and `turn` the agent's turn it belongs to.
    `undone_by` is the commit that took it back and is itself still in force.
    """

    id: int
    digest: str
    time: float
    changes: tuple[CommittedFile, ...]
    author: str
    turn: str = ""
    summary: str = ""
    note: str = ""
    entry: str = ""
    undoes: tuple[int, ...] = ()
    undone_by: int | None = None
    folders: tuple[str, ...] = field(default=(), repr=False)
    place: str = VAULT

    @property
    def paths(self) -> tuple[NotePath, ...]:
        """Every path that was touched, the targets of moves included."""
        return tuple(path for change in self.changes for path in (change.path, change.to) if path)


@dataclass(frozen=True, slots=True)
class Version:
    """What a note was after a commit, or what somebody else had made of it before one.

    `hash` is None where the note was deleted. `author` is "outside" and `commit_id` the commit that found
    it for text that was not written through the app. `size` is in bytes, `time` in Unix seconds. `turn` is
    the agent's turn or the user's writing session that it belongs to.
    """

    commit_id: int
    time: float
    author: str
    path: NotePath
    hash: str | None
    size: int
    summary: str
    turn: str = ""


def record_changes(change_set: ChangeSet) -> tuple[tuple[CommittedFile, ...], dict[str, bytes]]:
    """What the journal says of each change of a change set, and the contents that it needs, by hash."""
    contents: dict[str, bytes] = {}
    changes = []
    for change in change_set.changes:
        hashes: list[str | None] = []
        for content in (before_of(change), after_of(change)):
            hashes.append(None if content is None else content_hash(content))
            if content is not None:
                contents[content_hash(content)] = content
        to = change.to if isinstance(change, Move) else None
        changes.append(CommittedFile(change.path, to, hashes[0], hashes[1]))
    return tuple(changes), contents


OUTSIDE_AUTHOR = "outside"
