"""The queue of requests that await approval, and their dialog."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget

from app.desktop.approval.dialog import Answer, ApprovalDialog
from app.desktop.approval.queued_request import ApprovalHandle, QueuedRequest
from app.desktop.runtime.time_sliced_queue import TimeSlicedQueue
from app.desktop.runtime.translation import translate, translate_text
from app.desktop.theme.theme import ThemeSource
from app.permissions.approval import COVERED_REASON, UNANSWERED_REASON, Denied
from app.permissions.partial_approval import ApprovalDraft
from app.permissions.request_labels import request_title
from app.vault.changes import ChangeSet


class ApprovalQueue(QObject):
    """Shows each request to the user and passes the answer on.

    `pending_paths_changed` carries a frozenset of the paths (str) that waiting requests would change, for the
    graph's highlight. `notice` carries a message about a withdrawn request if no other request is shown.
    `postponed` is emitted when the user chooses to decide later: the waiting requests lose their time limit,
    and wait until the user answers them.

    Args:
        parent_window: The parent of the dialog.
        theme_source: The colors.
        clock: A monotonic clock in seconds; only differences count.
    """

    pending_paths_changed = Signal(object)
    notice = Signal(str)
    postponed = Signal()

    def __init__(
        self,
        parent_window: QWidget | None,
        theme_source: ThemeSource,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent_window)
        self._window = parent_window
        self._theme = theme_source
        self._clock = clock
        self._items: list[QueuedRequest] = []
        self.dialog: ApprovalDialog | None = None
        self._dialog_steps = TimeSlicedQueue(lambda step: step(), self)  # type: ignore[operator]

    @property
    def waiting(self) -> tuple[QueuedRequest, ...]:
        """The unanswered requests, oldest first."""
        return tuple(self._items)

    @property
    def pending_paths(self) -> frozenset[str]:
        """The paths that waiting requests would change."""
        proposals = [item.request.proposal for item in self._items]
        return frozenset(
            str(path) for proposal in proposals if isinstance(proposal, ChangeSet) for path in proposal.paths
        )

    def add(self, handle: ApprovalHandle) -> None:
        """Add a request, and show it if no other request is shown."""
        request = handle.request
        limit = math.inf if request.timeout is None else request.timeout
        item = QueuedRequest(handle, ApprovalDraft(request), self._clock() + limit)
        self._items.append(item)
        handle.withdrawn.connect(partial(self._withdraw, item))
        if self.dialog is None and self._dialog_steps.is_empty:
            self._dialog_steps.add_later([self._create_dialog])
        else:
            self._dialog_steps.finish()
            self._show_added(request.id)
        self._emit_pending_paths()

    def _create_dialog(self) -> None:
        if self._items:
            self.dialog = ApprovalDialog(self._theme, self._clock, self._window)
            self.dialog.decided.connect(self._answer)
            self.dialog.postponed.connect(self._postpone_all)
            self.dialog.set_queue(self._items)
            self._dialog_steps.add_later([*self.dialog.steps(0), partial(self._raise_dialog, self.dialog)])

    def _show_added(self, request_id: str) -> None:
        if self.dialog is not None:
            self.dialog.show_queue(self._items)
            if self.dialog.isHidden():
                self.review(request_id)

    def review(self, request_id: str) -> None:
        """Show the dialog with this request, if it is still waiting."""
        position = next((n for n, item in enumerate(self._items) if item.request.id == request_id), None)
        self._dialog_steps.finish()
        if position is not None and self.dialog is not None:
            self.dialog.show_request(position)
            self._raise_dialog(self.dialog)

    def reject(self, request_id: str) -> None:
        """Deny this request without a review, if it is still waiting."""
        self._answer([(item, Denied()) for item in self._items if item.request.id == request_id])

    def end(self) -> None:
        """Close the dialog and discard the waiting requests, because the vault is being closed."""
        self._items.clear()
        self._show_remaining()

    def _raise_dialog(self, dialog: ApprovalDialog) -> None:
        if dialog is not self.dialog:
            return  # The request was withdrawn while the dialog was being built.
        dialog.input_delay.start_delay()
        dialog.open()
        dialog.setFocus()
        if self._window is not None:
            QApplication.alert(self._window)

    def _postpone_all(self) -> None:
        if self.dialog is not None:
            for item in self._items:
                item.postpone(math.inf)
            self.dialog.hide()
            self.postponed.emit()

    def _answer(self, answers: list[Answer]) -> None:
        for item, decision in answers:
            if item in self._items:
                self._items.remove(item)
                item.handle.answer(decision)
        self._show_remaining()

    def _withdraw(self, item: QueuedRequest) -> None:
        if item in self._items:
            self._items.remove(item)
        elif item.handle.reason != UNANSWERED_REASON:
            return  # The vault is being closed.
        title = translate_text(request_title(item.request))
        text = f"{self._withdrawal_reason(item)}: {title}."
        if self._items and self.dialog is not None and self.dialog.isVisible():
            self.dialog.show_notice(text)
        else:
            self.notice.emit(text)
        self._show_remaining()

    def _withdrawal_reason(self, item: QueuedRequest) -> str:
        if item.handle.reason == COVERED_REASON:
            return translate("Approval", "Auto-approved by the rule that you just added")
        if item.handle.reason == UNANSWERED_REASON:
            return translate("Approval", "Timed out and denied")
        return translate("Approval", "Withdrawn by the caller")

    def _show_remaining(self) -> None:
        if self.dialog is not None:
            dialog = self.dialog
            if not self._items:
                self.dialog = None
            dialog.show_queue(self._items)
            if not self._items:
                dialog.deleteLater()
        if not self._items:
            self._dialog_steps.clear()
        self._emit_pending_paths()

    def _emit_pending_paths(self) -> None:
        self.pending_paths_changed.emit(self.pending_paths)
