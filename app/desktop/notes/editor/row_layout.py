"""Lay out one line of a note: its source, its text without markup, or a drawing in its place."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QTextCharFormat

from app.desktop.notes.editor import inline_scanner as inline
from app.desktop.notes.editor import long_lines, tables
from app.desktop.notes.editor.drawings import Drawing
from app.desktop.notes.editor.embeds import is_image
from app.desktop.notes.editor.line_scanner import LineKind
from app.desktop.notes.editor.note_rows import PART_LENGTH, NoteRows
from app.desktop.notes.editor.rows import EditorRow, RowFragment, is_right_to_left, split_overlaps, utf16_maps
from app.desktop.notes.editor.text_layout import (
    MIN_WIDTH,
    VERBATIM,
    break_lines,
    create_layout,
    format_range,
    indent_of,
    inline_drawings,
    inline_pictures,
    misspelled_ranges,
    narrowed,
    reserve_space,
    source_font,
    space_above,
    unresolved_links,
    without_markup,
)
from app.desktop.widgets.utf16 import utf16_length

CHECKBOX_SIZE = 15.0


def lay_out(flow: NoteRows, index: int, row: EditorRow) -> None:
    """Lay out a row: compute its fragments, its drawings and its height."""
    row.drawing = None
    row.pictures = []
    row.requests = []
    row.code_spans = []
    row.indent = indent_of(flow, index, row)
    if row.hidden:
        _collapse(row)
    elif len(flow.lines[index]) > PART_LENGTH:
        long_lines.lay_out(flow, index, row)
    elif row.active or not _lay_out_rendered(flow, index, row):
        _lay_out_text(flow, index, row)


def picture_box(flow: NoteRows, row: EditorRow) -> QRectF:
    """Return the rectangle of a row's drawing, relative to the row's top left corner; empty if none."""
    drawing = row.drawing
    if drawing is None:
        return QRectF()
    x = row.indent
    available_width = max(MIN_WIDTH, flow.width - x)
    scale = min(1.0, available_width / max(1.0, drawing.width))
    width, height = drawing.width * scale, drawing.height * scale
    if row.scan.kind is not LineKind.EMBED:
        x += max(0.0, (available_width - width) / 2)
    return QRectF(x, 6, width, height)


def checkbox(flow: NoteRows, row: EditorRow) -> QRectF:
    """Return the rectangle of a task's checkbox, relative to the row's top left corner."""
    size = CHECKBOX_SIZE * flow.style.zoom
    middle = row.fragments[0].first_line_middle if row.fragments else flow.style.line_height / 2
    return QRectF(row.indent - size - 7, middle - size / 2, size, size)


def _collapse(row: EditorRow) -> None:
    row.fragments, row.height = [], 0.0


def _lay_out_rendered(flow: NoteRows, index: int, row: EditorRow) -> bool:
    """Lay out special rows and drawings; return False for plain text and for drawings that are not ready."""
    scan = row.scan
    kind = scan.kind
    has_leading_pipe = kind in (LineKind.TABLE, LineKind.TABLE_DELIMITER)
    if has_leading_pipe or (kind is LineKind.TEXT and not scan.level):
        first, _ = flow.block(index)
        if not flow.is_table(first if has_leading_pipe else index):
            return False
        tables.lay_out_row(flow, index, row, first)
        return True
    if kind is LineKind.PROPERTIES and flow.hides_properties:
        _collapse(row)
        return True
    if kind is LineKind.SETEXT:
        _collapse(row)
        return True
    if kind in (LineKind.FENCE_OPEN, LineKind.FENCE_CLOSE, LineKind.CODE):
        return _lay_out_diagram(flow, index, row) or _lay_out_fence(flow, index, row)
    if kind is LineKind.MATH:
        return _lay_out_formula(flow, index, row)
    if kind is LineKind.EMBED:
        return _lay_out_embed(flow, row)
    if kind is LineKind.RULE:
        row.fragments = [_label_fragment(flow, index, row, "", 0)]
        row.height = row.fragments[0].y + row.fragments[0].height
        return True
    if kind is LineKind.CALLOUT and scan.marker >= len(flow.lines[index].rstrip()):
        title = scan.detail.replace("-", " ").capitalize()
        row.fragments = [_label_fragment(flow, index, row, title, inline.BOLD)]
        row.height = row.fragments[0].y + row.fragments[0].height
        return True
    return False


def _lay_out_fence(flow: NoteRows, index: int, row: EditorRow) -> bool:
    """Lay out an opening fence as its language and a closing fence as a small gap; return False for code."""
    kind = row.scan.kind
    if kind is LineKind.CODE:
        return False
    row.fragments = [
        _label_fragment(
            flow, index, row, row.scan.detail if kind is LineKind.FENCE_OPEN else "", inline.FAINT
        )
    ]
    first = row.fragments[0]
    row.height = first.y + (first.height if kind is LineKind.FENCE_OPEN else flow.style.line_height * 0.4)
    return True


def _lay_out_diagram(flow: NoteRows, index: int, row: EditorRow) -> bool:
    if row.scan.detail != "mermaid":
        return False
    first, last = flow.block(index)
    if flow.rows[first].scan.kind is not LineKind.FENCE_OPEN:
        return False
    end = last if flow.rows[last].scan.kind is LineKind.FENCE_CLOSE else last + 1
    source = "\n".join(flow.lines[n][flow.rows[n].scan.marker :] for n in range(first + 1, end))
    return bool(source.strip()) and _show_in_first_row(flow, index, row, first, "mermaid", source)


def _lay_out_formula(flow: NoteRows, index: int, row: EditorRow) -> bool:
    first, last = flow.block(index)
    text = "\n".join(flow.lines[n][flow.rows[n].scan.marker :] for n in range(first, last + 1))
    source = text.strip().strip("$").strip()
    return bool(source) and _show_in_first_row(flow, index, row, first, "math", source)


def _show_in_first_row(
    flow: NoteRows, index: int, row: EditorRow, first: int, kind: str, source: str
) -> bool:
    """Show a drawing in the first row of its block; the other rows are hidden."""
    drawing = flow.drawing(row, kind, source)
    if drawing is None:
        return False
    _collapse(row)
    if index == first:
        row.drawing = drawing
        row.height = picture_box(flow, row).bottom() + 6
    return True


def _lay_out_embed(flow: NoteRows, row: EditorRow) -> bool:
    drawing = _embedded(flow, row)
    if drawing is None:
        return False
    _collapse(row)
    row.drawing = drawing
    row.height = picture_box(flow, row).bottom() + 6
    return True


def _embedded(flow: NoteRows, row: EditorRow) -> Drawing | None:
    kind = "image" if is_image(row.scan.detail) else "embed"
    return flow.drawing(row, kind, row.scan.detail)


def _lay_out_text(flow: NoteRows, index: int, row: EditorRow) -> None:
    """Lay out a line as text: its source, or its text without markup."""
    line, scan = flow.lines[index], row.scan
    y = space_above(flow, index, row)
    spans: list[inline.Span] = []
    hidden: list[inline.Range] = []
    inline_scan = inline.EMPTY
    if scan.kind not in VERBATIM:
        inline_scan = inline.scan_inline(line, scan.marker)
        spans, hidden = [*inline_scan.spans, *unresolved_links(flow, inline_scan)], list(inline_scan.hidden)
    if scan.marker:
        hidden.insert(0, (0, scan.marker))
    font = source_font(flow, row)
    level = flow.heading_level(index)
    if level:
        font = flow.style.headings[level]
    if scan.kind is LineKind.CALLOUT and not row.active:
        spans.insert(0, (scan.marker, len(line), inline.BOLD))
    elif scan.kind is LineKind.TASK and scan.detail in "xX-" and not row.active:
        spans.append((scan.marker, len(line), inline.MUTED | inline.STRIKE))
    elif scan.kind in (
        LineKind.COMMENT,
        LineKind.FENCE_OPEN,
        LineKind.FENCE_CLOSE,
        LineKind.SETEXT,
        LineKind.HTML,
    ):
        spans.append((0, len(line), inline.FAINT))
    elif scan.kind is LineKind.PROPERTIES:
        spans.append((0, len(line), inline.MUTED))
    elif scan.kind is LineKind.FOOTNOTE:
        name_end = line.index("]", 2)
        spans.append((2, name_end, inline.MUTED | inline.RAISED))
        hidden[0] = (0, 2)
        hidden.insert(1, (name_end, name_end + 2))
    if row.active:
        spans += [(start, end, inline.FAINT) for start, end in hidden]
        fragment = _source_fragment(flow, index, row, spans, y, font)
    else:
        fragment = _rendered_fragment(flow, index, row, spans, hidden, inline_scan, y, font)
    row.fragments = [fragment]
    row.height = y + fragment.height
    if row.active and scan.kind is LineKind.EMBED:
        _keep_picture(flow, row)
    elif row.active and not flow.shows_source:
        _keep_inline_pictures(flow, row, inline_scan.embeds)


def _keep_picture(flow: NoteRows, row: EditorRow) -> None:
    """Keep the picture of an embed below its source, so that the text below does not jump."""
    row.drawing = _embedded(flow, row)
    if row.drawing is not None:
        row.height += picture_box(flow, row).bottom() + 2


def _keep_inline_pictures(flow: NoteRows, row: EditorRow, embeds: list[inline.InlineEmbed]) -> None:
    """Keep the pictures of a line side by side below its source; small ones are omitted."""
    left, top = row.indent, row.height + 6
    for _, _, drawing in inline_pictures(flow, row, embeds):
        picture = narrowed(drawing, flow.width - row.indent)
        if picture.height < 2 * flow.style.line_height:
            continue
        if left > row.indent and left + picture.width > flow.width:
            left, top = row.indent, row.height + 2
        row.pictures.append((QRectF(left, top, picture.width, picture.height), picture))
        row.height = max(row.height, top + picture.height + 4)
        left += picture.width + 6


def _source_fragment(
    flow: NoteRows, index: int, row: EditorRow, spans: list[inline.Span], y: float, font: QFont
) -> RowFragment:
    """Return a fragment of the line's source, with the text that an input method is composing."""
    line, x = flow.lines[index], row.indent
    columns = offsets = None
    if not line.isascii() and max(line, default="") > "\uffff":
        columns, offsets = utf16_maps(line, 0)
    fragment = RowFragment(create_layout(flow, line, font), 0, len(line), x, y, columns, offsets)
    _set_formats(flow, index, row, fragment, line, spans)
    if flow.preedit is not None and flow.preedit[0] == index:
        _compose(fragment, flow.preedit[1], flow.preedit[2])
    break_lines(fragment.layout, flow.width - x, _hanging_offset(row, line))
    return fragment


