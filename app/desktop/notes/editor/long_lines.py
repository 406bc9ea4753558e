"""Lay out very long lines in parts, so that an edit lays out one part instead of the whole line."""

from __future__ import annotations

from PySide6.QtGui import QFont

from app.desktop.notes.editor import text_layout
from app.desktop.notes.editor.line_scanner import LineKind
from app.desktop.notes.editor.note_rows import PART_LENGTH, NoteRows
from app.desktop.notes.editor.rows import EditorRow, RowFragment, utf16_maps
from app.vault.common_ends import common_prefix_length, common_suffix_length


def lay_out(flow: NoteRows, index: int, row: EditorRow) -> None:
    """Lay out a very long line."""
    line = flow.lines[index]
    row.fragments = _split(flow, line, row, 0, len(line))
    _stack(row, text_layout.space_above(flow, index, row))


def can_patch(flow: NoteRows, index: int, new_row: EditorRow) -> bool:
    """Return whether line `index` is very long and laid out, and its scan in `new_row` is unchanged."""
    old_row = flow.rows[index]
    return len(flow.lines[index]) > PART_LENGTH and bool(old_row.fragments) and new_row.scan == old_row.scan


def patch(flow: NoteRows, index: int, line: str) -> None:
    """Lay out only the changed part of line `index`, which becomes `line`."""
    row, old_line = flow.rows[index], flow.lines[index]
    fragments = row.fragments or []
    start = common_prefix_length(old_line, line)
    tail = common_suffix_length(old_line, line, start)
    growth = len(line) - len(old_line)
    first = 0
    while first + 1 < len(fragments) and fragments[first].end < start:
        first += 1
    last = first
    while last + 1 < len(fragments) and fragments[last].end < len(old_line) - tail:
        last += 1
    new_fragments = _split(flow, line, row, fragments[first].start, fragments[last].end + growth)
    for fragment in fragments[last + 1 :]:
        fragment.shift(growth)
    row.fragments = fragments[:first] + new_fragments + fragments[last + 1 :]
    _stack(row, text_layout.space_above(flow, index, row))
    flow.heights.set(index, row.height)


def reuse_fragments(
    flow: NoteRows,
    index: int,
    line: str,
    row: EditorRow,
    head: tuple[EditorRow, str] | None,
    tail: tuple[EditorRow, str] | None,
) -> None:
    """Reuse parts of a very long line that was split or joined, in `row`.

    Args:
        flow: The flow, with its rows before the edit.
        index: The index of the new line.
        line: The text of the new line.
        row: The row of the new line.
        head: The row and text of the old line that the new one starts with, if any.
        tail: The row and text of the old line that the new one ends with, if any.
    """
    if len(line) <= PART_LENGTH:
        return
    head_fragments: list[RowFragment] = []
    tail_fragments: list[RowFragment] = []
    start = 0
    if head and head[0].fragments and _is_same_kind(head[0], row) and len(head[1]) > PART_LENGTH:
        unchanged_until = common_prefix_length(head[1], line)
        head_fragments = [fragment for fragment in head[0].fragments if fragment.end <= unchanged_until]
        start = head_fragments[-1].end if head_fragments else 0
    if tail and tail[0].fragments and _is_same_kind(tail[0], row) and len(tail[1]) > PART_LENGTH:
        growth = len(line) - len(tail[1])
        unchanged_from = len(tail[1]) - common_suffix_length(tail[1], line, start)
        tail_fragments = [
            fragment
            for fragment in tail[0].fragments
            if fragment not in head_fragments
            and fragment.start >= unchanged_from
            and fragment.start + growth >= start
        ]
        for fragment in tail_fragments:
            fragment.shift(growth)
    if not head_fragments and not tail_fragments:
        return
    end = tail_fragments[0].start if tail_fragments else len(line)
    row.fragments = (
        head_fragments + (_split(flow, line, row, start, end) if end > start else []) + tail_fragments
    )
    # The flow has no row for the new line yet; the edit later redoes the layout of a setext heading.
    is_heading = index > 0 and row.scan.kind is LineKind.HEADING
    _stack(row, text_layout.padding_above(flow, is_heading=is_heading))


def _is_same_kind(first: EditorRow, second: EditorRow) -> bool:
    return first.scan.kind is second.scan.kind


def _stack(row: EditorRow, top: float) -> None:
    """Position the fragments of a row from `top` on, and set the height of the row."""
    y = top
    for fragment in row.fragments or ():
        fragment.y = y
        y += fragment.height
    row.height = y


def _split(flow: NoteRows, line: str, row: EditorRow, start: int, end: int) -> list[RowFragment]:
    """Lay out a range of the line in parts; all but the last end at the end of a visual line, if possible."""
    font = text_layout.source_font(flow, row)
    fragments: list[RowFragment] = []
    while start < end or not fragments:
        stop = min(end, start + PART_LENGTH)
        fragment = _create_part(flow, line, start, stop, font)
        count = fragment.layout.lineCount()
        if stop < end and count > 1:
            stop = fragment.column_of(fragment.layout.lineAt(count - 1).textStart())
            fragment = _create_part(flow, line, start, stop, font)
        fragments.append(fragment)
        if stop == start:
            break
        start = stop
    return fragments


def _create_part(flow: NoteRows, line: str, start: int, stop: int, font: QFont) -> RowFragment:
    text = line[start:stop]
    columns = offsets = None
    if not text.isascii() and max(text, default="") > "\uffff":
        columns, offsets = utf16_maps(text, start)
    fragment = RowFragment(text_layout.create_layout(flow, text, font), start, stop, 0, 0, columns, offsets)
    text_layout.break_lines(fragment.layout, flow.width)
    return fragment
