"""An external agent in the real window: chosen in the menu, it answers, asks, is denied and undone."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtWidgets import QLabel

from app.agent.transcript import AgentPlan, AgentText, ToolCard
from app.desktop.agent.model_menu import ModelMenu
from app.settings import AgentProgram, AgentProgramSettings, Settings, save_settings
from tests.flows.pilot import Pilot

SCRIPT = Path(__file__).resolve().parents[1] / "support" / "external_agent.py"
WORK = (
    "!say I look at [[Tea]]. ;; !plan Look|Write ;; !write Tea.md A leaf. ;; !edit-silently Loose.md Mine."
    " ;; !ask execute make tea"
)


def test_an_external_agent_works_asks_and_its_direct_edits_are_undone(
    app_run, settings: Settings, garden: Path
):
    outsider = AgentProgram(name="Outsider", command=sys.executable, arguments=(str(SCRIPT),))
    settings.programs = AgentProgramSettings(programs=(outsider,))
    save_settings(settings)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        button = pilot.agent.composer.model
        await pilot.click(button)
        await pilot.until(lambda: pilot.agent.findChild(ModelMenu) is not None, "the menu opens")
        await pilot.choose(pilot.agent.findChild(ModelMenu), "Outsider")
        await pilot.until(lambda: button.text() == "Outsider", "the program is chosen")

        await pilot.type_prompt(WORK)
        dialog = await pilot.question()
        assert dialog.current.request.caller.name == "Outsider"
        assert [str(path) for path in dialog.current.request.scope.paths] == ["Tea.md"]
        await pilot.approve()
        dialog = await pilot.question()
        assert dialog.current.request.proposal.text == "Run outside the app: make tea"
        await pilot.deny("not now")
        await pilot.turn_over(1)

        items = await pilot.items()
        said = "".join(one.text for one in items if isinstance(one, AgentText))
        assert "[written]" in said and "[no]" in said and any(isinstance(one, AgentPlan) for one in items)
        tools = [one.tool for one in items if isinstance(one, ToolCard)]
        assert tools == ["agent_write", "direct_edit"]
        labels = [one.text() for one in pilot.agent.transcript.widget().findChildren(QLabel)]
        assert "Outsider" in labels and "Look" in labels
        assert (garden / "Tea.md").read_text() == "A leaf.\n" and (garden / "Loose.md").exists()

        direct = next(card for card in pilot.cards if card._name.text() == "Direct edit")
        await pilot.press("Undo", direct)
        await pilot.approve()
        await pilot.until(lambda: not (garden / "Loose.md").exists(), "it is taken back")
        entry = await pilot.select_entry("direct_edit")
        assert (entry.caller, entry.decision) == ("Outsider", "not-asked")

    app_run(use)
