"""The status bar: a message covers the labels on its left."""

from __future__ import annotations

from PySide6.QtWidgets import QMainWindow

from app.desktop.shell.status_bar import StatusBar
from app.desktop.theme.theme import ThemeSource


def test_a_message_set_before_the_window_is_shown_hides_the_labels(qtbot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    bar = StatusBar(ThemeSource("light"), window)
    window.setStatusBar(bar)
    bar.showMessage("Opening vault…")
    window.show()
    assert bar.currentMessage() == "Opening vault…"
    assert not bar.counts.isVisible()
    bar.clearMessage()
    assert bar.counts.isVisible()
