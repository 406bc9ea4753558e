"""The header of the dialog: the facts of the request, and the caller's own description."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime.translation import PluralText, translate, translate_text
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.widgets.plain_labels import CappedArea, heading_label, plain_label
from app.permissions.approval import ApprovalRequest, Effect
from app.permissions.caller import CallerKind
from app.permissions.request_labels import (
    OPERATION_NAMES,
    caller_label,
    format_extent,
    quote_name,
    request_title,
    request_warnings,
)
from app.permissions.scope import Operation
from app.sentence import as_sentence
from app.vault.changes import ChangeSet, Delete
from app.vault.invisible_chars import escape_hidden
from app.vault.path import NotePath

_ICONS = {
    Operation.READ: "eye",
    Operation.CREATE: "file-plus",
    Operation.UPDATE: "pencil-simple",
    Operation.DELETE: "trash",
    Operation.ADMINISTRATIVE: "gear-six",
    Operation.EXECUTE: "terminal-window",
    Operation.NETWORK: "globe-simple",
}
DANGEROUS_OPERATIONS = (Operation.DELETE, Operation.ADMINISTRATIVE, Operation.EXECUTE, Operation.NETWORK)
_MAX_INLINE_NAMES = 3


class RequestHeader(QWidget):
    """Shows the facts of a request; the caller's own description, which is not verified, is framed."""

    def __init__(self, request: ApprovalRequest, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._unresolved: NotesStrip | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 14, 20, 10)
        layout.setSpacing(8)
        layout.addLayout(self._title_row(request, theme))
        if request.caller.claim:
            layout.addWidget(_create_claim_card(request, self))
        if request.scope.backlinks:
            text = PluralText(
                "Approval",
                "{0} note will have unresolved links after this deletion",
                "{0} notes will have unresolved links after this deletion",
            ).format(len(request.scope.backlinks))
            notes = request.scope.backlinks
            self._unresolved = NotesStrip(text, notes, "warning-circle", theme.warning, theme, self)
            # Deselecting a file must not move the parts under the header.
            policy = self._unresolved.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            self._unresolved.setSizePolicy(policy)
            layout.addWidget(self._unresolved)
        for warning in request_warnings(request):
            text = translate_text(warning)
            layout.addWidget(NotesStrip(text, (), "warning-circle", theme.warning, theme, self))
        if request.rewrites:
            text = PluralText(
                "Approval",
                "This move updates the links in {0} note",
                "This move updates the links in {0} notes",
            ).format(len(request.rewrites))
            layout.addWidget(NotesStrip(text, request.rewrites, "link-simple", theme.muted, theme, self))
        if request.caller.tainted:
            text = translate(
                "Approval",
                "This caller has read untrusted text (from the web, another tool or an imported note).",
            )
            layout.addWidget(NotesStrip(text, (), "shield-warning", theme.warning, theme, self))

    def show_choice(self, proposal: ChangeSet | Effect | None) -> None:
        """Hide the warning about unresolved links unless the selected changes delete a note."""
        if self._unresolved is not None:
            changes = proposal.changes if isinstance(proposal, ChangeSet) else ()
            self._unresolved.setVisible(any(isinstance(change, Delete) for change in changes))

    def _title_row(self, request: ApprovalRequest, theme: Theme) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(operation_icon(request.operation, theme, 28), 0, Qt.AlignmentFlag.AlignTop)
        text_column = QVBoxLayout()
        text_column.setSpacing(2)
        title = translate_text(request_title(request))
        if request.caller.kind is CallerKind.USER:
            title = translate("Approval", "{0}?").format(title)
        question = heading_label(title, parent=self)
        question.setAccessibleName(translate("Approval", "Request"))
        text_column.addWidget(question)
        self.details = _RequestDetails(request, self)
        text_column.addWidget(self.details)
        row.addLayout(text_column, 1)
        return row


