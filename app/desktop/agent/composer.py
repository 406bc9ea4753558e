"""The composer for messages to the agent: a text field, attached notes, mode, model, send and stop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QMouseEvent, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.desktop.files.model import NOTE_MIME
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.completion_popup import CompletionPopup
from app.desktop.widgets.flow_layout import FlowLayout
from app.desktop.widgets.panel import ElidedButton, ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.desktop.widgets.utf16 import text_around_cursor, utf16_length

_MIN_VISIBLE_LINES, _MAX_VISIBLE_LINES = 2, 9
_MAX_MENTION_CHARS = 60


def dropped_notes(data: QMimeData) -> tuple[str, ...]:
    """Return the paths of the dragged notes; none if something else is dragged."""
    paths = bytes(data.data(NOTE_MIME).data()) if data.hasFormat(NOTE_MIME) else b""
    return tuple(paths.decode("utf-8").splitlines())


class PromptField(QPlainTextEdit):
    """The text field: Enter sends, Shift+Enter inserts a line break, @ completes the name of a note.

    `completions_requested` carries the text after the @.
    """

    submitted = Signal()
    completions_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Message to the agent"))
        self.setPlaceholderText(self.tr("Ask, or describe a change. Type @ to mention a note."))
        self.setTabChangesFocus(True)
        self.setProperty("plain", True)
        self._popup = CompletionPopup(self)
        self._popup.chosen.connect(lambda _, name: self._complete(name))
        self.textChanged.connect(self._handle_text_change)
        self._fit_height()

    def set_names(self, names: list[str]) -> None:
        """Offer these note names for the `@` mention that is being typed."""
        self._popup.offer(names if self._mention_prefix() is not None else [], self.cursorRect())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send on Enter."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.submitted.emit()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept text; leave notes to the composer."""
        if event.mimeData().hasFormat(NOTE_MIME):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def _mention_prefix(self) -> str | None:
        """Return the text between an `@` at the start of a word and the cursor; None without an `@`."""
        before, _ = text_around_cursor(self.textCursor())
        before_mention, sign, word = before.rpartition("@")
        return (
            word
            if sign
            and (not before_mention or before_mention[-1].isspace())
            and len(word) < _MAX_MENTION_CHARS
            else None
        )

    def _complete(self, name: str) -> None:
        word = self._mention_prefix()
        if word is None:
            return
        cursor = self.textCursor()
        cursor.setPosition(cursor.position() - utf16_length(word) - 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(f"[[{name}]] ")

    def _handle_text_change(self) -> None:
        self._fit_height()
        word = self._mention_prefix()
        if word is None:
            self._popup.hide()
        else:
            self.completions_requested.emit(word)

    def _fit_height(self) -> None:
        """Fit the height to the text, between two and nine lines."""
        lines = sum(
            max(1, self._block_lines(number)) for number in range(min(self.blockCount(), _MAX_VISIBLE_LINES))
        )
        height = self.fontMetrics().lineSpacing() * min(max(lines, _MIN_VISIBLE_LINES), _MAX_VISIBLE_LINES)
        margins = 2 * int(self.document().documentMargin()) + 2 * self.frameWidth()
        self.setFixedHeight(height + margins)

    def _block_lines(self, number: int) -> int:
        block = self.document().findBlockByNumber(number)
        width = max(80, self.viewport().width() - 12)
        return -(-self.fontMetrics().horizontalAdvance(block.text()) // width)


class Composer(QFrame):
    """The field with its buttons.

    `notes` holds the paths of the notes attached to the next message.

    Signals:
        sent: The text to send.
        stop_requested: The user wants to stop the turn.
        edit_canceled: The user canceled the edit of an earlier message.
        mode_chosen: The id of a mode.
        model_clicked: The user wants to choose the agent or the model.
        completions_requested: The text after an `@`, to be completed to the name of a note.
    """

    sent = Signal(str)
    stop_requested = Signal()
    edit_canceled = Signal()
    mode_chosen = Signal(str)
    model_clicked = Signal()
    completions_requested = Signal(str)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._theme = theme
        self.notes: tuple[str, ...] = ()
        self.field = PromptField(self)
        self.field.submitted.connect(self._send)
        self.field.completions_requested.connect(self.completions_requested)
        self.setAcceptDrops(True)
        self.setFocusProxy(self.field)
        self._chips = QWidget()
        self._flow = FlowLayout(self._chips)
        self._chips.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(4)
        layout.addWidget(self._create_editing_row())
        layout.addWidget(self._chips)
        layout.addWidget(self.field)
        layout.addLayout(self._create_button_row())
        self.set_running(False)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.field.installEventFilter(self)

    def _create_button_row(self) -> QHBoxLayout:
        self.mode = QComboBox(self)
        self.mode.setAccessibleName(self.tr("Agent mode"))
        modes = (
            ("ask", self.tr("Ask"), self.tr("Read-only: can't change notes")),
            ("propose", self.tr("Propose"), self.tr("Can propose changes; you review each one")),
            ("plan", self.tr("Plan first"), self.tr("Read-only: describes the changes that it would make")),
        )
        for id_, label, tooltip in modes:
            self.mode.addItem(label, id_)
            self.mode.setItemData(self.mode.count() - 1, tooltip, Qt.ItemDataRole.ToolTipRole)
        self.mode.activated.connect(lambda _: self.mode_chosen.emit(self.mode.currentData()))
        self.model = ElidedButton(parent=self)
        self.model.setProperty("role", "quiet")
        self.model.setAccessibleName(self.tr("Choose the agent or model"))
        self.model.clicked.connect(self.model_clicked)
        self._usage = QLabel(self)
        self._usage.setProperty("tone", "faint")
        self._send_button = QToolButton(self)
        self._send_button.clicked.connect(self._send_or_stop)
        choices = QWidget(self)
        flow = FlowLayout(choices)
        for widget in (self.mode, self.model, self._usage):
            flow.addWidget(widget)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(choices, 1)
        row.addWidget(self._send_button, 0, Qt.AlignmentFlag.AlignBottom)
        return row

    def _create_editing_row(self) -> QWidget:
        label = wrapped_label(self.tr("Sending replaces this message and everything after it."), "muted")
        cancel_button = ThemedButton(self._theme, "x", self.tr("Cancel editing (Esc)"), self, size=12)
        cancel_button.clicked.connect(self._cancel_edit)
        self._editing_bar = QWidget()
        row = QHBoxLayout(self._editing_bar)
        row.setContentsMargins(4, 0, 0, 0)
        row.addWidget(label, 1)
        row.addWidget(cancel_button, 0, Qt.AlignmentFlag.AlignTop)
        self._editing_bar.hide()
        return self._editing_bar

    @property
    def is_running(self) -> bool:
        """True if a turn is in progress."""
        return self._is_running

    def set_editing(self, editing: bool) -> None:
        """Show whether an earlier message is being edited."""
        self._editing_bar.setVisible(editing)

    def restore_prompt(self, text: str, notes: tuple[str, ...]) -> None:
        """Put a message and its notes back into the field."""
        self.field.setPlainText(text)
        self.field.moveCursor(QTextCursor.MoveOperation.End)
        self._set_notes(notes)

    def set_running(self, running: bool) -> None:
        """Show a stop button instead of send while a turn is in progress."""
        self._is_running = running
        text = self.tr("Stop (Esc)") if running else self.tr("Send (Enter)")
        self._send_button.setToolTip(text)
        self._send_button.setAccessibleName(text)
        self._apply_theme()

    def set_mode(self, mode: str) -> None:
        """Show `mode` as chosen; an unknown mode shows the first one."""
        self.mode.setCurrentIndex(max(0, self.mode.findData(mode)))

    def set_model(self, label: str) -> None:
        """Show which agent or model answers."""
        self.model.setText(label.replace("&", "&&"))

    def set_usage(self, text: str, tooltip: str) -> None:
        """Show the tokens and cost of the session."""
        self._usage.setText(text)
        self._usage.setToolTip(tooltip)

    def set_names(self, names: list[str]) -> None:
        """Offer note names for an `@`."""
        self.field.set_names(names)

    def add_note(self, path: str) -> None:
        """Attach a note to the next message."""
        if path and path not in self.notes:
            self._set_notes((*self.notes, path))

    def take_prompt(self) -> tuple[str, tuple[str, ...]]:
        """Return the text and the attached notes, and clear both."""
        text, notes = self.field.toPlainText().strip(), self.notes
        self.field.clear()
        self._set_notes(())
        return text, notes

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stop the turn, or cancel editing an earlier message, on Escape."""
        is_key_press = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        is_escape = is_key_press and event.key() == Qt.Key.Key_Escape  # type: ignore[attr-defined]
        if not is_escape:
            return super().eventFilter(watched, event)
        if self._is_running:
            self.stop_requested.emit()
        elif not self._editing_bar.isHidden():
            self._cancel_edit()
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Focus the field on a click next to it."""
        self.field.setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept notes anywhere on the composer."""
        if event.mimeData().hasFormat(NOTE_MIME):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Attach the dropped notes."""
        for path in dropped_notes(event.mimeData()):
            self.add_note(path)
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def _cancel_edit(self) -> None:
        self.take_prompt()
        self.edit_canceled.emit()

    def _set_notes(self, notes: tuple[str, ...]) -> None:
        self.notes = notes
        while (item := self._flow.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for path in notes:
            self._flow.addWidget(self._create_chip(path, partial(self._remove_note, path)))
        self._chips.setVisible(bool(notes))
        self._chips.updateGeometry()

    def _create_chip(self, path: str, remove: Callable[[], None]) -> QPushButton:
        name = path.rpartition("/")[2].removesuffix(".md")
        chip = ElidedButton(name.replace("&", "&&"), self)
        chip.setProperty("role", "attachment")
        chip.setIcon(icon(self._theme.theme, "x"))
        chip.setIconSize(QSize(10, 10))
        chip.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        chip.setToolTip(self.tr("{0}\nClick to remove").format(path))
        chip.setAccessibleName(self.tr("{0}, attached; press to remove").format(name))
        chip.clicked.connect(remove)
        return chip

    def _remove_note(self, path: str) -> None:
        self._set_notes(tuple(note for note in self.notes if note != path))

    def _send_or_stop(self) -> None:
        if self._is_running:
            self.stop_requested.emit()
        else:
            self._send()

    def _send(self) -> None:
        if not self._is_running and self.field.toPlainText().strip():
            self.sent.emit(self.field.toPlainText().strip())

    def _apply_theme(self) -> None:
        theme: Theme = self._theme.theme
        self._send_button.setIcon(
            icon(theme, "stop" if self._is_running else "paper-plane-tilt", theme.accent)
        )
        self.model.setIcon(icon(theme, "robot"))
