"""The editor for the text of a change before it is approved."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.desktop.runtime.translation import translate, translate_text
from app.desktop.theme.theme import code_font
from app.desktop.widgets.plain_labels import plain_label
from app.translatable_text import TranslatableText
from app.vault.editable_text import EditableText, NotEditableError

_DEBOUNCE_MS = 200
# An editor lays out every line: a larger text would block the window.
MAX_TEXT_BYTES = 1_500_000


class TextEditor(QWidget):
    """Edits the text after a change.

    Signals:
        changed: The bytes of the text, shortly after an edit.
        invalid: The reason why the text can't be written, or "" when it can be written again.
        reset_requested: The user wants the proposed text back.
    """

    changed = Signal(object)
    invalid = Signal(str)
    reset_requested = Signal()

    def __init__(self, title: str, zoom: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = title
        self._text: EditableText | None = None
        self.field = QPlainTextEdit()
        self.field.setAccessibleName(translate("Approval", "Text after the change"))
        self.field.setTabChangesFocus(True)
        self.field.setFont(code_font(zoom))
        self._problem = QLabel()
        self._problem.setProperty("tone", "danger")
        self.reset_button = QPushButton(translate("Approval", "Reset to proposed text"))
        self.reset_button.setProperty("role", "quiet")
        self.reset_button.setAutoDefault(False)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DEBOUNCE_MS)
        self._timer.timeout.connect(self.flush)
        self.field.textChanged.connect(self._timer.start)
        self.reset_button.clicked.connect(self.reset_requested)
        self._build()

    def load(self, content: bytes) -> None:
        """Load `content` and discard edits that have not been emitted.

        Raises:
            NotEditableError: The content is too large, or an editor would not preserve its bytes. In
                that case, call `unload`.
        """
        if len(content) > MAX_TEXT_BYTES:
            raise NotEditableError(TranslatableText("Approval", "it is too large to edit here"))
        text = EditableText.of(content)
        self.field.blockSignals(True)
        self.field.setPlainText(text.text)
        self.field.blockSignals(False)
        if text.encode(self._current_text()) != content:
            reason = TranslatableText("Approval", "it contains characters that an editor would lose")
            raise NotEditableError(reason)
        self._text = text
        self._timer.stop()
        self._set_problem("")

    def unload(self) -> None:
        """Stop editing: there is no text to edit, and edits are no longer emitted."""
        self._text = None
        self._timer.stop()
        self._set_problem("")

    def flush(self) -> None:
        """Emit the text now, without waiting for a pause in typing; if it can't be written, report why."""
        self._timer.stop()
        if self._text is None:
            return
        try:
            content = self._text.encode(self._current_text())
        except NotEditableError as error:
            reason = translate_text(error.reason)
            self._set_problem(translate("Approval", "Can't save this text: {0}.").format(reason))
        else:
            self._set_problem("")
            self.changed.emit(content)

    def _current_text(self) -> str:
        # toPlainText would replace no-break spaces with plain ones.
        return self.field.document().toRawText().replace("\u2029", "\n")

    def _set_problem(self, problem: str) -> None:
        if problem != self._problem.text():
            self._problem.setText(problem)
            self.invalid.emit(problem)

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.setSpacing(4)
        row = QHBoxLayout()
        row.addWidget(plain_label(self._title, "muted"))
        row.addWidget(self._problem, 1)
        row.addWidget(self.reset_button)
        layout.addLayout(row)
        layout.addWidget(self.field, 1)
