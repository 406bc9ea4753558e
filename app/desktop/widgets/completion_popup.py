"""A list of completions next to a text field."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QShowEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractScrollArea, QListView, QWidget
from shiboken6 import isValid

DETAIL_ROLE = int(Qt.ItemDataRole.UserRole) + 1
_MAX_ROWS = 10
_MIN_WIDTH_CHARS, _MAX_WIDTH_CHARS = 30, 64
_GAP = 3
_MARGIN = 4
_CHOOSING_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)
_STEPS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -_MAX_ROWS,
    Qt.Key.Key_PageDown: _MAX_ROWS,
}


class CompletionPopup(QListView):
    """A list below or above a text field or its cursor, never over it; the field keeps the focus.

    While the list is open, it handles the field's keys: arrows and Page Up and Down select a row, Enter and
    Tab choose the selected one, and Escape closes the list. Without a selected row, Tab chooses the first
    one, and Enter closes the list and is left to the field. A click elsewhere closes the list.

    Args:
        field: The text field.
        preselect: Whether the first row is selected when the list opens, so that Enter chooses it.

    Signals:
        chosen: The row and the label of the chosen completion.
        dismissed: The user closed the list with Escape.
    """

    chosen = Signal(int, str)
    dismissed = Signal()

    def __init__(self, field: QWidget, *, preselect: bool = True) -> None:
        super().__init__(field)
        self._field = field
        self._preselect = preselect
        self._watched: tuple[QWidget, ...] = ()
        self._rows = QStandardItemModel(self)
        self.setModel(self._rows)
        self.setObjectName("popup")
        self.setAccessibleName(self.tr("Completions"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setUniformItemSizes(True)
        if preselect:
            self.setMouseTracking(True)
            self.entered.connect(self.setCurrentIndex)
        self.clicked.connect(self._choose)
        # Once it has been shown, the list is a child of the field's window.
        field.destroyed.connect(self.deleteLater)
        self.hide()

    @property
    def is_open(self) -> bool:
        """True if the list is shown."""
        return self.isVisible()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the open list; empty if it is closed."""
        if not self.is_open:
            return ()
        return tuple(self._rows.item(row).text() for row in range(self._rows.rowCount()))

    def offer(
        self, labels: Sequence[str], area: QRect | None = None, details: Sequence[str | int | None] = ()
    ) -> None:
        """Show completions, or close the list if there are none or the field does not have the focus.

        Args:
            labels: The completions, best first.
            area: The area of the field that the list must not cover, such as its cursor; None for all of it.
            details: A value for each label under `DETAIL_ROLE`, for a delegate of the list.
        """
        if not labels or not self._field.hasFocus():
            self.hide()
            return
        self._rows.clear()
        for row, label in enumerate(labels):
            item = QStandardItem(label)
            item.setToolTip(label)
            item.setData(details[row] if details else None, DETAIL_ROLE)
            self._rows.appendRow(item)
        self.setCurrentIndex(self._rows.index(0 if self._preselect else -1, 0))
        window = self._field.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        area = self._field.rect() if area is None else area
        self._place(QRect(self._field.mapTo(window, area.topLeft()), area.size()), window.rect())
        self.show()
        self.raise_()

    def showEvent(self, event: QShowEvent) -> None:
        """Start watching the keys of the field, and clicks."""
        self._watched = (self._field, self._field.window())
        if isinstance(self._field, QAbstractScrollArea):
            # Clicks into a field of several lines are sent to its viewport.
            self._watched += (self._field.viewport(),)
        for watched in self._watched:
            watched.installEventFilter(self)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop watching."""
        for watched in self._watched:
            # A window that is being deleted hides its widgets.
            if isValid(watched):
                watched.removeEventFilter(self)
        super().hideEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the keys of the field; close the list after a click elsewhere and with the field."""
        kind, is_field = event.type(), watched is self._field
        if (
            kind == QEvent.Type.MouseButtonPress
            or (kind == QEvent.Type.Hide and is_field)
            or (kind == QEvent.Type.Resize and watched is self.parentWidget())
        ):
            self.hide()
        elif kind == QEvent.Type.FocusOut and is_field and isinstance(event, QFocusEvent):
            # The focus comes back from a context menu and from another window.
            temporary = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
            if event.reason() not in temporary:
                self.hide()
        elif is_field and isinstance(event, QKeyEvent) and self._takes_key(event):
            if kind == QEvent.Type.KeyPress:
                return self._handle_key(event.key())
            if kind == QEvent.Type.ShortcutOverride:
                # The window's shortcuts must not get the key.
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _takes_key(self, event: QKeyEvent) -> bool:
        return not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier and (
            event.key() in _STEPS or event.key() in _CHOOSING_KEYS or event.key() == Qt.Key.Key_Escape
        )

    def _handle_key(self, key: int) -> bool:
        if key == Qt.Key.Key_Escape:
            self.hide()
            self.dismissed.emit()
        elif key in _CHOOSING_KEYS:
            index = self.currentIndex()
            if not index.isValid() and key != Qt.Key.Key_Tab:
                self.hide()
                return False
            self._choose(index if index.isValid() else self._rows.index(0, 0))
        else:
            self._step(_STEPS[Qt.Key(key)])
        return True

    def _step(self, rows: int) -> None:
        """Move the selection; a single step goes around at the ends."""
        count, current = self._rows.rowCount(), self.currentIndex().row()
        row = (current if current >= 0 or rows > 0 else 0) + rows
        row = row % count if abs(rows) == 1 else min(max(0, row), count - 1)
        self.setCurrentIndex(self._rows.index(row, 0))

    def _choose(self, index: QModelIndex) -> None:
        self.hide()
        self.chosen.emit(index.row(), index.data())

    def _place(self, area: QRect, bounds: QRect) -> None:
        """Position the list below the area if there is space, otherwise on the side with more space."""
        row_height = max(1, self.sizeHintForRow(0))
        frame = 2 * self.frameWidth() + 2
        full_height = min(self._rows.rowCount(), _MAX_ROWS) * row_height + frame
        below = bounds.bottom() - area.bottom() - _GAP
        above = area.top() - bounds.top() - _GAP
        is_below = below >= full_height or below >= above
        height = min(full_height, max(row_height + frame, below if is_below else above))
        char_width = self.fontMetrics().averageCharWidth()
        min_width = max(area.width(), _MIN_WIDTH_CHARS * char_width)
        max_width = max(area.width(), _MAX_WIDTH_CHARS * char_width)
        width = min(max(min_width, self.sizeHintForColumn(0) + 32), max_width, bounds.width() - 2 * _MARGIN)
        left = max(bounds.left() + _MARGIN, min(area.left(), bounds.right() - width - _MARGIN))
        top = area.bottom() + _GAP if is_below else area.top() - _GAP - height
        self.setGeometry(left, top, width, height)
