"""The user's choices for an approval request: files, hunks and edited text.

The approved bytes are computed only here, from the proposal's own bytes; a draft without choices returns the
proposal itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from threading import Lock

from app.permissions.approval import ApprovalRequest, Approved, Effect, GrantOffer
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, Update, after_of, before_of
from app.vault.diff import Diff, compare


class SelectionState(Enum):
    """The selected part of a file's change: all, some or none."""

    NONE = 0
    SOME = 1
    ALL = 2


class FileDraft:
    """One file's change with its selection, the selection of its hunks, and its edited text."""

    def __init__(self, change: FileChange) -> None:
        self.change = change
        self._is_selected = True
        self._edited: bytes | None = None
        self._excluded_hunks: frozenset[int] = frozenset()
        self._diff: Diff | None = None
        self._diff_lock = Lock()

    @property
    def before(self) -> bytes | None:
        """The bytes before the change; None for a new file."""
        return before_of(self.change)

    @property
    def after(self) -> bytes | None:
        """The bytes after the whole change, including edits; None for a deleted file."""
        return after_of(self.change) if self._edited is None else self._edited

    @property
    def diff(self) -> Diff | None:
        """The line diff, once `compare` has run."""
        return self._diff

    @property
    def excluded_hunks(self) -> frozenset[int]:
        """The hunks that are left out."""
        return self._excluded_hunks

    @property
    def is_edited(self) -> bool:
        """True if the user changed the text."""
        return self._edited is not None

    @property
    def is_divisible(self) -> bool:
        """True if individual hunks can be left out; false for a file that is created or deleted."""
        return isinstance(self.change, Update | Move)

    @property
    def selection_state(self) -> SelectionState:
        """The selected part of the change."""
        chosen = self.chosen()
        if chosen is None:
            return SelectionState.NONE
        return SelectionState.SOME if self._excluded_hunks else SelectionState.ALL

    def compare(self) -> Diff:
        """Return the line diff, computed once; may be called in several threads."""
        with self._diff_lock:
            if self._diff is None:
                self._diff = compare(self.before or b"", self.after or b"")
            return self._diff

    def set_selected(self, is_selected: bool) -> None:
        """Select the file with all of its hunks, or leave it out."""
        self._is_selected = is_selected
        self._excluded_hunks = frozenset()

    def leave_out(self, hunks: Iterable[int]) -> None:
        """Select the file, and leave out exactly these hunks.

        Raises:
            ValueError: The file is created or deleted as a whole, or there is no such hunk.
        """
        excluded_hunks = frozenset(hunks)
        if excluded_hunks and (
            not self.is_divisible or not excluded_hunks <= set(range(len(self.compare().hunks)))
        ):
            raise ValueError(f"{self.change.path} has no such hunks to leave out")
        self._excluded_hunks = excluded_hunks
        self._is_selected = True

    def edit(self, text: bytes | None) -> None:
        """Replace the proposed text and select the whole file; None restores the proposal's text.

        Raises:
            ValueError: The file is deleted, so it has no text to edit.
        """
        if isinstance(self.change, Delete):
            raise ValueError(f"{self.change.path} is deleted: there is no text to edit")
        self._edited = None if text == after_of(self.change) else text
        self._diff = None
        self._excluded_hunks = frozenset()
        self._is_selected = True

    def chosen_bytes(self) -> bytes | None:
        """Return the file's bytes with the selected hunks applied; None if it is deleted."""
        if not self._excluded_hunks:
            return self.after
        diff = self.compare()
        return diff.apply(set(range(len(diff.hunks))) - self._excluded_hunks)

    def chosen(self) -> FileChange | None:
        """Return the change as selected and edited; None if nothing is left of it."""
        if not self._is_selected:
            return None
        after = self.chosen_bytes()
        match self.change:
            case Create(path):
                return Create(path, after or b"") if self.is_edited else self.change
            case Update(path, before) if after is not None and (self._excluded_hunks or self.is_edited):
                return Update(path, before, after) if after != before else None
            case Move(path, to, before) if after is not None and (self._excluded_hunks or self.is_edited):
                return Move(path, to, before, after)
        return self.change


class ApprovalDraft:
    """An approval request with the user's choices so far."""

    def __init__(self, request: ApprovalRequest) -> None:
        self.request = request
        proposal = request.proposal
        changes = proposal.changes if isinstance(proposal, ChangeSet) else ()
        self.files = tuple(FileDraft(change) for change in changes)

    @property
    def is_edited(self) -> bool:
        """True if the user changed the text of a selected file."""
        return any(file.is_edited and file.selection_state is not SelectionState.NONE for file in self.files)

    @property
    def is_whole(self) -> bool:
        """True if the user has changed nothing in the proposal."""
        return all(file.selection_state is SelectionState.ALL and not file.is_edited for file in self.files)

    def proposal(self) -> ChangeSet | Effect | None:
        """Return exactly what an approval would cover; None if everything is left out."""
        proposed = self.request.proposal
        if isinstance(proposed, Effect) or self.is_whole:
            return proposed
        chosen = tuple(change for file in self.files if (change := file.chosen()) is not None)
        return replace(proposed, changes=chosen) if chosen else None

    def approved(self, grant: GrantOffer | None = None) -> Approved:
        """Return the approval of the current choices.

        Raises:
            ValueError: Everything is left out, so there is nothing to approve.
        """
        proposal = self.proposal()
        if proposal is None:
            raise ValueError("nothing is chosen")
        return Approved(proposal, edited=self.is_edited, grant=grant)
