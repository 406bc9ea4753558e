"""Values for commits: the changed files, the author, and the hashes before and after."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from time import time as unix_time
from time import time_ns
from typing import NamedTuple

from app.vault.changes import VAULT, ChangeSet, Move, after_of, before_of, content_hash
from app.vault.path import NotePath


def new_uid() -> str:
    """Return a unique id for a commit; ids sort by time."""
    return f"{time_ns():x}-{secrets.token_hex(4)}"


class CommittedFile(NamedTuple):
    """One file in a commit: its path, its target if it was moved, and its hashes before and after.

    `before` is None for a created file, `after` for a deleted one.
    """

    path: NotePath
    to: NotePath | None
    before: str | None
    after: str | None

    @property
    def final_path(self) -> NotePath:
        """The path of the file after the commit."""
        return self.to or self.path


@dataclass(frozen=True, slots=True)
class CommitDraft:
    """The data of a commit before it is recorded: everything except its number.

    After a crash, `uid` shows whether the commit was recorded. `trash` holds, for each change, the name of a
    deleted file under `.trash/`, else None. `folders` are the folders that the commit creates, `undoes` holds
    the ids of the commits that it undoes, `place` is that of the change set, and `note` is a comment
    for the history.
    """

    author: str
    digest: str
    changes: tuple[CommittedFile, ...]
    trash: tuple[str | None, ...]
    uid: str = field(default_factory=new_uid)
    time: float = field(default_factory=unix_time)
    turn: str = ""
    note: str = ""
    entry: str = ""
    summary: str = ""
    folders: tuple[str, ...] = ()
    undoes: tuple[int, ...] = ()
    place: str = VAULT


@dataclass(frozen=True, slots=True)
class Commit:
    """A change set that was written to the documents of `place`.

    `time` is in Unix seconds. `entry` is the id of the audit entry, `turn` that of the agent's turn or the
    user's writing session. `undone_by` is the number of the commit that undid this one, unless that commit
    was itself undone.
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
        """All paths of the changes, including the targets of moves."""
        return tuple(path for change in self.changes for path in (change.path, change.to) if path)


@dataclass(frozen=True, slots=True)
class Version:
    """The state of a note after a commit, or another program's version before one.

    `hash` is None if the note was deleted or moved away. For text that was not written through the app,
    `author` is "outside", and `commit_id` and `time` are those of the commit that replaced it. `size` is in
    bytes, `time` in Unix seconds. `turn` is the agent's turn or the user's writing session.
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
    """Return the journal's record of each change in a change set, and the contents by hash."""
    contents: dict[str, bytes] = {}
    changes = []
    for change in change_set.changes:
        hashes: list[str | None] = []
        for content in (before_of(change), after_of(change)):
            hashes.append(None if content is None else content_hash(content))
            if content is not None:
                contents[content_hash(content)] = content
        target = change.to if isinstance(change, Move) else None
        changes.append(CommittedFile(change.path, target, hashes[0], hashes[1]))
    return tuple(changes), contents


OUTSIDE_AUTHOR = "outside"
