"""The dialog in which the user reviews and decides on requests, one at a time or all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.desktop.approval.batch_page import BatchPage
from app.desktop.approval.decision_bar import DecisionBar
from app.desktop.approval.input_delay import InputDelay
from app.desktop.approval.queue_strip import QueueStrip
from app.desktop.approval.queued_request import QueuedRequest
from app.desktop.approval.review_page import ReviewPage
from app.desktop.runtime.translation import translate, translate_text
from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.plain_labels import plain_label
from app.permissions.approval import Decision, Denied, GrantOffer
from app.permissions.request_labels import request_title

_TICK_INTERVAL_MS = 250
_MIN_SIZE = QSize(640, 300)
# The minimum height of a dialog with editable text, so that the editor opens without resizing it.
_MIN_EDITOR_HEIGHT = 460
_USE_PAUSE_S = 10.0
_WINDOW_SHARE = 0.9
_MAX_SIZE = QSize(1360, 940)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)

Answer = tuple[QueuedRequest, Decision]


class ApprovalDialog(QDialog):
    """A sheet of the window that shows one waiting request at a time.

    Its height fits the request. After the first key press, click or scroll, the dialog and its buttons keep
    their size and position; only another request can still make it taller. No button has the focus at first,
    so a key intended for another window has no effect. The time limit is paused while the user works on the
    request: while the editor is open, and for 10 s after each key press, click and scroll.

    `decided` carries a list of (request, decision). `postponed` is emitted when the user chooses to decide
    later. Each new request ignores input for 300 ms. Enter only denies, and only from the Deny button or the
    reason next to it; Escape and the window's close button also deny, or close the editor or the page with
    all requests.
    """

    decided = Signal(object)
    postponed = Signal()

    def __init__(self, theme: ThemeSource, clock: Callable[[], float], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(translate("Approval", "Approve change"))
        self.setMinimumSize(_MIN_SIZE)
        self._theme = theme
        self._clock = clock
        self._items: tuple[QueuedRequest, ...] = ()
        self._current: QueuedRequest | None = None
        self.input_delay = InputDelay(self, clock)
        self.strip = QueueStrip(theme.theme, self)
        self.bar = DecisionBar(self)
        self.page: ReviewPage | None = None
        self.batch: BatchPage | None = None
        self._build()
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_INTERVAL_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()
        self._connect()
        self._is_centered = False
        self._is_request_used = self._is_dialog_used = False
        self._last_used_at = -math.inf
        self._ticked_at = clock()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # The height of wrapped text is known only after the layout.
        self._fit_timer = QTimer(self, singleShot=True, interval=0)
        self._fit_timer.timeout.connect(self._fit_height)
        self._set_max_width()

    @property
    def current(self) -> QueuedRequest | None:
        """The request that is shown."""
        return self._current

    def show_queue(self, items: Sequence[QueuedRequest]) -> None:
        """Set the waiting requests; if the current one is no longer among them, show another.

        The dialog closes if none are left.
        """
        position = self._items.index(self._current) if self._current in self._items else 0
        self._items = tuple(items)
        if self.batch is not None and not set(self.batch.drafts) <= {item.draft for item in items}:
            self._close_batch()
        if not items:
            self._current = None
            self._end()
        elif self._current not in self._items:
            self.show_request(min(position, len(items) - 1))
        else:
            self.strip.show_queue(self._items, self._items.index(self._current))

    def show_request(self, position: int) -> None:
        """Show the request at `position` (from 0) in the queue; the dialog ignores input for 300 ms.

        A position outside the queue keeps the current request.
        """
        for step in self.steps(position):
            step()

    def steps(self, position: int) -> tuple[Callable[[], None], ...]:
        """Return the steps of `show_request`, so that the window can process events between them."""
        page = (self._fill_page, self._show_first, self._fill_bar)
        return (partial(self._begin, position), *page, self._polish_widgets, self._fit_height)

    def set_queue(self, items: Sequence[QueuedRequest]) -> None:
        """Set the waiting requests without showing any."""
        self._items = tuple(items)

    def _begin(self, position: int) -> None:
        if 0 <= position < len(self._items):
            self._current = self._items[position]
            self.input_delay.start_delay()
            self._is_request_used = False
            self._last_used_at = -math.inf
            self._replace_page(self._current)
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _fill_page(self) -> None:
        if self.page is not None and self._current is not None:
            self.page.fill()

    def _show_first(self) -> None:
        if self.page is not None and self._current is not None:
            self.page.show_first()

    def _fill_bar(self) -> None:
        if self._current is not None:
            self.strip.show_queue(self._items, self._items.index(self._current))
            self.bar.show_request(self._current.request)
            self.setAccessibleName(translate_text(request_title(self._current.request)))
            self._refresh()
            self._show_time()

    def _polish_widgets(self) -> None:
        for widget in self.findChildren(QWidget):
            widget.ensurePolished()

    def show_notice(self, text: str) -> None:
        """Show a message about a withdrawn request above the current one; an empty string hides it."""
        self._notice.setText(text)
        self._notice_frame.setVisible(bool(text))
        self._fit_timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the height to the request and center the dialog on the window."""
        super().showEvent(event)
        self.input_delay.start_filtering()
        self._fit_height()
        self._fit_timer.start()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go back or deny with Escape; deny with Enter if *Deny* has the focus."""
        if event.key() in _ENTER:
            event.accept()
            if self.focusWidget() is self.bar.deny_button:
                self.bar.deny_button.click()
        elif event.key() == Qt.Key.Key_Escape:
            event.accept()
            self._step_back()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Go back or deny, as Escape does; close the dialog only if no request is shown."""
        if self._current is None:
            super().closeEvent(event)
            return
        event.ignore()
        self._step_back()

    def reject(self) -> None:
        """Go back or deny; `QDialog` calls this for Escape."""
        self._step_back()

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._notice_frame = QFrame(self)
        self._notice = plain_label("", parent=self._notice_frame)
        self._notice.setWordWrap(True)
        self._notice_frame.setObjectName("banner")
        self._notice_frame.setProperty("tone", "warning")
        row = QHBoxLayout(self._notice_frame)
        row.setContentsMargins(20, 6, 20, 6)
        row.addWidget(self._notice)
        self._notice_frame.hide()
        self.strip.hide()
        self._line = QFrame(self)
        self._line.setObjectName("line")
        self._page_layout = QVBoxLayout()
        layout.addWidget(self.strip)
        layout.addWidget(self._notice_frame)
        layout.addLayout(self._page_layout, 1)
        layout.addWidget(self._line)
        layout.addWidget(self.bar)
        self._fixed_parts = (self.strip, self._notice_frame, self._line, self.bar)

    def _connect(self) -> None:
        self.input_delay.used.connect(self._record_use)
        self.strip.chosen.connect(self.show_request)
        self.strip.batch_requested.connect(self._show_batch)
        self.bar.denied.connect(lambda reason: self._decide(lambda _: Denied(reason)))
        self.bar.approved.connect(lambda: self._approve(None))
        self.bar.granted.connect(self._approve)
        self.bar.edit_toggled.connect(self._set_editing)
        self.bar.later_button.clicked.connect(self.postponed)
        self._theme.changed.connect(self._apply_theme)

    def _max_size(self) -> QSize:
        parent = self.parentWidget()
        window_size = parent.window().size() if parent else _MAX_SIZE
        max_size = (window_size * _WINDOW_SHARE).boundedTo(_MAX_SIZE).expandedTo(_MIN_SIZE)
        return max_size.boundedTo(self.screen().availableSize().expandedTo(_MIN_SIZE))

    def _set_max_width(self) -> None:
        max_size = self._max_size()
        self.resize(max_size.width(), min(max_size.height(), _MIN_SIZE.height()))

    def _fit_height(self) -> None:
        """Fit the height to the request, up to the maximum, and center the dialog on the window.

        A dialog that the user has used can become taller for another request, but not smaller.
        """
        if self._current is None or (self._is_request_used and self.isVisible()):
            return
        self._activate_layout()
        page = self.batch or self.page
        if page is None:
            return
        fixed_height = sum(part.sizeHint().height() for part in self._fixed_parts if not part.isHidden())
        preferred = fixed_height + page.height_for(self.width())
        minimum = self.height() if self._is_dialog_used and self.isVisible() else self._min_height()
        height = min(max(preferred, minimum), self._max_size().height())
        if height != self.height():
            self.resize(self.width(), height)
            self._is_centered = False
        if self.isVisible() and not self._is_centered:
            self._center()
            self._is_centered = True

    def _min_height(self) -> int:
        """Return the minimum height, which leaves space for the editor if the text can be edited."""
        can_edit = self.page is not None and bool(self.page.draft.files) and not self.page.read_only_reason()
        return _MIN_EDITOR_HEIGHT if can_edit else _MIN_SIZE.height()

    def _record_use(self) -> None:
        self._is_request_used = self._is_dialog_used = True
        self._last_used_at = self._clock()

    @property
    def _is_paused(self) -> bool:
        """True if the countdown is paused because the user is working on the request."""
        is_editing = self.page is not None and self.page.is_editing
        return is_editing or self._clock() - self._last_used_at < _USE_PAUSE_S

    def _activate_layout(self) -> None:
        layout = self.layout()
        if self.isVisible() and layout is not None:
            layout.activate()

    def _center(self) -> None:
        parent = self.parentWidget()
        if parent is None:
            return
        frame = self.frameGeometry()
        frame.moveCenter(parent.window().frameGeometry().center())
        screen = self.screen().availableGeometry()
        frame.moveTop(max(frame.top(), screen.top()))
        self.move(frame.topLeft())

    def _replace_page(self, item: QueuedRequest) -> None:
        self._close_batch()
        if self.page is not None:
            self._page_layout.removeWidget(self.page)
            self.page.hide()
            self.page.deleteLater()
        self.page = ReviewPage(item.draft, self._theme, self)
        self.page.changed.connect(self._follow_page)
        self.page.height_changed.connect(self._fit_timer.start)
        self._page_layout.addWidget(self.page)

    def _follow_page(self) -> None:
        if self.input_delay.is_ready:
            self._record_use()
        self._refresh()

    def _refresh(self) -> None:
        if self.page is not None and self._current is not None:
            page = self.page
            read_only_reason = page.read_only_reason()
            self.bar.show_choice(self._current.draft, read_only_reason, page.problem, editing=page.is_editing)
            page.header.show_choice(self._current.draft.proposal())
            if self.bar.edit_button.isChecked() != page.is_editing:
                self.bar.edit_button.setChecked(page.is_editing)

    def _set_editing(self, editing: bool) -> None:
        if self.page is not None and self.page.is_editing != editing:
            self._record_use()
            self.page.set_editing(editing)

    def _approve(self, grant: GrantOffer | None) -> None:
        if self.page is None:
            return
        self.page.flush()
        if self.page.problem or self._current is None or self._current.draft.proposal() is None:
            return
        if self._clock() < self._current.deadline:
            self._decide(lambda item: item.draft.approved(grant))

    def _decide(self, decision: Callable[[QueuedRequest], Decision]) -> None:
        if self._current is not None and self.input_delay.is_ready:
            self.show_notice("")
            self.decided.emit([(self._current, decision(self._current))])

    def _step_back(self) -> None:
        if self.batch is not None:
            self._close_batch()
        elif self.page is not None and self.page.is_editing:
            self.page.set_editing(False)
        else:
            self.bar.deny_button.click()

    def _show_batch(self) -> None:
        if self.page is None:
            return
        self.page.flush()
        if self.page.problem:
            return
        batch = BatchPage([item.draft for item in self._items], self._theme.theme, self)
        batch.back_requested.connect(self._close_batch)
        batch.approved.connect(lambda: self._decide_all(lambda item: item.draft.approved()))
        batch.denied.connect(lambda: self._decide_all(lambda _: Denied()))
        self.batch = batch
        for widget in (self.page, self._line, self.bar, self.strip):
            widget.hide()
        self._page_layout.addWidget(batch)
        self._fit_timer.start()
        self.input_delay.start_delay()
        self.setFocus()

    def _decide_all(self, decision: Callable[[QueuedRequest], Decision]) -> None:
        if self.batch is None or not self.input_delay.is_ready:
            return
        items = [item for item in self._items if item.draft in self.batch.drafts]
        self._close_batch()
        self.decided.emit([(item, decision(item)) for item in items])

    def _close_batch(self) -> None:
        if self.batch is None or self.page is None:
            return
        self._page_layout.removeWidget(self.batch)
        self.batch.hide()
        self.batch.deleteLater()
        self.batch = None
        for widget in (self.page, self._line, self.bar):
            widget.show()
        if self._current in self._items:
            self.strip.show_queue(self._items, self._items.index(self._current))
        self.input_delay.start_delay()
        self._fit_timer.start()
        self.setFocus()

    def _tick(self) -> None:
        now = self._clock()
        elapsed, self._ticked_at = now - self._ticked_at, now
        if (
            self._current is not None
            and self.isVisible()
            and self._is_paused
            and now < self._current.deadline
        ):
            self._current.postpone(elapsed)
        self._show_time()

    def _show_time(self) -> None:
        if self._current is None:
            return
        remaining = self._current.deadline - self._clock()
        if self._is_paused and 0 < remaining < math.inf:
            self.bar.show_pause()
        else:
            self.bar.show_time(remaining)

    def _apply_theme(self, _: Theme) -> None:
        """Apply the new theme; the batch page and a page that is being edited keep their icons."""
        if (
            self._current is not None
            and self.batch is None
            and self.page is not None
            and not self.page.is_editing
        ):
            self._replace_page(self._current)
            self._fill_page()
            self._show_first()
            self._refresh()

    def _end(self) -> None:
        self._timer.stop()
        self.input_delay.stop()
        self.done(0)
