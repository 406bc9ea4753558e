"""The vector store is incremental, has no private notes, and is the same after a restart."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.embeddings import EmbedderUnavailableError
from app.embeddings.client import Embedder
from app.embeddings.model_config import SentenceModelConfig
from app.embeddings.sync_run import BATCH_NOTES, SyncRun
from app.embeddings.vector_table import ChunkLocation, VectorTable
from app.embeddings.vectors import VectorStore
from app.errors import NotFoundError
from app.index.records import NoteRecord
from app.vault.changes import content_hash
from app.vault.markdown.scan import scan
from app.vault.path import NotePath
from tests.support.vector_sync import SyncReport, sync_vectors


class Notes:
    """Notes in memory, with the interfaces of index and store that an update needs."""

    def __init__(self, **texts: str) -> None:
        self.texts = {NotePath.parse(f"{name}.md"): text for name, text in texts.items()}
        self.reads: list[NotePath] = []

    def set(self, name: str, text: str | None) -> NotePath:
        path = NotePath.parse(f"{name}.md")
        if text is None:
            del self.texts[path]
        else:
            self.texts[path] = text
        return path

    def note(self, path: NotePath) -> NoteRecord | None:
        if path not in self.texts:
            return None
        text = self.texts[path]
        parsed = scan(text)
        return NoteRecord(
            path,
            path.name,
            path.name,
            parsed.type,
            None,
            (),
            (),
            parsed.properties,
            None,
            len(text),
            0.0,
            0.0,
            content_hash(text.encode()),
            None,
            parsed.is_private,
            0,
        )

    def notes(self) -> tuple[NoteRecord, ...]:
        return tuple(record for path in sorted(self.texts) if (record := self.note(path)))

    def read(self, path: NotePath) -> bytes:
        self.reads.append(path)
        if path not in self.texts:
            raise NotFoundError("gone")
        return self.texts[path].encode()


class CountingEmbedder:
    """Computes vectors from a hash of the words, and records the requested texts."""

    is_available = True

    def __init__(self, dimension: int = 384) -> None:
        self.model = SentenceModelConfig()
        self.dimension = dimension
        self.texts: list[str] = []
        self.poison = ""

    async def start(self) -> None:
        """Clear the failure, like the real client."""
        self.is_available = True

    async def embed(self, texts: Sequence[str], *, priority: bool = False) -> np.ndarray:
        if self.poison and any(self.poison in text for text in texts):
            raise EmbedderUnavailableError("died")
        self.texts += texts
        size = self.dimension
        vectors = np.array([np.random.default_rng(abs(hash(text))).normal(size=size) for text in texts])
        vectors = vectors.reshape(len(texts), size)
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


async def _update(
    store: VectorStore,
    notes: Notes,
    embedder: object,
    excluded: Callable[[NotePath], bool] = lambda path: False,
    paths: Iterable[NotePath] | None = None,
) -> SyncReport:
    return await sync_vectors(store, notes, notes, embedder, paths, excluded)  # type: ignore[arg-type]


async def test_only_what_changed_goes_through_the_model(tmp_path: Path) -> None:
    notes = Notes(a="# One\n\nfirst\n\n# Two\n\nsecond", b="other")
    store, embedder = VectorStore(tmp_path), CountingEmbedder()
    report = await _update(store, notes, embedder)
    assert (report.updated, len(embedder.texts), len(store), store.notes) == (2, 3, 3, 2)
    embedder.texts.clear()
    notes.reads.clear()
    assert (await _update(store, notes, embedder)).updated == 0
    assert not embedder.texts and not notes.reads
    notes.set("a", "# One\n\nfirst\n\n# Two\n\nsecond, changed")
    report = await _update(store, notes, embedder)
    assert report.updated == 1
    assert embedder.texts == ["a › Two\nsecond, changed"]
    store.close()


async def test_private_notes_never_reach_the_model(tmp_path: Path) -> None:
    notes = Notes(a="---\nai: private\n---\nmy secret", b="open")
    store, embedder = VectorStore(tmp_path), CountingEmbedder()
    await _update(store, notes, embedder)
    assert embedder.texts == ["b\nopen"]
    store.close()


async def test_a_note_that_becomes_private_is_removed_from_the_file_too(tmp_path: Path) -> None:
    notes = Notes(a="my words", b="open")
    store, embedder = VectorStore(tmp_path), CountingEmbedder()
    await _update(store, notes, embedder)
    path = notes.set("a", "---\nai: private\n---\nmy words")
    await _update(store, notes, embedder)
    assert path not in store.hashes
    assert [hit.path.name for hit in store.search(np.ones(384), 10, -20)] == ["b"]
    store.close()
    database = sqlite3.connect(tmp_path / "vectors.sqlite")
    assert database.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
    assert database.execute("SELECT path FROM chunks").fetchall() == [("b.md",)]
    database.close()


async def test_a_note_that_became_private_on_disk_only_is_not_embedded(tmp_path: Path) -> None:
    """The index may lag behind the disk, so the text that was read decides."""
    notes = Notes(a="---\nai: private\n---\nmy secret")
    lagging = notes.note

    def public(path: NotePath) -> NoteRecord | None:
        record = lagging(path)
        return record and replace(record, private=False)

    notes.note = public  # type: ignore[method-assign]
    store, embedder = VectorStore(tmp_path), CountingEmbedder()
    await _update(store, notes, embedder)
    assert not embedder.texts
    store.close()


async def test_excluded_notes_are_left_out_and_removed(tmp_path: Path) -> None:
    notes = Notes(a="one", b="two")
    store, embedder = VectorStore(tmp_path), CountingEmbedder()
    await _update(store, notes, embedder)
    await _update(store, notes, embedder, excluded=lambda path: path.name == "a")
    assert store.notes == 1
    store.close()


async def test_removed_notes_lose_their_vectors(tmp_path: Path) -> None:
    notes = Notes(a="one", b="two")
    store, embedder = VectorStore(tmp_path), CountingEmbedder()
    await _update(store, notes, embedder)
    path = notes.set("a", None)
    await _update(store, notes, embedder, paths=[path])
    assert len(store) == 1
    await store.remove_notes([NotePath.parse("b.md")])
    assert len(store) == 0
    store.close()


async def test_a_restart_finds_the_same(tmp_path: Path) -> None:
    notes = Notes(**{f"note{n}": f"text number {n}" for n in range(40)})
    store, embedder = VectorStore(tmp_path), CountingEmbedder()
    await _update(store, notes, embedder)
    question = (await embedder.embed(["text"]))[0]
    before = store.search(question, 10, -1)
    store.close()
    again = VectorStore(tmp_path)
    await again.load()
    after = again.search(question, 10, -1)
    assert [(hit.path, hit.line) for hit in before] == [(hit.path, hit.line) for hit in after]
    assert np.allclose([hit.score for hit in before], [hit.score for hit in after], atol=1e-6)
    again.close()


async def test_a_stopped_update_resumes(tmp_path: Path) -> None:
    notes = Notes(**{f"note{n}": f"text number {n}" for n in range(40)})
    store, embedder = VectorStore(tmp_path), CountingEmbedder()
    stopped = SyncRun(store, notes, notes, embedder, lambda path: False)  # type: ignore[arg-type]
    await stopped.update_notes((await stopped.collect_changes())[:BATCH_NOTES])
    report = await _update(store, notes, embedder)
    assert (report.updated, store.notes, len(embedder.texts)) == (24, 40, 40)
    store.close()


async def test_one_poisonous_note_does_not_stop_the_rest(tmp_path: Path) -> None:
    notes = Notes(a="fine", b="poison", c="fine too")
    store, embedder = VectorStore(tmp_path), CountingEmbedder()
    embedder.poison = "poison"
    report = await _update(store, notes, embedder)
    assert store.notes == 2
    assert [str(path) for path, _ in report.failed] == ["b.md"]
    store.close()


async def test_a_failing_embedder_is_reported(tmp_path: Path) -> None:
    store, embedder = VectorStore(tmp_path / "cache"), Embedder(SentenceModelConfig(folder=tmp_path))
    with pytest.raises(EmbedderUnavailableError):
        await _update(store, Notes(a="text"), embedder)
    await embedder.close()
    store.close()


async def test_a_note_that_disappeared_meanwhile_is_reported(tmp_path: Path) -> None:
    notes = Notes(a="text")
    notes.read = lambda path: (_ for _ in ()).throw(NotFoundError("gone"))  # type: ignore[method-assign]
    store = VectorStore(tmp_path)
    report = await _update(store, notes, CountingEmbedder())
    assert report.failed == ((NotePath.parse("a.md"), "gone"),)
    store.close()


async def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "vectors.sqlite").write_bytes(b"this is no database" * 500)
    store = VectorStore(tmp_path)
    await _update(store, Notes(a="text"), CountingEmbedder())
    assert len(store) == 1
    store.close()


async def test_another_models_vectors_are_dropped(tmp_path: Path) -> None:
    store = VectorStore(tmp_path)
    await _update(store, Notes(a="text"), CountingEmbedder())
    store.close()
    other = VectorStore(tmp_path, "another model")
    assert (len(other), other.notes) == (0, 0)
    other.close()


async def test_meaning_is_found_with_the_real_model(tmp_path: Path) -> None:
    notes = Notes(
        sourdough="Feed the starter, fold the dough, bake the loaf in a hot oven.",
        memory="# Memory\n\nIntro.\n\n## Forgetting\n\nWe lose what we learned unless we repeat it in time.",
        taxes="The annual return is due in July; keep receipts of deductible expenses.",
        learning="Spaced practice makes knowledge last.",
    )
    store, embedder = VectorStore(tmp_path), Embedder()
    try:
        await _update(store, notes, embedder)
        (question,) = await embedder.embed(["why do people forget things?"], priority=True)
        first, *_ = store.search(question, 3, 0.1)
        assert (str(first.path), first.heading, first.line) == ("memory.md", "Forgetting", 7)
        (near, *_) = store.similar(NotePath.parse("memory.md"), 2)
        assert str(near.path) == "learning.md"
        one, other = NotePath.parse("memory.md"), NotePath.parse("learning.md")
        alike, unlike = store.similarity(one, other), store.similarity(one, NotePath.parse("taxes.md"))
        assert alike is not None and unlike is not None and alike > unlike
    finally:
        await embedder.close()
        store.close()


async def test_a_note_is_compared_by_its_best_chunk_and_as_a_whole(tmp_path: Path) -> None:
    notes = Notes(one="A.", several="# B\n\nC.\n\n## D\n\nE.")
    one, several, unknown = (NotePath.parse(f"{name}.md") for name in ("one", "several", "unknown"))
    store, embedder = VectorStore(tmp_path), CountingEmbedder()
    try:
        await _update(store, notes, embedder)
        texts = tuple(embedder.texts)
        vectors = dict(zip(texts, await embedder.embed(texts), strict=True))
        query = np.random.default_rng(1).normal(size=384).astype(np.float32)
        query /= np.linalg.norm(query)
        (whole,) = [vector for text, vector in vectors.items() if text.startswith("one")]
        chunks = np.array([vector for text, vector in vectors.items() if text.startswith("several")])
        assert len(chunks) == 2
        mean = chunks.mean(axis=0)
        expected = {
            one: float(whole @ query),
            several: float((chunks @ query).max() + mean @ query / np.linalg.norm(mean)) / 2,
        }
        found = store.similarities(query, [one, several, unknown])
        assert found == pytest.approx(expected, abs=1e-3)
        assert store.similarities(query, [unknown]) == {}
    finally:
        store.close()


vectors3 = st.lists(st.integers(-9, 9), min_size=3, max_size=3)
steps = st.lists(st.tuples(st.integers(0, 5), st.lists(vectors3, max_size=4)), max_size=12)


@settings(deadline=None)
@given(steps, vectors3, st.integers(1, 6), st.booleans())
def test_the_table_finds_what_a_plain_loop_finds(steps, question, limit, per_note) -> None:
    table, plain = VectorTable(3), {}
    for name, rows in steps:
        path = NotePath.parse(f"{name}.md")
        table.remove(path)
        table.add(
            [ChunkLocation(path, "", n) for n in range(len(rows))], np.array(rows, np.float32).reshape(-1, 3)
        )
        plain[path] = rows
    every = sorted(
        (-float(np.dot(row, question)), path, n) for path, rows in plain.items() for n, row in enumerate(rows)
    )
    expected = [(path, n) for score, path, n in every if score <= 0]
    if per_note:
        seen: set[NotePath] = set()
        expected = [(p, n) for p, n in expected if not (p in seen or seen.add(p))]
    # Scores above 1 are not cosines and are shown as 1, so compare the rows by their true scores.
    found = [(hit.path, hit.line) for hit in table.search(question, limit, 0.0, per_note=per_note)]
    assert len(found) == min(limit, len(expected))
    true = {
        (path, n): float(np.dot(row, question)) for path, rows in plain.items() for n, row in enumerate(rows)
    }
    assert sorted(true[key] for key in found) == sorted(true[key] for key in expected[:limit])
    assert len(table) == sum(len(rows) for rows in plain.values())
