"""All waiting requests on one page, to approve or deny them together."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.desktop.approval.header import DANGEROUS_OPERATIONS, facts_line, operation_icon
from app.desktop.runtime.translation import PluralText, translate, translate_text
from app.desktop.theme.colors import Theme
from app.desktop.widgets.plain_labels import heading_label, plain_label
from app.permissions.partial_approval import ApprovalDraft
from app.permissions.request_labels import change_name, request_title, request_warnings
from app.vault.changes import ChangeSet
from app.vault.invisible_chars import escape_hidden

_MAX_NAMED_FILES = 6


class BatchPage(QWidget):
    """Lists requests and their files; the decision applies only to the listed requests.

    Requests with nothing left to approve are not listed.
    """

    approved = Signal()
    denied = Signal()
    back_requested = Signal()

    def __init__(self, drafts: Sequence[ApprovalDraft], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.drafts = tuple(draft for draft in drafts if draft.proposal() is not None)
        count = len(self.drafts)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        question = heading_label(
            PluralText("Approval", "Approve {0} request?", "Approve all {0} requests?").format(count)
        )
        question.setContentsMargins(20, 16, 20, 2)
        layout.addWidget(question)
        label = plain_label(
            translate("Approval", "Your edits are applied, and deselected changes are left out."), "muted"
        )
        label.setContentsMargins(20, 0, 20, 8)
        layout.addWidget(label)
        layout.addWidget(self._build_list(theme), 1)
        layout.addLayout(self._build_buttons(count))

    def height_for(self, width: int) -> int:
        """Return the height at which the whole list is visible."""
        fixed_height = self.sizeHint().height() - self._area.sizeHint().height()
        return fixed_height + max(self._content.heightForWidth(width), self._content.sizeHint().height())

    def _build_list(self, theme: Theme) -> QScrollArea:
        self._content = content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(20, 8, 20, 8)
        column.setSpacing(8)
        for draft in self.drafts:
            column.addWidget(_create_card(draft, theme))
        column.addStretch(1)
        self._area = area = QScrollArea()
        area.setWidget(content)
        area.setWidgetResizable(True)
        area.setAccessibleName(translate("Approval", "Requests to approve"))
        return area

    def _build_buttons(self, count: int) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(16, 10, 16, 12)
        row.setSpacing(8)
        self.back_button = QPushButton(translate("Approval", "Back"))
        self.deny_button = QPushButton(PluralText("Approval", "Deny", "Deny all {0}").format(count))
        self.approve_button = QPushButton(PluralText("Approval", "Approve", "Approve all {0}").format(count))
        is_dangerous = any(draft.request.operation in DANGEROUS_OPERATIONS for draft in self.drafts)
        self.approve_button.setProperty("role", "danger" if is_dangerous else "primary")
        for button, signal in (
            (self.back_button, self.back_requested),
            (self.deny_button, self.denied),
            (self.approve_button, self.approved),
        ):
            button.setAutoDefault(False)
            button.setAccessibleName(button.text())
            button.clicked.connect(lambda _=False, signal=signal: signal.emit())
            row.addWidget(button)
        row.insertStretch(1)
        return row


def _create_card(draft: ApprovalDraft, theme: Theme) -> QWidget:
    card = QFrame()
    card.setObjectName("card")
    row = QHBoxLayout(card)
    row.setContentsMargins(12, 10, 12, 10)
    row.setSpacing(12)
    row.addWidget(operation_icon(draft.request.operation, theme, 20), 0, Qt.AlignmentFlag.AlignTop)
    text_column = QVBoxLayout()
    text_column.setSpacing(2)
    text_column.addWidget(heading_label(translate_text(request_title(draft.request)), 1.0))
    facts = facts_line(draft.request, selection=_selection_label(draft))
    text_column.addWidget(plain_label(facts, "muted"))
    for warning in request_warnings(draft.request):
        warning_label = plain_label(translate_text(warning))
        warning_label.setWordWrap(True)
        text_column.addWidget(warning_label)
    if content := _content_label(draft):
        content_label = plain_label(content, "muted")
        content_label.setWordWrap(True)
        text_column.addWidget(content_label)
    row.addLayout(text_column, 1)
    return card


def _selection_label(draft: ApprovalDraft) -> str:
    if draft.is_edited:
        return translate("Approval", "edited by you")
    return "" if draft.is_whole else translate("Approval", "some changes deselected")


def _content_label(draft: ApprovalDraft) -> str:
    """Return a change set's file names if it has several, or an effect's exact text."""
    proposal = draft.proposal()
    if not isinstance(proposal, ChangeSet):
        return escape_hidden(proposal.text) if proposal is not None else ""
    if len(proposal.changes) == 1:
        return ""
    names = [change_name(change) for change in proposal.changes]
    hidden_count = len(names) - _MAX_NAMED_FILES
    remainder = (
        [translate("Approval", "and {0} more").format(f"{hidden_count:,}")] if hidden_count > 0 else []
    )
    return "\n".join(names[:_MAX_NAMED_FILES] + remainder)
