"""The model of the activity feed, built from the vault's events and from older audit entries."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from app.desktop.activity.item import (
    ActivityItem,
    ActivityKind,
    ActivityOrigin,
    ActivityStatus,
    answered_item,
    entry_key,
    item_from_entry,
    started_item,
    waiting_item,
)
from app.desktop.activity.labels import describe_item
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
_EMBEDDING_KEY = "embedding"


class ActivityModel(QAbstractListModel):
    """Activities, newest first; a row changes in place while its call runs."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[ActivityItem] = []
        self._keys_by_request: dict[str, str] = {}
        self._last_number = 0

    @property
    def waiting(self) -> tuple[QModelIndex, ...]:
        """The rows that are waiting for the user."""
        return tuple(
            self.index(row) for row, item in enumerate(self._rows) if item.status is ActivityStatus.PENDING
        )

    def handle_events(self, events: Iterable[Event]) -> None:
        """Process events of the vault."""
        for event in events:
            match event:
                case ToolStarted():
                    self.add_or_replace(started_item(event.call_id, event.tool, event.caller, time.time()))
                case ApprovalAsked():
                    self._show_request(event)
                case ApprovalAnswered():
                    self._end_request(event.request_id)
                case AuditAppended(entry):
                    self._add_entry(entry)
                case ToolFinished() if event.repeats:
                    self._count_rejected(event)
                case ToolFinished() if not event.outcome.entry:
                    self._end_unlogged(event)
                case _:
                    self._handle_system_event(event)

    def add_older(self, entries: Iterable[AuditEntry]) -> None:
        """Add activities of older audit entries, newest first, at the bottom; omit those in the feed."""
        keys = {row.key for row in self._rows}
        grouped: dict[str, ActivityItem] = {}
        for entry in entries:
            item = item_from_entry(entry)
            if (newer := grouped.get(item.key)) is not None and newer.entry is not None:
                grouped[item.key] = item_from_entry(newer.entry, newer.saves + 1)
            elif item.key not in keys:
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
        if report.unchanged:
            parts.append(self.tr("{0} unchanged").format(f"{report.unchanged:,}"))
        if report.removed:
            parts.append(self.tr("{0} removed").format(f"{report.removed:,}"))
        if not_indexed := len(report.skipped) + len(report.failed):
            parts.append(self.tr("{0} not indexed").format(f"{not_indexed:,}"))
        self._add_system_item(ActivityKind.INDEX, self.tr("Index the vault"), ", ".join(parts))

    def add_or_replace(self, activity: ActivityItem) -> None:
        """Add an activity at the top, or replace the one with its key; drop the oldest beyond the limit."""
        for row, existing in enumerate(self._rows):
            if existing.key == activity.key:
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
        """Return the activity for `ACTIVITY_ROLE`, or its description for a text role."""
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

    def _find(self, key: str) -> ActivityItem | None:
        return next((row for row in self._rows if row.key == key), None)

    def _show_request(self, event: ApprovalAsked) -> None:
        request = event.request
        now = time.time()
        activity = self._find(request.call) or started_item(
            request.call or request.id, request.tool, request.caller, now
        )
        self._keys_by_request[request.id] = activity.key
        self.add_or_replace(waiting_item(activity, request))

    def _end_request(self, request_id: str) -> None:
        activity = self._find(self._keys_by_request.pop(request_id, ""))
        if activity is not None and activity.request is not None and activity.request.id == request_id:
            self.add_or_replace(answered_item(activity))

    def _add_entry(self, entry: AuditEntry) -> None:
        previous = self._find(entry_key(entry)) if entry.is_session_save else None
        if previous is not None:
            self._remove(self._rows.index(previous))  # Move the session to the top.
        self.add_or_replace(item_from_entry(entry, 1 if previous is None else previous.saves + 1))
        redone_commits: set[int] = set()
        for row in list(self._rows) if entry.undoes else ():
            logged_entry = row.entry
            if logged_entry is not None and logged_entry.commit in entry.undoes:
                redone_commits.update(logged_entry.undoes)
                self.add_or_replace(item_from_entry(replace(logged_entry, undone_by=entry.id), row.saves))
        for row in list(self._rows) if redone_commits else ():
            logged_entry = row.entry
            if (
                logged_entry is not None
                and logged_entry.commit in redone_commits
                and logged_entry.undone_by is not None
            ):
                self.add_or_replace(item_from_entry(replace(logged_entry, undone_by=None), row.saves))

    def _remove(self, row: int) -> None:
        self.beginRemoveRows(_NO_INDEX, row, row)
        del self._rows[row]
        self.endRemoveRows()

    def _count_rejected(self, event: ToolFinished) -> None:
        """Add the number of further rejected calls to the activity of the first call rejected by a limit."""
        row = next((index for index, item in enumerate(self._rows) if item.key == event.call_id), None)
        if row is not None:
            self._remove(row)
        first = next(
            (item for item in self._rows if item.entry and item.entry.id == event.outcome.entry), None
        )
        if first is not None and first.entry is not None:
            count_text = PluralText(
                "ActivityModel", "{0} more call rejected", "{0} more calls rejected"
            ).format(event.repeats)
            text = f"{item_from_entry(first.entry).summary} ({count_text})"
            self.add_or_replace(replace(first, summary=text))

    def _end_unlogged(self, event: ToolFinished) -> None:
        """End a call without an audit entry; if one is written later, it replaces the activity."""
        outcome = event.outcome
        status = (
            ActivityStatus.COMPLETED
            if outcome.success
            else ActivityStatus.DENIED
            if outcome.denied
            else ActivityStatus.FAILED
        )
        activity = self._find(event.call_id) or started_item(
            event.call_id, event.tool, event.caller, time.time()
        )
        self.add_or_replace(replace(activity, status=status, summary=outcome.message, request=None))

    def _handle_system_event(self, event: Event) -> None:
        match event:
            case NotesChanged(commit=None):
                self._add_external_change(event)
            case IndexRebuilt(reason):
                self._add_system_item(ActivityKind.INDEX, self.tr("Rebuild the index"), reason)
            case EmbeddingProgressed() if event.total:
                self._show_embedding(event)
            case EmbeddingFailed(reason):
                self._add_system_item(
                    ActivityKind.EMBEDDING,
                    self.tr("Semantic search"),
                    reason,
                    ActivityStatus.FAILED,
                    key=_EMBEDDING_KEY,
                )
            case TokenRefused(refused):
                self._add_rejected_token(refused)
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

    def _add_rejected_token(self, refused: RejectedTokens) -> None:
        text = PluralText(
            "ActivityModel",
            "{0} request used an unknown or revoked token",
            "{0} requests used an unknown or revoked token",
        ).format(refused.count)
        caller = (
            self.tr("; the most recent one claimed to be from {0}").format(refused.claimed_name)
            if refused.claimed_name
            else ""
        )
        title = self.tr("Reject a request")
        self._add_system_item(ActivityKind.VAULT, title, text + caller, ActivityStatus.DENIED)

    def _add_external_change(self, event: NotesChanged) -> None:
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

    def _show_embedding(self, progress: EmbeddingProgressed) -> None:
        """Update the activity of the current indexing run, or add one for a new run."""
        is_over, total = progress.is_over, progress.total
        status = (
            ActivityStatus.RUNNING
            if not is_over
            else ActivityStatus.FAILED
            if progress.failed
            else ActivityStatus.COMPLETED
        )
        text = PluralText("ActivityModel", "{1} of {0} note", "{1} of {0} notes").format(
            total, f"{progress.done:,}"
        )
        if progress.switching:
            text = self.tr("{0}, for the new semantic search model").format(text)
        if progress.failed:
            text += self.tr(", {0} could not be read").format(f"{progress.failed:,}")
        current = self._find(_EMBEDDING_KEY)
        if is_over and (current is None or current.status is not ActivityStatus.RUNNING):
            if total == 1:
                return  # Indexing a single saved note needs no row.
            current = None
        start_time = (
            current.time if current is not None and current.status is ActivityStatus.RUNNING else time.time()
        )
        item = self._create_system_item(
            ActivityKind.EMBEDDING, self.tr("Semantic search"), text, status, _EMBEDDING_KEY, start_time
        )
        if current is not None and current.status is not ActivityStatus.RUNNING:
            self._finalize_key(_EMBEDDING_KEY)
        self.add_or_replace(item)
        if is_over:
            self._finalize_key(_EMBEDDING_KEY)

    def _finalize_key(self, key: str) -> None:
        """Give the activity with `key` a unique key, so that the next run adds another activity."""
        activity = self._find(key)
        if activity is not None:
            self._last_number += 1
            self._rows[self._rows.index(activity)] = replace(activity, key=f"{key}:{self._last_number}")

    def _add_system_item(
        self,
        kind: ActivityKind,
        name: str,
        summary: str,
        status: ActivityStatus = ActivityStatus.COMPLETED,
        *,
        key: str = "",
        paths: tuple[str, ...] = (),
    ) -> None:
        self._last_number += 1
        item = self._create_system_item(
            kind, name, summary, status, key or f"{kind}:{self._last_number}", time.time()
        )
        self.add_or_replace(replace(item, paths=paths))

    def _create_system_item(
        self, kind: ActivityKind, name: str, summary: str, status: ActivityStatus, key: str, timestamp: float
    ) -> ActivityItem:
        return ActivityItem(
            key, kind, name, status, summary, ActivityOrigin.SYSTEM, self.tr("Scriptorium"), timestamp
        )


class ActivityFilterModel(QSortFilterProxyModel):
    """The activities of a feed that match the filter."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._words: tuple[str, ...] = ()
        self._status = self._origin = ""

    def set_filter(self, text: str, status: str, origin: str) -> None:
        """Show activities that contain all words of `text`, with this status and origin ("" for any)."""
        self._words, self._status, self._origin = tuple(text.casefold().split()), status, origin
        self.invalidate()

    @property
    def has_filter(self) -> bool:
        """True if a filter is set."""
        return bool(self._words or self._status or self._origin)

    def filterAcceptsRow(self, row: int, parent: QModelIndex | QPersistentModelIndex) -> bool:
        """Return whether the row matches the filter."""
        source = self.sourceModel()
        activity: ActivityItem = source.index(row, 0, parent).data(ACTIVITY_ROLE)
        if self._status not in ("", activity.status) or self._origin not in ("", activity.origin):
            return False
        if not self._words:
            return True
        text = (
            f"{describe_item(activity)} {activity.name} {activity.kind} {' '.join(activity.paths)}".casefold()
        )
        return all(word in text for word in self._words)
