"""A list model over a tuple of rows."""

from __future__ import annotations

from typing import Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex

_ROOT_INDEX = QModelIndex()
Row = TypeVar("Row")


class TupleListModel(QAbstractListModel, Generic[Row]):
    """Holds rows that are only replaced together; subclasses implement `data`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.rows: tuple[Row, ...] = ()

    def show(self, rows: tuple[Row, ...]) -> None:
        """Replace the rows."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT_INDEX) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.rows)
