"""The model of the activity feed, built from the events of the vault since it was opened."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.desktop.activity.item import (
    ActivityItem,
    ActivityKind,
    ActivityOrigin,
    ActivityStatus,
    answered_item,
    describe_item,
    entry_key,
    item_from_entry,
    started_item,
    waiting_item,
)
from app.desktop.runtime.translation import PluralText
from app.embeddings.sync_scheduler import EmbeddingFailed, EmbeddingProgressed
from app.events import Event
from app.index.records import IndexRebuilt, ScanReport
from app.permissions.audit import AuditAppended
from app.permissions.audit_entry import AuditEntry
from app.servers.server_state import RejectedTokens, TokenRefused
from app.toolkit.outcome import ApprovalAnswered, ApprovalAsked, ToolFinished, ToolStarted
from app.vault.store import NotesChanged
from app.vault.watcher import VaultFound, VaultLost

ACTIVITY_ROLE = int(Qt.ItemDataRole.UserRole)
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_MAX_ROWS = 2000


class ActivityModel(QAbstractListModel):
    """Activities, newest first; a row changes in place while its call runs."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[ActivityItem] = []
        self._calls: dict[str, str] = {}  # question id → call id
        self._number = 0

    @property
    def activities(self) -> tuple[ActivityItem, ...]:
        """The activities, newest first."""
        return tuple(self._rows)

    @property
    def waiting(self) -> tuple[QModelIndex, ...]:
        """The rows that wait for the user."""
        return tuple(
            self.index(row) for row, each in enumerate(self._rows) if each.status is ActivityStatus.PENDING
        )

    def handle_events(self, events: Iterable[Event]) -> None:
        """Process events of the vault."""
        for event in events:
            match event:
                case ToolStarted():
                    self.put(started_item(event.call_id, event.tool, event.caller, time.time()))
                case ApprovalAsked():
                    self._ask(event)
                case ApprovalAnswered():
                    self._answer(event.request_id)
                case AuditAppended(entry):
                    self._log(entry)
                case ToolFinished() if event.repeats:
                    self._count_refused(event)
                case ToolFinished() if not event.outcome.entry:
                    self._end_unlogged(event)
                case _:
                    self._handle_system_event(event)

    def add_older(self, entries: Iterable[AuditEntry]) -> None:
        """Add activities from the audit log at the bottom."""
        known = {row.key for row in self._rows}
        grouped: dict[str, ActivityItem] = {}
        for entry in entries:
            item = item_from_entry(entry)
            if (newer := grouped.get(item.key)) is not None and newer.entry is not None:
                grouped[item.key] = item_from_entry(newer.entry, newer.saves + 1)
            elif item.key not in known:
                grouped[item.key] = item
        older = list(grouped.values())
        if older:
            first = len(self._rows)
            self.beginInsertRows(_NO_INDEX, first, first + len(older) - 1)
            self._rows += older
            self.endInsertRows()

    def record_scan(self, report: ScanReport) -> None:
        """Add a row for a scan of the vault."""
        parts = [PluralText("ActivityModel", "{0} note indexed", "{0} notes indexed").format(report.indexed)]
        parts.append(self.tr("{0} unchanged").format(f"{report.unchanged:,}"))
        if report.removed:
            parts.append(self.tr("{0} removed").format(f"{report.removed:,}"))
        if unreadable := len(report.skipped) + len(report.failed):
            parts.append(self.tr("{0} unreadable").format(f"{unreadable:,}"))
        self._add_system_item(ActivityKind.INDEX, self.tr("Index the vault"), ", ".join(parts))

    def put(self, activity: ActivityItem) -> None:
        """Add an activity at the top, or replace the one with its key."""
        for row, known in enumerate(self._rows):
            if known.key == activity.key:
                self._rows[row] = activity
                self.dataChanged.emit(self.index(row), self.index(row))
                return
        self.beginInsertRows(_NO_INDEX, 0, 0)
        self._rows.insert(0, activity)
        self.endInsertRows()
        if len(self._rows) > _MAX_ROWS:
            last = len(self._rows) - 1
            self.beginRemoveRows(_NO_INDEX, last, last)
            del self._rows[last]
            self.endRemoveRows()

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the activity, or its text."""
        if not index.isValid():
            return None
        activity = self._rows[index.row()]
        if role == ACTIVITY_ROLE:
            return activity
        text_roles = (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        )
        return describe_item(activity) if role in text_roles else None

    def _of(self, key: str) -> ActivityItem | None:
        return next((row for row in self._rows if row.key == key), None)

    def _ask(self, event: ApprovalAsked) -> None:
        request = event.request
        now = time.time()
        known = self._of(request.call) or started_item(
            request.call or request.id, request.tool, request.caller, now
        )
        self._calls[request.id] = known.key
        self.put(waiting_item(known, request))

    def _answer(self, request_id: str) -> None:
        known = self._of(self._calls.pop(request_id, ""))
        if known is not None and known.request is not None and known.request.id == request_id:
            self.put(answered_item(known))

    def _log(self, entry: AuditEntry) -> None:
        earlier = self._of(entry_key(entry)) if entry.is_of_session else None
        if earlier is not None:
            self._remove(self._rows.index(earlier))  # Move the session to the top.
        self.put(item_from_entry(entry, 1 if earlier is None else earlier.saves + 1))
        restored: set[int] = set()
        for row in list(self._rows) if entry.undoes else ():
            logged = row.entry
            if logged is not None and logged.commit in entry.undoes:
                restored.update(logged.undoes)
                self.put(item_from_entry(replace(logged, undone_by=entry.id), row.saves))
        for row in list(self._rows) if restored else ():
            logged = row.entry
            if logged is not None and logged.commit in restored and logged.undone_by is not None:
                self.put(item_from_entry(replace(logged, undone_by=None), row.saves))

    def _remove(self, row: int) -> None:
        self.beginRemoveRows(_NO_INDEX, row, row)
        del self._rows[row]
        self.endRemoveRows()

    def _count_refused(self, event: ToolFinished) -> None:
        """Count a repeated refusal by a limit in the activity of the first one."""
        row = next((at for at, one in enumerate(self._rows) if one.key == event.call_id), None)
        if row is not None:
            self._remove(row)
        first = next((one for one in self._rows if one.entry and one.entry.id == event.outcome.entry), None)
        if first is not None and first.entry is not None:
            more = PluralText("ActivityModel", "{0} more call refused", "{0} more calls refused").format(
                event.repeats
            )
            text = f"{item_from_entry(first.entry).summary} ({more})"
            self.put(replace(first, summary=text))

    def _end_unlogged(self, event: ToolFinished) -> None:
        """End a call whose audit entry is not yet written; the entry replaces it later."""
        outcome = event.outcome
        status = (
            ActivityStatus.COMPLETED
            if outcome.success
            else ActivityStatus.DENIED
            if outcome.denied
            else ActivityStatus.FAILED
        )
        known = self._of(event.call_id) or started_item(event.call_id, event.tool, event.caller, time.time())
        self.put(replace(known, status=status, summary=outcome.message, request=None))

    def _handle_system_event(self, event: Event) -> None:
        match event:
            case NotesChanged(commit=None):
                self._changed_outside(event)
            case IndexRebuilt(reason):
                self._add_system_item(ActivityKind.INDEX, self.tr("Rebuild the index"), reason)
            case EmbeddingProgressed() if event.total:
                self._embedded(event)
            case EmbeddingFailed(reason):
                self._add_system_item(
                    ActivityKind.MEANING,
                    self.tr("Semantic search"),
                    reason,
                    ActivityStatus.FAILED,
                    key="meaning",
                )
            case TokenRefused(refused):
                self._refused(refused)
            case VaultLost():
                text = self.tr("The vault folder is missing.")
                self._add_system_item(
                    ActivityKind.VAULT, self.tr("Watch the vault"), text, ActivityStatus.FAILED
                )
            case VaultFound():
                self._add_system_item(
                    ActivityKind.VAULT,
                    self.tr("Watch the vault"),
                    self.tr("The vault folder is available again."),
                )

    def _refused(self, refused: RejectedTokens) -> None:
        text = PluralText(
            "ActivityModel",
            "{0} request used an unknown or revoked token",
            "{0} requests used an unknown or revoked token",
        ).format(refused.count)
        who = (
            self.tr("; the most recent program claims to be {0}").format(refused.says) if refused.says else ""
        )
        title = self.tr("Reject a program")
        self._add_system_item(ActivityKind.VAULT, title, text + who, ActivityStatus.DENIED)

    def _changed_outside(self, event: NotesChanged) -> None:
        parts = []
        if event.paths:
            parts.append(
                PluralText("ActivityModel", "{0} file changed", "{0} files changed").format(len(event.paths))
            )
        if event.removed:
            parts.append(
                PluralText("ActivityModel", "{0} file removed", "{0} files removed").format(
                    len(event.removed)
                )
            )
        if not parts:
            return
        text = self.tr("{0} by another program").format(", ".join(parts))
        if len(event.paths) == 1:
            text = f"{text}: {event.paths[0].text}"
        paths = tuple(path.text for path in event.paths)
        self._add_system_item(ActivityKind.VAULT, self.tr("Changed outside the app"), text, paths=paths)

    def _embedded(self, progress: EmbeddingProgressed) -> None:
        """Return the activity of the current indexing run: it grows, and the next run has its own."""
        over, total = progress.is_over, progress.total
        status = (
            ActivityStatus.RUNNING
            if not over
            else ActivityStatus.FAILED
            if progress.failed
            else ActivityStatus.COMPLETED
        )
        text = PluralText("ActivityModel", "{1} of {0} note", "{1} of {0} notes").format(
            total, f"{progress.done:,}"
        )
        if progress.switching:
            text = self.tr("{0}, for the new language model").format(text)
        if progress.failed:
            text += self.tr(", {0} could not be read").format(f"{progress.failed:,}")
        known = self._of("meaning")
        if over and (known is None or known.status is not ActivityStatus.RUNNING):
            if total == 1:
                return  # A single saved note needs no row.
            known = None
        at = known.at if known is not None and known.status is ActivityStatus.RUNNING else time.time()
        item = self._system(ActivityKind.MEANING, self.tr("Semantic search"), text, status, "meaning", at)
        if known is not None and known.status is not ActivityStatus.RUNNING:
            self._rename("meaning")
        self.put(item)
        if over:
            self._rename("meaning")

    def _rename(self, key: str) -> None:
        """Give the activity with `key` a final key."""
        known = self._of(key)
        if known is not None:
            self._number += 1
            self._rows[self._rows.index(known)] = replace(known, key=f"{key}:{self._number}")

    def _add_system_item(
        self,
        kind: ActivityKind,
        what: str,
        summary: str,
        status: ActivityStatus = ActivityStatus.COMPLETED,
        *,
        key: str = "",
        paths: tuple[str, ...] = (),
    ) -> None:
        self._number += 1
        item = self._system(kind, what, summary, status, key or f"{kind}:{self._number}", time.time())
        self.put(replace(item, paths=paths))

    def _system(
        self, kind: ActivityKind, what: str, summary: str, status: ActivityStatus, key: str, at: float
    ) -> ActivityItem:
        return ActivityItem(
            key, kind, what, status, summary, ActivityOrigin.SYSTEM, self.tr("Scriptorium"), at
        )
