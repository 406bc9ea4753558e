"""A row with a short text at its right."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QTreeView

from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.count_delegate import CountDelegate

_ROLE = Qt.ItemDataRole.UserRole


def test_a_long_name_ends_before_the_text_at_the_right(qtbot) -> None:
    item = QStandardItem("write the report that was due a long time ago")
    item.setCheckable(True)
    item.setData("2026-11-25", _ROLE)
    model = QStandardItemModel()
    model.appendRow(item)
    tree = QTreeView()
    qtbot.addWidget(tree)
    tree.setModel(model)
    delegate = CountDelegate(ThemeSource("light"), _ROLE, tree)
    tree.setItemDelegate(delegate)
    tree.setHeaderHidden(True)
    tree.resize(220, 100)
    tree.show()
    option, index = QStyleOptionViewItem(), model.index(0, 0)
    option.initFrom(tree)
    option.widget, option.rect = tree, tree.visualRect(index)  # type: ignore[attr-defined]
    delegate.initStyleOption(option, index)
    shown = option.text  # type: ignore[attr-defined]
    text_area = tree.style().subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, tree)
    end = text_area.left() + option.fontMetrics.horizontalAdvance(shown)  # type: ignore[attr-defined]
    right = option.rect.right() - option.fontMetrics.horizontalAdvance("2026-11-25")  # type: ignore[attr-defined]
    assert shown.startswith("write") and shown.endswith("…") and end < right
