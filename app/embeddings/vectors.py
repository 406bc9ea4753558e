"""The store of a vault's vectors, in a file and in memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.embeddings import vector_table as tables
from app.embeddings.ann_index import AnnIndex, Keys
from app.embeddings.model_config import SHIPPED_MODEL
from app.embeddings.onnx_model import Vectors
from app.embeddings.vector_file import NoteChunks, VectorFile, stem
from app.embeddings.vector_table import ChunkLocation, NoteVectors, VectorHit, VectorTable
from app.vault.path import NotePath

log = logging.getLogger(__name__)

# A saved index is rebuilt in another thread if its size differs from the number of vectors by more than this;
# smaller differences are synchronized in place.
_MAX_INCREMENTAL_ROWS = 5_000
_BATCH_ROWS = 10_000


class VectorStore:
    """A vault's vectors from `model` (its key), in `cache_folder`. Belongs to the service thread's loop.

    Raises:
        StorageError: the file can't be opened.
    """

    def __init__(self, cache_folder: Path, model: str = SHIPPED_MODEL) -> None:
        self._file = VectorFile(cache_folder, model)
        self._ann_index_file = cache_folder / f"{stem(model)}.near"
        self._hashes = self._file.notes()
        self._table: VectorTable | None = None
        self._lock = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._load_table())

    @property
    def notes(self) -> int:
        """The number of notes with vectors."""
        return len(self._hashes)

    @property
    def hashes(self) -> Mapping[NotePath, str]:
        """The hash of each note's text when its vectors were computed."""
        return self._hashes

    async def load(self) -> None:
        """Load the vectors in another thread; otherwise, the first use would load them and block the loop."""
        if self._table is None:
            table = await asyncio.to_thread(self._read)
            if self._table is None:
                self._table = table

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # Queries

    def search(
        self, vector: npt.ArrayLike, limit: int = 20, min_similarity: float = 0.0, *, per_note: bool = False
    ) -> tuple[VectorHit, ...]:
        """Return up to `limit` chunks most similar to the unit `vector`, best first.

        Each has at least `min_similarity`. With `per_note`, each note appears once, with its best chunk.
        """
        return self._load_table().search(vector, limit, min_similarity, per_note=per_note)

    def similar(self, path: NotePath, limit: int = 10, min_similarity: float = 0.0) -> tuple[VectorHit, ...]:
        """Return up to `limit` other notes most similar to the note at `path`, best first.

        The whole note is compared with the chunks of the others. The result is empty if it has no vectors.
        """
        own_vectors = self._load_table().vectors_of(path)
        if not len(own_vectors):
            return ()
        hits = self._load_table().search(_mean_vector(own_vectors), limit + 1, min_similarity, per_note=True)
        return tuple(hit for hit in hits if hit.path != path)[:limit]

    def similarity(self, first_path: NotePath, second_path: NotePath) -> float | None:
        """Return the cosine of two notes' mean vectors, or None if either has no vectors."""
        first, second = self._load_table().vectors_of(first_path), self._load_table().vectors_of(second_path)
        if not len(first) or not len(second):
            return None
        return float(_mean_vector(first) @ _mean_vector(second))

    def similarities(self, vector: Vectors, paths: Iterable[NotePath]) -> dict[NotePath, float]:
        """Return the similarity of each note to the unit `vector`, without the notes that have no vectors.

        It is the mean of two cosines: that of the note's best chunk and that of its mean vector.
        """
        table = self._load_table()
        chunks = {path: rows for path in paths if len(rows := table.vectors_of(path))}
        return {
            path: (float(np.einsum("ij,j->i", rows, vector).max()) + float(_mean_vector(rows) @ vector)) / 2.0
            for path, rows in chunks.items()
        }

    def note_matrix(self) -> NoteVectors:
        """Return one unit vector for each note, as a copy for other threads."""
        return self._load_table().note_vectors()

    # Changes

    async def known_vectors(self, hashes: Iterable[str]) -> dict[str, Vectors]:
        """Return the existing vectors for these chunk hashes, from any note."""
        return await asyncio.to_thread(self._file.known_vectors, list(hashes))

    async def put(self, notes: list[NoteChunks], vectors: dict[str, Vectors]) -> None:
        """Replace the vectors of `notes`, which have at least one chunk each.

        `vectors` contains those of all their chunks, by hash.
        """
        async with self._lock:
            await asyncio.to_thread(self._file.put, notes, vectors)
            for note in notes:
                rows = np.stack([vectors[chunk.hash] for chunk in note.chunks])
                table = self._table_for(rows.shape[1])
                table.remove(note.path)
                table.add([ChunkLocation(note.path, c.heading, c.line) for c in note.chunks], rows)
                self._hashes[note.path] = note.hash

    async def remove_notes(self, paths: Iterable[NotePath]) -> None:
        """Remove these notes' vectors from memory and from the files immediately."""
        async with self._lock:
            removed = [path for path in paths if path in self._hashes]
            if not removed:
                return
            await asyncio.to_thread(self._erase, removed)
            for path in removed:
                self._load_table().remove(path)
                self._hashes.pop(path, None)

    async def prune(self) -> None:
        """Delete the vectors of texts that are no longer in any note."""
        async with self._lock:
            await asyncio.to_thread(self._file.prune)

    async def maintain_ann_index(self) -> None:
        """Use and save an approximate index if the vectors are too many for an exact search, else delete it.

        Raises:
            OSError: the index can't be saved or deleted.
        """
        await self.load()
        table = self._load_table()
        if len(table) <= tables.MAX_EXACT_ROWS:
            table.attach(None)
            await asyncio.to_thread(self._ann_index_file.unlink, missing_ok=True)
            return
        is_saved = await asyncio.to_thread(self._ann_index_file.exists)
        if table.ann_index is not None and is_saved:
            return
        ann_index = await asyncio.to_thread(AnnIndex.load, self._ann_index_file, table.dimension)
        if ann_index is None or abs(len(ann_index) - len(table)) > _MAX_INCREMENTAL_ROWS:
            ann_index = await asyncio.to_thread(_build_index, table.dimension, *table.snapshot())
            await asyncio.to_thread(ann_index.save, self._ann_index_file)
        if self._table is table:
            table.attach(ann_index)

    def _erase(self, paths: list[NotePath]) -> None:
        # The index only marks removed rows; their vectors would stay in its file.
        self._ann_index_file.unlink(missing_ok=True)
        self._file.remove(paths)
        self._file.prune()

    def _load_table(self) -> VectorTable:
        if self._table is None:
            self._table = self._read()
        return self._table

    def _table_for(self, dimension: int) -> VectorTable:
        """Return the table; an empty one adopts the dimension of the first vectors."""
        if not len(self._load_table()) and self._load_table().dimension != dimension:
            self._table = VectorTable(dimension)
        return self._load_table()

    def _read(self) -> VectorTable:
        locations, vectors = self._file.load()
        table = VectorTable(vectors.shape[1])
        if locations:
            table.add(locations, vectors)
        return table


def _mean_vector(vectors: Vectors) -> Vectors:
    mean: Vectors = vectors.mean(axis=0)
    return mean / (float(np.linalg.norm(mean)) or 1.0)


def _build_index(dimension: int, keys: Keys, vectors: tables.HalfFloats) -> AnnIndex:
    ann_index = AnnIndex(dimension)
    for start in range(0, len(keys), _BATCH_ROWS):
        ann_index.add(
            keys[start : start + _BATCH_ROWS], tables.quantize(vectors[start : start + _BATCH_ROWS])
        )
    return ann_index
