"""The explanation of a query: its parts as a tree, each with its number of matching notes."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QSizePolicy, QTreeView

from app.desktop.runtime.translation import translate_text
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.count_delegate import CountDelegate
from app.index.explanation import ExplanationNode

_COUNT_ROLE = int(Qt.ItemDataRole.UserRole)
_MAX_ROWS = 9


class QueryExplanationView(QTreeView):
    """A tree that is as tall as its rows, up to a maximum."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._model = QStandardItemModel(self)
        self.setModel(self._model)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(14)
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setItemDelegate(CountDelegate(theme, _COUNT_ROLE, self))
        self.setAccessibleName(self.tr("Explanation of the search"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_part(self, part: ExplanationNode) -> None:
        """Show `part` with the parts below it."""
        self._model.clear()
        self._model.appendRow(_create_item(part))
        self.expandAll()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height of all rows, up to a maximum."""
        rows = min(_MAX_ROWS, max(1, _count_rows(self._model.invisibleRootItem())))
        height = self.sizeHintForRow(0) if self._model.rowCount() else self.fontMetrics().height() + 8
        return QSize(120, rows * height + 2 * self.frameWidth() + 4)


def _create_item(part: ExplanationNode) -> QStandardItem:
    item = QStandardItem(translate_text(part.words))
    item.setToolTip("\n".join(_lines(part)))
    item.setData(part.count, _COUNT_ROLE)
    for child in part.parts:
        item.appendRow(_create_item(child))
    return item


def _lines(part: ExplanationNode, depth: int = 0) -> Iterator[str]:
    """Yield the explanation as indented lines."""
    count = "" if part.count is None else f" ({part.count:,})"
    yield f"{'    ' * depth}{translate_text(part.words)}{count}"
    for child in part.parts:
        yield from _lines(child, depth + 1)


def _count_rows(item: QStandardItem) -> int:
    return sum(1 + _count_rows(item.child(row)) for row in range(item.rowCount()))
