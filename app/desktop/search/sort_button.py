"""A button with a menu that sorts and groups search results."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from app.desktop.runtime.translation import translate
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ThemedButton
from app.index.search_request import Grouping, Order


class SortButton(ThemedButton):
    """Holds `order` and `grouping`; `changed` is emitted when the user chooses from the menu."""

    changed = Signal()

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__(theme, "sort-ascending", translate("SortButton", "Sort and group results"))
        self.order: Order = "relevance"
        self.grouping: Grouping = ""
        self._actions: dict[tuple[str, str], QAction] = {}
        menu = QMenu(self)
        orders: tuple[tuple[Order, str], ...] = (
            ("relevance", translate("SortButton", "Best match first")),
            ("name", translate("SortButton", "By name")),
            ("modified", translate("SortButton", "Recently changed first")),
            ("created", translate("SortButton", "Recently created first")),
        )
        self._add_section(menu, "order", orders, self._set_order)
        menu.addSeparator()
        groups: tuple[tuple[Grouping, str], ...] = (
            ("", translate("SortButton", "No grouping")),
            ("folder", translate("SortButton", "Group by folder")),
            ("type", translate("SortButton", "Group by type")),
            ("tag", translate("SortButton", "Group by first tag")),
        )
        self._add_section(menu, "group", groups, self._set_grouping)
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._update_checks()

    def choose(self, order: Order, grouping: Grouping) -> None:
        """Set the order and grouping without emitting `changed`."""
        self.order, self.grouping = order, grouping
        self._update_checks()

    def _add_section(
        self, menu: QMenu, name: str, choices: tuple[tuple[str, str], ...], handle: Callable[[QAction], None]
    ) -> None:
        action_group = QActionGroup(menu)
        for value, label in choices:
            action = menu.addAction(label)
            action.setCheckable(True)
            action.setData(value)
            action_group.addAction(action)
            self._actions[name, value] = action
        action_group.triggered.connect(handle)

    def _set_order(self, action: QAction) -> None:
        self.choose(action.data(), self.grouping)
        self.changed.emit()

    def _set_grouping(self, action: QAction) -> None:
        self.choose(self.order, action.data())
        self.changed.emit()

    def _update_checks(self) -> None:
        self._actions["order", self.order].setChecked(True)
        self._actions["group", self.grouping].setChecked(True)
