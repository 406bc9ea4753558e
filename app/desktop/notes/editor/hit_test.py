"""Map points to text positions and back."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextLine

from app.desktop.notes.editor.rows import EditorRow, RowFragment
from app.desktop.notes.editor.text_flow import TextFlow
from app.desktop.notes.editor.text_layout import DRAWING_SPACE, x_of
from app.desktop.widgets.utf16 import utf16_length


def position_at(flow: TextFlow, x: float, y: float) -> tuple[int, int]:
    """Return the line and column at a point."""
    index, top = flow.heights.line_at(y)
    row = flow.row(index)
    return index, column_at(row, x, y - top, len(flow.lines[index]))


def column_at(row: EditorRow, x: float, y: float, length: int) -> int:
    """Return the column at a point in a row whose line has this length."""
    if not row.fragments:
        return 0 if row.drawing is None else length
    fragment = row.fragments[0]
    for candidate in row.fragments:
        if candidate.cell is not None:
            if candidate.cell[0] <= x:
                fragment = candidate
        elif candidate.y <= y:
            fragment = candidate
    layout = fragment.layout
    line = layout.lineAt(0)
    for line_index in range(layout.lineCount()):
        line = layout.lineAt(line_index)
        if y - fragment.y < line.y() + line.height() * 1.1:
            break
    if not line.isValid():
        return fragment.start
    return fragment.column_of(line.xToCursor(x - fragment.x))


def fragment_of(row: EditorRow, column: int) -> RowFragment | None:
    """Return the fragment that shows a column; None if the row has no text."""
    match = None
    for fragment in row.fragments or ():
        if fragment.start > column and match is not None:
            break
        match = fragment
    return match


def caret_rect(flow: TextFlow, index: int, column: int) -> QRectF:
    """Return the cursor's rectangle at a position."""
    row = flow.row(index)
    top = flow.heights.top(index)
    fragment = fragment_of(row, column)
    if fragment is None:
        return QRectF(0, top, 1, row.height)
    offset = fragment.offset_of(column)
    if flow.preedit is not None and flow.preedit[0] == index and column >= flow.preedit[1]:
        offset += utf16_length(flow.preedit[2])
    line = fragment.layout.lineForTextPosition(offset)
    if not line.isValid():
        return QRectF(fragment.x, top + fragment.y, 1, flow.style.line_height)
    return QRectF(fragment.x + x_of(line, offset), top + fragment.y + line.y(), 1, line.height())


def is_on_text(flow: TextFlow, x: float, y: float) -> bool:
    """Return whether a point is on text or a drawing in it, not in the space next to or below the text."""
    if not 0 <= y < flow.heights.total:
        return False
    index, top = flow.heights.line_at(y)
    for fragment in flow.row(index).fragments or ():
        if any(box.contains(x, y - top) for box in drawing_boxes(fragment)):
            return True
        for line_index in range(fragment.layout.lineCount()):
            line = fragment.layout.lineAt(line_index)
            area = line.naturalTextRect().translated(fragment.x, top + fragment.y)
            if area.contains(x, y):
                return True
    return False


def drawing_boxes(fragment: RowFragment) -> Iterator[QRectF]:
    """Yield the rectangles of the drawings in a fragment's text, relative to the row's top left corner."""
    for offset, drawing in fragment.drawings:
        line = fragment.layout.lineForTextPosition(offset)
        edges = x_of(line, offset), x_of(line, offset, QTextLine.Edge.Trailing)
        x = fragment.x + min(edges) + DRAWING_SPACE / 2
        y = fragment.y + line.y() + line.ascent() - drawing.ascent
        yield QRectF(x, y, drawing.width, drawing.height)
