"""Search with vectors: the order of plain words, notes by meaning, related notes; private notes stay out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.embeddings.sync_scheduler import EmbeddingProgressed
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.vault.path import NotePath
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.approver import ScriptedApprover

NOTES = {
    "Sourdough.md": "Feed the starter, fold the dough, let the bread rise and bake the loaf in a hot oven.",
    "Shopping.md": "bread bread bread milk bread eggs bread",
    "Baking day.md": "How to bake bread: flour and water, patience, an oven.",
    "Tax.md": "The annual return is due in July. Keep every receipt.",
    "Garden.md": "# Garden\n\n## Roses\n\n- Prune the **roses** in winter\n\n## Tulips\n\n## Nothing\n",
    "Secret.md": "---\nai: private\n---\nHow I bake bread in secret.",
}
AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="t", uses_model=True)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vault")
    for name, text in NOTES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
async def meant(notes: Path) -> AsyncIterator[Workspace]:
    """The notes with their vectors, by the real model."""
    settings = Settings()
    settings.embeddings.on_battery = settings.embeddings.when_busy = "full"
    opened = await open_workspace(notes, settings, ScriptedApprover())
    try:
        ready = asyncio.Event()
        opened.events.subscribe(EmbeddingProgressed, lambda told: told.done == told.total and ready.set())
        await opened.start_scan(lambda progress: None)
        await ready.wait()
        assert opened.embeddings.vectors.notes == len(NOTES) - 1
        yield opened
    finally:
        await opened.close()


async def _call(workspace: Workspace, tool: str, **arguments: object) -> ToolOutcome:
    return await workspace.runner.run(Call.of(tool, arguments, AGENT))


async def test_search_with_vectors(meant: Workspace) -> None:
    """One test for everything, because starting the model is slow."""
    outcome = await _call(meant, "search_notes", query="bread oven")
    assert {hit["name"] for hit in outcome.result["hits"]} == {"Sourdough", "Baking day"}
    second_outcome = await _call(meant, "search_notes", query="bread")
    names = [hit["name"] for hit in second_outcome.result["hits"]]
    assert set(names) == {"Shopping", "Baking day", "Sourdough"} and second_outcome.result["total"] == 3
    page = await _call(meant, "search_notes", query="bread", limit=1, offset=1)
    assert [hit["name"] for hit in page.result["hits"]] == names[1:2]

    by_meaning = await _call(meant, "semantic_search", query="making loaves at home", min_similarity=0.0)
    assert by_meaning.result["hits"][0]["name"] in ("Sourdough", "Baking day")
    assert all(hit["name"] != "Secret" for hit in by_meaning.result["hits"])
    assert by_meaning.message.endswith("similar in meaning.")
    hits = (await _call(meant, "semantic_search", query="cutting flowers", min_similarity=0.0)).result["hits"]
    shown = {hit["name"]: [line["text"] for line in hit["lines"]] for hit in hits}
    assert shown["Garden"] == ["Prune the roses in winter"]
    assert shown["Tax"] == [NOTES["Tax.md"]]

    related = await _call(meant, "find_related", name="Sourdough")
    (first, *_) = related.result["related"]
    assert first["name"] == "Baking day" and first["relationship"] == "SEMANTICALLY_RELATED"
    assert first["reasons"][0]["score"] > 0.45

    assert NotePath.parse("Secret.md") not in meant.embeddings.vectors.hashes
    assert await meant.embeddings.semantic_search.near_duplicates(meant.store) == ()

    tax = NotePath.parse("Tax.md")
    await meant.embeddings.vectors.remove_notes([tax])
    partly = await _call(meant, "semantic_search", query="making loaves at home", min_similarity=0.0)
    missing = "1 note is not in the semantic index, and can't be found here."
    assert partly.message.endswith(f"similar in meaning. {missing}")
    assert meant.embeddings.semantic_search.without_vectors([tax]) == {tax}


async def test_re_analysis_of_a_node_is_of_its_new_text(meant: Workspace) -> None:
    updates = {"text": "Flour and water: how I bake a loaf of bread in the oven, with patience."}
    outcome = await _call(meant, "update_node", node_id="Tax", updates=updates, re_analyze=True)
    names = [one["id"] for one in outcome.result["related_nodes"]]
    assert "Baking day.md" in names and "Tax.md" not in names
    second_outcome = await _call(meant, "find_related_nodes", node_id="Tax", min_similarity=0.4)
    assert "Baking day.md" in [one["id"] for one in second_outcome.result["related_nodes"]], (
        "old vectors do not count"
    )
    await _call(meant, "undo")


async def test_without_a_worker_the_word_ranking_remains(meant: Workspace) -> None:
    await meant.embeddings.embedder.close()
    outcome = await _call(meant, "search_notes", query="bread")
    assert outcome.success and outcome.result["total"] == 3
    assert not (await _call(meant, "semantic_search", query="bread")).success
