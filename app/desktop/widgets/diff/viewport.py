"""The viewport of a diff, which paints only the visible rows, so that scrolling a large diff stays fast."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import code_font
from app.desktop.widgets.diff.row_layout import DiffRow, DiffRows
from app.desktop.widgets.diff.row_painter import (
    FOLD_PADDING,
    CheckBoxState,
    PaintContext,
    Pane,
    RowPainter,
    layout_panes,
    text_columns,
)
from app.desktop.widgets.diff.selection import Selection, TextPosition, nearest_position, row_line, row_side
from app.desktop.widgets.diff.text_painter import Grid


class DiffViewport(QAbstractScrollArea):
    """Paints a `DiffRows` and stores the position of each row.

    Signals:
        measure_requested: A new width needs so much wrapping that `diff_rows` must be prepared in a thread,
            before `arrange` is called; until then, lines stay wrapped for the old width.
        height_changed: The height of the text has changed, and the user has not scrolled yet.
    """

    measure_requested = Signal()
    height_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._diff_rows: DiffRows | None = None
        self._check_boxes = CheckBoxState()
        self._selection: Selection | None = None
        self._row_tops = np.zeros(1, dtype=np.int64)
        self._columns = 80
        self._is_unscrolled = True
        self._grid = Grid.of(_code_font(self), self)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    @property
    def text_height(self) -> int:
        """The height of the whole text, in pixels."""
        return int(self._row_tops[-1])

    @property
    def diff_rows(self) -> DiffRows | None:
        """The displayed rows."""
        return self._diff_rows

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colors of `theme`."""
        self._theme = theme
        self._grid = Grid.of(_code_font(self), self)
        self.arrange()

    def measure(self, has_check_boxes: bool) -> Callable[[DiffRows], int]:
        """Return a thread-safe function that computes the number of cells in a line at the current width.

        Args:
            has_check_boxes: Whether a diff with several hunks would have check boxes.
        """
        grid, width = self._grid, self._width

        def cells(diff_rows: DiffRows) -> int:
            return text_columns(diff_rows, grid, width, has_check_boxes and len(diff_rows.diff.hunks) > 1)

        return cells

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows in the exposed region."""
        painter = QPainter(self.viewport())
        try:
            self._paint(painter, event)
        finally:
            # End the painter explicitly: when it is garbage-collected, the viewport may no longer exist.
            painter.end()

    def _paint(self, painter: QPainter, event: QPaintEvent) -> None:
        painter.fillRect(event.rect(), QColor(self._theme.panel))
        if self._diff_rows is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, offset = self.viewport().width(), self.verticalScrollBar().value()
        context = PaintContext(self._grid, self._theme, width, self._columns)
        rows = RowPainter(painter, self._diff_rows, context, self._check_boxes, self._selection)
        for index in range(self._index_at(offset + event.rect().top()), len(self._diff_rows.rows)):
            top = int(self._row_tops[index])
            if top > offset + event.rect().bottom():
                break
            rows.paint(index, QRect(0, top - offset, width, int(self._row_tops[index + 1]) - top))
        rows.paint_divider(min(self.viewport().height(), int(self._row_tops[-1]) - offset))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the lines for the new width."""
        super().resizeEvent(event)
        self.arrange()

    def changeEvent(self, event: QEvent) -> None:
        """Adapt to a new interface font size."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._grid = Grid.of(_code_font(self), self)
            self.arrange()

    def _panes(self) -> tuple[Pane, ...]:
        if self._diff_rows is None:
            return ()
        return layout_panes(
            self._diff_rows, self._grid, self.viewport().width(), self._check_boxes.are_visible
        )

    def _position_at(self, point: QPointF, pane: Pane) -> TextPosition:
        """Return the text position in `pane` nearest to a point of the viewport."""
        diff_rows = self._diff_rows
        assert diff_rows is not None
        y = min(max(round(point.y()) + self.verticalScrollBar().value(), 0), int(self._row_tops[-1]) - 1)
        index = min(self._index_at(y), len(diff_rows.rows) - 1)
        row = diff_rows.rows[index]
        line, side = row_line(diff_rows, row, pane.sides), row_side(row, pane.sides)
        number = row.after if side == "after" else row.before
        if line is None or side is None or number is None:
            return TextPosition(index, 0)
        starts = [*diff_rows.breaks(side, number, self._columns), len(line.text)]
        line_index = min((y - int(self._row_tops[index])) // self._grid.height, len(starts) - 2)
        cells = (point.x() - pane.text_x) / self._grid.cell
        return TextPosition(
            index, nearest_position(line, (starts[line_index], starts[line_index + 1]), cells)
        )

    @property
    def _width(self) -> int:
        # Always reserve space for the bar: otherwise its visibility would depend on itself.
        return self.width() - self.verticalScrollBar().sizeHint().width()

    def arrange(self) -> None:
        """Wrap the lines for the current width, and compute the position of each row."""
        bar, view, old_height = self.verticalScrollBar(), self.viewport(), int(self._row_tops[-1])
        anchor = self._index_at(bar.value())
        if self._diff_rows is None:
            self._row_tops = np.zeros(1, dtype=np.int64)
        else:
            columns = text_columns(self._diff_rows, self._grid, self._width, self._check_boxes.are_visible)
            if self._diff_rows.is_ready(columns) or not self._diff_rows.is_ready(self._columns):
                self._columns = columns
            else:
                self.measure_requested.emit()
            heights = self._diff_rows.heights(self._columns) * self._grid.height
            heights[self._diff_rows.fold_rows] += FOLD_PADDING
            self._row_tops = np.concatenate(([0], np.cumsum(heights)))
        if int(self._row_tops[-1]) != old_height and self._is_unscrolled:
            self.height_changed.emit()
        bar.setPageStep(view.height())
        bar.setSingleStep(self._grid.height)
        bar.setRange(0, max(0, int(self._row_tops[-1]) - view.height()))
        if self._is_unscrolled and self._diff_rows is not None and self._diff_rows.first_rows:
            bar.setValue(0)
            self._reveal(0)
        else:
            bar.setValue(int(self._row_tops[min(anchor, len(self._row_tops) - 1)]))
        view.update()

    def _reveal(self, index: int) -> None:
        """Scroll until the first changed word of hunk `index` is visible."""
        if self._diff_rows is None:
            return
        row = self._diff_rows.first_rows[index]
        above = self._diff_rows.lines_above_change(row, self._columns) * self._grid.height
        bar, page = self.verticalScrollBar(), self.viewport().height()
        top = int(self._row_tops[row])
        if above + 2 * self._grid.height > page:
            top += above
        if not bar.value() <= top < bar.value() + page * 3 // 4:
            bar.setValue(top - page // 4)

    def _index_at(self, y: int) -> int:
        return max(0, int(np.searchsorted(self._row_tops, y, side="right")) - 1)

    def _row_at(self, event: QMouseEvent) -> DiffRow | None:
        y = round(event.position().y()) + self.verticalScrollBar().value()
        if self._diff_rows is None or not 0 <= y < int(self._row_tops[-1]):
            return None
        return self._diff_rows.rows[self._index_at(y)]


def _code_font(widget: QWidget) -> QFont:
    """Return the code font at the size of the interface font, but at least 8 points."""
    font = code_font()
    font.setPointSizeF(max(8.0, widget.font().pointSizeF()))
    return font
