"""The journal and the log as a tool may see them: versions, undo, and which commits a call or a turn made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.errors import NotFoundError
from app.permissions.audit import AuditLog
from app.permissions.caller import Caller, CallerKind
from app.toolkit.places import Places
from app.toolkit.sight import Sight
from app.toolkit.vault_view import is_private
from app.vault.changes import VAULT
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.vault.changes import ChangeSet
    from app.vault.commits import Commit, Version
    from app.vault.journal import Journal, UndoPlan


class HistoryView:
    """Reads the journal for one call; it makes change sets that go back, and commits none."""

    def __init__(
        self, journal: Journal, audit: AuditLog, places: Places, caller: Caller, sight: Sight
    ) -> None:
        self._journal = journal
        self._audit = audit
        self._places = places
        self._caller = caller
        self._sight = sight

    def versions(self, path: NotePath) -> tuple[Version, ...]:
        """What the note at `path` was, newest first, across moves; none for a note the call may not see."""
        return self._journal.history(path) if self._sight.sees(path) else ()

    def content(self, hash: str) -> bytes:
        """The bytes of a version.

        Raises:
            NotFoundError: it is not kept any more, or the call may not see it.
        """
        content = self._journal.content(hash)
        if self._sight.hides_private and is_private(content):
            raise NotFoundError("That version is not kept.", hash=hash)
        return content

    def commits(self, limit: int = 50) -> tuple[Commit, ...]:
        """The newest commits that touched no document hidden from the call, newest first.

        Of the places beside the vault, an agent sees what it changed itself.
        """
        return tuple(one for one in self._journal.commits(limit) if self._sees(one))

    def commits_of_document(self, place: str, path: NotePath, limit: int = 200) -> tuple[Commit, ...]:
        """The newest commits to a document of a place beside the vault, whoever made them, newest first.

        Whether the caller may know of the document is for the tool to see first.
        """
        return self._journal.commits(limit, place=place, path=path)

    def _sees(self, commit: Commit) -> bool:
        if commit.place:
            return self._caller.kind is CallerKind.USER or commit.author == self._caller.name
        return all(self._sight.sees(path) for path in commit.paths)

    def by_place(self, commits: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """The commits in groups that can be taken back as one, the vault's first."""
        return self._journal.by_place(commits)

    def commits_of_entry(self, entry: int) -> tuple[int, ...]:
        """The commits that the call with this number in the audit log made.

        Raises:
            NotFoundError: the log has no such entry.
        """
        return self._audit.commits_of_entry(entry)

    def commits_of_turn(self, turn: str) -> tuple[int, ...]:
        """The commits that the calls of a turn made, oldest first."""
        return self._audit.commits_of_turn(turn)

    def plan_undo(self, commits: Sequence[int]) -> UndoPlan:
        """The change set that takes the commits back and keeps what was written since, and the conflicts.

        Raises:
            NotFoundError: a commit is not kept any more, or its place is not open.
            InvalidParametersError: the commits are of several places.
        """
        return self._places.plan_undo(self._journal, commits)

    def plan_restore(self, path: NotePath, hash: str) -> ChangeSet:
        """The change set that makes the note at `path` what it was in a version.

        Raises:
            NotFoundError: the version is not kept any more, or the call may not see it.
        """
        self.content(hash)
        return self._journal.restore(path, hash, self._places.current(VAULT, path))
