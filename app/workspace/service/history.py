"""The history of a vault: the audit log, commits, earlier versions and planned undos."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app.permissions.audit_entry import AuditEntry, AuditFilter
from app.vault.changes import VAULT
from app.vault.commits import Commit, Version
from app.vault.path import NotePath
from app.vault.undo import UndoPlan

if TYPE_CHECKING:
    from app.permissions.audit import AuditLog
    from app.permissions.audit_chain import AuditCheck
    from app.toolkit.document_stores import StoreRegistry
    from app.vault.journal import Journal

ExportFormat = Literal["csv", "jsonl"]

_EVERYTHING = AuditFilter()


class HistoryService:
    """Reads the audit log and the journal; neither can be changed here."""

    def __init__(self, audit: AuditLog, journal: Journal, stores: StoreRegistry) -> None:
        self._audit = audit
        self._journal = journal
        self._stores = stores

    # Audit log

    def entry(self, entry_id: int) -> AuditEntry:
        """Return the audit log entry with the number `entry_id`.

        Raises:
            NotFoundError: There is no such entry.
        """
        return self._audit.entry(entry_id)

    def entries(
        self, entry_filter: AuditFilter = _EVERYTHING, limit: int = 100, before_id: int | None = None
    ) -> tuple[AuditEntry, ...]:
        """Return the matching entries, newest first; `before_id` continues from an earlier page."""
        return self._audit.entries(entry_filter, limit, before_id)

    def verify(self) -> AuditCheck:
        """Check the hash chain of the whole log."""
        return self._audit.verify()

    def export(self, file: Path, entry_filter: AuditFilter, export_format: ExportFormat) -> int:
        """Write the matching entries to `file` and return how many were written.

        Raises:
            StorageError: The file can't be written.
        """
        write = self._audit.export_csv if export_format == "csv" else self._audit.export_jsonl
        return write(file, entry_filter)

    # Commits

    def commit(self, number: int) -> Commit:
        """Return the commit with this number.

        Raises:
            NotFoundError: There is none.
        """
        return self._journal.commit(number)

    def commits(self, limit: int = 100, *, path: NotePath | None = None) -> tuple[Commit, ...]:
        """Return the commits of the notes, newest first; with `path`, those that changed this path."""
        return self._journal.commits(limit, path=path, place=VAULT)

    def commits_of_turn(self, turn: str) -> tuple[Commit, ...]:
        """Return the commits made by a turn's calls, oldest first.

        Raises:
            NotFoundError: The journal no longer has them.
        """
        return self._audit.commits_of_turn(turn, self._journal)

    def plan_undo(self, arguments: Mapping[str, object]) -> UndoPlan:
        """Return a plan of the `undo` tool's changes for these arguments, with the conflicts to resolve.

        The turn or entry in the arguments must have made a commit. If its commits changed several stores, the
        plan covers the first, which is the vault if it changed.

        Raises:
            NotFoundError: There is no such entry, or its contents are no longer stored.
        """
        if (turn := arguments.get("turn")) is not None:
            commits: Iterable[Commit] = self.commits_of_turn(str(turn))
        else:
            entry = int(str(arguments["entry"]))
            commits = self._audit.commits_of_entry(entry, self._journal)
        first, *_ = self._journal.group_by_place([commit.id for commit in commits])
        return self._stores.plan_undo(self._journal, first)

    # Versions

    def versions(self, path: NotePath) -> tuple[Version, ...]:
        """Return the versions of the note now at `path`, newest first, including those under former paths."""
        return self._journal.history(path)

    def content(self, key: str) -> bytes:
        """Return the bytes of a version.

        Raises:
            NotFoundError: They are no longer stored.
        """
        return self._journal.content(key)
