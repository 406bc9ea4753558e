"""The source view: plain text with highlighting, `[[` and `#` completion, and list-aware Enter."""

from __future__ import annotations

import re
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFontMetricsF, QKeyEvent, QPalette, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.desktop.name_popup import NamePopup
from app.desktop.note_view.highlighter import MarkdownHighlighter
from app.desktop.theme import Theme, ThemeSource, code_font

_LIST = re.compile(r"^(\s*)([-*+]|(\d+)([.)]))(\s+)(\[[ xX]\]\s+)?")
_WIKI = re.compile(r"\[\[([^\[\]|#^]{0,80})$")
_TAG = re.compile(r"(?:^|(?<=[\s(,]))#([\w\-/]{1,60})$")
_WIDEST = 760


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is being typed: `kind` is "note" or "tag", `word` what stands there so far."""

    kind: str
    word: str


class SourceEditor(QPlainTextEdit):
    """Edits a note's text.

    `completion_wanted` carries a `Wanted`; answer with `offer`. `link_followed` carries the target of the
    wikilink that was clicked with Ctrl.
    """

    completion_wanted = Signal(object)
    link_followed = Signal(str)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName("Note source")
        self.setProperty("plain", True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.highlighter = MarkdownHighlighter(self.document(), theme.theme)
        self._popup = NamePopup(self)
        self._popup.chosen.connect(self._complete)
        self._wanted: Wanted | None = None
        self.textChanged.connect(self._look_for_completion)
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

    def mouseReleaseEvent(self, event: object) -> None:
        """Follow a wikilink on Ctrl+click."""
        super().mouseReleaseEvent(event)  # type: ignore[arg-type]
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier  # type: ignore[attr-defined]
        if held and (target := self._link_at(self.textCursor())):
            self.link_followed.emit(target)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Forget what was being completed."""
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._wanted = None
        super().focusOutEvent(event)

    def resizeEvent(self, event: object) -> None:
        """Keep the text in a column that can be read."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        side = max(24, (self.width() - round(_WIDEST * self._theme.zoom)) // 2)
        self.setViewportMargins(side, 12, side, 12)

    def go_to_line(self, line: int) -> None:
        """Put the cursor at the start of `line`, from 1, in the middle of the view."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        self.setTextCursor(QTextCursor(block))
        self.centerCursor()

    def _look_for_completion(self) -> None:
        cursor = self.textCursor()
        before = cursor.block().text()[max(0, cursor.positionInBlock() - 120) : cursor.positionInBlock()]
        if match := _WIKI.search(before):
            self._wanted = Wanted("note", match[1])
        elif match := _TAG.search(before):
            self._wanted = Wanted("tag", match[1])
        else:
            self._wanted = None
            self._popup.close_list()
            return
        self.completion_wanted.emit(self._wanted)

    def _complete(self, chosen: str) -> None:
        if self._wanted is None:
            return
        cursor = self.textCursor()
        cursor.movePosition(
            QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, len(self._wanted.word)
        )
        after = self.textCursor().block().text()[self.textCursor().positionInBlock() :]
        closing = "" if self._wanted.kind == "tag" or after.startswith("]]") else "]]"
        cursor.insertText(chosen + closing)
        if self._wanted.kind == "note" and not closing:
            cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, 2)
            self.setTextCursor(cursor)
        self._wanted = None

    def _list_key(self, event: QKeyEvent, enter: bool) -> bool:
        """Whether the key did something to the list that the cursor is in."""
        if enter:
            return not event.modifiers() and self._go_on_with_list()
        return event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) and self._indent(event.key())

    def _go_on_with_list(self) -> bool:
        """Start the next item of the list that the cursor is in; an empty item ends the list."""
        cursor = self.textCursor()
        line = cursor.block().text()
        match = _LIST.match(line)
        if not match or cursor.hasSelection() or cursor.positionInBlock() < match.end():
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

    def _link_at(self, cursor: QTextCursor) -> str:
        text, at = cursor.block().text(), cursor.positionInBlock()
        for match in re.finditer(r"\[\[([^\[\]]+)\]\]", text):
            if match.start() <= at <= match.end():
                return match[1].partition("|")[0].rstrip("\\")
        return ""

    def _dress(self, theme: Theme) -> None:
        font = code_font(self._theme.zoom)
        self.setFont(font)
        self.setTabStopDistance(4 * QFontMetricsF(font).horizontalAdvance(" "))
        colors = self.palette()
        colors.setColor(QPalette.ColorRole.Highlight, QColor(theme.selection))
        self.setPalette(colors)
        self.highlighter.set_theme(theme)
