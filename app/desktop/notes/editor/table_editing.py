"""Edit tables with the keyboard: Tab moves to the next cell, aligns the columns and adds rows at the end."""

from __future__ import annotations

from unicodedata import east_asian_width

from PySide6.QtGui import QTextCursor, QTextDocument

from app.desktop.notes.editor.line_scanner import LineKind
from app.desktop.notes.editor.note_rows import NoteRows
from app.desktop.notes.editor.tables import alignments, cell_ranges
from app.desktop.notes.editor.text_cursor import one_undo_step, position_in, replace, select
from app.desktop.widgets.utf16 import text_around_cursor

_MAX_TABLE_LINES = 400


def move_to_cell(rows: NoteRows, cursor: QTextCursor, backward: bool) -> bool:
    """Move to the next or previous cell of the table at the cursor, and align the table's columns.

    After the last cell, a row is added; before the first cell, nothing changes. A header row without a
    delimiter row gets one.

    Args:
        rows: The lines of the note.
        cursor: The cursor, which selects the content of the new cell.
        backward: Whether to move to the previous cell.

    Returns:
        True if the cursor is in a table that is small enough to align.
    """
    line = cursor.blockNumber()
    first, last = rows.block(line)
    is_header = _is_header_row(rows, line)
    if not (is_header or rows.is_table(first)) or last - first > _MAX_TABLE_LINES:
        return False
    prefix = rows.lines[first][: rows.rows[first].scan.marker]
    prefix_lengths = [rows.rows[index].scan.marker for index in range(first, last + 1)]
    cells = [
        _split_cells(rows.lines[index], prefix_lengths[index - first]) for index in range(first, last + 1)
    ]
    columns = len(cells[0])
    aligns = [] if is_header else alignments(rows.lines[first + 1], prefix_lengths[1])
    if is_header:
        cells.append(["---"] * columns)
    column = _cell_at_cursor(cursor, rows.rows[line].scan.marker)
    row, column = _next_cell(line - first, column, columns, backward)
    if row < 0:
        return True
    if row >= len(cells):
        cells.append([""] * columns)
    aligned = align_table(cells, aligns)
    old_lines = rows.lines[first : last + 1]
    new_lines = [f"{prefix}{text}" for text in aligned]
    _replace_lines(cursor, first, old_lines, new_lines)
    block = cursor.document().findBlockByNumber(first + row)
    start, end = cell_ranges(block.text(), len(prefix))[column]
    select(cursor, position_in(block, start), position_in(block, end))
    return True


def align_table(cells: list[list[str]], columns: list[str]) -> list[str]:
    """Return the lines of a table with cells padded to the widths of their columns.

    Args:
        cells: The cells of each line; the second line is the delimiter row.
        columns: The alignment of each column: "left", "center", "right" or "".
    """
    count = len(cells[0])
    rows = [(row + [""] * count)[: max(count, len(row))] for row in cells]
    widths = [3] * max(map(len, rows))
    for number, row in enumerate(rows):
        if number != 1:
            for column, text in enumerate(row):
                widths[column] = max(widths[column], display_width(text))
    lines = []
    for number, row in enumerate(rows):
        if number == 1:
            padded_cells = [
                _delimiter(widths[index], columns[index] if index < len(columns) else "")
                for index in range(len(row))
            ]
        else:
            padded_cells = [
                _padded(text, widths[index], columns[index] if index < len(columns) else "")
                for index, text in enumerate(row)
            ]
        lines.append(f"| {' | '.join(padded_cells)} |")
    return lines


def display_width(text: str) -> int:
    """Return the width of a text in columns of a fixed-pitch font."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def _split_cells(line: str, start: int) -> list[str]:
    return [line[left:right] for left, right in cell_ranges(line, start)]


def _cell_at_cursor(cursor: QTextCursor, marker: int) -> int:
    """Return the index of the cell that contains the cursor."""
    before, after = text_around_cursor(cursor)
    column = len(before)
    index = 0
    for number, (start, _) in enumerate(cell_ranges(before + after, marker)):
        if start <= column:
            index = number
    return index


def _next_cell(row: int, column: int, columns: int, backward: bool) -> tuple[int, int]:
    """Return the row and column of the target cell; row -1 before the first cell."""
    if row == 1:
        return (0, columns - 1) if backward else (2, 0)
    column += -1 if backward else 1
    if column < 0:
        row, column = row - 1, columns - 1
    elif column >= columns:
        row, column = row + 1, 0
    if row == 1:
        row = 0 if backward else 2
    return row, column


def _delimiter(width: int, align: str) -> str:
    left = ":" if align in ("left", "center") else "-"
    right = ":" if align in ("right", "center") else "-"
    return left + "-" * (width - 2) + right


def _padded(text: str, width: int, align: str) -> str:
    padding = width - display_width(text)
    if align == "right":
        return " " * padding + text
    if align == "center":
        return " " * (padding // 2) + text + " " * (padding - padding // 2)
    return text + " " * padding


def _replace_lines(cursor: QTextCursor, first: int, old_lines: list[str], new_lines: list[str]) -> None:
    """Replace the lines from `first` on, leaving unchanged lines untouched."""
    document: QTextDocument = cursor.document()
    with one_undo_step(cursor):
        for offset, (old_line, new_line) in enumerate(zip(old_lines, new_lines, strict=False)):
            if old_line != new_line:
                block = document.findBlockByNumber(first + offset)
                replace(cursor, block.position(), block.position() + block.length() - 1, new_line)
        if len(new_lines) > len(old_lines):
            block = document.findBlockByNumber(first + len(old_lines) - 1)
            end = block.position() + block.length() - 1
            replace(cursor, end, end, "\n" + "\n".join(new_lines[len(old_lines) :]))


def is_in_table(rows: NoteRows, line: int) -> bool:
    """Return whether a line belongs to a table, or is a header row that Tab turns into one."""
    if _is_header_row(rows, line):
        return True
    kind = rows.rows[line].scan.kind
    if kind not in (LineKind.TABLE, LineKind.TABLE_DELIMITER, LineKind.TEXT):
        return False
    return rows.is_table(rows.block(line)[0])


def _is_header_row(rows: NoteRows, line: int) -> bool:
    """Return whether a line has pipes at its start and end, and no table line around it."""
    if rows.rows[line].scan.kind is not LineKind.TABLE or rows.block(line) != (line, line):
        return False
    text = rows.lines[line][rows.rows[line].scan.marker :].strip()
    return len(text) > 2 and text.endswith("|") and not text.endswith("\\|")
