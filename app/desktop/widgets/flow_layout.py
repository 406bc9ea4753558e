"""A layout that fills lines from the left and wraps them like words."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Lines of widgets at their preferred width; the last one may take the rest of its line.

    Args:
        parent: The parent.
        spacing: The space between widgets and between lines.
        stretch_last: True if the last widget takes the rest of its line.
        columns: If not 0, the widgets fill as many columns of equal width as fit, up to this number.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        spacing: int = 4,
        *,
        stretch_last: bool = False,
        columns: int = 0,
    ) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._stretch_last = stretch_last
        self._columns = columns
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        """Append `item`."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return the item at `index`, or None if out of range."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return the item at `index`; None if out of range."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Return no directions: the layout needs no more space than its items."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Return True: the height depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines at `width` pixels."""
        return self._lay_out(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        """Position every item."""
        super().setGeometry(rect)
        self._lay_out(rect, move=True)

    def sizeHint(self) -> QSize:
        """Return the minimum size."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Return a size that fits each item's minimum size."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _lay_out(self, rect: QRect, *, move: bool) -> int:
        """Arrange the lines and return their height."""
        x, y, line_height = rect.x(), rect.y(), 0
        items = [item for item in self._items if not item.isEmpty()]
        column_width = self._column_width(rect.width(), items)
        for item in items:
            is_stretched = self._stretch_last and item is items[-1]
            size = item.sizeHint().boundedTo(QSize(rect.width(), 100_000))
            if column_width:
                size.setWidth(column_width)
            elif is_stretched:
                size.setWidth(item.minimumSize().width())
            if x > rect.x() and x + size.width() > rect.right() + 1:
                x, y, line_height = rect.x(), y + line_height + self.spacing(), 0
            if is_stretched:
                size.setWidth(rect.right() + 1 - x)
            if move:
                item.setGeometry(QRect(QPoint(x, y), size))
            x, line_height = x + size.width() + self.spacing(), max(line_height, size.height())
        return y + line_height - rect.y()

    def _column_width(self, width: int, items: list[QLayoutItem]) -> int:
        """Return the width of each column; 0 without columns."""
        if not self._columns or not items:
            return 0
        widest = max(item.sizeHint().width() for item in items)
        fitting = (width + self.spacing()) // (widest + self.spacing())
        columns = max(1, min(self._columns, fitting))
        return (width - (columns - 1) * self.spacing()) // columns
