"""The source view: plain text with highlighting, `[[` and `#` completion, and list-aware Enter."""

from __future__ import annotations

import re
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPalette,
    QResizeEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.desktop.name_popup import NamePopup
from app.desktop.note_view.highlighter import MarkdownHighlighter
from app.desktop.note_view.line_ends import PARAGRAPH
from app.desktop.theme import Theme, ThemeSource, code_font
from app.desktop.utf16 import around, units

_LIST = re.compile(r"^(\s*)([-*+]|(\d+)([.)]))(\s+)(\[[ xX]\]\s+)?")
_WIKI = re.compile(r"\[\[([^\[\]|#^]{0,80})$")
_TAG = re.compile(r"(?:^|(?<=[\s(,]))#([\w\-/]{1,60})$")
_LINKS = (
    ("note", re.compile(r"\[\[([^\[\]]+)\]\]")),
    ("address", re.compile(r"\[[^\[\]\n]*\]\(<?([^()\s<>]*)>?\)")),
    ("address", re.compile(r"\b(https?://[^\s<>()\]]+)")),
    ("tag", re.compile(r"(?<![\w#/&])#([\w\-/]*[^\W\d][\w\-/]*)")),
)
_WIDEST = 760


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is being typed: `kind` is "note" or "tag", `word` what stands there so far."""

    kind: str
    word: str


class SourceEditor(QPlainTextEdit):
    """Edits a note's text.

    `completion_wanted` carries a `Wanted`; answer with `offer`. `link_followed` carries what was clicked
    with Ctrl: its kind ("note" for a wikilink, "address", or "tag") and what it says. `edited` comes when
    the text has changed; `textChanged` also when only its colours have.
    """

    edited = Signal()
    completion_wanted = Signal(object)
    link_followed = Signal(str, str)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName("Note source")
        self.setProperty("plain", True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setMouseTracking(True)
        self.highlighter = MarkdownHighlighter(self.document(), theme.theme)
        self._popup = NamePopup(self)
        self._popup.chosen.connect(self._complete)
        self._wanted: Wanted | None = None
        self.textChanged.connect(self._take_change)
        theme.changed.connect(self._dress)
        self._dress(theme.theme)

    def offer(self, wanted: Wanted, words: list[str]) -> None:
        """Offer `words` for what is being typed, if it still is."""
        self._popup.offer(words if wanted == self._wanted else [])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take a completion with Enter or Tab, go on with a list on Enter, indent one with Tab."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if self._popup.takes(event) or self._list_key(event, enter):
            event.accept()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Follow a link on Ctrl+click."""
        super().mouseReleaseEvent(event)
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if held and (found := link_at(*around(self.textCursor()))) is not None:
            self.link_followed.emit(*found)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show a hand over what Ctrl+click would follow."""
        super().mouseMoveEvent(event)
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        place = self.cursorForPosition(event.position().toPoint())
        follows = bool(held) and link_at(*around(place)) is not None
        shape = Qt.CursorShape.PointingHandCursor if follows else Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Forget what was being completed."""
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._wanted = None
        super().focusOutEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the text in a column that can be read."""
        side = max(24, (self.width() - round(_WIDEST * self._theme.zoom)) // 2)
        self.setViewportMargins(side, 12, side, 12)
        # The margins have changed the width meanwhile: without an old size Qt lays the text out anew.
        super().resizeEvent(QResizeEvent(self.viewport().size(), QSize()))

    def load(self, text: str) -> None:
        """Show another text, of which nothing is undone."""
        with self.highlighter.apart():
            self.setPlainText(text)

    def become(self, text: str) -> None:
        """Change the text to `text` by one step that can be undone, which leaves the cursor where it is."""
        old = self.document().toRawText().replace(PARAGRAPH, "\n")
        start, end, fresh = difference(old, text)
        cursor = QTextCursor(self.document())
        cursor.setPosition(units(old[:start]))
        cursor.setPosition(units(old[:end]), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(fresh)

    def go_to_line(self, line: int) -> None:
        """Put the cursor at the start of `line`, from 1, in the middle of the view."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        self.setTextCursor(QTextCursor(block))
        self.centerCursor()

    def _take_change(self) -> None:
        if not self.highlighter.colouring:
            self.edited.emit()
            self._look_for_completion()

    def _look_for_completion(self) -> None:
        before = around(self.textCursor())[0][-120:]
        if match := _WIKI.search(before):
            self._wanted = Wanted("note", match[1])
        elif match := _TAG.search(before):
            self._wanted = Wanted("tag", match[1])
        else:
            self._wanted = None
            self._popup.close_list()
            return
        if self.hasFocus() and not self.isReadOnly():
            self.completion_wanted.emit(self._wanted)

    def _complete(self, chosen: str) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is None:
            return
        cursor = self.textCursor()
        after = around(cursor)[1]
        cursor.setPosition(cursor.position() - units(wanted.word), QTextCursor.MoveMode.KeepAnchor)
        closing = "" if wanted.kind == "tag" or after.startswith("]]") else "]]"
        cursor.insertText(chosen + closing)
        if wanted.kind == "note" and not closing:
            cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, 2)
            self.setTextCursor(cursor)
        self._wanted = None
        self._popup.close_list()

    def _list_key(self, event: QKeyEvent, enter: bool) -> bool:
        """Whether the key did something to the list that the cursor is in."""
        if enter:
            return not event.modifiers() and self._go_on_with_list()
        return event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) and self._indent(event.key())

    def _go_on_with_list(self) -> bool:
        """Start the next item of the list that the cursor is in; an empty item ends the list."""
        cursor = self.textCursor()
        before, after = around(cursor)
        line = before + after
        match = _LIST.match(line)
        if not match or cursor.hasSelection() or len(before) < match.end():
            return False
        if match.end() == len(line):
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            return True
        marker = f"{int(match[3]) + 1}{match[4]}" if match[3] else match[2]
        cursor.insertText(f"\n{match[1]}{marker}{match[5]}{'[ ] ' if match[6] else ''}")
        self.ensureCursorVisible()
        return True

    def _indent(self, key: int) -> bool:
        cursor = self.textCursor()
        if cursor.hasSelection() or not _LIST.match(cursor.block().text()):
            return False
        cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
        if key == Qt.Key.Key_Tab:
            cursor.insertText("  ")
        elif cursor.block().text().startswith("  "):
            cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, 2)
            cursor.removeSelectedText()
        return True

    def _dress(self, theme: Theme) -> None:
        font = code_font(self._theme.zoom)
        self.setFont(font)
        self.setTabStopDistance(4 * QFontMetricsF(font).horizontalAdvance(" "))
        colors = self.palette()
        colors.setColor(QPalette.ColorRole.Highlight, QColor(theme.selection))
        self.setPalette(colors)
        self.highlighter.set_theme(theme)


def link_at(before: str, after: str) -> tuple[str, str] | None:
    """The kind and the words of the link between two parts of a line, None where there is none."""
    line, at = before + after, len(before)
    for kind, pattern in _LINKS:
        for match in pattern.finditer(line):
            if match.start() <= at <= match.end():
                return kind, match[1]
    return None


def difference(old: str, new: str) -> tuple[int, int, str]:
    """Where `old` differs from `new` (start and end in `old`), and what stands there in `new`."""
    if old == new:
        return len(old), len(old), ""
    start = _same(old, new)
    most = min(len(old), len(new)) - start
    end = _same(old[len(old) - most :][::-1], new[len(new) - most :][::-1])
    return start, len(old) - end, new[start : len(new) - end]


def _same(a: str, b: str) -> int:
    """How many characters `a` and `b` have in common from the start, found by halves: texts may be long."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
