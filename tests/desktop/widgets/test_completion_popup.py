from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from app.desktop.widgets.completion_popup import CompletionPopup

KEYS = Qt.Key


class Form(QWidget):
    """A window with a label and two fields; the first has completions."""

    def __init__(self, *, preselect: bool = True) -> None:
        super().__init__()
        self.label, self.field, self.other = QLabel("Name"), QLineEdit(), QPlainTextEdit()
        column = QVBoxLayout(self)
        for widget in (self.label, self.field, self.other):
            column.addWidget(widget)
        self.popup = CompletionPopup(self.field, preselect=preselect)
        self.chosen: list[str] = []
        self.popup.chosen.connect(lambda _, label: self.chosen.append(label))


def opened(qtbot, *, preselect: bool = True) -> Form:
    form = Form(preselect=preselect)
    qtbot.addWidget(form)
    form.resize(400, 300)
    form.show()
    form.activateWindow()
    form.field.setFocus()
    qtbot.waitUntil(form.field.hasFocus)
    form.popup.offer(["one", "two", "three"])
    assert form.popup.labels == ("one", "two", "three")
    return form


@pytest.mark.parametrize("key", [KEYS.Key_Return, KEYS.Key_Tab])
def test_enter_and_tab_choose_the_selected_row_and_the_field_keeps_the_focus(qtbot, key: Qt.Key) -> None:
    form = opened(qtbot)
    QTest.keyClick(form.field, KEYS.Key_Up)
    QTest.keyClick(form.field, key)
    assert form.chosen == ["three"] and form.field.hasFocus() and not form.popup.is_open


def test_without_a_selected_row_enter_is_left_to_the_field_and_tab_takes_the_first(qtbot) -> None:
    form = opened(qtbot, preselect=False)
    entered: list[bool] = []
    form.field.returnPressed.connect(lambda: entered.append(True))
    QTest.keyClick(form.field, KEYS.Key_Return)
    assert entered and not form.chosen and not form.popup.is_open
    form.popup.offer(["one", "two"])
    QTest.keyClick(form.field, KEYS.Key_Tab)
    form.popup.offer(["one", "two"])
    QTest.keyClick(form.field, KEYS.Key_Down)
    QTest.keyClick(form.field, KEYS.Key_Down)
    QTest.keyClick(form.field, KEYS.Key_Return)
    assert form.chosen == ["one", "two"] and len(entered) == 1


def test_escape_a_click_elsewhere_and_another_field_close_the_list(qtbot) -> None:
    form = opened(qtbot)
    dismissed: list[bool] = []
    form.popup.dismissed.connect(lambda: dismissed.append(True))
    QTest.keyClick(form.field, KEYS.Key_Escape)
    assert dismissed and not form.popup.is_open
    form.popup.offer(["one"])
    QTest.mouseClick(form.label, Qt.MouseButton.LeftButton)
    assert not form.popup.is_open
    form.popup.offer(["one"])
    form.other.setFocus()
    assert not form.popup.is_open and len(dismissed) == 1
    form.popup.offer(["one"])
    assert not form.popup.is_open, "the field no longer has the focus"


def test_the_list_never_covers_the_field_and_stays_inside_the_window(qtbot) -> None:
    form = opened(qtbot)
    for height in (300, 90):
        form.resize(400, height)
        QTest.qWait(0)
        form.popup.offer([f"{number} is quite a long name" * 4 for number in range(30)])
        area = form.field.rect().translated(form.field.mapTo(form, QPoint()))
        assert not form.popup.geometry().intersects(area)
        assert form.popup.geometry().left() >= 0 and form.popup.geometry().right() <= form.width()


def test_the_list_is_deleted_with_its_field(qtbot) -> None:
    form = opened(qtbot)
    deleted: list[bool] = []
    form.popup.destroyed.connect(lambda: deleted.append(True))
    form.field.deleteLater()
    qtbot.waitUntil(lambda: bool(deleted))


def test_a_window_can_be_deleted_while_its_list_is_open(qtbot) -> None:
    form = Form()
    form.show()
    form.activateWindow()
    form.field.setFocus()
    qtbot.waitUntil(form.field.hasFocus)
    form.popup.offer(["one"])
    assert form.popup.is_open
    deleted: list[bool] = []
    form.destroyed.connect(lambda: deleted.append(True))
    form.deleteLater()
    qtbot.waitUntil(lambda: bool(deleted))
