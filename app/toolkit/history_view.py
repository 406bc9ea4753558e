"""Access to the journal and the audit log for tools: versions, undo, and the commits of calls and turns."""

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
    from app.vault.journal import Journal
    from app.vault.undo import UndoPlan

_CHANGED = "Changed"
_MAX_DOCUMENT_COMMITS = 200


class HistoryView:
    """Reads the journal for one call and plans undo and restore; it commits nothing."""

    def __init__(
        self,
        journal: Journal,
        audit: AuditLog,
        stores: StoreRegistry,
        caller: Caller,
        visibility: CallVisibility,
    ) -> None:
        self._journal = journal
        self._audit = audit
        self._stores = stores
        self._caller = caller
        self._visibility = visibility

    def versions(self, path: NotePath) -> tuple[Version, ...]:
        """Return the visible versions of the note at `path`, newest first, across moves.

        There are none if the note is hidden; the last stored text determines whether it is private.
        """
        if not self._visibility.can_see(path):
            return ()
        versions = self._journal.history(path)
        last_hash = next((version.hash for version in versions if version.hash is not None), None)
        if self._is_private(path, last_hash):
            return ()
        visible = (
            version
            for version in versions
            if self._visibility.can_see(version.path) and not self._is_private(version.path, version.hash)
        )
        return tuple(self._without_hidden_summary(version) for version in visible)

    def _without_hidden_summary(self, version: Version) -> Version:
        """Return the version; if its commit touches hidden notes, replace the summary with a neutral one."""
        if not version.summary or not self._visibility.may_hide:
            return version
        changes = self._journal.commit(version.commit_id).changes
        return version if all(map(self._is_visible, changes)) else replace(version, summary=_CHANGED)

    def content(self, path: NotePath, version_hash: str) -> bytes:
        """Return the bytes of a version of the file at `path`, which the call must be allowed to see.

        Raises:
            NotFoundError: the version is no longer stored, or it is private and hidden from the call.
        """
        if self._is_private(path, version_hash):
            raise NotFoundError("That version is no longer stored.", hash=version_hash)
        return self._journal.content(version_hash)

    def commits(self, limit: int = 50) -> tuple[Commit, ...]:
        """Return the latest `limit` commits, except those that touch hidden documents, newest first.

        In stores other than the vault, an agent sees only its own commits.
        """
        return tuple(commit for commit in self._journal.commits(limit) if self._may_see(commit))

    def commits_of_document(self, place: str, path: NotePath) -> tuple[Commit, ...]:
        """Return the latest commits by any caller to a document in another store, newest first.

        The tool must first check whether the caller may know of the document.
        """
        return self._journal.commits(_MAX_DOCUMENT_COMMITS, place=place, path=path)

    def _may_see(self, commit: Commit) -> bool:
        if commit.place:
            return self._caller.kind is CallerKind.USER or commit.author == self._caller.name
        return all(self._visibility.can_see(path) for path in commit.paths)

    def group_by_place(self, commits: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Group commits by store, so that each group can be undone as a whole; the vault's group is first."""
        return self._journal.group_by_place(commits)

    def commits_of_entry(self, entry: int) -> tuple[int, ...]:
        """Return the ids of an audit entry's commits that the call may know of.

        Raises:
            NotFoundError: the log has no such entry, or the journal lacks its commit.
        """
        return self._known_commit_ids(self._audit.commits_of_entry(entry, self._journal))

    def commits_of_turn(self, turn: str) -> tuple[int, ...]:
        """Return the ids of a turn's commits that the call may know of, oldest first.

        Raises:
            NotFoundError: the journal lacks one of the commits.
        """
        return self._known_commit_ids(self._audit.commits_of_turn(turn, self._journal))

    def visible_paths(self, commits: Iterable[int], paths: Iterable[NotePath]) -> list[str]:
        """Return `paths` without those that the commits touch and the call may not see."""
        vault_commits = [commit for commit in map(self._journal.commit, commits) if commit.place == VAULT]
        changes = [change for commit in vault_commits for change in commit.changes]
        hidden = {
            path
            for change in changes
            if not self._is_visible(change)
            for path in (change.path, change.to)
            if path is not None
        }
        return [str(path) for path in paths if path not in hidden]

    def not_undone(self, commits: Iterable[int]) -> tuple[Commit, ...]:
        """Return the commits with these ids that have not been undone."""
        return tuple(commit for commit in map(self._journal.commit, commits) if commit.undone_by is None)

    def _known_commit_ids(self, commits: Iterable[Commit]) -> tuple[int, ...]:
        """Return the ids of the commits with at least one change that the call may know of."""
        return tuple(commit.id for commit in commits if self._may_know(commit))

    def _may_know(self, commit: Commit) -> bool:
        if commit.place:
            return self._may_see(commit)
        return any(self._is_visible(change) for change in commit.changes)

    def _is_visible(self, change: CommittedFile) -> bool:
        """Return whether a change is visible, based on its paths and on its text before and after."""
        paths = [path for path in (change.path, change.to) if path is not None]
        if not all(self._visibility.can_see(path) for path in paths):
            return False
        return not (
            self._is_private(change.path, change.before) or self._is_private(change.final_path, change.after)
        )

    def _is_private(self, path: NotePath, version_hash: str | None) -> bool:
        """Return whether a version is private and hidden from the call; False if it is no longer stored."""
        if version_hash is None or not path.is_note or not self._visibility.hides_private:
            return False
        try:
            return is_private(self._journal.content(version_hash))
        except NotFoundError:
            return False

    def plan_undo(self, commits: Sequence[int]) -> UndoPlan:
        """Plan a change set that undoes the commits but keeps later edits, and list the conflicts.

        Raises:
            NotFoundError: a commit is no longer stored, or its store is not open.
            InvalidParametersError: the commits belong to several stores.
            StorageError: a document can't be read.
        """
        return self._stores.plan_undo(self._journal, commits)

    def plan_restore(self, path: NotePath, version_hash: str) -> ChangeSet:
        """Return the change set that restores the note at `path` to a version.

        Raises:
            NotFoundError: the version is no longer stored, or it is private and hidden from the call.
            StorageError: the note can't be read.
        """
        self.content(path, version_hash)
        return self._journal.restore(path, version_hash, self._stores.current(VAULT, path))
