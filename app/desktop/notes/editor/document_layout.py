"""Use a `TextFlow` to show a `QTextDocument` that holds the exact source.

Qt still handles the cursor, undo, the clipboard, drag and drop, input methods and accessibility. Only the
line with the cursor needs a real `QTextBlock.layout()`: it shows the source, and Qt uses that layout to
locate the cursor.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QPainter,
    QTextBlock,
    QTextDocument,
    QTextFrame,
    QTextOption,
)

from app.desktop.notes.editor import hit_test, painting
from app.desktop.notes.editor.inline_scanner import MAX_STYLED_LENGTH
from app.desktop.notes.editor.painting import Highlight
from app.desktop.notes.editor.text_flow import TextFlow
from app.desktop.notes.editor.text_layout import break_lines, source_font, space_above
from app.desktop.widgets.utf16 import from_utf16_offset, to_utf16_offset

_BOTTOM_MARGIN = 60.0
_CARET_WIDTH = 1.5
_DEFAULT_CLIP_HEIGHT = 2_000.0


class LiveLayout(QAbstractTextDocumentLayout):
    """Lays out a document as `flow` shows it.

    Attributes:
        flow: The lines as rows.
        is_paused: Whether to ignore changes to the document while the flow is loaded separately.
        left: The left edge of the text column, in the document.
        top: The top edge of the text, below the header.
        page_width: The width of the whole document.
        hovered: The line under the pointer, -1 for none.
        cursor_position: Returns the position of the cursor. It must not hold a reference to the editor:
            Python's garbage collector would delete both in the wrong order.
    """

    def __init__(self, document: QTextDocument, flow: TextFlow) -> None:
        super().__init__(document)
        self.flow = flow
        self.is_paused = True
        self.left = 0.0
        self.top = 0.0
        self.page_width = flow.width
        self.hovered = -1
        self.cursor_position: Callable[[], int] = lambda: 0
        self._revision = -1
        self._block_key: tuple[int, object] | None = None

    def locate(self, position: int) -> tuple[int, int]:
        """Return the line and column of a position."""
        block = self.document().findBlock(position)
        number = block.blockNumber()
        line = self.flow.lines[number] if 0 <= number < len(self.flow.lines) else ""
        return number, from_utf16_offset(line, position - block.position())

    def position(self, line: int, column: int) -> int:
        """Return the position of a line and column."""
        block = self.document().findBlockByNumber(line)
        return block.position() + to_utf16_offset(self.flow.lines[line], column)

    def caret(self, position: int) -> QRectF:
        """Return the cursor's rectangle for a position, in document coordinates."""
        return hit_test.caret_rect(self.flow, *self.locate(position)).translated(self.left, self.top)

    def to_flow(self, point: QPointF) -> QPointF:
        """Convert a point from document to flow coordinates."""
        return point - QPointF(self.left, self.top)

    def mark_current(self) -> None:
        """Record that the flow shows the document's current revision."""
        self.is_paused = False
        self._revision = self.document().revision()
        self._block_key = None

    def emit_size(self) -> None:
        """Emit the size of the document."""
        self.documentSizeChanged.emit(self.documentSize())

    def documentChanged(self, position: int, removed: int, added: int) -> None:
        """Update the flow after a change to the document."""
        document, flow = self.document(), self.flow
        if self.is_paused or document.revision() == self._revision:  # only the width changed
            return
        self._revision = document.revision()
        first = document.findBlock(position)
        last = document.findBlock(position + added)
        if not last.isValid():
            last = document.lastBlock()
        start = first.blockNumber()
        new_count = last.blockNumber() - start + 1
        old_count = len(flow.lines) - (document.blockCount() - new_count)
        lines, block = [], first
        for _ in range(new_count):
            lines.append(block.text())
            block = block.next()
        while old_count > 1 and new_count > 1 and lines[-1] == flow.lines[start + old_count - 1]:
            old_count, new_count = old_count - 1, new_count - 1  # Qt reports one block too many
            lines.pop()
        if old_count == new_count and flow.lines[start : start + old_count] == lines:
            self._show_composition()
            self.update.emit()
            return
        flow.preedit = None
        old_height = flow.heights.total
        flow.splice(start, old_count, lines)
        if flow.heights.total != old_height:
            self.emit_size()
        self.update.emit()

    def documentSize(self) -> QSizeF:
        """Return the size of the document."""
        return QSizeF(self.page_width, self.top + self.flow.heights.total + _BOTTOM_MARGIN)

    def pageCount(self) -> int:
        """Return 1: there are no page breaks."""
        return 1

    def frameBoundingRect(self, frame: QTextFrame) -> QRectF:
        """Return the area of the document."""
        return QRectF(QPointF(0, 0), self.documentSize())

    def blockBoundingRect(self, block: QTextBlock) -> QRectF:
        """Return the area of a line's text; Qt adds the block's layout to it to locate the cursor."""
        number = block.blockNumber()
        flow = self.flow
        if not 0 <= number < len(flow.rows):
            return QRectF()
        height = flow.heights[number]
        if len(flow.lines[number]) > MAX_STYLED_LENGTH:
            # A full layout of such a line would take 30 ms per keystroke. For a block without lines, Qt uses
            # the corner of the rectangle as the cursor.
            line, column = self.locate(self.cursor_position())
            caret = hit_test.caret_rect(flow, number, column if line == number else 0)
            return QRectF(caret.x() + self.left, caret.y() + self.top, 1, height)
        self._lay_out_block(block, number)
        row, space = flow.rows[number], space_above(flow, number, flow.rows[number])
        corner = QPointF(self.left + row.indent, self.top + flow.heights.top(number) + space)
        block.layout().setPosition(corner)  # screen readers query the layout itself
        return QRectF(corner.x(), corner.y(), flow.width - row.indent, max(0.0, height - space))

    def _lay_out_block(self, block: QTextBlock, number: int) -> None:
        """Give the block a layout for Qt's queries; it equals the displayed one where the source is shown."""
        layout, flow = block.layout(), self.flow
        row = flow.row(number)
        key = (
            number,
            (block.revision(), flow.width, row.scan, row.active, row.indent, layout.preeditAreaText()),
        )
        if layout.lineCount() and self._block_key == key:
            return
        level = flow.heading_level(number)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTabStopDistance(4 * flow.style.space)
        layout.setTextOption(option)
        layout.setFont(flow.style.headings[level] if level else source_font(flow, row))
        # No formats: Qt treats `setFormats` on a block's layout as a change to the document.
        break_lines(layout, flow.width - row.indent)
        self._block_key = key

    def hitTest(self, point: object, accuracy: Qt.HitTestAccuracy) -> int:
        """Return the position at a point."""
        if not self.flow.rows:
            return -1
        flow_point = self.to_flow(QPointF(point))  # type: ignore[call-overload]
        return self.position(*hit_test.position_at(self.flow, flow_point.x(), max(0.0, flow_point.y())))

    def draw(self, painter: QPainter, context: QAbstractTextDocumentLayout.PaintContext) -> None:
        """Paint the clip region of the context."""
        flow = self.flow
        clip = context.clip
        if not clip.isValid():
            clip = QRectF(0, 0, self.page_width, _DEFAULT_CLIP_HEIGHT)
        old_height = flow.heights.total
        top, bottom = clip.top() - self.top, clip.bottom() - self.top
        painter.save()
        painter.translate(self.left, self.top)
        highlights = self._highlights(context.selections, top, bottom)
        painting.paint(flow, painter, top, bottom, highlights, self.hovered)
        cursor = context.cursorPosition
        if cursor != -1:  # less than -1 while an input method is composing
            caret = hit_test.caret_rect(flow, *self.locate(cursor if cursor >= 0 else self.cursor_position()))
            painter.fillRect(QRectF(caret.x(), caret.y(), _CARET_WIDTH, caret.height()), flow.style.text)
        painter.restore()
        if flow.heights.total != old_height:
            self.emit_size()

    def _highlights(
        self, selections: list[QAbstractTextDocumentLayout.Selection], top: float, bottom: float
    ) -> list[Highlight]:
        """Return the visible selections, each in its own color."""
        if not selections:
            return []
        flow, document = self.flow, self.document()
        first = document.findBlockByNumber(flow.heights.line_at(top)[0]).position()
        last_block = document.findBlockByNumber(flow.heights.line_at(bottom)[0])
        last = last_block.position() + last_block.length()
        highlights = []
        for selection in selections:
            cursor = selection.cursor
            start, end = cursor.selectionStart(), cursor.selectionEnd()
            if start != end and start <= last and end >= first:
                background: QColor = selection.format.background().color()
                highlights.append(Highlight(self.locate(start), self.locate(end), background))
        return highlights

    def _show_composition(self) -> None:
        """Show the text that an input method is composing; the document has not changed."""
        flow, previous = self.flow, self.flow.preedit
        flow.preedit = None
        block = self.document().findBlock(self.cursor_position())
        layout = block.layout()
        if composed := layout.preeditAreaText():
            number = block.blockNumber()
            column = from_utf16_offset(flow.lines[number], layout.preeditAreaPosition())
            flow.preedit = (number, column, composed)
        for composition in (previous, flow.preedit):
            if composition is not None and composition[0] < len(flow.rows):
                flow.rows[composition[0]].fragments = None
                flow.row(composition[0])
