"""The archive is searched by words, by meaning if enabled, and by time, for one agent only."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from app.embeddings.client import Embedder
from app.embeddings.vectors import VectorStore
from app.memory.archive import TimeRange
from app.memory.changes import MEMORY_PLACE, insert_entry
from app.memory.entry import ArchiveEntry
from app.permissions.caller import Caller, CallerKind
from app.toolkit.memory_service import Memory, agent_key
from app.toolkit.semantic_search import SemanticSearch
from app.vault.changes import ChangeSet, Delete
from tests.memory.conftest import MemoryBench

ME = "scriptorium"
TEXTS = ("The captain drinks green tea.", "The ship was painted blue.", "航海用時計は正確だ。")


@pytest.fixture
def memory(kept: MemoryBench) -> Memory:
    for number, text in enumerate(TEXTS):
        entry = ArchiveEntry(ME, f"2026010{number}-000000-00000000", f"2026-01-0{number + 1}T00:00:00Z", text)
        kept.store.commit(insert_entry(entry), author="A")
    kept.store.commit(insert_entry(ArchiveEntry.new("editor", "The editor drinks tea.")), author="A")
    return Memory(kept.store, lambda query: ())


async def said(memory: Memory, query: str, **more) -> list[str]:
    return [one.text for one in await memory.recall(ME, query, 5, **more)]


async def test_words_in_any_script_and_of_one_agent_only(memory: Memory) -> None:
    assert await said(memory, "tea?") == [TEXTS[0]]
    assert await said(memory, "時計") == [TEXTS[2]]
    assert await said(memory, 'the "ship" AND (') and not await said(memory, "!?")
    assert memory.archive.count(ME) == 3
    assert [one.text for one in memory.archive.newest(ME, 2)] == [TEXTS[2], TEXTS[1]]


async def test_a_span_of_time(memory: Memory) -> None:
    assert await said(memory, "the", time_range=TimeRange("2026-01-02", "")) == [TEXTS[1]]
    assert await said(memory, "the", time_range=TimeRange("", "2026-01-02")) == [TEXTS[0]]


async def test_entries_are_found_by_meaning(memory: Memory, kept: MemoryBench) -> None:
    embedder = Embedder()
    vectors = VectorStore(kept.folder, embedder.model.key)
    try:
        meaning = SemanticSearch(embedder, vectors)
        assert not await said(memory, "favourite beverage")
        assert (await said(memory, "favourite beverage", semantic_search=meaning))[0] == TEXTS[0]
        assert not memory.archive.missing_vectors(ME, meaning.model_key)
        assert (await said(memory, "blue", semantic_search=meaning))[0] == TEXTS[1]
    finally:
        vectors.close()
        await embedder.close()
    # Without vectors, the words alone still find it.
    assert await said(memory, "tea", semantic_search=meaning) == [TEXTS[0]]


class ReplacedEmbedder:
    """An embedder that is replaced, as soon as it has embedded something, by one with another dimension."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.model = SimpleNamespace(key=f"model {dimension}")
        self.search: SemanticSearch | None = None

    async def embed(self, texts: list[str], **more: bool) -> np.ndarray:
        if self.search is not None:
            self.search.change_model(ReplacedEmbedder(3), None)
        return np.ones((len(texts), self.dimension), np.float32)


async def test_the_words_still_answer_if_the_model_changes_during_a_search(memory: Memory) -> None:
    embedder = ReplacedEmbedder(2)
    embedder.search = search = SemanticSearch(embedder, None)
    assert await said(memory, "tea", semantic_search=search) == [TEXTS[0]]


def test_vectors_are_deleted_with_their_entry(memory: Memory, kept: MemoryBench) -> None:
    first = memory.archive.newest(ME, 1)[0]
    memory.archive.save_vectors("m", [(first.number, np.ones(4) / 2), (10_000, np.ones(4) / 2)])
    assert memory.archive.search_vectors(ME, "m", np.ones(4) / 2, 5) == [(first.number, 1.0)]
    entry = next(one for one in kept.store._documents.values() if one.entry and one.entry.id == first.entry)
    kept.store.commit(ChangeSet.of(Delete(entry.path, entry.data), place=MEMORY_PLACE), author="A")
    assert not memory.archive.search_vectors(ME, "m", np.ones(4) / 2, 5)


@pytest.mark.parametrize(
    ("caller", "agent"),
    [
        (Caller.user(), ME),
        (Caller(CallerKind.DESKTOP_AGENT, "any model"), ME),
        (Caller(CallerKind.CLI, "terminal"), ME),
        (Caller(CallerKind.DESKTOP_AGENT, "Editor", agent="editor"), "editor"),
        (Caller(CallerKind.MCP, "Client"), "mcp:Client"),
        (Caller(CallerKind.HTTP, "Client"), "http:Client"),
    ],
)
def test_each_caller_uses_the_memory_of_its_agent(caller: Caller, agent: str) -> None:
    assert agent_key(caller) == agent
