"""Text layouts: fonts, indents, visual lines, formats, and the text of a line without its markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextCharFormat, QTextLayout, QTextLine, QTextOption

from app.desktop.notes.editor import inline_scanner as inline
from app.desktop.notes.editor.drawings import Drawing
from app.desktop.notes.editor.embeds import is_image
from app.desktop.notes.editor.line_scanner import LineKind
from app.desktop.notes.editor.note_rows import NoteRows
from app.desktop.notes.editor.rows import LINE_SPACING, EditorRow, RowFragment, is_right_to_left
from app.vault.reference import LINK_SEPARATOR

QUOTE_INDENT = 18.0
CODE_INDENT = 12.0
LIST_INDENT = 24.0
OBJECT_REPLACEMENT = "\ufffc"
MIN_WIDTH = 20.0
DRAWING_SPACE = 2.0  # added to the width of a drawing in a line of text
_MONOSPACED = frozenset(
    (
        LineKind.CODE,
        LineKind.FENCE_OPEN,
        LineKind.FENCE_CLOSE,
        LineKind.MATH,
        LineKind.PROPERTIES,
        LineKind.TABLE,
        LineKind.TABLE_DELIMITER,
        LineKind.HTML,
    )
)
# Lines with a background, and with indented text.
BOXED = frozenset((LineKind.CODE, LineKind.FENCE_OPEN, LineKind.FENCE_CLOSE, LineKind.MATH))
# Lines whose text has no inline markup.
VERBATIM = frozenset(
    (
        LineKind.CODE,
        LineKind.FENCE_OPEN,
        LineKind.FENCE_CLOSE,
        LineKind.MATH,
        LineKind.PROPERTIES,
        LineKind.RULE,
        LineKind.BLANK,
        LineKind.SETEXT,
        LineKind.COMMENT,
        LineKind.HTML,
        LineKind.TABLE_DELIMITER,
    )
)


def indent_of(flow: NoteRows, index: int, row: EditorRow) -> float:
    """Return the left edge of a row's text."""
    scan, zoom = row.scan, flow.style.zoom
    x = QUOTE_INDENT * zoom * len(scan.quotes)
    if scan.kind in BOXED:
        return x + CODE_INDENT * zoom
    is_item = scan.kind in (LineKind.LIST_ITEM, LineKind.TASK)
    if not is_item and not (scan.kind is LineKind.TEXT and scan.level):
        return x
    text_x = x + LIST_INDENT * zoom * (scan.level + is_item)
    if not row.active:
        return text_x
    if flow.shows_source:
        return x
    # The text keeps its position when the marker before it appears.
    marker = flow.lines[index][: scan.marker]
    return max(x, text_x - flow.style.metrics.horizontalAdvance(marker.expandtabs(4)))


def space_above(flow: NoteRows, index: int, row: EditorRow) -> float:
    """Return the space between the top of a row and its text."""
    is_heading = index > 0 and (row.scan.kind is LineKind.HEADING or flow.heading_level(index) > 0)
    return padding_above(flow, is_heading=is_heading)


def padding_above(flow: NoteRows, *, is_heading: bool) -> float:
    """Return the space above the text of a heading, or of another row."""
    return flow.style.line_height * (0.5 if is_heading else 0.06)


def source_font(flow: NoteRows, row: EditorRow) -> QFont:
    """Return the font of a row's source."""
    if row.scan.kind in _MONOSPACED:
        return flow.style.mono
    return flow.style.headings[row.scan.level] if row.scan.kind is LineKind.HEADING else flow.style.font


def create_layout(flow: NoteRows, text: str, font: QFont) -> QTextLayout:
    """Return a layout that is not yet broken into lines."""
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    option.setTabStopDistance(4 * flow.style.space)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    if not text.isascii() and is_right_to_left(text):
        option.setAlignment(Qt.AlignmentFlag.AlignRight)
    layout.setTextOption(option)
    layout.setCacheEnabled(True)
    return layout


def break_lines(
    layout: QTextLayout,
    width: float,
    hanging_offset: int = 0,
    drawings: Sequence[tuple[int, Drawing]] = (),
) -> None:
    """Break a layout's text into visual lines.

    Args:
        layout: The text.
        width: The width of the first line; the others are narrower by the hanging indent.
        hanging_offset: The offset in the first line that the other lines align with; 0 for none.
        drawings: The offsets of formulas and pictures in the text, and their drawings. Their lines get space
            above and below the text.
    """
    y = hanging_indent = 0.0
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(MIN_WIDTH, width - hanging_indent))
        height = line.height()
        first, last = line.textStart(), line.textStart() + line.textLength()
        line_drawings = [drawing for offset, drawing in drawings if first <= offset < last]
        above = max((drawing.ascent - line.ascent() for drawing in line_drawings), default=0.0)
        below = max(
            (drawing.height - drawing.ascent - line.descent() for drawing in line_drawings), default=0.0
        )
        line.setPosition(QPointF(hanging_indent, y + height * (LINE_SPACING - 1) / 2 + max(0.0, above)))
        if not y and 0 < hanging_offset < line.textLength():
            hanging_indent = x_of(line, hanging_offset)
        y += height * LINE_SPACING + max(0.0, above) + max(0.0, below)
    layout.endLayout()


