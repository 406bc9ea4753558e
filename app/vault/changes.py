"""Change sets: proposals to change files, with the exact bytes before and after. Pure values.

A change set contains the bytes of each file at the time of the proposal and the new bytes. Tools write
documents only through change sets, and an approval covers exactly the bytes that are then committed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from app.errors import InvalidParametersError
from app.translatable_text import TranslatableText
from app.vault.path import NotePath


def content_hash(content: bytes) -> str:
    """Return the SHA-256 of a file's content in hex."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Create:
    """The creation of a file that must not exist yet."""

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
    """The move of a file, which must still hold `before`, to its store's trash."""

    path: NotePath
    before: bytes


@dataclass(frozen=True, slots=True)
class Move:
    """The move of a file, which must still hold `before`, to the free path `to`, possibly with new bytes."""

    path: NotePath
    to: NotePath
    before: bytes
    after: bytes


VAULT = ""
"""The name of the notes' store."""

FileChange = Create | Update | Delete | Move


@dataclass(frozen=True, slots=True)
class ChangeWarning:
    """A sentence about a consequence that the changes do not show.

    It may mention what the caller can't see, so only the user and the audit log get it. `concerns_access`: it
    is about what is private or what the permission rules cover; such a change always needs approval.
    """

    text: TranslatableText
    concerns_access: bool = False


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Changes that are shown, approved, committed and undone together; each path occurs at most once.

    `summary` is one line in plain words for the history ("Rename X to Y, 40 links").
    `place` names the store of the documents: empty for the vault's notes, or another store behind the same
    gate (the agents' memory, a folder outside the vault). `warnings` are for the user who approves the
    changes. `emptied` are folders that the commit removes if nothing is left in them.

    Raises:
        InvalidParametersError: Two changes touch the same path.
    """

    changes: tuple[FileChange, ...]
    summary: str = ""
    place: str = VAULT
    warnings: tuple[ChangeWarning, ...] = ()
    emptied: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        keys: set[str] = set()
        for change in self.changes:
            # Added afterwards, because a rename that changes only the case touches one key twice.
            for path in touched_paths(change):
                if path.key in keys:
                    raise InvalidParametersError(f"{path} is changed twice in a change set.", path=str(path))
            keys.update(path.key for path in touched_paths(change))

    @classmethod
    def of(
        cls,
        *changes: FileChange,
        summary: str = "",
        place: str = VAULT,
        warnings: Iterable[ChangeWarning] = (),
        emptied: Iterable[str] = (),
    ) -> ChangeSet:
        """Create a change set from `changes`, without updates that change nothing."""
        effective = (c for c in changes if not (isinstance(c, Update) and c.before == c.after))
        return cls(tuple(effective), summary, place, tuple(warnings), tuple(emptied))

    @property
    def paths(self) -> tuple[NotePath, ...]:
        """All paths of the changes, including the targets of moves."""
        return tuple(path for change in self.changes for path in touched_paths(change))

    @property
    def digest(self) -> str:
        """The hash that an approval is bound to.

        It covers the place, the emptied folders, and the kinds, paths and bytes of the changes, but not the
        summary and the warnings, which have no effect.
        """
        total = hashlib.sha256(f"{self.place}\1".encode() if self.place else b"")
        for change in self.changes:
            parts = [type(change).__name__, *map(str, touched_paths(change))]
            contents = (before_of(change), after_of(change))
            parts += ["-" if content is None else content_hash(content) for content in contents]
            total.update("\0".join(parts).encode("utf-8", "surrogatepass") + b"\1")
        if self.emptied:
            parts = ["emptied", *sorted(self.emptied)]
            total.update("\0".join(parts).encode("utf-8", "surrogatepass") + b"\1")
        return total.hexdigest()

    def __bool__(self) -> bool:
        return bool(self.changes)


def touched_paths(change: FileChange) -> tuple[NotePath, ...]:
    """Return the path of a change and, for a move, its target."""
    return (change.path, change.to) if isinstance(change, Move) else (change.path,)


def before_of(change: FileChange) -> bytes | None:
    """Return the bytes that the file must hold before the change, or None if it creates the file."""
    return None if isinstance(change, Create) else change.before


def after_of(change: FileChange) -> bytes | None:
    """Return the bytes of the file after the change, or None if it deletes the file."""
    return None if isinstance(change, Delete) else change.after
