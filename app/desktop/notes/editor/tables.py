"""Tables: cell ranges of a line, column widths, and the layout of a row."""

from __future__ import annotations

import itertools

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont

from app.desktop.notes.editor import inline_scanner as inline
from app.desktop.notes.editor import text_layout
from app.desktop.notes.editor.line_scanner import LineKind
from app.desktop.notes.editor.note_rows import NoteRows
from app.desktop.notes.editor.rows import EditorRow, RowFragment, split_overlaps
from app.vault.reference import LINK_SEPARATOR

CELL_PADDING = 8.0
_MAX_MEASURED_LINES = 200  # the first lines, which determine the column widths
_MIN_COLUMN_WIDTH = 48.0


def cell_ranges(line: str, start: int = 0) -> list[tuple[int, int]]:
    """Return the ranges of a table line's cells, without surrounding spaces.

    Args:
        line: The line, with or without pipes at its ends.
        start: The start of the table, after quote marks.
    """
    end = len(line.rstrip())
    first = start + len(line[start:end]) - len(line[start:end].lstrip())
    pipes = [index for index in range(first, end) if line[index] == "|" and line[index - 1 : index] != "\\"]
    edges = list(pipes)
    if not pipes or pipes[0] != first:
        edges.insert(0, first - 1)
    if not pipes or pipes[-1] != end - 1:
        edges.append(end)
    cells = []
    for left, right in itertools.pairwise(edges):
        text = line[left + 1 : right]
        if text.strip():
            indent = len(text) - len(text.lstrip())
            cells.append((left + 1 + indent, left + 1 + len(text.rstrip())))
        else:
            column = min(left + 2, right) if text else left + 1
            cells.append((column, column))
    return cells


def alignments(delimiter: str, start: int = 0) -> list[str]:
    """Return the alignment of each column ("left", "center", "right" or ""), from the delimiter row."""
    aligns = []
    for left, right in cell_ranges(delimiter, start):
        cell = delimiter[left:right]
        is_left, is_right = cell.startswith(":"), cell.endswith(":")
        aligns.append(
            "center" if is_left and is_right else "left" if is_left else "right" if is_right else ""
        )
    return aligns


def lay_out_row(flow: NoteRows, index: int, row: EditorRow, first: int) -> None:
    """Lay out line `index` of the table that begins at line `first`."""
    row.fragments = []
    row.height = 0.0
    if row.scan.kind is LineKind.TABLE_DELIMITER:
        return
    widths = _column_widths(flow, first)
    columns = alignments(flow.lines[first + 1], flow.rows[first + 1].scan.marker)
    line, padding = flow.lines[index], CELL_PADDING * flow.style.zoom
    x = row.indent
    height = flow.style.line_height
    for number, (start, end) in enumerate(cell_ranges(line, row.scan.marker)[: len(widths)]):
        width = widths[number]
        align = columns[number] if number < len(columns) else ""
        fragment = _lay_out_cell(
            flow, row, line, start, end, align, width - 2 * padding, is_head=index == first
        )
        fragment.x, fragment.y, fragment.cell = x + padding, padding * 0.6, (x, width)
        row.fragments.append(fragment)
        height = max(height, fragment.height + 1.2 * padding)
        x += width
    row.height = height


def _lay_out_cell(
    flow: NoteRows,
    row: EditorRow,
    line: str,
    start: int,
    end: int,
    align: str,
    width: float,
    *,
    is_head: bool,
) -> RowFragment:
    text = line[start:end]
    inline_scan = inline.scan_inline(text)
    spans = [*inline_scan.spans, *text_layout.unresolved_links(flow, inline_scan)]
    if is_head:
        spans.insert(0, (0, len(text), inline.BOLD))
    font: QFont = flow.style.font
    drawings = text_layout.inline_drawings(flow, row, text, spans, inline_scan.embeds, width)
    fragment, placed_drawings = text_layout.without_markup(
        flow, text, inline_scan.hidden, inline_scan.separators, drawings, font
    )
    visible_spans = [span for span in spans if not (span[2] & inline.MATH and span[0] in drawings)]
    displayed_spans = [
        (fragment.offset_of(first), fragment.offset_of(last), bits) for first, last, bits in visible_spans
    ]
    displayed_spans += text_layout.misspelled_ranges(
        flow, EditorRow(row.scan._replace(marker=0)), text, spans, fragment
    )
    fragment.layout.setFormats(
        [
            text_layout.format_range(first, last - first, flow.style.text_format(bits))
            for first, last, bits in split_overlaps([span for span in displayed_spans if span[1] > span[0]])
        ]
    )
    if placed_drawings:
        text_layout.reserve_space(flow, fragment, placed_drawings)
    fragment.shift(start)
    if align in ("center", "right"):
        option = fragment.layout.textOption()
        is_centered = align == "center"
        option.setAlignment(Qt.AlignmentFlag.AlignHCenter if is_centered else Qt.AlignmentFlag.AlignRight)
        fragment.layout.setTextOption(option)
    text_layout.break_lines(fragment.layout, width, drawings=placed_drawings)
    return fragment


def _column_widths(flow: NoteRows, first: int) -> list[float]:
    """Return the column widths, from a cache: those of the widest cells, reduced if the table is too wide."""
    head_row = flow.rows[first]
    widths = flow.table_widths.get(head_row)
    if widths is not None:
        return widths
    widths = []
    last = flow.block(first)[1]
    padding = 2 * CELL_PADDING * flow.style.zoom + 2
    for index in range(first, min(last + 1, first + _MAX_MEASURED_LINES)):
        scan = flow.rows[index].scan
        if scan.kind is LineKind.TABLE_DELIMITER:
            continue
        for number, (start, end) in enumerate(cell_ranges(flow.lines[index], scan.marker)):
            width = _cell_width(flow, index, start, end) * (1.08 if index == first else 1.0) + padding
            if number < len(widths):
                widths[number] = max(widths[number], width)
            elif index == first:
                widths.append(width)
    widths = [max(_MIN_COLUMN_WIDTH, width) for width in widths]
    available_width = flow.width - head_row.indent - 1
    if (total := sum(widths)) > available_width:
        widths = _shrink(widths, available_width, total)
    flow.table_widths[head_row] = widths
    return widths


def _shrink(widths: list[float], available_width: float, total: float) -> list[float]:
    """Return reduced widths; columns narrower than an equal share keep their width."""
    share = available_width / len(widths)
    wide_total = sum(width for width in widths if width > share)
    narrow_total = total - wide_total
    scale = max(0.05, (available_width - narrow_total) / wide_total) if wide_total else 1.0
    return [max(_MIN_COLUMN_WIDTH, width * scale) if width > share else width for width in widths]


def _cell_width(flow: NoteRows, index: int, start: int, end: int) -> float:
    """Return the width of a cell's text without its markup but with its pictures."""
    text = flow.lines[index][start:end]
    inline_scan = inline.scan_inline(text)
    is_hidden = bytearray(len(text))
    width = flow.style.metrics.horizontalAdvance(LINK_SEPARATOR) * len(inline_scan.separators)
    hidden = list(inline_scan.hidden)
    for first, last, drawing in text_layout.inline_pictures(flow, flow.rows[index], inline_scan.embeds):
        hidden.append((first, last))
        width += drawing.width + text_layout.DRAWING_SPACE
    for first, last in hidden:
        is_hidden[first:last] = b"\1" * (last - first)
    if hidden:
        text = "".join(char for char, hidden_char in zip(text, is_hidden, strict=True) if not hidden_char)
    return width + flow.style.metrics.horizontalAdvance(text)
