"""Where the user writes to the agent: a field that grows, notes given along as chips, send and stop."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QTextCursor
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

from app.desktop.name_popup import NamePopup
from app.desktop.theme import Theme, ThemeSource, icon
from app.desktop.utf16 import around, units

NOTE_MIME = "application/x-scriptorium-note"
_LINES = (2, 9)
_MODES = (
    ("ask", "Ask", "Only reads; nothing can be changed."),
    ("propose", "Propose", "May propose changes; you decide on each."),
    ("plan", "Plan first", "Reads, then says what it would change."),
)


class PromptField(QPlainTextEdit):
    """The text field: Enter sends, Shift+Enter breaks the line, @ completes the name of a note."""

    submitted = Signal()
    note_dropped = Signal(str)
    names_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Message to the agent")
        self.setPlaceholderText("Ask, or say what to do. @ names a note.")
        self.setTabChangesFocus(True)
        self.setProperty("plain", True)
        self._popup = NamePopup(self)
        self._popup.chosen.connect(self._complete)
        self.textChanged.connect(self._changed)
        self._fit()

    def set_names(self, names: list[str]) -> None:
        """Offer these note names for the `@` that is being written."""
        self._popup.offer(names if self._at_word() is not None else [])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send on Enter; leave Enter and Tab to the list of names while it is open."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if self._popup.takes(event):
            event.accept()
        elif enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.submitted.emit()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take notes as well as text."""
        if event.mimeData().hasFormat(NOTE_MIME):
            event.acceptProposedAction()
        else:
            super().dragEnterEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """A note that is dropped is given along."""
        if not event.mimeData().hasFormat(NOTE_MIME):
            super().dropEvent(event)
            return
        dropped = bytes(event.mimeData().data(NOTE_MIME).data()).decode("utf-8")
        for path in dropped.splitlines():
            self.note_dropped.emit(path)
        event.acceptProposedAction()

    def _at_word(self) -> str | None:
        """What stands between an `@` and the cursor, None when there is no `@` at a word's start."""
        before, _ = around(self.textCursor())
        head, at, word = before.rpartition("@")
        return word if at and (not head or head[-1].isspace()) and len(word) < 60 else None

    def _complete(self, name: str) -> None:
        word = self._at_word()
        if word is None:
            return
        cursor = self.textCursor()
        cursor.setPosition(cursor.position() - units(word) - 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(f"[[{name}]] ")

    def _changed(self) -> None:
        self._fit()
        word = self._at_word()
        if word is None:
            self._popup.close_list()
        else:
            self.names_wanted.emit(word)

    def _fit(self) -> None:
        """As tall as its text, within bounds."""
        lines = sum(
            max(1, self._block_lines(number)) for number in range(min(self.blockCount(), _LINES[1]))
        )
        height = self.fontMetrics().lineSpacing() * min(max(lines, _LINES[0]), _LINES[1])
        margins = 2 * int(self.document().documentMargin()) + 2 * self.frameWidth()
        self.setFixedHeight(height + margins)

    def _block_lines(self, number: int) -> int:
        block = self.document().findBlockByNumber(number)
        width = max(80, self.viewport().width() - 12)
        return -(-self.fontMetrics().horizontalAdvance(block.text()) // width)


class Composer(QFrame):
    """The field with its buttons.

    `sent` carries the text, `stopped` asks to stop the turn, `mode_chosen` a mode's id. `notes` are the
    paths given along with the next message.
    """

    sent = Signal(str)
    stopped = Signal()
    mode_chosen = Signal(str)
    model_clicked = Signal()
    names_wanted = Signal(str)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._theme = theme
        self.notes: tuple[str, ...] = ()
        self.field = PromptField(self)
        self.field.submitted.connect(self._send)
        self.field.note_dropped.connect(self.add_note)
        self.field.names_wanted.connect(self.names_wanted)
        self._chips = QHBoxLayout()
        self._chips.setSpacing(4)
        self._chips.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(4)
        layout.addLayout(self._chips)
        layout.addWidget(self.field)
        layout.addLayout(self._build_row())
        self.set_running(False)
        theme.changed.connect(lambda _: self._dress())
        self._dress()
        self.field.installEventFilter(self)

    def _build_row(self) -> QHBoxLayout:
        self.mode = QComboBox(self)
        self.mode.setAccessibleName("What the agent may do")
        for id_, label, tip in _MODES:
            self.mode.addItem(label, id_)
            self.mode.setItemData(self.mode.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.mode.activated.connect(lambda _: self.mode_chosen.emit(self.mode.currentData()))
        self.model = QPushButton(self)
        self.model.setProperty("role", "quiet")
        self.model.setAccessibleName("Choose the agent or model")
        self.model.clicked.connect(self.model_clicked)
        self._usage = QLabel(self)
        self._usage.setProperty("tone", "faint")
        self._button = QToolButton(self)
        self._button.clicked.connect(self._press)
        row = QHBoxLayout()
        row.setSpacing(4)
        for widget in (self.mode, self.model, self._usage):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self._button)
        return row

    def set_running(self, running: bool) -> None:
        """Show stop instead of send while a turn is under way."""
        self._running = running
        text = "Stop (Esc)" if running else "Send (Enter)"
        self._button.setToolTip(text)
        self._button.setAccessibleName(text)
        self._dress()

    def set_mode(self, mode: str) -> None:
        """Show `mode` as chosen."""
        self.mode.setCurrentIndex(max(0, self.mode.findData(mode)))

    def set_model(self, label: str) -> None:
        """Show which agent or model answers."""
        self.model.setText(label)

    def set_usage(self, text: str) -> None:
        """Show tokens and cost of the session."""
        self._usage.setText(text)

    def set_names(self, names: list[str]) -> None:
        """Offer note names for an `@`."""
        self.field.set_names(names)

    def add_note(self, path: str) -> None:
        """Give a note along with the next message."""
        if path and path not in self.notes:
            self._set_notes((*self.notes, path))

    def take(self) -> tuple[str, tuple[str, ...]]:
        """The text and the notes, which leave the field."""
        text, notes = self.field.toPlainText().strip(), self.notes
        self.field.clear()
        self._set_notes(())
        return text, notes

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Escape stops the turn."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            escapes = event.key() == Qt.Key.Key_Escape and self._running
            if escapes:
                self.stopped.emit()
                return True
        return super().eventFilter(watched, event)

    def _set_notes(self, notes: tuple[str, ...]) -> None:
        self.notes = notes
        while self._chips.count() > 1:
            item = self._chips.takeAt(0)
            if item is not None and (widget := item.widget()):
                widget.deleteLater()
        for at, path in enumerate(notes):
            self._chips.insertWidget(at, self._chip(path, lambda path=path: self._drop(path)))  # type: ignore[misc]

    def _chip(self, path: str, drop: Callable[[], None]) -> QPushButton:
        name = path.rpartition("/")[2].removesuffix(".md")
        chip = QPushButton(name, self)
        chip.setIcon(icon(self._theme.theme, "x"))
        chip.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        chip.setToolTip(f"{path}\nClick to leave it out")
        chip.setAccessibleName(f"{name}, given along; press to leave it out")
        chip.clicked.connect(drop)
        return chip

    def _drop(self, path: str) -> None:
        self._set_notes(tuple(note for note in self.notes if note != path))

    def _press(self) -> None:
        if self._running:
            self.stopped.emit()
        else:
            self._send()

    def _send(self) -> None:
        if not self._running and self.field.toPlainText().strip():
            self.sent.emit(self.field.toPlainText().strip())

    def _dress(self) -> None:
        theme: Theme = self._theme.theme
        self._button.setIcon(icon(theme, "stop" if self._running else "paper-plane-tilt", theme.accent))
        self.model.setIcon(icon(theme, "robot"))
