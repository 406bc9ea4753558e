"""Delegates for lists and tables that highlight whole rows."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem


class RowDelegate(QStyledItemDelegate):
    """Paints an item without a focus frame: its row is highlighted instead."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Remove the focus frame."""
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus


class PaintedRowDelegate(RowDelegate):
    """Paints an item without its text, for subclasses that paint the text in their own way."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Remove the text."""
        super().initStyleOption(option, index)
        option.text = ""
