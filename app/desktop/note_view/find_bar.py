"""Find and replace in the note that is open."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTextEdit,
    QWidget,
)

from app.desktop.panel import ThemedButton
from app.desktop.theme import ThemeSource

_MOST_MARKS = 2000
_Document = QPlainTextEdit | QTextEdit


class FindBar(QFrame):
    """Finds in a text view; replacing is offered where the view can be edited."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._theme = theme
        self._view: _Document | None = None
        self._field = _field("Find in this note")
        self._with = _field("Replace with")
        self._case = QCheckBox("Match case")
        self._count = QLabel()
        self._count.setProperty("tone", "muted")
        self._one = QPushButton("Replace")
        self._all = QPushButton("Replace all")
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(4)
        row.addWidget(self._field, 2)
        for symbol, words, back in (("caret-up", "Previous", True), ("caret-down", "Next", False)):
            button = ThemedButton(theme, symbol, words, self)
            button.clicked.connect(lambda _=False, back=back: self.find_next(back))
            row.addWidget(button)
        for widget in (self._count, self._case):
            row.addWidget(widget)
        row.addWidget(self._with, 2)
        row.addWidget(self._one)
        row.addWidget(self._all)
        close = ThemedButton(theme, "x", "Close (Esc)", self)
        close.clicked.connect(self.leave)
        row.addWidget(close)
        self._field.textChanged.connect(lambda _: self._mark())
        self._field.returnPressed.connect(self.find_next)
        self._case.toggled.connect(lambda _: self._mark())
        self._one.clicked.connect(self.replace)
        self._all.clicked.connect(self.replace_all)
        self.hide()

    def start(self, view: _Document) -> None:
        """Find in `view`, beginning with what is selected there."""
        self._view = view
        editable = not view.isReadOnly()
        for widget in (self._with, self._one, self._all):
            widget.setVisible(editable)
        chosen = view.textCursor().selectedText()
        if chosen and "\u2029" not in chosen:
            self._field.setText(chosen)
        self.show()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()
        self._mark()

    def leave(self) -> None:
        """Close, and give the note the focus."""
        self.hide()
        if self._view is not None:
            self._view.setExtraSelections([])
            self._view.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def find_next(self, back: bool = False) -> bool:
        """Go to the next (or previous) place, round the end; whether there is one."""
        if self._view is None or not self._field.text():
            return False
        flags = self._flags()
        if back:
            flags |= QTextDocument.FindFlag.FindBackward
        if self._view.find(self._field.text(), flags):
            return True
        cursor = self._view.textCursor()
        kept = QTextCursor(cursor)
        cursor.movePosition(QTextCursor.MoveOperation.End if back else QTextCursor.MoveOperation.Start)
        self._view.setTextCursor(cursor)
        if self._view.find(self._field.text(), flags):
            return True
        self._view.setTextCursor(kept)
        return False

    def replace(self) -> None:
        """Replace what is selected, if it is what is looked for, and go on."""
        if self._view is None:
            return
        cursor = self._view.textCursor()
        chosen, wanted = cursor.selectedText(), self._field.text()
        same = chosen == wanted if self._case.isChecked() else chosen.casefold() == wanted.casefold()
        if wanted and same:
            cursor.insertText(self._with.text())
        self.find_next()
        self._mark()

    def replace_all(self) -> None:
        """Replace every place, as one step of undo."""
        places = self._places()
        if self._view is None or not places:
            return
        cursor = self._view.textCursor()
        cursor.beginEditBlock()
        for place in reversed(places):
            place.insertText(self._with.text())
        cursor.endEditBlock()
        self._mark()
        self._count.setText(f"{len(places)} replaced")

    def _flags(self) -> QTextDocument.FindFlag:
        case = QTextDocument.FindFlag.FindCaseSensitively
        return case if self._case.isChecked() else QTextDocument.FindFlag(0)

    def _places(self) -> list[QTextCursor]:
        if self._view is None or not self._field.text():
            return []
        document, found = self._view.document(), []
        cursor = document.find(self._field.text(), 0, self._flags())
        while not cursor.isNull():
            found.append(cursor)
            cursor = document.find(self._field.text(), cursor, self._flags())
        return found

    def _mark(self) -> None:
        if self._view is None or not self.isVisible():
            return
        places = self._places()
        marks = []
        for place in places[:_MOST_MARKS]:
            mark = QTextEdit.ExtraSelection()
            mark.cursor = place
            mark.format.setBackground(QColor(self._theme.theme.mark_bg))
            marks.append(mark)
        self._view.setExtraSelections(marks)
        self._count.setText(f"{len(places)} found" if self._field.text() else "")


def _field(words: str) -> QLineEdit:
    field = QLineEdit()
    field.setPlaceholderText(words)
    field.setAccessibleName(words)
    return field
