"""The editors of property values."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.desktop.notes.property_rows import ListValue
from app.desktop.theme.theme import ThemeSource


def test_an_ampersand_in_a_value_is_shown(qtbot: QtBot) -> None:
    editor = ListValue(ThemeSource("light"), "aliases", ["R&D"], editable=False)
    qtbot.addWidget(editor)
    (button,) = editor.findChildren(QPushButton)
    assert button.text() == "R&&D", "a single ampersand would underline the next letter"
