"""The diff canvas: mouse and keyboard interaction with the painted diff."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QWidget

from app.desktop.theme.colors import Theme
from app.desktop.widgets.diff.row_layout import DiffRows
from app.desktop.widgets.diff.row_painter import CHECK_BOX_WIDTH, pane_at
from app.desktop.widgets.diff.selection import Selection, TextPosition, row_line, word_at
from app.desktop.widgets.diff.viewport import DiffViewport
from app.vault.escaped_line import CHIP_SIGN, NOTE_SIGN, EscapedLine

_MAX_SPOKEN_LINES = 20
_MAX_SPOKEN_CHARS = 2_000


class DiffCanvas(DiffViewport):
    """A diff: F8 goes to the next hunk, Space or its check box toggles it, and its text can be copied.

    `hunk_toggled` carries the hunk and whether to include it, `unfold_requested` the first line of a fold,
    `current_changed` the hunk that the keys act on.
    """

    hunk_toggled = Signal(int, bool)
    unfold_requested = Signal(int)
    current_changed = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Changes"))
        self.viewport().setMouseTracking(True)

    @property
    def current(self) -> int:
        """The hunk that the keys act on; -1 if there is none yet."""
        return self._check_boxes.current

    def show_rows(self, diff_rows: DiffRows | None, *, keep_scroll: bool = False) -> None:
        """Show `diff_rows` from its first change, or at the current scroll position; None shows nothing."""
        scroll_value = self.verticalScrollBar().value()
        self._diff_rows = diff_rows
        self._selection = None
        if keep_scroll:
            self.arrange()
            self.verticalScrollBar().setValue(scroll_value)
        else:
            self._check_boxes = replace(self._check_boxes, current=-1)
            self._is_unscrolled = True
            self.arrange()
            self._set_current(0 if diff_rows is not None and diff_rows.first_rows else -1)

    def set_check_boxes(self, excluded_hunks: frozenset[int], are_visible: bool) -> None:
        """Set the excluded hunks, and whether check boxes are shown."""
        is_rearranged = are_visible != self._check_boxes.are_visible
        self._check_boxes = replace(self._check_boxes, excluded_hunks=excluded_hunks, are_visible=are_visible)
        if is_rearranged:
            self.arrange()
        self.viewport().update()

    def step(self, by: int) -> bool:
        """Go to the next (1) or the previous (-1) hunk; return False if there is none."""
        hunk_count = len(self._diff_rows.diff.hunks) if self._diff_rows else 0
        target = self.current + by
        if not 0 <= target < hunk_count:
            return False
        self.go_to_hunk(target)
        return True

    def go_to_hunk(self, index: int) -> None:
        """Make hunk `index` current and scroll to it."""
        if self._diff_rows is None or not 0 <= index < len(self._diff_rows.first_rows):
            return
        self._is_unscrolled = False
        self._reveal(index)
        self._set_current(index)

    def hunk_text(self, index: int, *, is_spoken: bool = False) -> str:
        """Return hunk `index` as lines with − and +, with hidden characters named.

        With `is_spoken`, the text is limited to 20 lines per side and 2,000 characters per line.
        """
        if self._diff_rows is None:
            return ""
        hunk, diff_rows = self._diff_rows.diff.hunks[index], self._diff_rows
        max_lines, max_chars = (_MAX_SPOKEN_LINES, _MAX_SPOKEN_CHARS) if is_spoken else (None, None)
        removed = range(hunk.before_start, hunk.before_end)[:max_lines]
        added = range(hunk.after_start, hunk.after_end)[:max_lines]
        parts = [f"− {_line_text(diff_rows.line('before', number), max_chars)}" for number in removed]
        parts += [f"+ {_line_text(diff_rows.line('after', number), max_chars)}" for number in added]
        return "\n".join(parts)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys: F8 and Shift+F8 move between hunks, Space toggles one, Home and End scroll.

        Ctrl+C copies, and Ctrl+A selects all.
        """
        self._is_unscrolled = False
        bar, key = self.verticalScrollBar(), event.key()
        if key == Qt.Key.Key_F8:
            self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif key == Qt.Key.Key_Space and self._check_boxes.are_visible and self.current >= 0:
            if not event.isAutoRepeat():
                self._toggle(self.current)
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            bar.setValue(0 if key == Qt.Key.Key_Home else bar.maximum())
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll, and keep the user's scroll position from now on."""
        self._is_unscrolled = False
        super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Unfold lines or toggle a hunk's check box; elsewhere, make the hunk current and start selecting."""
        self._is_unscrolled = False
        row = self._row_at(event)
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        self._begin_selection(event)
        if row is None:
            return
        if row.folded and row.before is not None:
            self.unfold_requested.emit(row.before)
        elif row.hunk >= 0:
            self._set_current(row.hunk)
            if self._check_boxes.are_visible and event.position().x() < CHECK_BOX_WIDTH:
                self._toggle(row.hunk)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select the word under the pointer."""
        pane = pane_at(self._panes(), event.position().x())
        if pane is None or self._diff_rows is None:
            return
        row, position = self._position_at(event.position(), pane)
        line = row_line(self._diff_rows, self._diff_rows.rows[row], pane.sides)
        if line is not None:
            start, end = word_at(line, position)
            self._select(Selection(pane.sides, TextPosition(row, start), TextPosition(row, end)))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Extend the selection, or indicate the effect of a click with the pointer's shape."""
        if event.buttons() & Qt.MouseButton.LeftButton and self._selection is not None:
            self._extend_selection(event.position())
            return
        row, x = self._row_at(event), event.position().x()
        is_on_check_box = (
            row is not None and row.hunk >= 0 and self._check_boxes.are_visible and x < CHECK_BOX_WIDTH
        )
        if is_on_check_box or (row is not None and row.folded > 0):
            shape = Qt.CursorShape.PointingHandCursor
        else:
            is_over_text = row is not None and pane_at(self._panes(), x) is not None
            shape = Qt.CursorShape.IBeamCursor if is_over_text else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu for copying the selection or the change, and for selecting all."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction(self.tr("Copy"), self.copy)
        copy.setEnabled(self.selected_text() != "")
        change = menu.addAction(self.tr("Copy this change"), self.copy_change)
        change.setEnabled(self.current >= 0)
        menu.addAction(self.tr("Select all"), self.select_all)
        menu.popup(event.globalPos())

    def selected_text(self) -> str:
        """Return the selected text with hidden characters named; empty without a selection."""
        if self._diff_rows is None or self._selection is None or self._selection.is_empty:
            return ""
        return self._selection.text(self._diff_rows)

    def copy(self) -> None:
        """Copy the selection, or else the current change."""
        if text := self.selected_text():
            QGuiApplication.clipboard().setText(text)
        else:
            self.copy_change()

    def copy_change(self) -> None:
        """Copy the current change, with − and + before its lines."""
        if self.current >= 0:
            QGuiApplication.clipboard().setText(self.hunk_text(self.current))

    def select_all(self) -> None:
        """Select all displayed lines; in side-by-side mode, only those on the right."""
        diff_rows = self._diff_rows
        if diff_rows is None or not diff_rows.rows:
            return
        sides = self._panes()[-1].sides
        line = row_line(diff_rows, diff_rows.rows[-1], sides)
        end = TextPosition(len(diff_rows.rows) - 1, len(line.text) if line is not None else 0)
        self._select(Selection(sides, TextPosition(0, 0), end))

    def _select(self, selection: Selection | None) -> None:
        self._selection = selection
        self.viewport().update()

    def _begin_selection(self, event: QMouseEvent) -> None:
        pane = pane_at(self._panes(), event.position().x())
        if pane is None or self._diff_rows is None or not self._diff_rows.rows:
            self._select(None)
            return
        position = self._position_at(event.position(), pane)
        is_extending = event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._selection is not None
        if is_extending and self._selection is not None and self._selection.sides == pane.sides:
            self._select(replace(self._selection, end=position))
        else:
            self._select(Selection(pane.sides, position, position))

    def _extend_selection(self, point: QPointF) -> None:
        selection = self._selection
        pane = next((p for p in self._panes() if selection and p.sides == selection.sides), None)
        if selection is None or pane is None:
            return
        bar, height = self.verticalScrollBar(), self.viewport().height()
        if point.y() < 0 or point.y() > height:
            bar.setValue(bar.value() + (-1 if point.y() < 0 else 1) * bar.singleStep())
        self._select(replace(selection, end=self._position_at(point, pane)))

    def _toggle(self, hunk: int) -> None:
        self.hunk_toggled.emit(hunk, hunk in self._check_boxes.excluded_hunks)

    def _set_current(self, index: int) -> None:
        self._check_boxes = replace(self._check_boxes, current=index)
        if index >= 0 and self._diff_rows is not None:
            label = self.tr("Change {0} of {1}")
            if index in self._check_boxes.excluded_hunks:
                label = self.tr("Change {0} of {1}, excluded")
            label = label.format(index + 1, len(self._diff_rows.diff.hunks))
            self.setAccessibleDescription(f"{label}\n{self.hunk_text(index, is_spoken=True)}")
        self.current_changed.emit(index)
        self.viewport().update()


def _line_text(line: EscapedLine, max_chars: int | None) -> str:
    """Return a shown line as plain text, with its labels in ⟨⟩ so that they can't be mistaken for text."""
    parts: list[str] = []
    position, limit = 0, len(line.text) if max_chars is None else max_chars
    for start, end, kind in line.signs:
        if start >= limit:
            break
        sign_text = line.text[start:end]
        parts += [
            line.text[position:start],
            f"⟨{sign_text}⟩" if kind in (CHIP_SIGN, NOTE_SIGN) else sign_text,
        ]
        position = end
    parts.append(line.text[position:limit])
    if len(line.text) > limit:
        parts.append(f"… ({len(line.text):,} characters)")
    return "".join(parts)