def _hanging_offset(row: EditorRow, line: str) -> int:
    """Return the end of a list marker, which wrapped lines of the source align with; 0 if there is none."""
    scan = row.scan
    is_in_list = scan.kind in (LineKind.LIST_ITEM, LineKind.TASK) or (
        scan.kind is LineKind.TEXT and scan.level
    )
    return scan.marker if is_in_list and not is_right_to_left(line) else 0


def _compose(fragment: RowFragment, column: int, text: str) -> None:
    """Insert the text that an input method is composing, and shift the formats after it."""
    offset, length = fragment.offset_of(column), utf16_length(text)
    formats = []
    for span in fragment.layout.formats():
        if span.start >= offset:
            span.start += length
        elif span.start + span.length > offset:
            span.length += length
        formats.append(span)
    underlined = QTextCharFormat()
    underlined.setFontUnderline(True)
    fragment.layout.setPreeditArea(offset, text)
    fragment.layout.setFormats([*formats, format_range(offset, length, underlined)])


def _rendered_fragment(
    flow: NoteRows,
    index: int,
    row: EditorRow,
    spans: list[inline.Span],
    hidden: list[inline.Range],
    inline_scan: inline.InlineScan,
    y: float,
    font: QFont,
) -> RowFragment:
    """Return a fragment of the line without its markup and with its formulas and pictures drawn."""
    line, x = flow.lines[index], row.indent
    drawings = inline_drawings(flow, row, line, spans, inline_scan.embeds, flow.width - x)
    if not hidden and not drawings:
        return _source_fragment(flow, index, row, spans, y, font)
    fragment, placed_drawings = without_markup(flow, line, hidden, inline_scan.separators, drawings, font)
    fragment.x, fragment.y = x, y
    visible_spans = [span for span in spans if not (span[2] & inline.MATH and span[0] in drawings)]
    _set_formats(flow, index, row, fragment, line, visible_spans)
    if placed_drawings:
        reserve_space(flow, fragment, placed_drawings)
    break_lines(fragment.layout, flow.width - x, drawings=placed_drawings)
    return fragment


