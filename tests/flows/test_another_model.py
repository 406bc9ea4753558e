"""The model that makes the vectors is changed in the settings: all notes are read anew, and back again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.embeddings.upkeep import EmbeddingFailed, EmbeddingProgressed
from app.events import Event
from app.settings import Settings
from app.workspace import open_workspace
from tests.support.approver import ScriptedApprover


async def _next(told: asyncio.Queue[Event], kind: type[Event]) -> Event:
    """The next event of a kind; of progress, only the end of some counts."""
    while True:
        event = await told.get()
        if isinstance(event, kind) and (
            not isinstance(event, EmbeddingProgressed) or event.done == event.total > 0
        ):
            return event


async def test_another_model_that_is_not_there_and_back(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Bread.md").write_text("Flour and water.", "utf-8")
    (vault / "Tax.md").write_text("In July.", "utf-8")
    opened = await open_workspace(vault, Settings(), ScriptedApprover())
    told: asyncio.Queue[Event] = asyncio.Queue()
    opened.events.subscribe(EmbeddingProgressed, told.put_nowait)
    opened.events.subscribe(EmbeddingFailed, told.put_nowait)
    try:
        await opened.start_scan(lambda progress: None)
        await _next(told, EmbeddingProgressed)
        assert opened.vectors.notes == 2

        missing = str(tmp_path / "no model"), str(tmp_path / "no python")
        opened.change_settings("embeddings", model=missing[0], python=missing[1])
        failed = await _next(told, EmbeddingFailed)
        assert isinstance(failed, EmbeddingFailed) and "can't be started" in failed.reason
        assert opened.vectors.notes == 0, "vectors of two models can't be compared"
        assert opened.embedder.available, "the built-in agent keeps the shipped model"

        opened.change_settings("embeddings", model="all-MiniLM-L6-v2-int8")
        await _next(told, EmbeddingProgressed)
        assert opened.vectors.notes == 2
        (hit, *_) = await opened.meaning.like_text("how to bake", 1, 0.0)
        assert hit.path.name == "Bread"
    finally:
        await opened.close()
