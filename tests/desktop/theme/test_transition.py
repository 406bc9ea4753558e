from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import ThemeSource
from tests.desktop.theme.applied_theme import is_applied


def page(number: int) -> QWidget:
    widget = QWidget()
    widget.setObjectName("panel")
    column = QVBoxLayout(widget)
    for row in range(12):
        label = QLabel(f"Label {number} {row}")
        label.setProperty("tone", "muted")
        button = QPushButton(f"Button {row}")
        button.setProperty("role", "primary" if row % 2 else "quiet")
        for part in (label, button, QLineEdit("text")):
            column.addWidget(part)
    return widget


@pytest.fixture
def pages(qtbot: QtBot, qapp: QApplication) -> Iterator[QStackedWidget]:
    """Three pages, one of which is shown; the others have been shown once."""
    stack = QStackedWidget()
    qtbot.addWidget(stack)
    for number in range(3):
        stack.addWidget(page(number))
    stack.resize(400, 1200)
    stack.show()
    qtbot.waitExposed(stack)
    for number in (1, 2, 0):
        stack.setCurrentIndex(number)
    yield stack
    qapp.setStyleSheet("")


def looks(stack: QStackedWidget) -> list[QImage]:
    pictures = []
    for number in range(stack.count()):
        stack.setCurrentIndex(number)
        pictures.append(stack.grab().toImage())
    stack.setCurrentIndex(0)
    return pictures


def test_hidden_widgets_are_restyled_later_with_the_same_result(
    qtbot: QtBot, qapp: QApplication, pages: QStackedWidget
) -> None:
    source = ThemeSource("light")
    source.apply(qapp)
    light = looks(pages)
    source.set("dark")
    assert not is_applied(source) and not pages.updatesEnabled()
    qtbot.waitUntil(pages.updatesEnabled, timeout=10_000)
    background = pages.grab().toImage().pixelColor(5, 5)
    qtbot.waitUntil(lambda: is_applied(source), timeout=10_000)
    dark = looks(pages)
    source.apply(qapp)  # Everything at once.
    assert looks(pages) == dark
    assert dark[0].pixelColor(5, 5) == background, "the first picture that is painted is dark"
    assert all(first != second for first, second in zip(light, dark, strict=True))
    source.set("light")
    source.set("dark")
    source.set("light")
    qtbot.waitUntil(lambda: is_applied(source), timeout=10_000)
    light_again = looks(pages)
    source.apply(qapp)
    assert looks(pages) == light_again


def test_destroyed_widgets_do_no_harm(qtbot: QtBot, qapp: QApplication, pages: QStackedWidget) -> None:
    source = ThemeSource("light")
    source.apply(qapp)
    source.set("dark")
    for number in (2, 1):
        gone = pages.widget(number)
        assert gone is not None
        pages.removeWidget(gone)
        gone.deleteLater()
    del gone
    qtbot.waitUntil(lambda: is_applied(source), timeout=10_000)
    assert pages.count() == 1


def test_a_window_that_was_about_to_be_painted_is_still_painted(
    qtbot: QtBot, qapp: QApplication, pages: QStackedWidget
) -> None:
    source = ThemeSource("light")
    source.apply(qapp)
    pages.repaint()
    pages.update()
    source.set("dark")
    qtbot.waitUntil(lambda: is_applied(source), timeout=10_000)
    painted = Painted(pages)
    pages.update()
    qtbot.waitUntil(lambda: painted.count > 0, timeout=10_000)


def test_failing_listeners_do_not_block_others(
    qtbot: QtBot,
    qapp: QApplication,
    pages: QStackedWidget,
    caplog: pytest.LogCaptureFixture,
    errors: list[str],
) -> None:
    errors.append("part of the window kept the previous theme")
    source = ThemeSource("light")
    source.apply(qapp)
    notifications: list[str] = []
    gone, failing, stays = (Listener(name, notifications, pages) for name in ("gone", "failing", "stays"))
    for listener in (gone, failing, stays):
        source.changed.connect(listener.receive)
        source.changed.connect(listener.notice)
    gone.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    source.set("dark")
    qtbot.waitUntil(lambda: is_applied(source), timeout=10_000)
    assert sorted(notifications) == ["failing noticed", "stays heard dark", "stays noticed"]
    assert pages.updatesEnabled() and "kept the previous theme" in caplog.text


class Painted(QObject):
    """Counts the paint events of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, _: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


class Listener(QWidget):
    """Records theme changes; the one called "failing" raises an error."""

    def __init__(self, name: str, notifications: list[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.name = name
        self.notifications = notifications

    def receive(self, theme: Theme) -> None:
        if self.name == "failing":
            raise ValueError(theme.name)
        self.notifications.append(f"{self.name} heard {theme.name}")

    def notice(self) -> None:
        self.notifications.append(f"{self.name} noticed")
