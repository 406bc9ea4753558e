"""Questions about the note in talk are answered with its properties, by their meaning (the real model)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.agent.transcript import AgentText, ToolCard
from app.embeddings.sync_scheduler import EmbeddingProgressed
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.toolkit.call import Call
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.agent.test_session import SessionConversation
from tests.support.approver import ScriptedApprover

NOTES = {
    "Hut tour.md": '---\nguests: ["[[Nora]]", "[[Pál]]"]\nfee: 320\nvenue: Lake Inari\n---\nWe froze.\n',
    "Chess night.md": '---\nguests:\n  - "[[Nora]]"\nfee: 5\nvenue: Town library\n---\nBring clocks.\n',
    "Nora.md": "Nora keeps bees and makes honey.\n",
    "Pál.md": "Pál repairs accordions.\n",
    "Harmonica course.md": "Every Monday in May.\n",
    "Tuba.md": "---\nstate: waiting\nasked: 2025-02-03\n---\nOwned by the band.\n",
}
CALLER = Caller(CallerKind.DESKTOP_AGENT, "test", uses_model=False)


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text, "utf-8")
    settings = Settings()
    settings.embeddings.on_battery = settings.embeddings.when_busy = "full"
    opened = await open_workspace(tmp_path, settings, ScriptedApprover())
    try:
        ready = asyncio.Event()
        opened.events.subscribe(EmbeddingProgressed, lambda told: told.done == told.total and ready.set())
        await opened.start_scan(lambda progress: None)
        await ready.wait()
        yield opened
    finally:
        await opened.close()


async def test_answers_from_properties(workspace: Workspace) -> None:
    """One test for everything, because starting the model is slow."""

    async def answer(question: str, note: str) -> str:
        talk = SessionConversation(workspace)
        await talk.say(question, open_note=note)
        assert len([item for item in talk.items if isinstance(item, ToolCard)]) == 1
        return [item.text for item in talk.items if isinstance(item, AgentText)][-1]

    assert '[[Nora]]", "[[Pál]]' in await answer("who else was invited?", "Hut tour.md")
    assert "> fee: 320" in await answer("how much money did we spend?", "Hut tour.md")
    assert "> fee: 5\n" in await answer("how much money did we spend?", "Chess night.md")
    # What other notes say is found as before, and a question that no property answers gets no property.
    assert "Pál repairs accordions" in await answer("who repairs accordions?", "Hut tour.md")
    assert (await answer("which accordion teacher won the race in Lima?", "Nora.md")).startswith("**")
    assert "fee" not in await answer("who repairs accordions?", "Nora.md")
    # A word of another note's name says that the question is not about the note in talk.
    assert "fee" not in await answer("how much money did the harmonica cost?", "Hut tour.md")

    async def properties_for(question: str, note: str = "Hut tour") -> tuple[bool, list[str]]:
        call = Call.of("find_passages", {"question": question, "notes": [note]}, CALLER)
        result = (await workspace.runner.run(call)).result
        return result["answered"], [one["text"] for one in result["passages"] if not one["weak"]]

    assert await properties_for("who else was invited to Hut tour?") == (True, ["guests: Nora, Pál"])
    is_answered, _ = await properties_for("how do I tune a piano?")
    assert not is_answered
    # A value of another kind is no answer, even if the question contains all of its words.
    _, passages = await properties_for("since when is the tuba waiting?", "Tuba")
    assert "state: waiting" not in passages
