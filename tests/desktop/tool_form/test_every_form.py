from __future__ import annotations

from typing import cast

import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.theme.theme import ThemeSource
from app.desktop.tool_form.form import ToolFormDialog
from app.desktop.tool_form.result_text import format_result
from app.toolkit.tool import Tool
from app.tools import CATALOG

CLIENT = cast("VaultClient", None)
"""For forms that are only looked at: nothing is typed into them, so no name is asked for."""


def form_of(tool: Tool, window: QWidget) -> ToolFormDialog:
    return ToolFormDialog(tool, CLIENT, ThemeSource("light"), window)


@pytest.mark.parametrize("tool", CATALOG, ids=lambda tool: tool.name)
def test_every_tool_has_a_form_with_a_named_control_for_each_argument(qtbot, tool: Tool) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    form = form_of(tool, window)
    assert set(form.editors) == {parameter.name for parameter in tool.parameters}
    for parameter in tool.parameters:
        control = form.editors[parameter.name].control
        assert control.accessibleName() and control.accessibleDescription()
    values = form._read_arguments()
    assert set(values) <= {"op"} | {p.name for p in tool.parameters if p.required}, "defaults are left out"


@pytest.mark.parametrize("tool", [tool for tool in CATALOG if tool.operations], ids=lambda tool: tool.name)
def test_each_operation_shows_what_it_takes(qtbot, tool: Tool) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    form = form_of(tool, window)
    box = form.editors["op"].control
    assert isinstance(box, QComboBox)
    conditional = frozenset().union(*(fields.takes for fields in tool.operations.values()))
    for op, fields in tool.operations.items():
        box.setCurrentIndex(box.findData(op))
        assert {name for name in form.visible_arguments if name in conditional} == fields.takes
        is_valid = form._validate(form._read_arguments())
        marked = {name for name, label in form._errors.items() if label.text()}
        needed = {name for name in fields.needs if form.editors[name].value in (None, "", (), [])}
        needed -= tool.nullable
        assert needed <= marked and (is_valid is False or not needed)


def test_the_form_has_room_for_what_an_operation_takes(qtbot) -> None:
    window = QWidget()
    window.resize(1200, 900)
    qtbot.addWidget(window)
    (tool,) = (tool for tool in CATALOG if tool.name == "block")
    form = form_of(tool, window)
    window.show()
    form.show()
    form.move(window.x() + 100, window.y() + 500)
    box = form.editors["op"].control
    assert isinstance(box, QComboBox)
    before = form.height()
    assert form._area.verticalScrollBar().maximum() == 0, "all of the first operation is in sight"
    box.setCurrentIndex(box.findData("create"))
    qtbot.waitUntil(lambda: form.height() > before)
    assert form.frameGeometry().bottom() <= window.frameGeometry().bottom(), "its buttons are in sight"


def test_an_empty_value_empties_a_field_of_a_block(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    (tool,) = (tool for tool in CATALOG if tool.name == "block_edit")
    values = {"op": "set_field", "label": "facts", "field": "mood"}
    form = ToolFormDialog(tool, CLIENT, ThemeSource("light"), window, values)
    assert form._read_arguments() == {**values, "value": None} and form._validate(form._read_arguments())
    appended = {"op": "append", "label": "facts", "content": "x"}
    assert ToolFormDialog(tool, CLIENT, ThemeSource("light"), window, appended)._read_arguments() == appended


def test_form_values_round_trip(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    (tool,) = (tool for tool in CATALOG if tool.name == "set_properties")
    values = {"name": "Tea", "properties": {"rating": 4, "topics": ["tea", "water: hot"], "done": True}}
    form = ToolFormDialog(tool, CLIENT, ThemeSource("light"), window, values, "It was locked.")
    assert form._read_arguments() == values and form.problem.text() == "It was locked."
    name = form.editors["name"].control
    assert isinstance(name, QLineEdit) and name.text() == "Tea"


def test_descriptions_and_examples_show_no_marks_of_code(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    for tool in CATALOG:
        form = ToolFormDialog(tool, CLIENT, ThemeSource("light"), window)
        texts = [label.text() for label in form.findChildren(QLabel)]
        assert not any("`" in text or "‹" in text for text in texts), tool.name
        assert "{" not in form.example.text(), tool.name
        form.deleteLater()
    (tool,) = (tool for tool in CATALOG if tool.name == "rename_tag")
    form = ToolFormDialog(tool, CLIENT, ThemeSource("light"), window)
    assert "[" in form.example.text() and "_id" not in form.example.text()


def test_a_result_is_shown_with_links_and_without_markdown() -> None:
    text = format_result(
        {
            "message": "2 notes.",
            "total": 2,
            "empty": [],
            "hits": [
                {"path": "Plants/Mint.md", "name": "Mint", "score": 0.91234},
                {"path": "Tea.md", "name": "Tea", "score": 1.0},
            ],
            "tags": ["a|b", "<b>bold</b>", "[[Not a link]]"],
            "text": "# A heading\n```\ncode",
        }
    )
    assert "- **Total**: 2" in text and "Empty" not in text and "2 notes." not in text
    assert "[[Plants/Mint\\|Mint]] | 0.912" in text and "[[Tea]] | 1" in text
    assert "\\[\\[Not a link\\]\\]" in text and "\\<b\\>" in text
    assert "````\n# A heading\n```\ncode\n````" in text


@pytest.mark.parametrize(
    ("name", "field", "typed", "expected"),
    [
        ("shell", "args", "-t, -k 1 'two words' \"\"", ["-t,", "-k", "1", "two words", ""]),
        ("shell", "args", "it's", ["it's"]),
        ("git", "paths", "Tea.md, Plants/Mint.md", ["Tea.md", "Plants/Mint.md"]),
    ],
)
def test_lists_accept_common_separators(
    qtbot, name: str, field: str, typed: str, expected: list[str]
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    (tool,) = (tool for tool in CATALOG if tool.name == name)
    form = form_of(tool, window)
    line = form.editors[field].control
    assert isinstance(line, QLineEdit)
    line.setText(typed)
    assert list(form.editors[field].value) == expected
    filled_form = ToolFormDialog(tool, CLIENT, ThemeSource("light"), window, {field: expected})
    assert list(filled_form.editors[field].value) == expected
