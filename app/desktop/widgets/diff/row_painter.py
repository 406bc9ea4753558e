"""Paint the rows of a diff: gutters, check boxes, folds and one or two panes of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.desktop.runtime.translation import PluralText
from app.desktop.theme.colors import Theme
from app.desktop.widgets.diff.row_layout import DiffMode, DiffRow, DiffRows
from app.desktop.widgets.diff.selection import Selection, row_side
from app.desktop.widgets.diff.text_painter import Grid, TextPainter
from app.vault.diff_words import Span
from app.vault.invisible_chars import escape_hidden

CHECK_BOX_WIDTH = 28
FOLD_PADDING = 10
_PADDING = 8
_EXCLUDED_OPACITY = 0.38
_MAX_HEADING_DISTANCE = 3_000


@dataclass(frozen=True, slots=True)
class Pane:
    """The geometry of one pane, in pixels: its edges, line numbers (side, right edge), sign and text."""

    sides: tuple[str, ...]
    left: int
    right: int
    numbers: tuple[tuple[str, int], ...]
    sign_x: int
    text_x: int


@dataclass(frozen=True, slots=True)
class CheckBoxState:
    """The excluded hunks, whether check boxes are shown, and the current hunk (-1: none)."""

    excluded_hunks: frozenset[int] = frozenset()
    are_visible: bool = False
    current: int = -1


def layout_panes(diff_rows: DiffRows, grid: Grid, width: int, has_check_boxes: bool) -> tuple[Pane, ...]:
    """Return the panes for a viewport of `width` pixels: one, or two side by side."""
    left = CHECK_BOX_WIDTH if has_check_boxes else 4
    digits = max(2, len(str(max(len(diff_rows.diff.before), len(diff_rows.diff.after)))))
    number_width, sign_width = round(digits * grid.cell) + _PADDING, round(2 * grid.cell)
    if diff_rows.mode is DiffMode.TEXT:
        start = left + number_width + _PADDING
        return (Pane(("after",), 0, width, (("after", left + number_width),), start, start + sign_width),)
    if diff_rows.mode is DiffMode.UNIFIED:
        edges = (("before", left + number_width), ("after", left + 2 * number_width))
        start = left + 2 * number_width + _PADDING
        return (Pane(("before", "after"), 0, width, edges, start, start + sign_width),)
    middle = (left + width) // 2

    def pane(side: str, outer: int, inner: int, right: int) -> Pane:
        start = inner + number_width + _PADDING
        return Pane((side,), outer, right, ((side, inner + number_width),), start, start + sign_width)

    return pane("before", 0, left, middle), pane("after", middle, middle, width)


def pane_at(panes: Sequence[Pane], x: float) -> Pane | None:
    """Return the pane whose text is under `x`; None over numbers and check boxes."""
    return next((pane for pane in panes if pane.text_x <= x < pane.right), None)


def text_columns(diff_rows: DiffRows, grid: Grid, width: int, has_check_boxes: bool) -> int:
    """Return the number of cells in a text line of the narrower pane, at least 8."""
    text_width = min(
        pane.right - pane.text_x for pane in layout_panes(diff_rows, grid, width, has_check_boxes)
    )
    return max(8, int((text_width - _PADDING) / grid.cell) - 1)


@dataclass(frozen=True)
class PaintContext:
    """The parameters for painting: grid, colors, width in pixels, and cells per line of text."""

    grid: Grid
    theme: Theme
    width: int
    columns: int


class RowPainter:
    """Paints rows of a diff with one painter."""

    def __init__(
        self,
        painter: QPainter,
        diff_rows: DiffRows,
        context: PaintContext,
        check_boxes: CheckBoxState,
        selection: Selection | None,
    ) -> None:
        self._painter, self._diff_rows, self._check_boxes = painter, diff_rows, check_boxes
        self._selection = selection
        self._grid, self._theme, self._columns = context.grid, context.theme, context.columns
        self._panes = layout_panes(diff_rows, context.grid, context.width, check_boxes.are_visible)
        self._text_painter = TextPainter(painter, context.grid, context.theme)

    def paint(self, index: int, box: QRect) -> None:
        """Paint row `index` into `box`."""
        row = self._diff_rows.rows[index]
        if row.folded:
            self._paint_fold(row, box)
            return
        is_included = row.hunk not in self._check_boxes.excluded_hunks
        self._painter.setOpacity(1.0 if is_included or row.hunk < 0 else _EXCLUDED_OPACITY)
        for pane in self._panes:
            self._paint_pane(index, row, pane, box)
        self._painter.setOpacity(1.0)
        if row.hunk >= 0:
            self._paint_margin(index, row, box, is_included)

    def paint_divider(self, height: int) -> None:
        """Paint the line between the two panes."""
        if len(self._panes) == 2:
            self._painter.setPen(QColor(self._theme.border))
            self._painter.drawLine(self._panes[1].left, 0, self._panes[1].left, height)

    def _paint_pane(self, index: int, row: DiffRow, pane: Pane, box: QRect) -> None:
        numbers = {"before": row.before, "after": row.after}
        side = row_side(row, pane.sides)
        area = QRect(pane.left, box.top(), pane.right - pane.left, box.height())
        if side is None or (number := numbers[side]) is None:
            self._painter.fillRect(area, QColor(self._theme.sunken))
            return
        is_changed = row.hunk >= 0
        if is_changed:
            is_before = side == "before"
            self._painter.fillRect(
                area, QColor(self._theme.removed_bg if is_before else self._theme.added_bg)
            )
        self._paint_gutter(numbers, pane, box, ("−" if side == "before" else "+") if is_changed else "")
        self._painter.save()
        area.setLeft(pane.text_x)
        self._painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
        selected = self._selected_spans(index, side, number, pane)
        self._paint_text(side, number, QPointF(pane.text_x, box.top()), is_changed, selected)
        self._painter.restore()

    def _paint_gutter(self, numbers: dict[str, int | None], pane: Pane, box: QRect, sign: str) -> None:
        self._painter.setFont(self._grid.font)
        self._painter.setPen(QColor(self._theme.faint))
        baseline = box.top() + self._grid.ascent
        for side, right in pane.numbers:
            if (number := numbers[side]) is not None:
                text = str(number + 1)
                self._painter.drawText(QPointF(right - len(text) * self._grid.cell, baseline), text)
        if sign:
            self._painter.setPen(QColor(self._theme.danger if sign == "−" else self._theme.success))
            self._painter.drawText(QPointF(pane.sign_x, baseline), sign)

    def _selected_spans(self, index: int, side: str, number: int, pane: Pane) -> tuple[Span, ...]:
        if self._selection is None or self._selection.sides != pane.sides:
            return ()
        part = self._selection.part(index, len(self._diff_rows.line(side, number).text))
        return () if part is None else (part,)

    def _paint_text(
        self, side: str, number: int, corner: QPointF, is_changed: bool, selected: tuple[Span, ...]
    ) -> None:
        line = self._diff_rows.line(side, number)
        marks = self._diff_rows.marks(side, number) if is_changed else ()
        color = QColor(self._theme.removed_word if side == "before" else self._theme.added_word)
        starts = self._diff_rows.breaks(side, number, self._columns)
        window, height = self._painter.window(), self._grid.height
        first = max(0, int((window.top() - corner.y()) // height))
        last = min(len(starts), int((window.bottom() - corner.y()) // height) + 1)
        for row in range(first, last):
            part = (starts[row], starts[row + 1] if row + 1 < len(starts) else len(line.text))
            origin = QPointF(corner.x(), corner.y() + row * height)
            self._text_painter.paint_marks(line, part, origin, marks, color)
            self._text_painter.paint_marks(line, part, origin, selected, QColor(self._theme.selection))
            self._text_painter.paint_text(line, part, origin)

    def _paint_margin(self, index: int, row: DiffRow, box: QRect, is_included: bool) -> None:
        """Paint the current hunk's bar, and a check box on each hunk's first row."""
        if row.hunk == self._check_boxes.current:
            self._painter.fillRect(0, box.top(), 3, box.height(), QColor(self._theme.accent))
        if self._check_boxes.are_visible and self._diff_rows.first_rows[row.hunk] == index:
            box_size = 14.0
            top = box.top() + (self._grid.height - box_size) / 2
            self._paint_check_box(
                QRectF((CHECK_BOX_WIDTH - box_size) / 2 + 1, top, box_size, box_size), is_included
            )

    def _paint_check_box(self, box: QRectF, is_checked: bool) -> None:
        theme = self._theme
        self._painter.setPen(QColor(theme.accent if is_checked else theme.faint))
        self._painter.setBrush(QColor(theme.accent if is_checked else theme.raised))
        self._painter.drawRoundedRect(box, 4, 4)
        if is_checked:
            pen = QPen(QColor(theme.accent_text), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            self._painter.setPen(pen)
            corners = ((0.24, 0.52), (0.43, 0.71), (0.77, 0.31))
            points = [QPointF(box.x() + x * box.width(), box.y() + y * box.height()) for x, y in corners]
            self._painter.drawPolyline(points)

    def _paint_fold(self, row: DiffRow, box: QRect) -> None:
        self._painter.fillRect(box, QColor(self._theme.sunken))
        self._painter.setFont(self._grid.shaped_font)
        self._painter.setPen(QColor(self._theme.muted))
        line_count = PluralText("DiffView", "{0} unchanged line", "{0} unchanged lines").format(row.folded)
        heading = self._heading_before(row)
        text = f"⋯  {line_count}" + (f"   ·   {heading}" if heading else "")
        text_area = box.adjusted(self._panes[0].sign_x, 0, -_PADDING, 0)
        alignment = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine
        self._painter.drawText(text_area, alignment, text)

    def _heading_before(self, row: DiffRow) -> str:
        """Return the last Markdown heading in or before the fold.

        Return an empty string if there is none nearby, or if the fold reaches the end of the text.
        """
        lines = self._diff_rows.diff.before
        end = self._diff_rows.fold_end(row)
        if end >= len(lines):
            return ""
        for number in range(end - 1, max(-1, end - _MAX_HEADING_DISTANCE), -1):
            if lines[number].startswith(b"#") and lines[number].lstrip(b"#").startswith(b" "):
                return escape_hidden(lines[number][:80].decode("utf-8", "replace").strip())
        return ""
