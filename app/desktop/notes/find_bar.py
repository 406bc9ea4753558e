"""Find and replace in the open note, and find in a page of the handbook."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, SignalInstance
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QShortcut, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.desktop.notes.editor.live_editor import LiveEditor
from app.desktop.notes.newlines import PARAGRAPH_SEPARATOR
from app.desktop.notes.text_search import TextMatches, find_all, replace_all
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import SearchField, ThemedButton
from app.desktop.widgets.reading_view import ReadingView

_MAX_MARKS = 500
_SEARCH_DELAY_MS = 150
_ESCAPE_PRESS = (QEvent.Type.KeyPress, Qt.Key.Key_Escape)


class FindBar(QFrame):
    """Finds text in the editor or the reading view, and replaces it in an editable note.

    Enter and Shift+Enter select the next and the previous match; in the replacement field, Enter replaces.
    Escape closes the bar.
    """

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._theme = theme
        self._view: LiveEditor | ReadingView | None = None
        self._document: QTextDocument | None = None
        self._matches = TextMatches(())
        self._search_timer = QTimer(self)
        self._search_timer.setSingleShot(True)
        self._search_timer.setInterval(_SEARCH_DELAY_MS)
        self._search_timer.timeout.connect(self._search)
        self.field = SearchField(theme, self.tr("Find"))
        self.field.installEventFilter(self)
        self.replacement = QLineEdit()
        self.replacement.setPlaceholderText(self.tr("Replace with"))
        self.replacement.setAccessibleName(self.tr("Replace with"))
        self._count_label = QLabel()
        self._count_label.setProperty("tone", "muted")
        self._case_button = ThemedButton(theme, "text-aa", self.tr("Match case"), self)
        self._case_button.setCheckable(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 4)
        column.setSpacing(4)
        column.addLayout(self._build_find_row())
        column.addWidget(self._build_replace_row())
        self.field.textChanged.connect(lambda _: self._find_from_cursor())
        self._case_button.toggled.connect(lambda _: self._search())
        self.hide()

    def _build_find_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(2)
        row.addWidget(self.field, 1)
        row.addWidget(self._count_label)
        row.addWidget(self._case_button)
        for symbol, label, backward in (
            ("caret-up", self.tr("Previous (Shift+Enter)"), True),
            ("caret-down", self.tr("Next (Enter)"), False),
        ):
            button = ThemedButton(self._theme, symbol, label, self)
            button.clicked.connect(lambda _=False, backward=backward: self.find_next(backward=backward))
            row.addWidget(button)
        close_button = ThemedButton(self._theme, "x", self.tr("Close (Esc)"), self)
        close_button.clicked.connect(self.close_bar)
        row.addWidget(close_button)
        return row

    def _build_replace_row(self) -> QWidget:
        self._replace_row = QWidget()
        row = QHBoxLayout(self._replace_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.replacement, 1)
        for label, callback in (
            (self.tr("Replace"), self.replace),
            (self.tr("Replace all"), self.replace_all),
        ):
            button = QPushButton(label)
            button.clicked.connect(lambda _=False, callback=callback: callback())
            row.addWidget(button)
        return self._replace_row

    def start(self, view: LiveEditor | ReadingView) -> None:
        """Show the bar and search `view` for the selected text if it is on one line, else the last query."""
        self._watch(view)
        self._replace_row.setVisible(not view.isReadOnly())
        selected = view.textCursor().selectedText()
        if selected and PARAGRAPH_SEPARATOR not in selected:
            self.field.setText(selected)
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self._search()

    def close_bar(self) -> None:
        """Close the bar and return focus to the note."""
        self.hide()
        if self._view is not None:
            self._clear_marks()
            self._view.setFocus()

    def _clear_marks(self) -> None:
        if self._view is not None:
            self._view.setExtraSelections([])
        if isinstance(self._view, LiveEditor):
            self._view.show_matches([])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close the bar on the first Escape, which would otherwise only clear the field."""
        if isinstance(event, QKeyEvent) and (event.type(), event.key()) == _ESCAPE_PRESS:
            self.close_bar()
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Find with Enter and Shift+Enter, replace with Enter in the replacement field, close with Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.replacement.hasFocus():
                self.replace()
            else:
                self.find_next(backward=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        else:
            super().keyPressEvent(event)

    def find_next(self, *, backward: bool = False) -> bool:
        """Select the next (or previous) match, wrapping around; return False if there is none."""
        if self._view is None:
            return False
        cursor = self._view.textCursor()
        matches = self._matches
        index = matches.before(cursor.selectionStart()) if backward else matches.after(cursor.selectionEnd())
        if index is None:
            return False
        self._select(index)
        self._mark()
        return True

    def replace(self) -> None:
        """Replace the selection if it is a match, and find the next match."""
        if not isinstance(self._view, LiveEditor) or self._view.isReadOnly():
            return
        cursor = self._view.textCursor()
        if (cursor.selectionStart(), cursor.selectionEnd()) in self._matches.spans:
            cursor.insertText(self.replacement.text())
            self._search()
        self.find_next()

    def replace_all(self) -> None:
        """Replace all matches, as one undo step."""
        if not isinstance(self._view, LiveEditor) or self._view.isReadOnly():
            return
        query, replacement = self.field.text(), self.replacement.text()
        text, count = replace_all(self._text(), query, replacement, self._case_button.isChecked())
        self._view.replace_document(text.replace(PARAGRAPH_SEPARATOR, "\n"))
        self._search()
        self._count_label.setText(self.tr("{0} replaced").format(f"{count:,}"))

    def _find_from_cursor(self) -> None:
        """Search for the changed query and select the first match from the cursor on."""
        self._search()
        if self._view is not None and not self.isHidden():
            index = self._matches.after(self._view.textCursor().selectionStart())
            if index is not None:
                self._select(index)
                self._mark()

    def _watch(self, view: LiveEditor | ReadingView) -> None:
        if self._view is view:
            return
        if self._view is not None:
            _change_signal(self._view).disconnect(self._schedule_search)
            self._clear_marks()
        self._view, self._document = view, view.document()
        _change_signal(view).connect(self._schedule_search)

    def _schedule_search(self) -> None:
        """Repeat the search shortly after a change to the note."""
        if self.isVisible():
            self._search_timer.start()

    def _text(self) -> str:
        return self._document.toRawText() if self._document is not None else ""

    def _search(self) -> None:
        if self._view is None or self.isHidden():
            return
        self._search_timer.stop()
        self._matches = find_all(self._text(), self.field.text(), self._case_button.isChecked())
        has_no_match = bool(self.field.text()) and not self._matches.spans
        self.field.setProperty("invalid", has_no_match)
        self.field.style().polish(self.field)
        self._mark()

    def _select(self, index: int) -> None:
        assert self._view is not None
        start, end = self._matches.spans[index]
        self._view.setTextCursor(self._cursor(start, end))

    def _cursor(self, start: int, end: int) -> QTextCursor:
        assert self._document is not None
        cursor = QTextCursor(self._document)
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _mark(self) -> None:
        """Highlight the matches around the cursor and show how many there are, and which one is selected."""
        assert self._view is not None
        spans, cursor = self._matches.spans, self._view.textCursor()
        nearest = self._matches.after(cursor.selectionStart()) or 0
        first = max(0, min(nearest - _MAX_MARKS // 2, len(spans) - _MAX_MARKS))
        selections = []
        for start, end in spans[first : first + _MAX_MARKS]:
            selection = QTextEdit.ExtraSelection()
            selection.cursor = self._cursor(start, end)
            selection.format.setBackground(QColor(self._theme.theme.mark_bg))
            selections.append(selection)
        self._view.setExtraSelections(selections)
        if isinstance(self._view, LiveEditor):
            self._view.show_matches([start for start, _ in spans])
        selected = (cursor.selectionStart(), cursor.selectionEnd())
        number = spans.index(selected) + 1 if selected in spans else 0
        total = f"{len(spans):,}{'+' if self._matches.is_truncated else ''}"
        if number:
            text = self.tr("{0} of {1}").format(f"{number:,}", total)
        else:
            text = self.tr("{0} found").format(total) if spans else self.tr("Not found")
        self._count_label.setText(text if self.field.text() else "")


def connect_find_keys(widget: QWidget, find_bar: Callable[[], FindBar]) -> None:
    """Select the next match with F3 and the previous one with Shift+F3, while `widget` has the focus.

    Args:
        widget: The widget; its children may have the focus instead.
        find_bar: Returns the find bar, which may be created on first use.
    """
    for keys, backward in (("F3", False), ("Shift+F3", True)):
        shortcut = QShortcut(QKeySequence(keys), widget)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(lambda backward=backward: find_bar().find_next(backward=backward))


def _change_signal(view: LiveEditor | ReadingView) -> SignalInstance:
    """Return the view's signal for text changes."""
    return view.edited if isinstance(view, LiveEditor) else view.textChanged
