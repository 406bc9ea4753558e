"""The approximate index gives the same results, is saved and repaired, and drops private notes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.embeddings import vector_table as tables
from app.embeddings.ann_index import AnnIndex
from app.embeddings.vector_table import ChunkLocation, VectorTable
from app.embeddings.vectors import VectorStore
from app.vault.path import NotePath
from tests.embeddings.test_vectors import CountingEmbedder, Notes, _update

DIMENSION = 48


def _unit(count: int, seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(count, DIMENSION))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def _path(number: int) -> NotePath:
    return NotePath.parse(f"n{number}.md")


@pytest.fixture
def table() -> VectorTable:
    made, rows = VectorTable(DIMENSION), _unit(3000, 1)
    for number in range(1000):
        places = [ChunkLocation(_path(number), "", line) for line in range(3)]
        made.add(places, rows[3 * number : 3 * number + 3])
    return made


def _indexed(table: VectorTable) -> AnnIndex:
    near = AnnIndex(DIMENSION)
    keys, vectors = table.snapshot()
    near.add(keys, tables.quantize(vectors))
    return near


def _agreement(one: list[set[object]], other: list[set[object]]) -> float:
    return sum(len(a & b) for a, b in zip(one, other, strict=True)) / sum(map(len, one))


def _best(table: VectorTable) -> list[set[object]]:
    return [
        {(hit.path, hit.line) for hit in table.search(question, 10, -1.0, per_note=False)}
        for question in _unit(30, 2)
    ]


def test_bits_find_what_a_product_of_all_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors like those of texts: each a mixture of two topics, all around a common center."""
    monkeypatch.setattr(tables, "_MIN_CANDIDATES", 200)
    chance = np.random.default_rng(8)
    topics = chance.normal(size=(80, 384)) + np.where(chance.random(384) < 0.1, 2.0, 0.0)
    one, other = chance.integers(0, 80, (2, 9000))
    made = topics[one] + chance.random((9000, 1)) * topics[other] + chance.normal(0, 0.4, (9000, 384))
    rows = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    table = VectorTable(384)
    for number in range(0, 9000, 50):
        table.add([ChunkLocation(_path(number + n), "", 1) for n in range(50)], rows[number : number + 50])
    gone = range(0, 9000, 3)
    for number in gone:
        table.remove(_path(number))
    rows[list(gone)] = 0
    exact, found = [], []
    for question in rows[1:9000:450]:
        exact.append({_path(int(i)) for i in np.argsort(-(rows @ question))[:10]})
        found.append({hit.path for hit in table.search(question, 10, -1.0, per_note=True)})
    assert _agreement(exact, found) >= 0.98


def test_the_index_finds_the_same_also_after_changes(table: VectorTable) -> None:
    exact = _best(table)
    table.attach(_indexed(table))
    assert _agreement(exact, _best(table)) >= 0.98
    for number in range(0, 1000, 2):
        table.remove(_path(number))
    table.add([ChunkLocation(_path(5000), "", line) for line in range(50)], _unit(50, 3))
    indexed = _best(table)
    table.attach(None)
    assert _agreement(_best(table), indexed) >= 0.98


def test_a_saved_index_is_updated(table: VectorTable, tmp_path: Path) -> None:
    file = tmp_path / "vectors.near"
    _indexed(table).save(file)
    table.remove(_path(7))
    table.add([ChunkLocation(_path(2000), "new", 1)], _unit(1, 9))
    kept = AnnIndex.load(file, DIMENSION)
    assert kept is not None
    table.attach(kept)
    assert len(kept) == len(table)
    (hit,) = table.search(_unit(1, 9)[0], 1, 0.5, per_note=False)
    assert (hit.path, hit.heading) == (_path(2000), "new")


def test_a_damaged_or_foreign_file_is_no_index(table: VectorTable, tmp_path: Path) -> None:
    file = tmp_path / "vectors.near"
    assert AnnIndex.load(file, DIMENSION) is None
    file.write_bytes(b"no index" * 100)
    assert AnnIndex.load(file, DIMENSION) is None
    _indexed(table).save(file)
    assert AnnIndex.load(file, DIMENSION + 1) is None


def test_the_same_words_twice_in_a_note_do_no_harm() -> None:
    table, row = VectorTable(DIMENSION), _unit(1, 4)
    table.add([ChunkLocation(_path(1), "", 5)] * 2, np.repeat(row, 2, axis=0))
    table.attach(_indexed(table))
    assert table.search(row[0], 5, 0.5, per_note=True)[0].path == _path(1)
    table.remove(_path(1))
    assert table.search(row[0], 5, 0.5, per_note=True) == ()


async def test_a_store_keeps_one_where_there_are_many(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(tables, "MAX_EXACT_ROWS", 30)
    notes = Notes(**{f"note{n}": f"text number {n}" for n in range(40)})
    store, embedder, file = VectorStore(tmp_path), CountingEmbedder(), tmp_path / "vectors.near"
    await _update(store, notes, embedder)
    assert file.exists()
    (question,) = await embedder.embed(["note7\ntext number 7"])
    assert store.search(question, 1)[0].path == NotePath.parse("note7.md")
    store.close()

    again = VectorStore(tmp_path)
    notes.set("note7", "---\nai: private\n---\ntext number 7")
    await _update(again, notes, embedder)
    kept = AnnIndex.load(file, 384)
    assert kept is not None and len(kept) == 39, "made anew, without the private note"
    assert {hit.path.name for hit in again.search(question, 40, -1.0)} == {
        f"note{number}" for number in range(40) if number != 7
    }
    for number in range(10, 30):
        notes.set(f"note{number}", None)
    await _update(again, notes, embedder)
    assert not file.exists() and len(again) == 19
    again.close()


def test_every_note_has_one_vector_the_mean_of_its_chunks(table: VectorTable) -> None:
    found, rows = table.note_vectors(), _unit(3000, 1)
    assert len(found.paths) == len(found.matrix) == 1000
    assert list(found.paths) == sorted(found.paths)
    for at in (0, 500, 999):
        number = int(found.paths[at].name[1:])
        mean = rows[3 * number : 3 * number + 3].mean(axis=0)
        assert np.allclose(found.matrix[at], mean / np.linalg.norm(mean), atol=1e-3)
    empty = VectorTable(DIMENSION).note_vectors()
    assert (empty.paths, empty.matrix.shape) == ((), (0, DIMENSION))


def test_a_note_without_chunks_has_no_vector() -> None:
    table = VectorTable(DIMENSION)
    table.add([ChunkLocation(_path(1), "", 1), ChunkLocation(_path(2), "", 1)], _unit(2, 5))
    table.remove(_path(1))
    assert table.note_vectors().paths == (_path(2),)
