"""The bar at the bottom of the dialog: deny with a reason, edit, approve."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QMenu, QPushButton, QWidget

from app.desktop.approval.header import DANGEROUS_OPERATIONS
from app.desktop.runtime.translation import PluralText, translate
from app.desktop.widgets.time_labels import time_left
from app.permissions.approval import ApprovalRequest, GrantOffer
from app.permissions.caller import CallerKind
from app.permissions.partial_approval import ApprovalDraft, SelectionState
from app.vault.changes import ChangeSet
from app.vault.invisible_chars import escape_hidden

_TIME_WARNING_S = 30


class DecisionBar(QWidget):
    """The decisions for one request.

    `denied` carries the reason, `granted` a `GrantOffer`, `edit_toggled` whether to edit. Enter in the reason
    field denies the request. The buttons keep their width and position while the request is shown.
    """

    denied = Signal(str)
    approved = Signal()
    granted = Signal(object)
    edit_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.deny_button = _button(
            translate("Approval", "Deny"), translate("Approval", "Deny; nothing is written")
        )
        later_tip = translate("Approval", "Decide later; the request stays in the activity panel")
        self.later_button = _button(translate("Approval", "Later"), later_tip)
        self.reason = QLineEdit()
        self.reason.setMaxLength(2_000)
        self.reason.setAccessibleName(translate("Approval", "Reason for the denial, sent to the agent"))
        self.time = QLabel()
        self.time.setAccessibleName(translate("Approval", "Time left to answer"))
        self.edit_button = _button(
            translate("Approval", "Edit…"), translate("Approval", "Edit the text, then approve it")
        )
        self.edit_button.setCheckable(True)
        self.menu_button = _button(
            translate("Approval", "Approve and…"),
            translate("Approval", "Approve and add an auto-approve rule"),
        )
        self.menu = QMenu(self)
        self.menu_button.setMenu(self.menu)
        self.approve_button = _button(
            translate("Approval", "Approve"), translate("Approval", "Approve exactly what is shown (Alt+A)")
        )
        self.approve_button.setProperty("role", "primary")
        self._build()

    def show_request(self, request: ApprovalRequest) -> None:
        """Show the decisions that `request` allows, and clear the reason."""
        self.reason.clear()
        is_from_user = request.caller.kind is CallerKind.USER
        self.reason.setVisible(not is_from_user)
        self.reason.setPlaceholderText(translate("Approval", "Reason (optional)"))
        self.deny_button.setText(
            translate("Approval", "Cancel") if is_from_user else translate("Approval", "Deny")
        )
        self.edit_button.blockSignals(True)
        self.edit_button.setChecked(False)
        self.edit_button.blockSignals(False)
        is_dangerous = request.operation in DANGEROUS_OPERATIONS
        self.approve_button.setProperty("role", "danger" if is_dangerous else "primary")
        self.approve_button.style().unpolish(self.approve_button)
        self.approve_button.style().polish(self.approve_button)
        self.menu.clear()
        for offer in request.offers:
            self._add_offer(offer)
        self.menu_button.setVisible(bool(request.offers))
        self._reserve_widths(request)

    def show_choice(
        self, draft: ApprovalDraft, read_only_reason: str, problem: str, *, editing: bool
    ) -> None:
        """Update the labels and states of the buttons.

        Args:
            draft: The current draft decision.
            read_only_reason: Why the text can't be edited; empty if it can.
            problem: Why the edited text can't be approved; empty if it can.
            editing: Whether the editor is open.
        """
        self.approve_button.setText(_approve_label(draft))
        self.approve_button.setShortcut("Alt+A")  # Changing the text removes the shortcut.
        can_approve = draft.proposal() is not None and not problem
        self.approve_button.setEnabled(can_approve)
        self.menu_button.setEnabled(can_approve)
        self.edit_button.setVisible(bool(draft.files))
        self.edit_button.setEnabled(editing or not read_only_reason)
        self.edit_button.setToolTip(
            read_only_reason or translate("Approval", "Edit the text, then approve it")
        )
        self.edit_button.setText(
            translate("Approval", "Done editing") if editing else translate("Approval", "Edit…")
        )

    def show_time(self, seconds: float) -> None:
        """Show the remaining time, or nothing if it is infinite, which means that there is no limit."""
        if math.isinf(seconds):
            self.time.setText("")
            return
        self.time.setText(
            translate("Approval", "{0} left").format(time_left(seconds))
            if seconds > 0
            else translate("Approval", "Time is up")
        )
        self.time.setToolTip(translate("Approval", "The request is denied when the time runs out"))
        tone = "warning" if seconds <= _TIME_WARNING_S else "muted"
        if self.time.property("tone") != tone:
            self.time.setProperty("tone", tone)
            self.time.style().unpolish(self.time)
            self.time.style().polish(self.time)

    def show_pause(self) -> None:
        """Show that the time is paused while the user works on the request."""
        self.time.setText(translate("Approval", "Paused"))
        self.time.setToolTip(
            translate("Approval", "The countdown resumes when you stop editing and scrolling")
        )

    def _reserve_widths(self, request: ApprovalRequest) -> None:
        """Make the approve button, edit button and time as wide as their longest text for this request."""
        proposal = request.proposal
        count = len(proposal.changes) if isinstance(proposal, ChangeSet) else 0
        approve_labels = [translate("Approval", "Approve")]
        if count:
            approve_labels += [
                translate("Approval", "Approve edited text"),
                translate("Approval", "Approve selected changes"),
            ]
        if count > 1:
            approve_labels.append(_approve_files(count, count))
        _reserve_width(self.approve_button, approve_labels)
        _reserve_width(
            self.edit_button, [translate("Approval", "Edit…"), translate("Approval", "Done editing")]
        )
        _reserve_width(
            self.time,
            []
            if request.timeout is None
            else [translate("Approval", "{0} left").format("188:88"), translate("Approval", "Time is up")],
        )

    def _add_offer(self, offer: GrantOffer) -> None:
        action = self.menu.addAction(escape_hidden(offer.label).replace("&", "&&"))
        action.triggered.connect(lambda: self.granted.emit(offer))

    def _build(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 10, 16, 12)
        layout.setSpacing(8)
        layout.addWidget(self.deny_button)
        layout.addWidget(self.later_button)
        layout.addWidget(self.reason, 1)
        layout.addStretch(0)
        for widget in (self.time, self.edit_button, self.menu_button, self.approve_button):
            layout.addWidget(widget)
        self.reason.setMinimumWidth(56)
        self.deny_button.clicked.connect(lambda: self.denied.emit(self.reason.text().strip()))
        self.reason.returnPressed.connect(self.deny_button.click)
        self.approve_button.clicked.connect(lambda: self.approved.emit())
        self.edit_button.toggled.connect(self.edit_toggled)


def _approve_label(draft: ApprovalDraft) -> str:
    if draft.is_edited:
        return translate("Approval", "Approve edited text")
    if draft.is_whole:
        return translate("Approval", "Approve")
    selected = sum(file.selection_state is not SelectionState.NONE for file in draft.files)
    is_partial = any(file.selection_state is SelectionState.SOME for file in draft.files)
    if selected == len(draft.files) or (is_partial and len(draft.files) == 1):
        return translate("Approval", "Approve selected changes")
    return _approve_files(selected, len(draft.files))


def _approve_files(selected: int, count: int) -> str:
    return PluralText("Approval", "Approve {1} of {0} file", "Approve {1} of {0} files").format(
        count, f"{selected:,}"
    )


def _reserve_width(widget: QLabel | QPushButton, texts: Sequence[str]) -> None:
    """Set the minimum width of `widget` to that of the longest of `texts`."""
    original = widget.text()
    widget.ensurePolished()
    widget.setMinimumWidth(0)
    width = 0
    for text in texts:
        widget.setText(text)
        width = max(width, widget.sizeHint().width())
    widget.setText(original)
    widget.setMinimumWidth(width)


def _button(text: str, tooltip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tooltip)
    button.setAutoDefault(False)
    return button
