"""The list of the saved conversations."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QProxyStyle, QStyle
from pytestqt.qtbot import QtBot

from app.agent.conversations import Conversation
from app.desktop.agent.conversation_list import ConversationList
from app.desktop.theme.theme import ThemeSource


class ActivatingStyle(QProxyStyle):
    """A style that sets whether one click activates an item, as desktops do."""

    def __init__(self, is_single_click: bool) -> None:
        super().__init__("Fusion")
        self._is_single_click = is_single_click

    def styleHint(self, hint, option=None, widget=None, returnData=None) -> int:  # type: ignore[override]
        if hint == QStyle.StyleHint.SH_ItemView_ActivateItemOnSingleClick:
            return int(self._is_single_click)
        return super().styleHint(hint, option, widget, returnData)


@pytest.mark.parametrize("is_single_click", [False, True])
def test_each_gesture_opens_a_conversation_once(qtbot: QtBot, is_single_click: bool) -> None:
    conversations = ConversationList(ThemeSource("light"))
    qtbot.addWidget(conversations)
    style = ActivatingStyle(is_single_click)
    view = conversations._list
    view.setStyle(style)
    conversations.show_conversations((Conversation("1", "One", 0, 0), Conversation("2", "Two", 0, 0)))
    conversations.show()
    conversations.activateWindow()
    chosen: list[str] = []
    conversations.chosen.connect(chosen.append)

    left, place = Qt.MouseButton.LeftButton, view.visualItemRect(view.item(1)).center()
    QTest.mouseClick(view.viewport(), left, pos=place)
    assert chosen == ["2"]
    QTest.mouseDClick(view.viewport(), left, pos=place)
    assert set(chosen) == {"2"} and len(chosen) <= 2, "a double click opens it no more than once"
    chosen.clear()
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        QTest.keyClick(view, key)
    assert chosen == ["2", "2"]
