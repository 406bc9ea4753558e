"""Notes whose privacy is unknown, and files whose names are not UTF-8, in the window."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QLineEdit

from app.desktop.notes.view import NoteView
from app.desktop.problems.panel import ProblemsPanel
from tests.flows.conftest import write_vault
from tests.flows.pilot import Pilot


def _badge(note: NoteView) -> tuple[str, str]:
    """Return the badge of a note that explains its visibility."""
    shown = [one for one in note.findChildren(QLabel) if one.accessibleDescription() and one.isVisible()]
    return (shown[0].text(), shown[0].toolTip()) if shown else ("", "")


def _rows(panel: ProblemsPanel) -> dict[str, str]:
    rows = [panel.table.topLevelItem(number) for number in range(panel.table.topLevelItemCount())]
    return {row.text(0): row.text(1) for row in rows if row is not None}


def test_a_note_that_cannot_be_judged_has_a_badge_and_a_row(app_run, garden: Path) -> None:
    write_vault(
        garden,
        {
            "Typo.md": b"---\nai: [\n---\nbody\n",
            "Own.md": b"---\nai: private\n---\nbody\n",
            "Error.md": b"---\ntitle: Re: plan\n---\nbody\n",
        },
    )

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        pilot.window.menu.run("show-problems")
        panel = pilot.panel("problems", ProblemsPanel)
        await pilot.until(lambda: "Typo.md" in _rows(panel), "it is listed")
        assert "Agents and other programs can't see it" in _rows(panel)["Typo.md"]
        assert "Agents" not in _rows(panel)["Error.md"] and "Own.md" not in _rows(panel)
        note = await pilot.open_note("Typo.md")
        await pilot.until(lambda: _badge(note)[0] == "Hidden", "the badge is there")
        assert "privacy of this note is unknown" in _badge(note)[1] and "can't be read" in _badge(note)[1]
        own = await pilot.open_note("Own.md")
        await pilot.until(lambda: _badge(own)[0] == "Private", "a private note says so")
        error = await pilot.open_note("Error.md")
        await pilot.until(lambda: "body" in error.editor.toPlainText())
        assert _badge(error) == ("", "")

    app_run(use)


@pytest.mark.skipif(sys.platform != "linux", reason="only there can a file have such a name")
def test_a_file_whose_name_is_not_utf8_is_renamed_from_the_problems(app_run, garden: Path) -> None:
    raw = garden / os.fsdecode(b"Gr\xfc\xdfe.md")
    raw.write_bytes(b"greetings\n")

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        pilot.window.menu.run("show-problems")
        panel = pilot.panel("problems", ProblemsPanel)
        await pilot.until(lambda: r"Gr\xfc\xdfe.md" in _rows(panel), "it is listed with its bytes")
        panel.table.setCurrentItem(panel.table.topLevelItem(list(_rows(panel)).index(r"Gr\xfc\xdfe.md")))
        await pilot.press("Rename the selected file…", panel)
        await pilot.until(lambda: pilot.sheets, "it asks for a name")
        field = pilot.sheets[0].findChild(QLineEdit)
        assert field is not None and field.text() == "Grüße.md"
        field.setText("Tea.md")
        await pilot.press("Rename", pilot.sheets[0])
        await pilot.until(lambda: pilot.sheets and pilot.sheets[0].findChild(QLineEdit) is not field)
        again = pilot.sheets[0].findChild(QLineEdit)
        assert again is not None and raw.exists()
        again.setText("Grüße.md")
        await pilot.press("Rename", pilot.sheets[0])
        await pilot.until(lambda: "Grüße.md" in pilot.nodes, "it is a note of the vault")
        await pilot.until(lambda: r"Gr\xfc\xdfe.md" not in _rows(panel), "the problem is gone")
        assert (garden / "Grüße.md").read_bytes() == b"greetings\n" and not os.path.lexists(raw)

    app_run(use)
