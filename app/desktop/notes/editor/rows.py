"""A laid-out line: a row of fragments, and the maps between displayed text and source."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from unicodedata import bidirectional

from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextLayout

from app.desktop.notes.editor.code_colors import CodeSpan
from app.desktop.notes.editor.drawings import Drawing, DrawingRequest
from app.desktop.notes.editor.line_scanner import ScannedLine

LINE_SPACING = 1.2  # the distance between visual lines, in line heights
_BIDI_SAMPLE_CHARS = 400


class RowFragment:
    """A range of a line in one `QTextLayout`.

    Attributes:
        layout: The displayed text.
        start: The first column that it shows.
        end: The column after the last one.
        x: The left edge, from the left of the text.
        y: The top edge, from the top of the row.
        columns: For each UTF-16 offset in the displayed text, the column of the line; None if both differ
            only by `start`.
        offsets: For each column from `start` on, the offset in the displayed text; None in the same case.
        cell: The left edge and width of the fragment's table cell; None outside tables.
        drawings: The offsets of formulas and pictures in the text, and their drawings.
    """

    __slots__ = ("cell", "columns", "drawings", "end", "layout", "offsets", "start", "x", "y")

    def __init__(
        self,
        layout: QTextLayout,
        start: int,
        end: int,
        x: float,
        y: float,
        columns: list[int] | None = None,
        offsets: list[int] | None = None,
    ) -> None:
        self.layout = layout
        self.start = start
        self.end = end
        self.x = x
        self.y = y
        self.columns = columns
        self.offsets = offsets
        self.cell: tuple[float, float] | None = None
        self.drawings: tuple[tuple[int, Drawing], ...] = ()

    def shift(self, columns: int) -> None:
        """Add `columns` to the line's columns that the fragment maps to."""
        self.start += columns
        self.end += columns
        if self.columns is not None:
            self.columns = [column + columns for column in self.columns]

    def column_of(self, offset: int) -> int:
        """Return the source column of an offset in the displayed text."""
        if self.columns is None:
            return self.start + offset
        return self.columns[min(offset, len(self.columns) - 1)]

    def offset_of(self, column: int) -> int:
        """Return the offset in the displayed text where `column` is, or would be."""
        if self.offsets is None:
            return min(max(0, column - self.start), self.end - self.start)
        return self.offsets[min(max(0, column - self.start), len(self.offsets) - 1)]

    @property
    def first_line_middle(self) -> float:
        """The middle of its first visual line, without drawings, from the top of the row."""
        first = self.layout.lineAt(0)
        return self.y + (first.y() + first.height() / 2 if first.isValid() else 0.0)

    @property
    def height(self) -> float:
        """The height of its visual lines, with their drawings."""
        height = layout_height(self.layout)
        for offset, drawing in self.drawings:
            line = self.layout.lineForTextPosition(offset)
            height = max(height, line.y() + line.ascent() + drawing.height - drawing.ascent)
        return height


@dataclass(eq=False, slots=True)
class EditorRow:
    """A line of the note.

    Attributes:
        scan: The block syntax of the line.
        fragments: The displayed parts; None until it is laid out.
        height: Its height in the last layout.
        indent: The left edge of its text.
        active: Whether it shows its source.
        hidden: Whether it is inside a folded block.
        folded: Whether its block is folded; None to follow the source.
        drawing: The picture, formula or embedded note that it shows as a block.
        pictures: The pictures below a line that shows its source, with their rectangles relative to the
            row's top left corner.
        requests: The requests for its drawings, including those that are not ready.
        code_spans: The colors of its code.
    """

    scan: ScannedLine
    fragments: list[RowFragment] | None = None
    height: float = 0.0
    indent: float = 0.0
    active: bool = False
    hidden: bool = False
    folded: bool | None = None
    drawing: Drawing | None = None
    pictures: list[tuple[QRectF, Drawing]] = field(default_factory=list)
    requests: list[DrawingRequest] = field(default_factory=list)
    code_spans: list[CodeSpan] = field(default_factory=list)

    def column_below(self, y: float) -> int | None:
        """Return the first column of the first visual line at or below `y`, or None, as in tables."""
        for fragment in self.fragments or ():
            for number in range(fragment.layout.lineCount()):
                line = fragment.layout.lineAt(number)
                if fragment.cell is None and fragment.y + line.y() >= y:
                    return fragment.column_of(line.textStart())
        return None

    def line_top(self, column: int) -> float:
        """Return the top of the visual line that contains a column, from the top of the row."""
        for fragment in reversed(self.fragments or ()):
            line = fragment.layout.lineForTextPosition(fragment.offset_of(column))
            if fragment.start <= column and line.isValid():
                return fragment.y + line.y()
        return 0.0

    @property
    def is_folded(self) -> bool:
        """True if its block is folded, by the user or in the source."""
        return self.scan.fold == "-" if self.folded is None else self.folded


def layout_height(layout: QTextLayout) -> float:
    """Return the height of a layout's visual lines."""
    count = layout.lineCount()
    if not count:
        return 0.0
    last = layout.lineAt(count - 1)
    return last.y() + last.height() * (1 + LINE_SPACING) / 2


def utf16_maps(text: str, start: int) -> tuple[list[int], list[int]]:
    """Return the maps `columns` and `offsets` for text with surrogate pairs that is shown verbatim."""
    columns: list[int] = []
    offsets: list[int] = []
    offset = 0
    for column, char in enumerate(text):
        offsets.append(offset)
        width = 2 if char > "\uffff" else 1
        columns += [start + column] * width
        offset += width
    columns.append(start + len(text))
    offsets.append(offset)
    return columns, offsets


def is_right_to_left(text: str) -> bool:
    """Return whether the first letter with a direction is right-to-left."""
    for char in text[:_BIDI_SAMPLE_CHARS]:
        direction = bidirectional(char)
        if direction in ("R", "AL", "L"):
            return direction != "L"
    return False


def split_overlaps(spans: Sequence[tuple[int, int, int]]) -> Iterable[tuple[int, int, int]]:
    """Split the spans at each other's edges, combining the style bits of those that overlap."""
    if len(spans) < 2:
        return spans
    edges = sorted({edge for start, end, _ in spans for edge in (start, end)})
    flat = []
    for start, end in itertools.pairwise(edges):
        bits = 0
        for span_start, span_end, style in spans:
            if span_start <= start and end <= span_end:
                bits |= style
        if bits:
            flat.append((start, end, bits))
    return flat