class NotesStrip(QWidget):
    """A sentence about some notes, with the names of the first three; a button lists them all."""

    def __init__(
        self,
        text: str,
        notes: tuple[NotePath, ...],
        icon_name: str,
        color: str,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(_create_icon_label(theme, icon_name, color))
        names = ", ".join(quote_name(path.stem_path) for path in notes[:_MAX_INLINE_NAMES])
        hidden_count = len(notes) - _MAX_INLINE_NAMES
        remainder = (
            translate("Approval", " and {0} more").format(f"{hidden_count:,}") if hidden_count > 0 else ""
        )
        self.label = plain_label(f"{text}: {names}{remainder}" if notes else text)
        self.label.setWordWrap(True)
        row.addWidget(self.label, 1)
        layout.addLayout(row)
        if hidden_count > 0:
            self._add_list(row, layout, notes)

    def _add_list(self, row: QHBoxLayout, layout: QVBoxLayout, notes: tuple[NotePath, ...]) -> None:
        self.button = _create_expand_button(
            translate("Approval", "Show all"), translate("Approval", "Show all these notes")
        )
        self.names = CappedArea(plain_label("\n".join(escape_hidden(str(path)) for path in notes)))
        self.names.setVisible(False)
        self.button.toggled.connect(self.names.setVisible)
        row.addWidget(self.button)
        layout.addWidget(self.names)


def operation_icon(operation: Operation, theme: Theme, size: int) -> QLabel:
    """Return the icon of an operation, `size` pixels wide; red for a dangerous operation."""
    color = theme.danger if operation in DANGEROUS_OPERATIONS else theme.accent
    return _create_icon_label(theme, _ICONS[operation], color, size)


class _RequestDetails(QWidget):
    """The reason for the request, and a button that shows the caller, tool, operation, size and arguments."""

    def __init__(self, request: ApprovalRequest, parent: QWidget) -> None:
        super().__init__(parent)
        self._request = request
        self._details: QWidget | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        row = QHBoxLayout()
        row.setSpacing(8)
        layout.addLayout(row)
        if request.reason:
            reason = plain_label(as_sentence(escape_hidden(request.reason)), "muted", self)
            reason.setWordWrap(True)
            reason.setAccessibleName(translate("Approval", "Reason for this request"))
            row.addWidget(reason, 1)
        self.expand_button = _create_expand_button(
            translate("Approval", "Details"),
            translate("Approval", "Show the caller, tool, size and arguments"),
        )
        self.expand_button.toggled.connect(self._show_details)
        row.addWidget(self.expand_button, 0, Qt.AlignmentFlag.AlignTop)

    def _create_facts_label(self, request: ApprovalRequest) -> QLabel:
        operation = translate_text(OPERATION_NAMES[request.operation])
        facts = plain_label(facts_line(request, operation), "muted", self)
        facts.setWordWrap(True)
        facts.setAccessibleName(translate("Approval", "Caller, tool, operation and size"))
        return facts

    def _show_details(self, visible: bool) -> None:
        """Show or hide the details, which are created when they are first shown."""
        if self._details is None:
            self._details = QWidget(self)
            column = QVBoxLayout(self._details)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(2)
            column.addWidget(self._create_facts_label(self._request))
            if arguments := self._request.arguments:
                text = "\n".join(
                    f"{escape_hidden(name)} = {_escape_lines(value)}" for name, value in arguments
                )
                column.addWidget(CappedArea(plain_label(text), parent=self._details))
            if (layout := self.layout()) is not None:
                layout.addWidget(self._details)
        self._details.setVisible(visible)


def facts_line(request: ApprovalRequest, operation: str = "", selection: str = "") -> str:
    """Return the caller, the tool, the operation, the size and the selection of a request, on one line."""
    extent = format_extent(request)
    parts = (
        translate_text(caller_label(request.caller)),
        escape_hidden(request.tool),
        operation,
        translate_text(extent) if extent is not None else "",
        selection,
    )
    return "   ·   ".join(part for part in parts if part)


def _create_claim_card(request: ApprovalRequest, parent: QWidget) -> QWidget:
    card = QFrame(parent)
    card.setObjectName("card")
    layout = QVBoxLayout(card)
    layout.setContentsMargins(12, 8, 12, 8)
    layout.setSpacing(2)
    caller = quote_name(request.caller.name)
    layout.addWidget(
        plain_label(translate("Approval", "Description by {0} (unverified)").format(caller), "faint", card)
    )
    label = plain_label(_escape_lines(request.caller.claim))
    label.setWordWrap(True)
    label.setAccessibleName(translate("Approval", "Description by the caller"))
    layout.addWidget(CappedArea(label, 72, card))
    return card


def _escape_lines(text: str) -> str:
    """Return `text` with its hidden characters named, keeping the line breaks."""
    return "\n".join(escape_hidden(line) for line in text.split("\n"))


def _create_expand_button(text: str, name: str) -> QToolButton:
    button = QToolButton()
    button.setText(f"{text} ▾")
    button.setAccessibleName(name)
    button.setCheckable(True)
    return button


def _create_icon_label(theme: Theme, name: str, color: str, size: int = 18) -> QLabel:
    label = QLabel()
    label.setPixmap(icon(theme, name, color).pixmap(QSize(size, size)))
    label.setFixedWidth(size)
    return label
