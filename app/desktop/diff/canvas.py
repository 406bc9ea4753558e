"""The pane that shows a diff: only the rows in sight are painted, whatever the size of the texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.desktop.diff.drawing import Grid
from app.desktop.diff.row_painter import FOLD_EXTRA, TICK, RowPainter, Surface, Ticks, columns
from app.desktop.diff.sheet import Row, Sheet
from app.desktop.diff.visible import CHIP, NOTE, VisibleLine
from app.desktop.theme import Theme, code_font

_MOST_SPOKEN_LINES = 20
_LONGEST_SPOKEN = 2_000


class DiffCanvas(QAbstractScrollArea):
    """Paints a `Sheet`; hunks can be gone through (F8), ticked (Space or a click) and copied (Ctrl+C).

    `hunk_toggled` carries the hunk and whether it is wanted now, `unfold_requested` the first line of a
    fold, `current_changed` the hunk that the keys act on.
    """

    hunk_toggled = Signal(int, bool)
    unfold_requested = Signal(int)
    current_changed = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._sheet: Sheet | None = None
        self._ticks = Ticks()
        self._tops = np.zeros(1, dtype=np.int64)
        self._columns = 80
        self._is_fresh = True
        self._grid = Grid.of(_code_font(self), self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Changes")
        self.viewport().setMouseTracking(True)

    @property
    def current(self) -> int:
        """The hunk that the keys act on; -1 before any."""
        return self._ticks.current

    @property
    def sheet(self) -> Sheet | None:
        """What is shown."""
        return self._sheet

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of `theme`."""
        self._theme = theme
        self._grid = Grid.of(_code_font(self), self)
        self._arrange()

    def show_sheet(self, sheet: Sheet | None, *, keep_place: bool = False) -> None:
        """Show `sheet`, from its first change on, or from where the view stands."""
        place = self.verticalScrollBar().value()
        self._sheet = sheet
        if keep_place:
            self._arrange()
            self.verticalScrollBar().setValue(place)
        else:
            self._ticks = replace(self._ticks, current=-1)
            self._is_fresh = True
            self._arrange()
            self._make_current(0 if sheet is not None and sheet.first_rows else -1)

    def set_ticks(self, unticked: frozenset[int], shown: bool) -> None:
        """Which hunks are not wanted, and whether there are ticks to change that."""
        rearrange = shown != self._ticks.shown
        self._ticks = replace(self._ticks, unticked=unticked, shown=shown)
        if rearrange:
            self._arrange()
        self.viewport().update()

    def step(self, by: int) -> bool:
        """Go to the next (1) or the previous (-1) hunk; False if there is none."""
        hunks = len(self._sheet.diff.hunks) if self._sheet else 0
        target = self.current + by
        if not 0 <= target < hunks:
            return False
        self.go_to_hunk(target)
        return True

    def measure(self, ticks_shown: bool) -> Callable[[Sheet], int]:
        """A function, for any thread, that gives the cells in a line of a sheet as it would be shown now.

        Args:
            ticks_shown: Whether a sheet with several hunks would have ticks.
        """
        grid, width = self._grid, self._width

        def cells(sheet: Sheet) -> int:
            return columns(sheet, grid, width, ticks_shown and len(sheet.diff.hunks) > 1)

        return cells

    def go_to_hunk(self, index: int) -> None:
        """Make hunk `index` the current one and bring it into sight."""
        if self._sheet is None or not 0 <= index < len(self._sheet.first_rows):
            return
        self._is_fresh = False
        self._reveal(index)
        self._make_current(index)

    def hunk_text(self, index: int) -> str:
        """Hunk `index` as lines with − and +, hidden characters named; at most 20 lines of each side."""
        if self._sheet is None:
            return ""
        hunk, sheet = self._sheet.diff.hunks[index], self._sheet
        gone = range(hunk.before_start, min(hunk.before_end, hunk.before_start + _MOST_SPOKEN_LINES))
        come = range(hunk.after_start, min(hunk.after_end, hunk.after_start + _MOST_SPOKEN_LINES))
        parts = [f"− {_spoken(sheet.line('before', number))}" for number in gone]
        return "\n".join(parts + [f"+ {_spoken(sheet.line('after', number))}" for number in come])

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows that lie in the exposed part."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), QColor(self._theme.panel))
        if self._sheet is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, offset = self.viewport().width(), self.verticalScrollBar().value()
        painted = Surface(self._grid, self._theme, width, self._columns)
        rows = RowPainter(painter, self._sheet, painted, self._ticks)
        for index in range(self._index_at(offset + event.rect().top()), len(self._sheet.rows)):
            top = int(self._tops[index])
            if top > offset + event.rect().bottom():
                break
            rows.paint(index, QRect(0, top - offset, width, int(self._tops[index + 1]) - top))
        rows.paint_divider(min(self.viewport().height(), int(self._tops[-1]) - offset))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the lines anew for the new width."""
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        """Take the new size of the interface's font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._grid = Grid.of(_code_font(self), self)
            self._arrange()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """F8 and Shift+F8 walk the hunks, Space ticks one, Ctrl+C copies one, the rest scrolls."""
        self._is_fresh = False
        bar, key = self.verticalScrollBar(), event.key()
        if key == Qt.Key.Key_F8:
            self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif key == Qt.Key.Key_Space and self._ticks.shown and self.current >= 0:
            if not event.isAutoRepeat():
                self._toggle(self.current)
        elif event.matches(QKeySequence.StandardKey.Copy) and self.current >= 0:
            QGuiApplication.clipboard().setText(self.hunk_text(self.current))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            bar.setValue(0 if key == Qt.Key.Key_Home else bar.maximum())
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll; from now on the view stays where the user left it."""
        self._is_fresh = False
        super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open a fold, tick a hunk, or make one the current."""
        self._is_fresh = False
        row = self._row_at(event)
        if row is None or event.button() is not Qt.MouseButton.LeftButton:
            return
        if row.folded and row.before is not None:
            self.unfold_requested.emit(row.before)
        elif row.hunk >= 0:
            self._make_current(row.hunk)
            if self._ticks.shown and event.position().x() < TICK:
                self._toggle(row.hunk)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show a hand where a press does something."""
        row = self._row_at(event)
        tick = row is not None and row.hunk >= 0 and self._ticks.shown and event.position().x() < TICK
        hand = tick or (row is not None and row.folded > 0)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    @property
    def _width(self) -> int:
        # As if the bar were always there: one that comes and goes would decide about itself.
        return self.width() - self.verticalScrollBar().sizeHint().width()

    def _toggle(self, hunk: int) -> None:
        self.hunk_toggled.emit(hunk, hunk in self._ticks.unticked)

    def _make_current(self, index: int) -> None:
        self._ticks = replace(self._ticks, current=index)
        if index >= 0 and self._sheet is not None:
            state = ", not wanted" if index in self._ticks.unticked else ""
            place = f"Change {index + 1} of {len(self._sheet.diff.hunks)}{state}"
            self.setAccessibleDescription(f"{place}\n{self.hunk_text(index)}")
        self.current_changed.emit(index)
        self.viewport().update()

    def _arrange(self) -> None:
        """Compute where each row stands, and the reach of the scroll bar."""
        bar, view = self.verticalScrollBar(), self.viewport()
        anchor = self._index_at(bar.value())
        if self._sheet is None:
            self._tops = np.zeros(1, dtype=np.int64)
        else:
            self._columns = columns(self._sheet, self._grid, self._width, self._ticks.shown)
            heights = self._sheet.heights(self._columns) * self._grid.height
            heights[self._sheet.fold_rows] += FOLD_EXTRA
            self._tops = np.concatenate(([0], np.cumsum(heights)))
        bar.setPageStep(view.height())
        bar.setSingleStep(self._grid.height)
        bar.setRange(0, max(0, int(self._tops[-1]) - view.height()))
        if self._is_fresh and self._sheet is not None and self._sheet.first_rows:
            bar.setValue(0)
            self._reveal(0)
        else:
            bar.setValue(int(self._tops[min(anchor, len(self._tops) - 1)]))
        view.update()

    def _reveal(self, index: int) -> None:
        """Scroll so that the first changed word of hunk `index` is in sight."""
        if self._sheet is None:
            return
        row = self._sheet.first_rows[index]
        above = self._sheet.rows_above_change(row, self._columns) * self._grid.height
        bar, page = self.verticalScrollBar(), self.viewport().height()
        top = int(self._tops[row])
        if above + 2 * self._grid.height > page:
            top += above
        if not bar.value() <= top < bar.value() + page * 3 // 4:
            bar.setValue(top - page // 4)

    def _index_at(self, y: int) -> int:
        return max(0, int(np.searchsorted(self._tops, y, side="right")) - 1)

    def _row_at(self, event: QMouseEvent) -> Row | None:
        y = round(event.position().y()) + self.verticalScrollBar().value()
        if self._sheet is None or not 0 <= y < int(self._tops[-1]):
            return None
        return self._sheet.rows[self._index_at(y)]


def _code_font(widget: QWidget) -> QFont:
    """The code font, as large as the interface's own."""
    font = code_font()
    font.setPointSizeF(max(8.0, widget.font().pointSizeF()))
    return font


def _spoken(line: VisibleLine) -> str:
    """A shown line in plain text: its labels in ⟨⟩, as a label could be mistaken for text there."""
    parts: list[str] = []
    at = 0
    if len(line.text) > _LONGEST_SPOKEN:
        return f"{line.text[:_LONGEST_SPOKEN]}… ({len(line.text):,} characters)"
    for start, end, kind in line.signs:
        shown = line.text[start:end]
        parts += [line.text[at:start], f"⟨{shown}⟩" if kind in (CHIP, NOTE) else shown]
        at = end
    return "".join([*parts, line.text[at:]])
