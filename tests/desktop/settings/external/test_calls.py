"""Calling a foreign tool from the window, and its progress."""

from __future__ import annotations

import time

from PySide6.QtWidgets import QComboBox, QLineEdit, QSpinBox, QWidget

from app.agent.transcript import ToolCard
from app.desktop.agent.transcript_view import TranscriptView
from app.desktop.settings.external.labels import progress_label
from app.desktop.theme.theme import ThemeSource
from app.desktop.tool_form.result_text import format_result
from app.external.remote_tool import RemoteTool
from app.external.states import ExternalProgress
from app.external.tool_adapter import adapt_tool
from app.settings import ExternalServer
from app.toolkit.tool import Tool
from tests.desktop.tool_form.test_every_form import form_of

TAKES = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Which city"},
        "days": {"type": "integer", "minimum": 1, "maximum": 10},
        "unit": {"enum": ["C", "F"]},
        "stations": {"type": "array", "items": {"type": "string"}},
        "op": {"type": "string"},
        "deep": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
    "required": ["city", "days"],
}


def forecast() -> Tool:
    async def check(tool: RemoteTool) -> None: ...

    async def call(tool: RemoteTool, sent: dict[str, object]) -> None: ...

    server = ExternalServer(name="Weather", command="weather")
    return adapt_tool(server, RemoteTool(name="forecast", input_schema=TAKES), check, call)  # type: ignore[arg-type]


def test_the_form_of_a_foreign_tool_gives_what_its_schema_takes(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    tool = forecast()
    form = form_of(tool, window)
    assert (
        set(form.editors)
        == {"city", "days", "unit", "stations", "op_", "deep"}
        == set(form.visible_arguments)
    )
    city, days, unit = (form.editors[name].control for name in ("city", "days", "unit"))
    assert isinstance(city, QLineEdit) and isinstance(days, QSpinBox) and isinstance(unit, QComboBox)
    assert (days.minimum(), days.maximum()) == (1, 10)
    form.call_button.click()
    assert form.isVisible() is False and form.result() == 0 and "city" not in form._read_arguments()
    city.setText("Oslo")
    days.setValue(3)
    unit.setCurrentIndex(unit.findData("F"))
    form.editors["stations"].control.setText("a, b")
    arguments = form._read_arguments()
    assert arguments == {"city": "Oslo", "days": 3, "unit": "F", "stations": ["a", "b"]}
    tool.arguments.model_validate(arguments)


def test_a_call_shows_its_progress_on_its_card_until_it_ends(qtbot) -> None:
    view = TranscriptView(ThemeSource("light"))
    qtbot.addWidget(view)
    card = ToolCard(turn="1", at=time.time(), call="c", tool="weather__forecast", arguments="{}")
    view.put(0, card)
    view.show_progress("weather__forecast", progress_label(ExternalProgress("", 0.25, "a\u202equarter")))
    label = view._views[0].card._message
    assert label.text() == "25% · a⟨RLO⟩quarter" and not label.isHidden()
    view.put(0, card.model_copy(update={"state": "done", "message": "Answered."}))
    view.show_progress("weather__forecast", "late")
    assert label.text() == "Answered."


def test_what_a_server_answers_draws_nothing_into_the_window() -> None:
    text = format_result(
        {"text": "![x](http://evil.example/a.png)", "data": {"**[a](http://evil.example)**": 1}}
    )
    assert "![x](" not in text and "[a](" not in text and "evil.example" in text
