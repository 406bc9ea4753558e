"""The bar over a panel: what of it shows where there is little room."""

from __future__ import annotations

from PySide6.QtWidgets import QToolButton

from app.desktop.panel import PanelTitle


def test_a_number_that_comes_later_takes_the_place_of_a_name_that_has_no_room(gui) -> None:
    title = PanelTitle("Search")
    for _ in range(3):
        title.add(QToolButton())
    title.show()
    title.resize(title.sizeHint().width() + 6, 40)
    assert title._name.isVisible()
    title.set_count("1,234,567")
    assert not title._name.isVisible() and title._count.isVisible()
    title.set_count("")
    assert title._name.isVisible()
    title.deleteLater()
