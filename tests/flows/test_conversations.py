"""Conversations are saved, reopened after a restart, and stopped; errors of a model are shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget

from tests.flows.models import use_model
from tests.flows.pilot import Pilot
from tests.support.model_server import BreakOff, CallTool, Fail, TextAnswer


def test_two_conversations_survive_a_restart(app_run, garden: Path) -> None:
    async def first(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.ask("find notes about water")
        await pilot.press("New conversation", pilot.agent)
        await pilot.until(lambda: "find notes about water" not in pilot.said())
        await pilot.ask("list all tags")
        assert "#nature" in pilot.said()

    async def second(pilot: Pilot) -> None:
        await pilot.open(garden)
        titles = await listed(pilot)
        assert sorted(titles) == ["find notes about water", "list all tags"]
        await open_listed(pilot, "find notes about water")
        assert "Water" in pilot.said() and len(pilot.cards) == 1
        assert pilot.cards[0].accessibleName().startswith("Search notes: Done")
        # It continues from its last state.
        await pilot.ask("list all tags")
        assert "find notes about water" in pilot.said() and "#nature" in pilot.said()

    app_run(first)
    app_run(second)


async def listed(pilot: Pilot) -> list[str]:
    """Return the titles in the list of conversations."""
    await pilot.press("Conversations", pilot.agent)
    (view,) = pilot.agent.findChildren(QListWidget)
    await pilot.until(lambda: view.isVisible() and view.count(), "the conversations are listed")
    return [view.item(row).text() for row in range(view.count())]


async def open_listed(pilot: Pilot, title: str) -> None:
    """Click a conversation in the list."""
    (view,) = pilot.agent.findChildren(QListWidget)
    (item,) = view.findItems(title, Qt.MatchFlag.MatchExactly)
    await pilot.click(view.viewport(), view.visualItemRect(item).center())
    await pilot.until(lambda: pilot.agent.transcript.isVisible() and title in pilot.said(), "it is shown")


def test_a_stream_is_stopped_in_the_middle(app_run, settings, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.type_prompt("Talk")
        await pilot.until(lambda: pilot.said().count("word") > 20, "words are streamed")
        field = pilot.agent.composer.field
        field.setFocus()
        QTest.keyClick(field, Qt.Key.Key_Escape)
        finished = await pilot.turn_over(1)
        assert finished.state == "stopped"
        await pilot.until(lambda: "Stopped." in pilot.said())
        assert 20 < pilot.said().count("word") < 2000
        await pilot.ask("Go on")
        assert "As you like." in pilot.said()

    with use_model(settings, TextAnswer("word " * 2000, pause=0.01), TextAnswer("As you like.")) as server:
        app_run(use)
    assert "This answer was interrupted here." in str(server.requests[1]["messages"])


def test_stopping_while_an_approval_waits_withdraws_it(app_run, settings, garden: Path) -> None:
    before = (garden / "Water.md").read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.type_prompt("Tag it")
        await pilot.question()
        # The dialog covers the panel's own button; a closing window stops it in the same way.
        conversation = await pilot.run(lambda ws: ws.agent.store.list_conversations()[0].id)
        await pilot.run(lambda ws: ws.agent.stop(conversation))
        await pilot.until(lambda: pilot.approvals.dialog is None, "the dialog goes")
        assert (await pilot.turn_over(1)).state == "stopped"
        assert (garden / "Water.md").read_bytes() == before
        entry = await pilot.select_entry("add_tag")
        assert entry.decision == "cancelled"

    with use_model(settings, CallTool("add_tag", {"name": "Water", "tag": "x"})):
        app_run(use)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ((Fail(401, "Incorrect API key provided."),) * 3, "does not accept the key"),
        ((Fail(429, "Rate limit reached", {"retry-after": "0.1"}),) * 3, "credit limit"),
        ((Fail(400, "scripted does not support tools"),) * 3, "can't call tools"),
        ((BreakOff("It begins and"),) * 3, "is incomplete"),
    ],
    ids=["wrong key", "rate limit", "no tools", "broken stream"],
)
def test_errors_of_a_model_are_shown_in_the_panel(
    app_run, settings, garden: Path, answers, words: str
) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.ask("Hello")
        await pilot.until(lambda: words in pilot.said(), "it is said")
        await pilot.ask("And now?")
        assert "Better." in pilot.said()

    with use_model(settings, *answers) as server:
        app_run(_with_later_answer(use, server))


def _with_later_answer(use, server):
    """The server works again after the first turn."""

    async def both(pilot: Pilot) -> None:
        def heal(batch: object) -> None:
            if pilot.finished:
                server.answers[:] = [TextAnswer("Better.")]

        pilot.window.session.opened.connect(lambda client: client.events.batch.connect(heal))
        await use(pilot)

    return both


def test_an_unreachable_server_is_shown_with_its_address(app_run, settings, garden: Path) -> None:
    with use_model(settings):
        address = settings.model.base_url

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.ask("Hello")
        await pilot.until(lambda: address in pilot.said())

    app_run(use)