def without_markup(
    flow: NoteRows,
    line: str,
    hidden: Sequence[inline.Range],
    separators: Sequence[int],
    drawings: dict[int, tuple[int, Drawing]],
    font: QFont,
) -> tuple[RowFragment, list[tuple[int, Drawing]]]:
    """Return a line without its hidden markup and with one character for each drawing.

    Args:
        flow: The lines.
        line: The line.
        hidden: The hidden ranges.
        separators: The columns before which a link separator is inserted.
        drawings: The end and the drawing of each formula and picture, by its start column.
        font: The font of the line.

    Returns:
        The fragment, which is not yet broken into lines, and the drawings by their offset in the displayed
            text.
    """
    is_hidden = bytearray(len(line))
    for start, end in hidden:
        is_hidden[start:end] = b"\1" * (end - start)
    for start, (end, _) in drawings.items():
        is_hidden[start] = 0
        is_hidden[start + 1 : end] = b"\1" * (end - start - 1)
    characters: list[str] = []
    columns: list[int] = []
    offsets: list[int] = []
    placed_drawings: list[tuple[int, Drawing]] = []
    offset = 0
    for column, char in enumerate(line):
        offsets.append(offset)
        if is_hidden[column]:
            continue
        if column in separators:
            characters.append(LINK_SEPARATOR)
            columns += [column] * len(LINK_SEPARATOR)
            offset += len(LINK_SEPARATOR)
        if column in drawings:
            placed_drawings.append((offset, drawings[column][1]))
            char = OBJECT_REPLACEMENT
        characters.append(char)
        width = 2 if char > "\uffff" else 1
        columns += [column] * width
        offset += width
    offsets.append(offset)
    columns.append(len(line))
    layout = create_layout(flow, "".join(characters), font)
    return RowFragment(layout, 0, len(line), 0.0, 0.0, columns, offsets), placed_drawings


def inline_drawings(
    flow: NoteRows,
    row: EditorRow,
    line: str,
    spans: Sequence[inline.Span],
    embeds: Sequence[inline.InlineEmbed],
    available_width: float,
) -> dict[int, tuple[int, Drawing]]:
    """Return a line's rendered formulas and pictures by start column, at most `available_width` wide."""
    result = {}
    for start, end, bits in spans:
        if bits & inline.MATH and (source := line[start:end].strip("$").strip()):
            drawing = flow.drawing(row, "inline-math", source)
            if drawing is not None:
                result[start] = (end, narrowed(drawing, available_width))
    for start, end, drawing in inline_pictures(flow, row, embeds):
        result[start] = (end, narrowed(drawing, available_width))
    return result


def inline_pictures(
    flow: NoteRows, row: EditorRow, embeds: Sequence[inline.InlineEmbed]
) -> Iterator[tuple[int, int, Drawing]]:
    """Yield the start, end and drawing of each loaded picture in a line."""
    for start, end, target in embeds:
        if is_image(target) and (drawing := flow.drawing(row, "image", target)) is not None:
            yield start, end, drawing


def narrowed(drawing: Drawing, available_width: float) -> Drawing:
    """Return a drawing scaled down to fit `available_width`, since it can't be wrapped."""
    max_width = max(MIN_WIDTH, available_width - DRAWING_SPACE)
    if drawing.width <= max_width:
        return drawing
    scale = max_width / drawing.width
    return Drawing(drawing.width * scale, drawing.height * scale, drawing.ascent * scale, drawing.image)


def reserve_space(flow: NoteRows, fragment: RowFragment, placed_drawings: list[tuple[int, Drawing]]) -> None:
    """Reserve the width of each drawing with a transparent character and letter spacing.

    `break_lines` and `RowFragment.height` add the height.
    """
    font = flow.style.font
    natural_width = QFontMetricsF(font).horizontalAdvance(OBJECT_REPLACEMENT)
    formats = list(fragment.layout.formats())
    for offset, drawing in placed_drawings:
        space_format = QTextCharFormat()
        space_format.setFont(font)
        space_format.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
        space_format.setFontLetterSpacing(drawing.width + DRAWING_SPACE - natural_width)
        space_format.setForeground(Qt.GlobalColor.transparent)
        formats.append(format_range(offset, 1, space_format))
    fragment.layout.setFormats(formats)
    fragment.drawings = tuple(placed_drawings)


def misspelled_ranges(
    flow: NoteRows, row: EditorRow, line: str, spans: list[inline.Span], fragment: RowFragment
) -> list[inline.Span]:
    """Return the misspelled words in the prose of a line, as offsets in the displayed text."""
    if flow.misspelled is None or row.scan.kind in VERBATIM:
        return []
    is_excluded = bytearray(len(line))
    is_excluded[: row.scan.marker] = b"\1" * min(row.scan.marker, len(line))
    for start, end, bits in spans:
        if bits & inline.NOT_PROSE:
            is_excluded[start:end] = b"\1" * (end - start)
    return [
        (fragment.offset_of(start), fragment.offset_of(end), inline.MISSPELLED)
        for start, end in flow.misspelled(line)
        if not any(is_excluded[start:end])
    ]


def unresolved_links(flow: NoteRows, inline_scan: inline.InlineScan) -> list[inline.Span]:
    """Return the links in a line to notes that are known not to exist."""
    return [
        (link.start, link.end, inline.UNRESOLVED)
        for link in inline_scan.links
        if link.kind == "note" and flow.is_unresolved(link.target)
    ]


def format_range(start: int, length: int, text_format: QTextCharFormat) -> QTextLayout.FormatRange:
    """Return a format for a range of a layout's text."""
    result = QTextLayout.FormatRange()
    result.start = start
    result.length = length
    result.format = text_format
    return result


def x_of(line: QTextLine, offset: int, edge: QTextLine.Edge = QTextLine.Edge.Leading) -> float:
    """Return the x coordinate of an edge of the character at an offset in a visual line."""
    result = line.cursorToX(offset, edge)
    return float(result[0]) if isinstance(result, tuple) else float(result)  # type: ignore[arg-type]
