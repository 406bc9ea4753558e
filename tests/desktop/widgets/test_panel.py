"""The title bar of a panel hides its count if there is little room."""

from __future__ import annotations

from PySide6.QtWidgets import QToolButton

from app.desktop.widgets.panel import PanelTitle


def test_the_count_is_hidden_without_room(gui) -> None:
    title = PanelTitle("Search")
    for _ in range(3):
        title.add(QToolButton())
    title.show()
    title.resize(title.sizeHint().width() + 6, 40)
    title.set_count("1,234,567")
    assert title._name.isVisible() and not title._count.isVisible()
    assert title._name.toolTip() == "Search 1,234,567"
    title.resize(title.width() + 200, 40)
    assert title._name.isVisible() and title._count.isVisible()
    title.deleteLater()


def test_a_short_name_is_never_elided(gui) -> None:
    title = PanelTitle("Search")
    for _ in range(4):
        title.add(QToolButton())
    title.show()
    title.resize(title.minimumSizeHint())
    assert title._name.width() >= title._name.fontMetrics().horizontalAdvance("Search")
    title.deleteLater()
