"""The lines of a note with their scans, and the blocks that they form, without their layout."""

from __future__ import annotations

from collections.abc import Callable

from app.desktop.notes.editor.code_colors import CodeColors, CodeSpan
from app.desktop.notes.editor.drawings import Drawing
from app.desktop.notes.editor.line_heights import LineHeights
from app.desktop.notes.editor.line_scanner import LineKind, ScannedLine, State, scan_line
from app.desktop.notes.editor.rows import EditorRow
from app.desktop.notes.editor.style import EditorStyle

Position = tuple[int, int]  # a line and a column
MAX_BLOCK_LINES = 500  # maximum number of lines that are treated as one block
PART_LENGTH = 2_000  # the approximate length of the parts of a longer line
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
        active: The first and the last line that show their source because of the cursor.
        shows_source: Whether every line shows its source.
        hides_properties: Whether a form shows the properties, so that their lines are hidden.
        preedit: The line, column and text that an input method is composing.
        drawing: Returns the drawing for a kind and a source; None until it is ready.
        misspelled: Returns the misspelled ranges of a piece of prose.
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

    def block(self, at: int) -> tuple[int, int]:
        """Return the first and last line of the table, code, formula or heading at line `at`."""
        if not 0 <= at < len(self.rows):
            return at, at
        scan = self.rows[at].scan
        if scan.kind in _FENCED:
            return self._fenced_block(at)
        if scan.kind in _UNTIL_END:
            return self._contiguous_lines(at, frozenset((scan.kind,)))
        if scan.kind in _TABLE or self._is_table_head(at):
            return self._table_block(at)
        if scan.kind is LineKind.SETEXT and at:
            return at - 1, at
        if scan.kind is LineKind.TEXT and at + 1 < len(self.rows):
            below = self.rows[at + 1].scan
            if below.kind is LineKind.SETEXT and below.quotes == scan.quotes:
                return at, at + 1
        return at, at

    def _fenced_block(self, at: int) -> tuple[int, int]:
        rows, first, last = self.rows, at, at
        if rows[at].scan.kind is LineKind.CODE and not rows[at].scan.state:
            return self._contiguous_lines(at, frozenset((LineKind.CODE,)))  # indented code
        while first > 0 and rows[first].scan.kind is not LineKind.FENCE_OPEN and at - first < MAX_BLOCK_LINES:
            if rows[first - 1].scan.kind not in _FENCED:
                break
            first -= 1
        while last + 1 < len(rows) and rows[last].scan.kind is not LineKind.FENCE_CLOSE:
            below = rows[last + 1].scan.kind
            ends_block = below is LineKind.FENCE_OPEN or below not in _FENCED
            if ends_block or last - at >= MAX_BLOCK_LINES:
                break
            last += 1
        return first, last

    def _contiguous_lines(self, at: int, kinds: frozenset[LineKind]) -> tuple[int, int]:
        """Return the first and last line of the block around `at`, whose lines have these kinds."""
        rows, first, last = self.rows, at, at
        while first > 0 and at - first < MAX_BLOCK_LINES:
            above = rows[first - 1].scan
            # A line with an empty state ends its block.
            if above.kind not in kinds or (above.kind in _UNTIL_END and not _inner_state(above)):
                break
            first -= 1
        while last + 1 < len(rows) and last - at < MAX_BLOCK_LINES:
            scan = rows[last].scan
            if scan.kind in _UNTIL_END and not _inner_state(scan):
                break
            if rows[last + 1].scan.kind not in kinds:
                break
            last += 1
        return first, last

    def _is_table_head(self, at: int) -> bool:
        """Return whether a line without a leading bar is the first line of a table."""
        if self.rows[at].scan.kind is not LineKind.TEXT or at + 1 >= len(self.rows):
            return False
        return self.rows[at + 1].scan.kind is LineKind.TABLE_DELIMITER

    def _table_block(self, at: int) -> tuple[int, int]:
        first, last = at, at
        rows, quotes = self.rows, self.rows[at].scan.quotes
        while first > 0 and at - first < MAX_BLOCK_LINES:
            above = rows[first - 1].scan
            if above.quotes != quotes or not (above.kind in _TABLE or self._is_table_head(first - 1)):
                break
            first -= 1
            if above.kind is LineKind.TEXT:
                break
        while last + 1 < len(rows) and last - at < MAX_BLOCK_LINES:
            below = rows[last + 1].scan
            if below.quotes != quotes or below.kind not in _TABLE:
                break
            last += 1
        return first, last

    def is_table(self, first: int) -> bool:
        """Return whether the block from line `first` on has a delimiter row, without which bars are text."""
        if first + 1 >= len(self.rows):
            return False
        return self.rows[first + 1].scan.kind is LineKind.TABLE_DELIMITER

    def code_spans(self, at: int) -> list[CodeSpan]:
        """Return the colors of line `at`, which is in a code block."""
        scan = self.rows[at].scan
        if scan.kind is not LineKind.CODE or not scan.detail or len(self.lines[at]) > PART_LENGTH:
            return []
        first, last = self.block(at)
        fence_lines = self.rows[first].scan.kind is LineKind.FENCE_OPEN
        depth = len(scan.quotes)
        code = self.lines[first + fence_lines : last + 1]
        if depth:
            code = [line[self.rows[first + fence_lines + n].scan.marker :] for n, line in enumerate(code)]
        spans = self.code_colors.spans(scan.detail, code, at - first - fence_lines, self.style.theme.is_dark)
        if depth:
            shift = scan.marker
            spans = [one._replace(start=one.start + shift, end=one.end + shift) for one in spans]
        return spans

    def fold_range(self, at: int) -> tuple[int, int] | None:
        """Return the first and last line that folding line `at` hides; None if it can't be folded."""
        scan = self.rows[at].scan
        if scan.kind is LineKind.HEADING or self._is_setext_heading(at):
            return self._below_heading(at)
        if scan.kind in _ITEMS:
            return self._below_item(at)
        if scan.kind is LineKind.CALLOUT:
            return self._below_callout(at)
        return None

    def heading_level(self, at: int) -> int:
        """Return the level of the heading in line `at`; 0 if it is none."""
        scan = self.rows[at].scan
        if scan.kind is LineKind.HEADING:
            return scan.level
        return self.rows[at + 1].scan.level if self._is_setext_heading(at) else 0

    def _is_setext_heading(self, at: int) -> bool:
        if self.rows[at].scan.kind is not LineKind.TEXT or at + 1 >= len(self.rows):
            return False
        below = self.rows[at + 1].scan
        return below.kind is LineKind.SETEXT and below.quotes == self.rows[at].scan.quotes

    def _below_heading(self, at: int) -> tuple[int, int] | None:
        level = self.heading_level(at)
        first = last = at + (1 if self.rows[at].scan.kind is LineKind.HEADING else 2)
        while last < len(self.rows) and not 0 < self.heading_level(last) <= level:
            last += 1
        last -= 1
        while last >= first and self.rows[last].scan.kind is LineKind.BLANK:
            last -= 1
        return (first, last) if last >= first else None

    def _below_item(self, at: int) -> tuple[int, int] | None:
        scan = self.rows[at].scan
        last = at
        for below in range(at + 1, len(self.rows)):
            scan_below = self.rows[below].scan
            deeper = scan_below.level > scan.level and (
                scan_below.kind in _ITEMS or scan_below.kind is LineKind.TEXT
            )
            if scan_below.quotes != scan.quotes or not (deeper or scan_below.kind is LineKind.BLANK):
                break
            if deeper:
                last = below
        return (at + 1, last) if last > at else None

    def _below_callout(self, at: int) -> tuple[int, int] | None:
        depth = self.rows[at].scan.level
        last = at
        while last + 1 < len(self.rows):
            below = self.rows[last + 1].scan
            if len(below.quotes) < depth or (below.kind is LineKind.CALLOUT and below.level <= depth):
                break
            last += 1
        return (at + 1, last) if last > at else None


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
