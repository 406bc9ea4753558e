"""The journal and the log as a tool may see them: versions, undo, and which commits a call or a turn made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.errors import NotFoundError
from app.permissions.audit import AuditLog
from app.permissions.caller import Caller, CallerKind
from app.toolkit.document_stores import StoreRegistry
from app.toolkit.visibility import CallVisibility
from app.vault.changes import VAULT
from app.vault.markdown.privacy import is_private
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.vault.changes import ChangeSet
    from app.vault.commits import Commit, CommittedFile, Version
    from app.vault.journal import Journal, UndoPlan

_CHANGED = "Changed"


class HistoryView:
    """Reads the journal for one call; it makes change sets that go back, and commits none."""

    def __init__(
        self, journal: Journal, audit: AuditLog, places: StoreRegistry, caller: Caller, sight: CallVisibility
    ) -> None:
        self._journal = journal
        self._audit = audit
        self._places = places
        self._caller = caller
        self._sight = sight

    def versions(self, path: NotePath) -> tuple[Version, ...]:
        """What the note at `path` was, newest first, across moves; none for a note the call may not see.

        A note that is gone is judged by the text that it had last.
        """
        if not self._sight.can_see(path):
            return ()
        found = self._journal.history(path)
        last = next((one.hash for one in found if one.hash is not None), None)
        if self._is_private(path, last):
            return ()
        shown = (
            one for one in found if self._sight.can_see(one.path) and not self._is_private(one.path, one.hash)
        )
        return tuple(self._without_others(one) for one in shown)

    def _without_others(self, version: Version) -> Version:
        """The version, without a summary that names or counts notes of which the call may not know."""
        if not version.summary or not (self._sight.hides_private or self._sight.is_ruled):
            return version
        changes = self._journal.commit(version.commit_id).changes
        return version if all(map(self._shows, changes)) else replace(version, summary=_CHANGED)

    def content(self, path: NotePath, hash: str) -> bytes:
        """The bytes of a version of the file at `path`.

        Raises:
            NotFoundError: it is not kept any more, or the call may not see it.
        """
        if self._is_private(path, hash):
            raise NotFoundError("That version is not kept.", hash=hash)
        return self._journal.content(hash)

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
        return all(self._sight.can_see(path) for path in commit.paths)

    def by_place(self, commits: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """The commits in groups that can be taken back as one, the vault's first."""
        return self._journal.by_place(commits)

    def commits_of_entry(self, entry: int) -> tuple[int, ...]:
        """The commits that the call with this number in the audit log made.

        Raises:
            NotFoundError: the log has no such entry, or the journal does not have its commit.
        """
        return self._known(self._audit.commits_of_entry(entry, self._journal))

    def commits_of_turn(self, turn: str) -> tuple[int, ...]:
        """The commits that the calls of a turn made, oldest first."""
        return self._known(self._audit.commits_of_turn(turn, self._journal))

    def visible_paths(self, commits: Iterable[int], paths: Iterable[NotePath]) -> list[str]:
        """Those of the documents touched by the commits that the call may know of."""
        found = [one for one in map(self._journal.commit, commits) if one.place == VAULT]
        changes = [change for one in found for change in one.changes]
        hidden = {
            path for one in changes if not self._shows(one) for path in (one.path, one.to) if path is not None
        }
        return [str(path) for path in paths if path not in hidden]

    def not_undone(self, commits: Iterable[int]) -> tuple[Commit, ...]:
        """Those of the commits that were not undone."""
        return tuple(one for one in map(self._journal.commit, commits) if one.undone_by is None)

    def _known(self, commits: Iterable[Commit]) -> tuple[int, ...]:
        """Those of the commits of which the call may know at least one change."""
        return tuple(one.id for one in commits if self._may_know(one))

    def _may_know(self, commit: Commit) -> bool:
        if commit.place:
            return self._sees(commit)
        return any(self._shows(change) for change in commit.changes)

    def _shows(self, change: CommittedFile) -> bool:
        """Whether the call may know of a note: by its paths, and by its texts where the note is gone."""
        paths = [path for path in (change.path, change.to) if path is not None]
        if not all(self._sight.can_see(path) for path in paths):
            return False
        return not (
            self._is_private(change.path, change.before) or self._is_private(change.place, change.after)
        )

    def _is_private(self, path: NotePath, hash: str | None) -> bool:
        """Return whether a version that is kept is to be hidden from the call."""
        if hash is None or not path.is_note or not self._sight.hides_private:
            return False
        try:
            return is_private(self._journal.content(hash))
        except NotFoundError:
            return False

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
        self.content(path, hash)
        return self._journal.restore(path, hash, self._places.current(VAULT, path))
