"""A question in the panel is answered with a passage; its link opens the note with the passage marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QTextCursor

from tests.flows.models import use_model
from tests.flows.pilot import Pilot
from tests.support.model_server import TextAnswer

FACT = "The kettle was invented by Anna Weber in 1871."
NOTE = "# Kettle\n\n" + "A line of filling.\n\n" * 40 + f"{FACT}\n"


@pytest.fixture
def kettle(garden: Path) -> Path:
    note = garden / "Kettle.md"
    note.write_text(NOTE, "utf-8")
    return note


def _marked(view) -> str:
    marks = view.extraSelections()
    return QTextCursor(marks[0].cursor).selectedText() if marks else ""


def test_from_a_question_to_the_marked_passage(app_run, garden: Path, kettle: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.ask("who invented the kettle?")
        assert FACT in pilot.said()
        await pilot.follow_answer("Kettle")
        note = await pilot.shown("Kettle.md")
        await pilot.until(lambda: _marked(note.editor) == FACT, "the passage is marked")
        assert kettle.read_text("utf-8") == NOTE

    app_run(use)


def test_what_a_model_makes_up_is_marked(app_run, settings, garden: Path, kettle: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.ask("who invented the kettle?")
        assert "citation not found" in pilot.said() and "not in your notes" in pilot.said()
        await pilot.follow_answer("Kettle")
        note = await pilot.shown("Kettle.md")
        await pilot.until(lambda: _marked(note.editor) == "invented by Anna Weber", "the quotation is marked")

    said = (
        'It was "invented by Anna Weber" [[Kettle]]. It was "patented by Max Weber" [[Pot]]. '
        "She lived in Rome for years."
    )
    with use_model(settings, TextAnswer(said)):
        app_run(use)
