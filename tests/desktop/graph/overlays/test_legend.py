"""The legend of the graph keeps room for its button at every zoom."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QToolButton, QWidget

from app.desktop.graph.node_style import LegendEntry
from app.desktop.graph.overlays.legend import Legend
from app.desktop.theme.colors import LIGHT
from app.desktop.theme.stylesheet import stylesheet


@pytest.mark.parametrize("zoom", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("small", [False, True])
def test_the_button_that_collapses_it_shows_its_icon(qtbot, zoom: float, small: bool) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.setStyleSheet(stylesheet(LIGHT, zoom))
    legend = Legend(window)
    window.resize(600, 300)
    window.show()
    legend.show_groups([LegendEntry("a", "Notes", "#336699", 3)], [], (), LIGHT, 1.0)
    legend.arrange(500, small=small)
    button = next(b for b in legend.findChildren(QToolButton) if "egend" in b.accessibleName())
    assert legend.rect().contains(button.geometry())
    image = button.grab().toImage()
    drawn = {image.pixel(x, y) for x in range(4, image.width() - 4) for y in range(4, image.height() - 4)}
    assert len(drawn) > 5
