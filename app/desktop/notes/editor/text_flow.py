"""The lines of a note as rows from top to bottom, independent of documents and widgets.

`TextFlow` mirrors the document's lines (Python strings). It holds their scans and heights, and the layouts of
rows that were visible. Positions are (line, column), columns in Python characters. A row of the block with
the cursor shows its source (in source mode, every row does); any other shows its text without markup, with a
map between the two. The origin is the top left corner of the text column.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.desktop.notes.editor import long_lines, row_layout
from app.desktop.notes.editor.code_colors import CHUNK_LINES
from app.desktop.notes.editor.drawings import DrawingRequest
from app.desktop.notes.editor.line_heights import LineHeights
from app.desktop.notes.editor.line_scanner import LineKind, State, scan_line, scan_lines
from app.desktop.notes.editor.note_rows import PART_LENGTH, NoteRows
from app.desktop.notes.editor.rows import EditorRow
from app.desktop.notes.editor.style import EditorStyle

MAX_LAYOUTS = 600  # rows whose layout is cached


class TextFlow(NoteRows):
    """Rows that are laid out when they become visible."""

    def __init__(self, style: EditorStyle) -> None:
        super().__init__(style)
        self._laid_out_rows: dict[EditorRow, None] = {}
        self._has_folds = False

    def load(self, lines: list[str]) -> None:
        """Replace all lines."""
        self.lines = lines
        self.rows = [EditorRow(scan) for scan in scan_lines(lines)]
        self.active = (-1, -1)
        self.preedit = None
        self._laid_out_rows.clear()
        self.table_widths.clear()
        self._has_folds = any(row.scan.fold == "-" for row in self.rows)
        if self.shows_source:
            for row in self.rows:
                row.active = True
        self._estimate_heights()
        self._hide_folded()

    def splice(self, first: int, removed: int, lines: list[str]) -> None:
        """Replace `removed` lines from `first` on with `lines`."""
        for row in self.rows[first : first + removed]:
            self._laid_out_rows.pop(row, None)
        self.table_widths.clear()
        state = self.rows[first - 1].scan.state if first else ()
        new_rows, state = self._scan(first, lines, state)
        same_lines = removed == 1 == len(lines)
        if same_lines and long_lines.can_patch(self, first, new_rows[0]):
            long_lines.patch(self, first, lines[0])
            new_rows = [self.rows[first]]
            self._laid_out_rows[new_rows[0]] = None
        else:
            self._keep_layouts(first, removed, lines, new_rows)
        for old_row, new_row in zip(self.rows[first : first + removed], new_rows, strict=False):
            if old_row is not new_row:
                new_row.folded, new_row.hidden, new_row.active = (
                    old_row.folded,
                    old_row.hidden,
                    old_row.active,
                )
                new_row.height = new_row.height or old_row.height
        if self.shows_source:
            for row in new_rows:
                row.active = True
        shapes_above = self._shapes_line_above(first)
        shapes_last = self._shapes_line_above(first + removed)
        self.lines[first : first + removed] = lines
        self.rows[first : first + removed] = new_rows
        if not same_lines:
            line_height = self.style.line_height
            self.heights.splice(first, removed, [row.height or line_height for row in new_rows])
            self._shift_active(first, removed, len(lines))
        end = self._rescan(first + len(lines), state)
        if shapes_last or self._shapes_line_above(first + len(lines)):
            self._forget_layout(first + len(lines) - 1)
        if shapes_above or self._shapes_line_above(first):
            self._forget_layout(first - 1)
        self._forget_block_layouts(first, end)
        self._has_folds = self._has_folds or any(row.scan.fold == "-" for row in new_rows)
        self._hide_folded()

    def _scan(self, first: int, lines: list[str], state: State) -> tuple[list[EditorRow], State]:
        rows = []
        for offset, line in enumerate(lines):
            scan = scan_line(line, state, is_first=first + offset == 0)
            state = scan.state
            rows.append(EditorRow(scan))
        return rows, state

    def _rescan(self, index: int, state: State) -> int:
        """Scan lines from `index` on until a scan is unchanged; return the index of that line."""
        while index < len(self.rows):
            scan = scan_line(self.lines[index], state, is_first=index == 0)
            row = self.rows[index]
            if scan == row.scan:
                break
            row.scan = scan
            row.fragments = None
            state = scan.state
            index += 1
        return index

    def _keep_layouts(self, first: int, removed: int, lines: list[str], new_rows: list[EditorRow]) -> None:
        """Keep the layouts of very long lines that were split or joined."""
        if not removed or not any(len(line) > PART_LENGTH for line in lines):
            return
        head = (self.rows[first], self.lines[first])
        tail = (self.rows[first + removed - 1], self.lines[first + removed - 1])
        last = len(lines) - 1
        for offset in {0, last}:
            long_lines.reuse_fragments(
                self,
                first + offset,
                lines[offset],
                new_rows[offset],
                head if offset == 0 else None,
                tail if offset == last else None,
            )
            if new_rows[offset].fragments is not None:
                self._laid_out_rows[new_rows[offset]] = None

    def _shift_active(self, first: int, removed: int, added: int) -> None:
        start, end = self.active
        if start >= first + removed:
            self.active = (start + added - removed, end + added - removed)
        elif end >= first:
            self.active = (min(start, first), max(first + added - 1, end + added - removed))

    def _shapes_line_above(self, index: int) -> bool:
        """Return whether a line turns the one above it into a heading or a table head."""
        kinds = (LineKind.SETEXT, LineKind.TABLE_DELIMITER)
        return 0 <= index < len(self.rows) and self.rows[index].scan.kind in kinds

    def _forget_layout(self, index: int) -> None:
        if 0 <= index < len(self.rows):
            self.rows[index].fragments = None

    def _forget_block_layouts(self, first: int, end: int) -> None:
        """Discard layouts that depend on all of an edited block: tables, formulas and diagrams."""
        for index in {first, max(first, min(end, len(self.rows)) - 1)}:
            if index >= len(self.rows):
                continue
            start, last = self.block(index)
            if self.rows[index].scan.kind is LineKind.CODE and self.rows[index].active:
                self._recolor(index, start, last)
            elif start != last:
                for line in range(start, last + 1):
                    if len(self.lines[line]) <= PART_LENGTH:
                        self.rows[line].fragments = None

    def _recolor(self, index: int, start: int, last: int) -> None:
        """Discard the layouts of code lines whose colors changed with the edit of line `index`."""
        for line in range(max(start, index - CHUNK_LINES), min(last, index + CHUNK_LINES) + 1):
            row = self.rows[line]
            if row.fragments is not None and row.code_spans != self.code_spans(line):
                row.fragments = None

    def set_active(self, first: int, last: int) -> bool:
        """Show the source of the blocks from line `first` to `last`; return whether a row looks different."""
        first, last = self.block(first)[0], self.block(last)[1]
        previous, self.active = self.active, (first, last)
        if self.shows_source:
            return False
        changed = False
        for index in {*_clamp_lines(previous, len(self.rows)), *_clamp_lines((first, last), len(self.rows))}:
            row, active = self.rows[index], first <= index <= last
            if row.active != active:
                row.active = active
                if row.fragments is None or not self._is_unchanged_by_cursor(index):
                    row.fragments = None
                    changed = True
        return changed

    def show_source(self, shown: bool) -> None:
        """Show the source of every line, or only of the block with the cursor."""
        if shown == self.shows_source:
            return
        self.shows_source = shown
        first, last = self.active
        for index, row in enumerate(self.rows):
            row.active = shown or first <= index <= last
            row.hidden = False
        self._hide_folded()
        self.forget_layouts()

    def _is_unchanged_by_cursor(self, index: int) -> bool:
        """Return whether a line looks the same with the cursor: it has no markup, or is too long to style."""
        scan = self.rows[index].scan
        return (scan.kind is LineKind.BLANK and not scan.quotes) or len(self.lines[index]) > PART_LENGTH

    def is_folded(self, row: EditorRow) -> bool:
        """Return whether the block of a line is folded; source mode ignores folds that are only markup."""
        return row.is_folded and not (self.shows_source and row.folded is None)

    def set_folded(self, index: int, folded: bool) -> None:
        """Fold or unfold the block that belongs to line `index`, if there is one."""
        if self.fold_range(index) is None:
            return
        self.rows[index].folded = folded
        self.rows[index].fragments = None
        self._has_folds = True
        self._hide_folded()

    def reveal(self, index: int) -> bool:
        """Unfold every block that hides line `index`; return whether the line was hidden."""
        if not 0 <= index < len(self.rows) or not self.rows[index].hidden:
            return False
        for above in range(index - 1, -1, -1):
            if self.rows[above].is_folded:
                hidden_range = self.fold_range(above)
                if hidden_range and hidden_range[0] <= index <= hidden_range[1]:
                    self.rows[above].folded = False
                    self.rows[above].fragments = None
        self._hide_folded()
        return True

    def _hide_folded(self) -> None:
        """Hide the lines in folded blocks, and show the others."""
        if not self._has_folds:
            return
        hidden_until = -1
        has_folds = False
        for index, row in enumerate(self.rows):
            hidden = index <= hidden_until
            if row.is_folded:
                has_folds = True
                hidden_range = self.fold_range(index) if self.is_folded(row) and not hidden else None
                if hidden_range is not None and not self._contains_cursor(hidden_range):
                    hidden_until = max(hidden_until, hidden_range[1])
            if row.hidden != hidden:
                row.hidden = hidden
                row.fragments = None
                self.heights.set(index, 0.0 if hidden else row.height or self.style.line_height)
        self._has_folds = has_folds

    def _contains_cursor(self, lines: tuple[int, int]) -> bool:
        return lines[0] <= self.active[0] <= lines[1]

    def row(self, index: int) -> EditorRow:
        """Return the row of line `index`, laid out."""
        row = self.rows[index]
        if row.fragments is None:
            row_layout.lay_out(self, index, row)
            self.heights.set(index, row.height)
            self._laid_out_rows[row] = None
            if len(self._laid_out_rows) > MAX_LAYOUTS:
                oldest = next(iter(self._laid_out_rows))
                if oldest is not row:
                    oldest.fragments = None
                    del self._laid_out_rows[oldest]
        return row

    def set_width(self, width: float) -> None:
        """Set the width of the text column."""
        if width != self.width:
            self.width = width
            self.forget_layouts()
            self._estimate_heights()

    def set_style(self, style: EditorStyle) -> None:
        """Set the fonts and colors."""
        is_resized = style.font != self.style.font or style.mono != self.style.mono
        self.style = style
        self.code_colors.clear()
        self.forget_layouts()
        if is_resized:
            self._estimate_heights()

    def forget_layouts(self) -> None:
        """Discard all layouts; each row keeps its height until it is laid out again."""
        for row in self.rows:
            row.fragments = None
        self._laid_out_rows.clear()
        self.table_widths.clear()

    def relayout_lines(self, lines: Iterable[int], top: float) -> float:
        """Redo the layout of the lines whose drawings have arrived, and of their blocks.

        Args:
            lines: The indexes of the lines.
            top: The top edge of the visible part.

        Returns:
            The new top edge that keeps the visible part in place.
        """
        changed_lines = sorted(
            {n for index in lines for n in range(self.block(index)[0], self.block(index)[1] + 1)}
        )
        if not changed_lines:
            return top
        anchor, anchor_top = self.heights.line_at(top)
        column = None
        if anchor_top < top and anchor in changed_lines:  # the first visible row starts above the top edge
            column = self.rows[anchor].column_below(top - anchor_top)
            while column is None and anchor < len(self.rows) - 1 and anchor in changed_lines:
                anchor += 1
        previous_top = self._top_of(anchor, column)
        for index in changed_lines:
            self.rows[index].fragments = None
            self.table_widths.pop(self.rows[index], None)
        for index in changed_lines:
            self.row(index)
        return top + self._top_of(anchor, column) - previous_top

    def _top_of(self, index: int, column: int | None) -> float:
        """Return the top of a row, or of its visual line that contains `column`."""
        return self.heights.top(index) + (0.0 if column is None else self.rows[index].line_top(column))

    def lines_waiting_for(self, request: DrawingRequest) -> list[int]:
        """Return the lines that show or need this drawing."""
        return [index for index, row in enumerate(self.rows) if row.requests and request in row.requests]

    def lay_out_visible(self, top: float, height: float) -> float:
        """Lay out the visible rows from `top` on; return the top edge that keeps them in place.

        A row taller than estimated would push the text down while the user scrolls up.
        """
        for _ in range(4):
            index, y = self.heights.line_at(top)
            growth, has_anchor, has_new_rows = 0.0, False, False
            while index < len(self.rows) and y < top + height:
                if self.rows[index].fragments is not None:
                    has_anchor = True  # it was visible before and keeps its position
                    y += self.heights[index]
                else:
                    has_new_rows, old_height = True, self.heights[index]
                    y += self.row(index).height
                    if not has_anchor:
                        growth += self.heights[index] - old_height
                index += 1
            if not has_new_rows:
                break
            if has_anchor:
                top += growth
        return top

    def _estimate_heights(self) -> None:
        """Estimate all heights from the lengths of the lines."""
        line_height = self.style.line_height
        columns = max(10.0, self.width / self.style.metrics.averageCharWidth())
        heights = []
        for line, row in zip(self.lines, self.rows, strict=True):
            if row.hidden or (
                row.scan.kind is LineKind.PROPERTIES and self.hides_properties and not row.active
            ):
                heights.append(0.0)
            elif row.scan.kind is LineKind.HEADING:
                heights.append(line_height * 1.8)
            elif len(line) <= columns:
                heights.append(line_height)
            else:
                heights.append(line_height * (int(len(line) / columns) + 1))
        self.heights = LineHeights(heights)


def _clamp_lines(lines: tuple[int, int], count: int) -> range:
    return range(max(0, lines[0]), min(lines[1] + 1, count))
