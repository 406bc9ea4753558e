"""The live editor: editing keys, completion, pasting, search highlights; see `live_view` for display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QTextEdit, QWidget

from app.desktop.notes.editor import formatting, lists, pairs, table_editing, text_cursor
from app.desktop.notes.editor.completion import (
    CompletionItem,
    CompletionRequest,
    SlashCommand,
    command_items,
    date_items,
    find_request,
)
from app.desktop.notes.editor.editor_keys import EDIT_COMMANDS, VIEW_COMMANDS
from app.desktop.notes.editor.line_scanner import LineKind
from app.desktop.notes.editor.live_view import LiveView
from app.desktop.notes.editor.match_bar import MatchBar
from app.desktop.notes.editor.snippets import CURSOR_MARK, SNIPPETS, default_slash_commands
from app.desktop.notes.newlines import PARAGRAPH_SEPARATOR
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.completion_popup import CompletionPopup
from app.desktop.widgets.utf16 import text_around_cursor, utf16_length

_MAX_TRIGGER_CHARS = 140
_Ctrl = Qt.KeyboardModifier.ControlModifier
_Shift = Qt.KeyboardModifier.ShiftModifier
_Alt = Qt.KeyboardModifier.AltModifier
_None = Qt.KeyboardModifier.NoModifier
_Key = Qt.Key
_CODE_LIKE = frozenset(
    (
        LineKind.CODE,
        LineKind.FENCE_OPEN,
        LineKind.FENCE_CLOSE,
        LineKind.MATH,
        LineKind.PROPERTIES,
        LineKind.HTML,
        LineKind.COMMENT,
    )
)


class LiveEditor(LiveView):
    """Edits the source of a note in its live preview.

    Signals (in addition to those of `LiveView`):
        completion_requested: A `CompletionRequest` for notes, files, headings, blocks or tags, to be answered
            with `offer`. The editor handles dates and commands itself.
        context_menu_opening: The context menu before it is shown, and the text position under the pointer.

    Attributes:
        paste_handler: Called with pasted or dropped data; returns whether it has handled it.
        slash_commands: The available slash commands.
    """

    completion_requested = Signal(object)
    context_menu_opening = Signal(QMenu, int)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.paste_handler: Callable[[QMimeData], bool] | None = None
        self.slash_commands: list[SlashCommand] = default_slash_commands()
        self._popup = CompletionPopup(self)
        self._popup.chosen.connect(self._complete)
        self._popup.dismissed.connect(self._dismiss_completion)
        self._request: CompletionRequest | None = None
        self._items: list[CompletionItem] = []
        self._dismissed_at: tuple[str, int] | None = None
        self._match_bar = MatchBar(self.verticalScrollBar())
        self.cursorPositionChanged.connect(self._close_moved_completion)

    def insert(self, text: str) -> None:
        """Replace the selection with `text`, as one undo step."""
        cursor = self.textCursor()
        with text_cursor.one_undo_step(cursor):
            cursor.insertText(text)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def replace(self, start: int, end: int, text: str) -> None:
        """Replace a range of positions with `text`, as one undo step; the cursor stays in place."""
        text_cursor.replace(QTextCursor(self.document()), start, end, text)

    def replace_document(self, text: str) -> None:
        """Replace the text with `text` using a minimal edit, as one undo step; the cursor stays in place."""
        text_cursor.replace_document(QTextCursor(self.document()), self.text(), text)

    def run_command(self, name: str) -> bool:
        """Run an editor command by its name.

        Returns:
            False if "link-follow" finds no link to follow; otherwise True.

        Raises:
            ValueError: There is no such command.
        """
        cursor = self.textCursor()
        match name:
            case "bold" | "italic" | "code":
                formatting.toggle_marker(cursor, {"bold": "**", "italic": "*", "code": "`"}[name])
            case "link":
                formatting.insert_link(cursor)
            case "comment":
                formatting.toggle_comment(cursor)
            case "list-number" | "list-bullet" | "list-task":
                formatting.toggle_list(cursor, name.removeprefix("list-"))
            case "heading-1" | "heading-2" | "heading-3" | "heading-4":
                formatting.set_heading(cursor, int(name[-1]))
            case "today":
                cursor.insertText(date.today().isoformat())
            case "line-up" | "line-down":
                self._move_lines(cursor, down=name == "line-down")
            case "task-toggle":
                self.toggle_task(cursor.blockNumber())
                return True
            case "link-follow":
                return self.follow_link_at(cursor.position())
            case "fold" | "unfold":
                self.set_folded(cursor.blockNumber(), name == "fold")
                return True
            case _:
                raise ValueError(f"The editor has no command {name!r}.")
        self.setTextCursor(cursor)
        return True

    def _move_lines(self, cursor: QTextCursor, *, down: bool) -> None:
        blocks = text_cursor.selected_blocks(cursor)
        lines = range(blocks[0].blockNumber() - 1, blocks[-1].blockNumber() + 2)
        kinds = {self.flow.rows[index].scan.kind for index in lines if 0 <= index < len(self.flow.rows)}
        formatting.move_lines(cursor, down, numbered=kinds.isdisjoint(_CODE_LIKE))

    def event(self, event: QEvent) -> bool:
        """Claim the editor's own keys before the window's shortcuts get them."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and self._command_of(event) is not None
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move, format, or type."""
        self._set_hovered_link("", QPoint())
        if self.move_by_key(event):
            event.accept()
            return
        command = self._command_of(event)
        if command is not None:
            self.run_command(command)
            event.accept()
            return
        if self.isReadOnly():
            super().keyPressEvent(event)
            return
        revision = self.document().revision()
        if not self._edit_key(event):
            super().keyPressEvent(event)
        else:
            event.accept()
            self.ensureCursorVisible()
        is_typing = _is_text(event) or event.key() == Qt.Key.Key_Backspace
        if is_typing and self.document().revision() != revision:
            self._update_completion(only_open=not _is_text(event))
        elif not _is_modifier(event):
            self._close_completion()

    def _command_of(self, event: QKeyEvent) -> str | None:
        key = (event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier, event.key())
        if (name := VIEW_COMMANDS.get(key)) is not None:
            return name
        return None if self.isReadOnly() else EDIT_COMMANDS.get(key)

    def _edit_key(self, event: QKeyEvent) -> bool:
        """Handle a key whose effect depends on the cursor position; return whether it was handled."""
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        cursor = self.textCursor()
        if event.matches(QKeySequence.StandardKey.Cut):
            return self._cut()
        if key == _Key.Key_Backspace and self.is_at_start_of_text():
            return True  # it would join the text with the end of the properties that the form shows
        if key in (_Key.Key_Return, _Key.Key_Enter):
            if modifiers == _None and self._scan_kind() not in _CODE_LIKE and lists.continue_block(cursor):
                self.setTextCursor(cursor)
                return True
            if modifiers == _Shift:  # Qt would insert a line separator, which is not a line end in a file
                self.insert("\n")
                return True
            return modifiers == _None and self._keep_indent(cursor)
        if key in (_Key.Key_Tab, _Key.Key_Backtab) and modifiers in (_None, _Shift):
            return self._tab(cursor, backward=key == _Key.Key_Backtab)
        if not self.preferences.auto_pairs:
            return False
        if key == _Key.Key_Backspace and modifiers == _None:
            is_handled = pairs.delete_pair(cursor)
        else:
            is_in_code = self._scan_kind() in _CODE_LIKE
            is_handled = _is_text(event) and pairs.type_character(cursor, event.text(), is_in_code=is_in_code)
        if is_handled:
            self.setTextCursor(cursor)
        return is_handled

    def _keep_indent(self, cursor: QTextCursor) -> bool:
        """Start the next line with this line's indent; return False if it has none or is not code."""
        before, _ = text_around_cursor(cursor)
        indent = before[: len(before) - len(before.lstrip(" \t"))]
        if not indent or self._scan_kind() is not LineKind.CODE:
            return False
        self.insert(f"\n{indent}")
        return True

    def _tab(self, cursor: QTextCursor, *, backward: bool) -> bool:
        if table_editing.is_in_table(self.flow, cursor.blockNumber()):
            is_handled = table_editing.move_to_cell(self.flow, cursor, backward)
        else:
            is_handled = lists.indent_items(cursor, deeper=not backward)
        if is_handled:
            self.setTextCursor(cursor)
        return is_handled or backward

    def _cut(self) -> bool:
        cursor = self.selection_with_markup()
        if cursor.hasSelection():
            self.copy()
            cursor.removeSelectedText()
            self.setTextCursor(cursor)
        return True

    def _scan_kind(self) -> LineKind:
        return self.flow.rows[self.textCursor().blockNumber()].scan.kind

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Update the completion after an input method has committed text."""
        super().inputMethodEvent(event)
        if event.commitString() and not self.isReadOnly():
            self._update_completion()

    def inputMethodQuery(self, query: Qt.InputMethodQuery, argument: object = None) -> Any:  # noqa: ANN401
        """Return the cursor's area for an input method's window; leave other queries to Qt."""
        if query == Qt.InputMethodQuery.ImCursorRectangle:
            return self.caret_area()
        return super().inputMethodQuery(query)

    def caret_area(self) -> QRect:
        """Return the area of the cursor in the editor."""
        caret = self._layout.caret(self.textCursor().position())
        origin = self.viewport().pos()
        x = origin.x() - self.horizontalScrollBar().value()
        y = origin.y() - self.verticalScrollBar().value()
        return caret.translated(x, y).toAlignedRect()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accept text, and data that the paste handler supports."""
        if self.paste_handler is not None and (source.hasUrls() or source.hasImage() or source.hasHtml()):
            return True
        return source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste or drop data."""
        if self.isReadOnly():
            return
        if self.paste_handler is not None and self.paste_handler(source):
            return
        if source.hasText():
            self.insert(
                source.text().replace("\r\n", "\n").replace("\r", "\n").replace(PARAGRAPH_SEPARATOR, "\n")
            )

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the context menu, to which listeners may add actions."""
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        position = self.cursorForPosition(event.pos()).position()
        self.context_menu_opening.emit(menu, position)
        menu.popup(event.globalPos())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll; with Ctrl, leave zooming to the window."""
        if event.modifiers() & _Ctrl:
            event.ignore()
        else:
            super().wheelEvent(event)
            self._close_completion()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Close the completion list on a click."""
        self._close_completion()
        super().mousePressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Close the completion list when the focus moves elsewhere."""
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            self._close_completion()
        super().focusOutEvent(event)

    def mark(self, span: tuple[int, int] | None) -> None:
        """Scroll to a range in UTF-16 units and highlight it, with the cursor at its start.

        None removes the highlight.
        """
        if span is None:
            self.setExtraSelections([])
            return
        cursor = QTextCursor(self.document())
        cursor.setPosition(span[0])
        self.setTextCursor(cursor)
        self.center_cursor()
        selection = QTextEdit.ExtraSelection()
        selection.cursor = QTextCursor(cursor)
        selection.cursor.setPosition(span[1], QTextCursor.MoveMode.KeepAnchor)
        selection.format.setBackground(QColor(self._theme.theme.mark_bg))
        self.setExtraSelections([selection])

    def show_matches(self, positions: Sequence[int]) -> None:
        """Mark search matches on the scroll bar; an empty list hides the marks."""
        flow = self.flow
        total = max(1.0, flow.heights.total)
        lines = {self.document().findBlock(position).blockNumber() for position in positions}
        marks = [flow.heights.top(line) / total for line in lines]
        self._match_bar.show_marks(marks, flow.style.accent)

    def offer(self, request: CompletionRequest, items: Sequence[CompletionItem]) -> None:
        """Show completions for a request if it is still current and the editor has the focus."""
        if request != self._request or not self.hasFocus():
            return
        self._items = list(items)
        self._popup.offer([item.label for item in self._items], self.caret_area())

    def _update_completion(self, *, only_open: bool = False) -> None:
        """Detect the request at the cursor; with `only_open`, only update an open list."""
        if only_open and self._request is None:
            return
        before, _ = text_around_cursor(self.textCursor())
        request = find_request(before[-_MAX_TRIGGER_CHARS:], is_in_code=self._scan_kind() in _CODE_LIKE)
        if request is None:
            self._dismissed_at = None
            self._close_completion()
            return
        if self._dismissed_at == self._trigger(request):
            return
        self._request = request
        if request.kind == "date":
            self.offer(request, date_items(request.word, date.today()))
        elif request.kind == "command":
            self.offer(request, command_items(request.word, self.slash_commands))
        else:
            self.completion_requested.emit(request)

    def _trigger(self, request: CompletionRequest) -> tuple[str, int]:
        """Return the kind and start of a completion, which identify one that Escape has dismissed."""
        return request.kind, self.textCursor().position() - utf16_length(request.word)

    def _dismiss_completion(self) -> None:
        if self._request is not None:
            self._dismissed_at = self._trigger(self._request)
        self._request = None

    def _close_completion(self) -> None:
        self._request = None
        self._popup.hide()

    def _close_moved_completion(self) -> None:
        """Close the list if the cursor has left the completed text."""
        if self._request is None or not self._popup.is_open:
            return
        before, _ = text_around_cursor(self.textCursor())
        current = find_request(before[-_MAX_TRIGGER_CHARS:])
        if current is None or current.kind != self._request.kind:
            self._close_completion()

    def _complete(self, index: int) -> None:
        request, self._request = self._request, None
        if request is None or index >= len(self._items):
            return
        item = self._items[index]
        cursor = self.textCursor()
        end = cursor.position()
        start = end - utf16_length(request.word)
        if request.kind == "command":
            self._run_slash_command(item.text, start - 1, end)
            return
        is_link = request.kind in ("note", "embed", "heading", "block")
        _, after = text_around_cursor(cursor)
        closing = "]]" if is_link and not after.startswith("]]") else ""
        text = item.text
        if request.kind == "date":
            start -= 1  # replace the trigger as well
        elif request.missing:
            # Obsidian reads only `[[Note#^id]]`, so the missing part is inserted before `^`.
            start, text = start - 1, f"{request.missing}^{text}"
        with text_cursor.one_undo_step(cursor):
            text_cursor.select(cursor, start, end)
            cursor.insertText(text + closing)
        if is_link and not closing:
            cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, 2)
        self.setTextCursor(cursor)
        self._close_completion()

    def _run_slash_command(self, name: str, start: int, end: int) -> None:
        command = next((known for known in self.slash_commands if known.id == name), None)
        if command is None:
            return
        cursor = self.textCursor()
        with text_cursor.one_undo_step(cursor):
            text_cursor.select(cursor, start, end)
            cursor.removeSelectedText()
            self.setTextCursor(cursor)
            if command.run is not None:
                command.run()
            elif name in SNIPPETS:
                self._insert_snippet(SNIPPETS[name])
            else:
                self.run_command(name)
        self._close_completion()

    def _insert_snippet(self, snippet: str) -> None:
        """Insert a snippet; line breaks separate a multi-line snippet from the text around it."""
        cursor = self.textCursor()
        before, after = text_around_cursor(cursor)
        if "\n" in snippet:
            snippet = ("\n" if before.strip(" \t>") else "") + snippet + ("\n" if after.strip() else "")
        start = cursor.position()
        cursor.insertText(snippet.replace(CURSOR_MARK, ""))
        cursor.setPosition(start + snippet.index(CURSOR_MARK))
        self.setTextCursor(cursor)


def _is_text(event: QKeyEvent) -> bool:
    """Return whether a key types a character."""
    text = event.text()
    modifiers = event.modifiers() & (_Ctrl | _Alt)
    is_shortcut = modifiers in (_Ctrl, _Alt)  # AltGr is reported as both
    return len(text) == 1 and text.isprintable() and not is_shortcut


def _is_modifier(event: QKeyEvent) -> bool:
    return event.key() in (_Key.Key_Shift, _Key.Key_Control, _Key.Key_Alt, _Key.Key_AltGr, _Key.Key_Meta)