def _label_fragment(flow: NoteRows, index: int, row: EditorRow, label: str, bits: int) -> RowFragment:
    """Return a fragment that shows a label instead of the line's source."""
    line = flow.lines[index]
    font = source_font(flow, row)
    layout = create_layout(flow, label, font)
    if bits and label:
        layout.setFormats([format_range(0, len(label), flow.style.text_format(bits))])
    end = len(line) if row.scan.kind is LineKind.CALLOUT else 0
    x = row.indent
    fragment = RowFragment(layout, 0, len(line), x, space_above(flow, index, row))
    fragment.columns = [end] * (len(label) + 1)
    fragment.offsets = [0] * len(line) + [len(label)] if end else [0] * (len(line) + 1)
    break_lines(layout, flow.width - x)
    return fragment


def _set_formats(
    flow: NoteRows, index: int, row: EditorRow, fragment: RowFragment, line: str, spans: list[inline.Span]
) -> None:
    displayed_spans = [
        (fragment.offset_of(start), fragment.offset_of(end), bits) for start, end, bits in spans
    ]
    formats = [
        format_range(start, end - start, flow.style.text_format(bits))
        for start, end, bits in split_overlaps(
            [
                *(span for span in displayed_spans if span[1] > span[0]),
                *misspelled_ranges(flow, row, line, spans, fragment),
            ]
        )
    ]
    if row.scan.kind is LineKind.CODE:
        row.code_spans = flow.code_spans(index)
        for span in row.code_spans:
            start, end = fragment.offset_of(span.start), fragment.offset_of(span.end)
            code_format = flow.style.code_format(span.color, span.bold, span.italic)
            formats.append(format_range(start, end - start, code_format))
    if formats:
        fragment.layout.setFormats(formats)
