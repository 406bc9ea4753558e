"""The lines of a note with their scans and the blocks that they form, but without their layout."""

from __future__ import annotations

from collections.abc import Callable

from app.desktop.notes.editor.code_colors import CodeColors, CodeSpan
from app.desktop.notes.editor.drawings import Drawing
from app.desktop.notes.editor.line_heights import LineHeights
from app.desktop.notes.editor.line_scanner import LineKind, ScannedLine, State, scan_line
from app.desktop.notes.editor.rows import EditorRow
from app.desktop.notes.editor.style import EditorStyle

Position = tuple[int, int]  # a line and a column
MAX_BLOCK_LINES = 500  # how far a block is followed in each direction
PART_LENGTH = 2_000  # approximate length of the parts that a longer line is split into, in characters
_FENCED = frozenset((LineKind.FENCE_OPEN, LineKind.CODE, LineKind.FENCE_CLOSE))
_TABLE = frozenset((LineKind.TABLE, LineKind.TABLE_DELIMITER))
_UNTIL_END = frozenset((LineKind.MATH, LineKind.PROPERTIES))
_ITEMS = frozenset((LineKind.LIST_ITEM, LineKind.TASK))


class NoteRows:
    """A row for each line of a note.

    Attributes:
        style: The fonts and colors.
        lines: The lines of the note.
        rows: A row for each line.
        heights: A height for each row; an estimate until the row is first laid out.
        width: The width of the text column.
        active: The first and last line that show their source because of the cursor; -1 and -1 for none.
        shows_source: Whether every line shows its source.
        hides_properties: Whether a form shows the properties, so that their lines are hidden.
        preedit: The line, column and text that an input method is composing.
        drawing: Returns the drawing for a row, a kind and a source; None until it is ready.
        misspelled: Returns the misspelled ranges of prose; None while spell checking is off.
        is_unresolved: Returns whether a link's target is known not to exist.
        code_colors: Highlights code blocks.
        table_widths: The column widths of tables, by the row of their first line.
    """

    def __init__(self, style: EditorStyle) -> None:
        self.style = style
        self.lines: list[str] = [""]
        self.rows: list[EditorRow] = [EditorRow(scan_line("", (), is_first=True))]
        self.heights = LineHeights([style.line_height])
        self.width = 700.0
        self.active: tuple[int, int] = (-1, -1)
        self.shows_source = False
        self.hides_properties = False
        self.preedit: tuple[int, int, str] | None = None
        self.drawing: Callable[[EditorRow, str, str], Drawing | None] = _no_drawing
        self.misspelled: Callable[[str], list[tuple[int, int]]] | None = None
        self.is_unresolved: Callable[[str], bool] = _never_unresolved
        self.code_colors = CodeColors()
        self.table_widths: dict[EditorRow, list[float]] = {}

    def block(self, index: int) -> tuple[int, int]:
        """Return the first and last line of the block at line `index`; both are `index` if there is no block.

        Properties, tables, code, formulas and Setext headings form blocks. A long block is followed for about
        `MAX_BLOCK_LINES` in each direction.
        """
        if not 0 <= index < len(self.rows):
            return index, index
        scan = self.rows[index].scan
        if scan.kind in _FENCED:
            return self._fenced_block(index)
        if scan.kind in _UNTIL_END:
            return self._contiguous_lines(index, frozenset((scan.kind,)))
        if scan.kind in _TABLE or self._is_table_head(index):
            return self._table_block(index)
        if scan.kind is LineKind.SETEXT and index:
            return index - 1, index
        if scan.kind is LineKind.TEXT and index + 1 < len(self.rows):
            below = self.rows[index + 1].scan
            if below.kind is LineKind.SETEXT and below.quotes == scan.quotes:
                return index, index + 1
        return index, index

    def _fenced_block(self, index: int) -> tuple[int, int]:
        rows, first, last = self.rows, index, index
        if rows[index].scan.kind is LineKind.CODE and not rows[index].scan.state:
            return self._contiguous_lines(index, frozenset((LineKind.CODE,)))  # indented code
        while (
            first > 0 and rows[first].scan.kind is not LineKind.FENCE_OPEN and index - first < MAX_BLOCK_LINES
        ):
            if rows[first - 1].scan.kind not in _FENCED:
                break
            first -= 1
        while last + 1 < len(rows) and rows[last].scan.kind is not LineKind.FENCE_CLOSE:
            below = rows[last + 1].scan.kind
            ends_block = below is LineKind.FENCE_OPEN or below not in _FENCED
            if ends_block or last - index >= MAX_BLOCK_LINES:
                break
            last += 1
        return first, last

    def _contiguous_lines(self, index: int, kinds: frozenset[LineKind]) -> tuple[int, int]:
        """Return the first and last line of the run around `index` that has only these kinds."""
        rows, first, last = self.rows, index, index
        while first > 0 and index - first < MAX_BLOCK_LINES:
            above = rows[first - 1].scan
            # A line with an empty state ends its block.
            if above.kind not in kinds or (above.kind in _UNTIL_END and not _inner_state(above)):
                break
            first -= 1
        while last + 1 < len(rows) and last - index < MAX_BLOCK_LINES:
            scan = rows[last].scan
            if scan.kind in _UNTIL_END and not _inner_state(scan):
                break
            if rows[last + 1].scan.kind not in kinds:
                break
            last += 1
        return first, last

    def _is_table_head(self, index: int) -> bool:
        """Return whether a line without a leading pipe is the first line of a table."""
        if self.rows[index].scan.kind is not LineKind.TEXT or index + 1 >= len(self.rows):
            return False
        return self.rows[index + 1].scan.kind is LineKind.TABLE_DELIMITER

    def _table_block(self, index: int) -> tuple[int, int]:
        first, last = index, index
        rows, quotes = self.rows, self.rows[index].scan.quotes
        while first > 0 and index - first < MAX_BLOCK_LINES:
            above = rows[first - 1].scan
            if above.quotes != quotes or not (above.kind in _TABLE or self._is_table_head(first - 1)):
                break
            first -= 1
            if above.kind is LineKind.TEXT:
                break
        while last + 1 < len(rows) and last - index < MAX_BLOCK_LINES:
            below = rows[last + 1].scan
            if below.quotes != quotes or below.kind not in _TABLE:
                break
            last += 1
        return first, last

    def is_table(self, first: int) -> bool:
        """Return whether the block that starts at `first` has a delimiter row; if not, its pipes are text."""
        if first + 1 >= len(self.rows):
            return False
        return self.rows[first + 1].scan.kind is LineKind.TABLE_DELIMITER

    def code_spans(self, index: int) -> list[CodeSpan]:
        """Return the colors of a line of code; empty in very long lines and in code without a language."""
        scan = self.rows[index].scan
        if scan.kind is not LineKind.CODE or not scan.detail or len(self.lines[index]) > PART_LENGTH:
            return []
        first, last = self.block(index)
        fence_lines = self.rows[first].scan.kind is LineKind.FENCE_OPEN
        depth = len(scan.quotes)
        code = self.lines[first + fence_lines : last + 1]
        if depth:
            code = [line[self.rows[first + fence_lines + n].scan.marker :] for n, line in enumerate(code)]
        spans = self.code_colors.spans(
            scan.detail, code, index - first - fence_lines, self.style.theme.is_dark
        )
        if depth:
            shift = scan.marker
            spans = [span._replace(start=span.start + shift, end=span.end + shift) for span in spans]
        return spans

    def fold_range(self, index: int) -> tuple[int, int] | None:
        """Return the first and last line that folding line `index` hides; None if it can't be folded."""
        scan = self.rows[index].scan
        if scan.kind is LineKind.HEADING or self._is_setext_heading(index):
            return self._below_heading(index)
        if scan.kind in _ITEMS:
            return self._below_item(index)
        if scan.kind is LineKind.CALLOUT:
            return self._below_callout(index)
        return None

    def heading_level(self, index: int) -> int:
        """Return the level of the heading in line `index`; 0 if the line is not a heading."""
        scan = self.rows[index].scan
        if scan.kind is LineKind.HEADING:
            return scan.level
        return self.rows[index + 1].scan.level if self._is_setext_heading(index) else 0

    def _is_setext_heading(self, index: int) -> bool:
        if self.rows[index].scan.kind is not LineKind.TEXT or index + 1 >= len(self.rows):
            return False
        below = self.rows[index + 1].scan
        return below.kind is LineKind.SETEXT and below.quotes == self.rows[index].scan.quotes

    def _below_heading(self, index: int) -> tuple[int, int] | None:
        level = self.heading_level(index)
        first = last = index + (1 if self.rows[index].scan.kind is LineKind.HEADING else 2)
        while last < len(self.rows) and not 0 < self.heading_level(last) <= level:
            last += 1
        last -= 1
        while last >= first and self.rows[last].scan.kind is LineKind.BLANK:
            last -= 1
        return (first, last) if last >= first else None

    def _below_item(self, index: int) -> tuple[int, int] | None:
        scan = self.rows[index].scan
        last = index
        for below in range(index + 1, len(self.rows)):
            scan_below = self.rows[below].scan
            is_deeper = scan_below.level > scan.level and (
                scan_below.kind in _ITEMS or scan_below.kind is LineKind.TEXT
            )
            if scan_below.quotes != scan.quotes or not (is_deeper or scan_below.kind is LineKind.BLANK):
                break
            if is_deeper:
                last = below
        return (index + 1, last) if last > index else None

    def _below_callout(self, index: int) -> tuple[int, int] | None:
        depth = self.rows[index].scan.level
        last = index
        while last + 1 < len(self.rows):
            below = self.rows[last + 1].scan
            if len(below.quotes) < depth or (below.kind is LineKind.CALLOUT and below.level <= depth):
                break
            last += 1
        return (index + 1, last) if last > index else None


def _never_unresolved(target: str) -> bool:
    return False


def _no_drawing(row: EditorRow, kind: str, source: str) -> None:
    return None


def _inner_state(scan: ScannedLine) -> State:
    """Return the state after a line, without the enclosing quotes."""
    state = scan.state
    if state and state[0] == "quote":
        return state[2]  # type: ignore[return-value]
    return state
