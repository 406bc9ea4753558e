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
_MAX_MEASURED_LINES = 200  # the lines that determine the column widths
_MIN_COLUMN_WIDTH = 48.0


def cell_ranges(line: str, start: int = 0) -> list[tuple[int, int]]:
    """Return the ranges of the cells of a table line, without surrounding spaces.

    Args:
        line: The line, with or without bars at its ends.
        start: The start of the table, after quote marks.
    """
    end = len(line.rstrip())
    first = start + len(line[start:end]) - len(line[start:end].lstrip())
    bars = [at for at in range(first, end) if line[at] == "|" and line[at - 1 : at] != "\\"]
    edges = list(bars)
    if not bars or bars[0] != first:
        edges.insert(0, first - 1)
    if not bars or bars[-1] != end - 1:
        edges.append(end)
    cells = []
    for left, right in itertools.pairwise(edges):
        text = line[left + 1 : right]
        if text.strip():
            indent = len(text) - len(text.lstrip())
            cells.append((left + 1 + indent, left + 1 + len(text.rstrip())))
        else:
            place = min(left + 2, right) if text else left + 1
            cells.append((place, place))
    return cells


def alignments(delimiter: str, start: int = 0) -> list[str]:
    """Return the alignment of each column ("left", "center", "right" or ""), from the delimiter row."""
    found = []
    for left, right in cell_ranges(delimiter, start):
        cell = delimiter[left:right]
        is_left, is_right = cell.startswith(":"), cell.endswith(":")
        found.append("center" if is_left and is_right else "left" if is_left else "right" if is_right else "")
    return found


def lay_out_row(flow: NoteRows, at: int, row: EditorRow, first: int) -> bool:
    """Lay out line `at` of the table that begins at line `first`."""
    row.fragments = []
    row.height = 0.0
    if row.scan.kind is LineKind.TABLE_DELIMITER:
        return True
    widths = _widths(flow, first)
    columns = alignments(flow.lines[first + 1], flow.rows[first + 1].scan.marker)
    line, padding = flow.lines[at], CELL_PADDING * flow.style.zoom
    x = row.indent
    height = flow.style.line_height
    for number, (start, end) in enumerate(cell_ranges(line, row.scan.marker)[: len(widths)]):
        width = widths[number]
        align = columns[number] if number < len(columns) else ""
        fragment = _layout_cell(flow, row, line, start, end, align, width - 2 * padding, is_head=at == first)
        fragment.x, fragment.y, fragment.cell = x + padding, padding * 0.6, (x, width)
        row.fragments.append(fragment)
        height = max(height, fragment.height + 1.2 * padding)
        x += width
    row.height = height
    return True


def _layout_cell(
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
    found = inline.scan_inline(text)
    spans = [*found.spans, *text_layout.unresolved_links(flow, found)]
    if is_head:
        spans.insert(0, (0, len(text), inline.BOLD))
    font: QFont = flow.style.font
    drawings = text_layout.inline_drawings(flow, row, text, spans, found.embeds, width)
    fragment, places = text_layout.without_markup(flow, text, found.hidden, found.separators, drawings, font)
    kept = [one for one in spans if not (one[2] & inline.MATH and one[0] in drawings)]
    shown = [(fragment.shown(a), fragment.shown(b), bits) for a, b, bits in kept]
    shown += text_layout.misspelled_ranges(
        flow, EditorRow(row.scan._replace(marker=0)), text, spans, fragment
    )
    fragment.layout.setFormats(
        [
            text_layout.format_range(a, b - a, flow.style.text_format(bits))
            for a, b, bits in split_overlaps([one for one in shown if one[1] > one[0]])
        ]
    )
    if places:
        text_layout.reserve_space(flow, fragment, places)
    fragment.shift(start)
    if align in ("center", "right"):
        option = fragment.layout.textOption()
        center = align == "center"
        option.setAlignment(Qt.AlignmentFlag.AlignHCenter if center else Qt.AlignmentFlag.AlignRight)
        fragment.layout.setTextOption(option)
    text_layout.break_lines(fragment.layout, width, drawings=places)
    return fragment


def _widths(flow: NoteRows, first: int) -> list[float]:
    """Return the widths of the columns: those of the longest cells, reduced if the table is too wide."""
    head = flow.rows[first]
    widths = flow.table_widths.get(head)
    if widths is not None:
        return widths
    widths = []
    last = flow.block(first)[1]
    padding = 2 * CELL_PADDING * flow.style.zoom + 2
    for at in range(first, min(last + 1, first + _MAX_MEASURED_LINES)):
        scan = flow.rows[at].scan
        if scan.kind is LineKind.TABLE_DELIMITER:
            continue
        for number, (start, end) in enumerate(cell_ranges(flow.lines[at], scan.marker)):
            wide = _cell_width(flow, at, start, end) * (1.08 if at == first else 1.0) + padding
            if number < len(widths):
                widths[number] = max(widths[number], wide)
            elif at == first:
                widths.append(wide)
    widths = [max(_MIN_COLUMN_WIDTH, wide) for wide in widths]
    room = flow.width - head.indent - 1
    if (total := sum(widths)) > room:
        widths = _narrowed(widths, room, total)
    flow.table_widths[head] = widths
    return widths


def _narrowed(widths: list[float], room: float, total: float) -> list[float]:
    """Return reduced widths; columns narrower than their share keep their width."""
    share = room / len(widths)
    wide = [one for one in widths if one > share]
    kept = total - sum(wide)
    scale = max(0.05, (room - kept) / sum(wide)) if wide else 1.0
    return [max(_MIN_COLUMN_WIDTH, one * scale) if one > share else one for one in widths]


def _cell_width(flow: NoteRows, at: int, start: int, end: int) -> float:
    """Return the width of a cell's text without markup, with its pictures."""
    text = flow.lines[at][start:end]
    found = inline.scan_inline(text)
    gone = bytearray(len(text))
    width = flow.style.metrics.horizontalAdvance(LINK_SEPARATOR) * len(found.separators)
    hidden = list(found.hidden)
    for first, last, drawing in text_layout.inline_pictures(flow, flow.rows[at], found.embeds):
        hidden.append((first, last))
        width += drawing.width + text_layout.DRAWING_SPACE
    for first, last in hidden:
        gone[first:last] = b"\1" * (last - first)
    if hidden:
        text = "".join(char for char, is_gone in zip(text, gone, strict=True) if not is_gone)
    return width + flow.style.metrics.horizontalAdvance(text)
