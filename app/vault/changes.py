"""Change sets: a proposal to change files, with the exact bytes before and after. Pure values.

A change set says what each file was when the change was made (its bytes, so also its hash) and what it
will be. It is the only thing that a tool can hand over to have something written, the thing that the
user is shown, and the thing that is committed: the same bytes all the way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.errors import InvalidParametersError
from app.vault.path import NotePath


def content_hash(content: bytes) -> str:
    """The hash that names a file's content: SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Create:
    """A file that must not exist yet."""

    path: NotePath
    after: bytes


@dataclass(frozen=True, slots=True)
class Update:
    """New bytes for a file that must still hold `before`."""

    path: NotePath
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Delete:
    """A file, which must still hold `before`, goes to the vault's trash."""

    path: NotePath
    before: bytes


@dataclass(frozen=True, slots=True)
class Move:
    """A file, which must still hold `before`, goes to `to`, where nothing may be; its bytes may change."""

    path: NotePath
    to: NotePath
    before: bytes
    after: bytes


VAULT = ""
"""The place of the notes themselves."""

FileChange = Create | Update | Delete | Move


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Changes that are shown, approved, committed and undone as one; each path at most once.

    `summary` is one line in plain words for the dialog and the log ("Rename X to Y, 40 links").
    `place` says whose documents they are: the vault's notes (empty), or those of another store that is
    changed by the same gate (the agents' memory, a folder outside the vault).
    """

    changes: tuple[FileChange, ...]
    summary: str = ""
    place: str = VAULT

    def __post_init__(self) -> None:
        keys: set[str] = set()
        for change in self.changes:
            for path in touched_paths(change):
                # A rename that changes only the case of a name touches the same key from both ends.
                same_key = isinstance(change, Move) and change.path.key == change.to.key
                if path.key in keys and not same_key:
                    raise InvalidParametersError(f"{path} is changed twice in a change set.", path=str(path))
                keys.add(path.key)

    @classmethod
    def of(cls, *changes: FileChange, summary: str = "", place: str = VAULT) -> ChangeSet:
        """A change set of these changes; an update that changes nothing is left out."""
        kept = (c for c in changes if not (isinstance(c, Update) and c.before == c.after))
        return cls(tuple(kept), summary, place)

    @property
    def paths(self) -> tuple[NotePath, ...]:
        """Every path that is touched, the targets of moves included."""
        return tuple(path for change in self.changes for path in touched_paths(change))

    @property
    def digest(self) -> str:
        """A hash over place, kinds, paths and the bytes before and after: what an approval is bound to."""
        total = hashlib.sha256(f"{self.place}\1".encode() if self.place else b"")
        for change in self.changes:
            parts = [type(change).__name__, *map(str, touched_paths(change))]
            contents = (before_of(change), after_of(change))
            parts += ["-" if content is None else content_hash(content) for content in contents]
            total.update("\0".join(parts).encode("utf-8", "surrogatepass") + b"\1")
        return total.hexdigest()

    def only(self, paths: Iterable[NotePath]) -> ChangeSet:
        """The changes whose (old) path is among `paths`."""
        wanted = set(paths)
        return replace(self, changes=tuple(change for change in self.changes if change.path in wanted))

    def __bool__(self) -> bool:
        return bool(self.changes)


def touched_paths(change: FileChange) -> tuple[NotePath, ...]:
    """The path of a change, and the target of a move."""
    return (change.path, change.to) if isinstance(change, Move) else (change.path,)


def before_of(change: FileChange) -> bytes | None:
    """The bytes that the file must hold before; None for a file that is made."""
    return None if isinstance(change, Create) else change.before


def after_of(change: FileChange) -> bytes | None:
    """The bytes that the file will hold; None for a file that is deleted."""
    return None if isinstance(change, Delete) else change.after
