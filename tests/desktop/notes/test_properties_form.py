"""The form of a note's properties."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.desktop.notes.properties_form import PropertiesForm
from app.desktop.theme.theme import ThemeSource
from app.vault.markdown.scan import scan


def test_the_add_row_disappears_when_the_property_already_has_the_value(qtbot: QtBot) -> None:
    form = PropertiesForm(ThemeSource("light"))
    qtbot.addWidget(form)
    form.show_properties(scan("---\nrating: 4\n---\n"), True)
    form.show()

    def fields() -> dict[str, QLineEdit]:
        return {field.placeholderText(): field for field in form.findChildren(QLineEdit)}

    form._start_adding()
    fields()["Name"].setText("rating")
    value = fields()["Value"]
    value.setText("4")
    with qtbot.waitSignal(form.changed) as change:
        QTest.keyClick(value, Qt.Key.Key_Return)
    assert change.args == ["rating", 4]
    qtbot.waitUntil(lambda: "Value" not in fields())
