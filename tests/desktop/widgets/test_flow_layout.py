"""Columns have equal widths, and as many as fit are used."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from app.desktop.widgets.flow_layout import FlowLayout


@pytest.mark.parametrize("columns", [2, 1])
def test_columns_fit_the_width(qtbot, columns: int) -> None:
    area = QWidget()
    qtbot.addWidget(area)
    layout = FlowLayout(area, columns=2)
    buttons = [QPushButton(text) for text in ("By folder", "Tag", "By creation")]
    for button in buttons:
        layout.addWidget(button)
    widest = max(button.sizeHint().width() for button in buttons)
    width = 2 * widest + 4 if columns == 2 else 2 * widest
    area.resize(width, layout.heightForWidth(width))
    area.show()
    assert len({button.x() for button in buttons}) == columns
    assert len({button.width() for button in buttons}) == 1
    assert all(button.geometry().right() < width for button in buttons)
    assert buttons[-1].geometry().bottom() < area.height()
