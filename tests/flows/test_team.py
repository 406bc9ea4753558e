"""The team in the real window: a group answers in the agent panel, is stopped, and messages the user."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from app.agent.transcript import AgentText, Message, ToolCard
from app.permissions.caller import Caller, CallerKind
from app.settings import AgentGroup, AgentProfile, Settings, TeamSettings, save_settings
from app.settings.answering import AnswerByTeam
from tests.flows.models import use_model
from tests.flows.pilot import Pilot
from tests.support.model_server import CallTool, TextAnswer

PAIR = (AgentProfile(name="Anna"), AgentProfile(name="Bert"))


def _speakers(pilot: Pilot) -> list[str]:
    """Return the names above the agents' messages, from top to bottom."""
    labels = pilot.agent.transcript.widget().findChildren(QLabel, "speaker")
    seen = [label for label in labels if label.isVisible()]
    return [label.text() for label in sorted(seen, key=lambda one: one.mapTo(pilot.agent, one.pos()).y())]


def test_a_group_answers_under_its_members_names_and_is_stopped(app_run, settings: Settings, garden: Path):
    group = AgentGroup(name="Editors", kind="pipeline", members=("Anna", "Bert"))
    settings.team = TeamSettings(agents=PAIR, groups=(group,))
    answers = (
        TextAnswer("A draft about [[Tea]]."),
        TextAnswer("A better one."),
        TextAnswer("word " * 3000, pause=0.01),
    )

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        menu_button = pilot.agent.composer.model
        pilot.agent._choose_agent(AnswerByTeam(name="Editors"))
        await pilot.until(lambda: menu_button.text() == "Editors", "the group is chosen")
        await pilot.ask("write about tea")
        said = [(one.agent, one.text.strip()) for one in await pilot.items() if isinstance(one, AgentText)]
        assert said == [("Anna", "A draft about [[Tea]]."), ("Bert", "A better one.")]
        await pilot.until(lambda: _speakers(pilot) == ["Anna", "Bert"], "both names are shown")

        await pilot.type_prompt("write a book about tea")
        await pilot.until(lambda: pilot.agent.composer.is_running, "the group is at work")
        await pilot.until(lambda: len(server.requests) == 3, "a member answers")
        QTest.keyClick(pilot.agent.composer.field, Qt.Key.Key_Escape)
        finished = await pilot.turn_over(2)
        assert finished.state == "stopped" and len(server.requests) == 3
        await pilot.until(lambda: not pilot.agent.composer.is_running, "it has stopped")

    with use_model(settings, *answers) as server:
        app_run(use)


def test_work_handed_on_is_seen_with_who_said_what_and_approved_under_that_name(
    app_run, settings: Settings, garden: Path
):
    settings.team = TeamSettings(agents=PAIR)
    answers = (
        CallTool("delegate", {"agent": "Anna", "prompt": "Tag Tea as drink"}),
        CallTool("add_tag", {"name": "Tea", "tag": "drink"}),
        TextAnswer("Tagged."),
        TextAnswer("Anna did it."),
    )

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.type_prompt("have it tagged")
        dialog = await pilot.question()
        assert dialog.current.request.caller.name == "Anna"
        await pilot.approve()
        await pilot.turn_over(1)
        items = await pilot.items()
        (message,) = [one for one in items if isinstance(one, Message)]
        assert (message.to, message.text) == ("Anna", "Tag Tea as drink")
        cards = [(one.agent, one.tool, one.state) for one in items if isinstance(one, ToolCard)]
        assert cards == [("", "delegate", "done"), ("Anna", "add_tag", "done")]
        entry = await pilot.select_entry("add_tag")
        assert entry.caller == "Anna"

    with use_model(settings, *answers):
        app_run(use)
    assert "drink" in (garden / "Tea.md").read_text()


def test_a_message_from_outside_is_a_banner_that_leads_to_it(app_run, settings: Settings, garden: Path):
    save_settings(settings)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        pal = Caller(CallerKind.MCP, "Pal")
        outcome = await pilot.start_call("send_message", {"target": "user", "content": "Water boils!"}, pal)
        assert outcome.success and "Messages conversation in the agent panel" in outcome.message
        banners = pilot.window.banners
        await pilot.until(lambda: "message:inbox" in banners.keys, "the banner is there")
        button = next(one for one in banners.findChildren(QPushButton) if one.text() == "Show")
        await pilot.click(button)
        await pilot.until(lambda: pilot.agent.is_showing("inbox"), "the message is shown")
        labels = [one.text() for one in pilot.agent.transcript.widget().findChildren(QLabel)]
        assert "Pal → You" in labels and "Water boils!" in labels
        assert "message:inbox" not in banners.keys

    app_run(use)
