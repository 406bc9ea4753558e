"""What the user has chosen of a request so far: files, hunks, edited text. Pure.

The bytes that are approved come from here alone, computed from the proposal's own bytes; an untouched
draft gives back the very proposal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from threading import Lock

from app.permissions.approval import ApprovalRequest, Approved, Effect, GrantOffer
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, Update, after_of, before_of
from app.vault.diff import Diff, compare


class Share(Enum):
    """How much of a file's change is wanted."""

    NONE = 0
    SOME = 1
    ALL = 2


class FileDraft:
    """One file's change with its tick, the ticks of its hunks and its edited text."""

    def __init__(self, change: FileChange) -> None:
        self.change = change
        self._wanted = True
        self._edited: bytes | None = None
        self._unticked: frozenset[int] = frozenset()
        self._diff: Diff | None = None
        self._comparing = Lock()

    @property
    def before(self) -> bytes | None:
        """The bytes before; None for a file that is made."""
        return before_of(self.change)

    @property
    def after(self) -> bytes | None:
        """The bytes after if all of it is approved, edits included; None for a file that is deleted."""
        return after_of(self.change) if self._edited is None else self._edited

    @property
    def diff(self) -> Diff | None:
        """What changes, once `compare` was called."""
        return self._diff

    @property
    def unticked(self) -> frozenset[int]:
        """The hunks that are left out."""
        return self._unticked

    @property
    def is_edited(self) -> bool:
        """Whether the user changed the text."""
        return self._edited is not None

    @property
    def is_divisible(self) -> bool:
        """Whether single hunks can be left out: not of a file that is made or deleted."""
        return isinstance(self.change, Update | Move)

    @property
    def share(self) -> Share:
        """Whether all, some or nothing of the change is wanted."""
        chosen = self.chosen()
        if chosen is None:
            return Share.NONE
        return Share.SOME if self._unticked else Share.ALL

    def compare(self) -> Diff:
        """The line diff, computed once; may be called in several threads."""
        with self._comparing:
            if self._diff is None:
                self._diff = compare(self.before or b"", self.after or b"")
            return self._diff

    def want(self, wanted: bool) -> None:
        """Tick the file, with all of its hunks, or leave it out."""
        self._wanted = wanted
        self._unticked = frozenset()

    def leave_out(self, hunks: Iterable[int]) -> None:
        """Leave these hunks out, and only these.

        Raises:
            ValueError: the file is made or deleted, which goes as a whole, or there is no such hunk.
        """
        unticked = frozenset(hunks)
        if unticked and (not self.is_divisible or not unticked <= set(range(len(self.compare().hunks)))):
            raise ValueError(f"{self.change.path} has no such hunks to leave out")
        self._unticked = unticked
        self._wanted = True

    def edit(self, text: bytes | None) -> None:
        """Put `text` in place of the proposed text; None takes the proposal's again."""
        if isinstance(self.change, Delete):
            raise ValueError(f"{self.change.path} is deleted: there is no text to edit")
        self._edited = None if text == after_of(self.change) else text
        self._diff = None
        self._unticked = frozenset()
        self._wanted = True

    def chosen_bytes(self) -> bytes | None:
        """The bytes that the file will have with the hunks as they are ticked; None if it is deleted."""
        if not self._unticked:
            return self.after
        diff = self.compare()
        return diff.apply(set(range(len(diff.hunks))) - self._unticked)

    def chosen(self) -> FileChange | None:
        """The change with what is ticked and edited; None if nothing of it is left."""
        if not self._wanted:
            return None
        after = self.chosen_bytes()
        match self.change:
            case Create(path):
                return Create(path, after or b"") if self.is_edited else self.change
            case Update(path, before) if after is not None and (self._unticked or self.is_edited):
                return Update(path, before, after) if after != before else None
            case Move(path, to, before) if after is not None and (self._unticked or self.is_edited):
                return Move(path, to, before, after)
        return self.change


class Draft:
    """A request with the user's choices so far."""

    def __init__(self, request: ApprovalRequest) -> None:
        self.request = request
        proposal = request.proposal
        changes = proposal.changes if isinstance(proposal, ChangeSet) else ()
        self.files = tuple(FileDraft(change) for change in changes)

    @property
    def is_edited(self) -> bool:
        """Whether the user changed the text of a file that is wanted."""
        return any(file.is_edited and file.share is not Share.NONE for file in self.files)

    @property
    def is_whole(self) -> bool:
        """Whether it is the proposal as it came."""
        return all(file.share is Share.ALL and not file.is_edited for file in self.files)

    def proposal(self) -> ChangeSet | Effect | None:
        """Exactly what an approval would approve; None if everything is left out."""
        proposed = self.request.proposal
        if isinstance(proposed, Effect) or self.is_whole:
            return proposed
        chosen = tuple(change for file in self.files if (change := file.chosen()) is not None)
        return replace(proposed, changes=chosen) if chosen else None

    def approved(self, grant: GrantOffer | None = None) -> Approved:
        """The yes to what is chosen.

        Raises:
            ValueError: everything is left out, so there is nothing to approve.
        """
        proposal = self.proposal()
        if proposal is None:
            raise ValueError("nothing is chosen")
        return Approved(proposal, edited=self.is_edited, grant=grant)
