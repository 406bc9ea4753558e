"""The details of an audit entry, with its actions."""

from __future__ import annotations

import json

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.desktop.audit.labels import decision_color, decision_label, result_text
from app.desktop.runtime.translation import translate, translate_text
from app.desktop.theme.theme import ThemeSource, code_font
from app.desktop.widgets.plain_labels import heading_label, plain_label
from app.desktop.widgets.time_labels import duration_label, exact_time
from app.permissions.audit_entry import AuditEntry
from app.permissions.caller import CallerKind
from app.permissions.request_labels import CALLER_KINDS, OPERATION_NAMES
from app.permissions.scope import Operation, ScopeKind
from app.permissions.tool_label import tool_label
from app.toolkit.approval_gate import APPROVED_REASON, DENIED_MESSAGE
from app.vault.invisible_chars import escape_hidden
from app.vault.path import NOTE_SUFFIXES

_MAX_SHOWN_PATHS = 30
_LINK_PADDING = 8


class DetailPane(QWidget):
    """Shows an entry, with buttons for its diff, for undo and for its notes.

    `open_requested` carries a note's path, the other signals the entry.
    """

    diff_requested = Signal(object)
    undo_requested = Signal(object)
    undo_turn_requested = Signal(object)
    open_requested = Signal(str)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.entry: AuditEntry | None = None
        self.diff_button = self._create_button(self.tr("Open diff"))
        self.undo_button = self._create_button(self.tr("Undo"))
        self.turn_button = self._create_button(self.tr("Undo the whole turn"))
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        row = QHBoxLayout()
        row.setContentsMargins(12, 6, 12, 8)
        row.setSpacing(8)
        for button in (self.diff_button, self.undo_button, self.turn_button):
            row.addWidget(button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._area, 1)
        layout.addLayout(row)
        self.diff_button.clicked.connect(lambda: self.diff_requested.emit(self.entry))
        self.undo_button.clicked.connect(lambda: self.undo_requested.emit(self.entry))
        self.turn_button.clicked.connect(lambda: self.undo_turn_requested.emit(self.entry))
        self.show_entry(None)

    def show_entry(self, entry: AuditEntry | None) -> None:
        """Show `entry`, or a hint if it is None."""
        self.entry = entry
        has_commit = entry is not None and entry.commit is not None
        self.diff_button.setEnabled(has_commit)
        self.undo_button.setEnabled(has_commit and entry is not None and entry.undone_by is None)
        self.turn_button.setVisible(has_commit and entry is not None and bool(entry.turn))
        is_session = entry is not None and entry.is_session_save
        text = self.tr("Undo the whole session") if is_session else self.tr("Undo the whole turn")
        self.turn_button.setText(text)
        self.turn_button.setAccessibleName(text)
        content = QWidget(self._area)
        # Long words are broken or elided, so that the pane never scrolls sideways.
        content.setMinimumWidth(1)
        column = QVBoxLayout(content)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(8)
        if entry is None:
            column.addWidget(plain_label(self.tr("Select an entry to see its details."), "muted"))
        else:
            self._fill(column, entry)
        column.addStretch(1)
        self._area.setWidget(content)

    def _fill(self, column: QVBoxLayout, entry: AuditEntry) -> None:
        title = heading_label(escape_hidden(tool_label(entry.tool) or entry.caller), 1.15)
        column.addWidget(title)
        if not entry.is_denied:  # The decision below states this, with the reason.
            result = plain_label(escape_hidden(result_text(entry.result)))
            result.setWordWrap(True)
            column.addWidget(result)
        column.addWidget(self._create_decision_label(entry))
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(4)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        for name, value in self._facts(entry):
            label = plain_label(escape_hidden(value))
            label.setWordWrap(True)
            form.addRow(plain_label(name, "muted"), label)
        column.addLayout(form)
        for path in entry.paths[:_MAX_SHOWN_PATHS]:
            column.addWidget(self._create_path_widget(path))
        if (hidden_count := len(entry.paths) - _MAX_SHOWN_PATHS) > 0:
            column.addWidget(plain_label(self.tr("and {0} more").format(hidden_count), "muted"))
        if entry.arguments not in ("", "{}"):
            column.addWidget(plain_label(self.tr("Arguments"), "muted"))
            column.addWidget(
                _create_arguments_field(entry.arguments, self.tr("Arguments of the call"), self._theme.zoom)
            )

    def _create_decision_label(self, entry: AuditEntry) -> QLabel:
        text = decision_label(entry.decision)
        # The label says who decided, and the result is shown above; repeat only what the reason adds.
        reason = "" if entry.reason == entry.result else result_text(entry.reason)
        if entry.failed_after_approval:
            text, reason = self.tr("Failed after approval"), ""
        for known_start in (APPROVED_REASON, DENIED_MESSAGE):
            reason = (
                reason.removeprefix(known_start).strip(" .:") if reason.startswith(known_start) else reason
            )
        label = plain_label(f"{text}: {escape_hidden(reason)}" if reason else text)
        label.setWordWrap(True)
        label.setStyleSheet(f"color: {decision_color(entry.decision, self._theme.theme)}")
        return label

    def _facts(self, entry: AuditEntry) -> list[tuple[str, str]]:
        facts = [
            (self.tr("Entry"), str(entry.id)),
            (self.tr("Time"), exact_time(entry.time)),
            (self.tr("Caller"), _caller_text(entry)),
            (self.tr("Tool"), entry.tool),
            (self.tr("Operation"), _operation_text(entry.operation)),
            (self.tr("Scope"), _scope_text(entry.scope)),
            (self.tr("Auto-approve rule"), entry.grant),
            (self.tr("Turn"), entry.turn),
            (self.tr("Duration"), duration_label(entry.duration_ms)),
            (self.tr("Commit"), "" if entry.commit is None else str(entry.commit)),
            (self.tr("Undone by"), "" if entry.undone_by is None else str(entry.undone_by)),
            (self.tr("Tokens"), f"{entry.tokens:,}" if entry.tokens else ""),
            (self.tr("Cost"), f"${entry.cost:.4f}" if entry.cost else ""),
        ]
        return [(name, value) for name, value in facts if value]

    def _create_path_widget(self, path: str) -> QWidget:
        if not path.lower().endswith(NOTE_SUFFIXES):
            return plain_label(escape_hidden(path))
        button = _PathButton(escape_hidden(path))
        button.setProperty("role", "link")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setAccessibleName(self.tr("Open {0}").format(escape_hidden(path)))
        button.clicked.connect(lambda: self.open_requested.emit(path))
        return button

    def _create_button(self, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setAccessibleName(text)
        return button


def _caller_text(entry: AuditEntry) -> str:
    """Return the caller with its interface, unless the name already says it."""
    try:
        kind = CallerKind(entry.caller_kind)
    except ValueError:  # an entry of another version
        return f"{entry.caller} ({entry.caller_kind})"
    if kind is CallerKind.USER:
        return entry.caller
    return f"{entry.caller} · {translate_text(CALLER_KINDS[kind])}"


def _operation_text(operation: str) -> str:
    """Return the name of a logged operation; one of another version is shown as it is logged."""
    known = operation in set(Operation)
    return translate_text(OPERATION_NAMES[Operation(operation)]) if known else operation


def _scope_text(scope: str) -> str:
    """Return the logged scope without the name of its kind: “1 file, 863 bytes”."""
    kind, _, details = scope.partition(": ")
    labels: dict[str, str] = {
        ScopeKind.READ_IN_SCOPE: translate("DetailPane", "The vault"),
        ScopeKind.READ_OUT_OF_SCOPE: translate("DetailPane", "Outside the vault"),
    }
    if kind not in set(ScopeKind):
        return scope
    return details or labels.get(kind, "")


class _PathButton(QPushButton):
    """A link to a note that elides the middle of its path."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self.setToolTip(path)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Elide the path to the new width."""
        super().resizeEvent(event)
        width = self.width() - _LINK_PADDING
        text = self.fontMetrics().elidedText(self._path, Qt.TextElideMode.ElideMiddle, width)
        self.setText(text.replace("&", "&&"))

    def sizeHint(self) -> QSize:
        """Return the height of one line and a small width; the layout sets the actual width."""
        return QSize(80, self.fontMetrics().height() + 8)


def _create_arguments_field(text: str, name: str, zoom: float) -> QPlainTextEdit:
    """Return a read-only field with the logged arguments, indented, with hidden characters shown by name."""
    try:
        formatted = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        formatted = text
    field = QPlainTextEdit("\n".join(escape_hidden(line) for line in formatted.split("\n")))
    field.setReadOnly(True)
    field.setFont(code_font(zoom))
    field.setMinimumHeight(96)
    field.setAccessibleName(name)
    return field
