"""Storage of vectors: an SQLite file per model in the cache folder, which the user may delete at any time.

A vector is stored once per chunk text (by its hash) in 16-bit floats, which halves the space and changes the
cosine only in the fourth decimal. The chunks of notes are stored separately, so that a moved or edited note
reuses its vectors.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.embeddings.chunker import Chunk
from app.embeddings.model_config import SHIPPED_MODEL
from app.embeddings.onnx_model import Vectors
from app.embeddings.vector_table import ChunkLocation
from app.storage.sqlite import Schema, connect_read_only, open_database
from app.vault.path import NotePath

log = logging.getLogger(__name__)

_FORMAT_VERSION = "1"
_SQL_BATCH_SIZE = 500


def m001_vectors(db: sqlite3.Connection) -> None:
    """Create the tables for the model's name, vectors by text, notes with hashes, and their chunks."""
    for statement in (
        "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS vectors (hash TEXT PRIMARY KEY, vector BLOB NOT NULL)",
        "CREATE TABLE IF NOT EXISTS notes (path TEXT PRIMARY KEY, hash TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE IF NOT EXISTS chunks (
            path TEXT NOT NULL, position INTEGER NOT NULL, heading TEXT NOT NULL, line INTEGER NOT NULL,
            hash TEXT NOT NULL, PRIMARY KEY (path, position)) WITHOUT ROWID""",
    ):
        db.execute(statement)


SCHEMA = Schema(
    store="The index for semantic search",
    migrations=(m001_vectors,),
    probes=(
        "SELECT value FROM meta LIMIT 1",
        "SELECT n.hash, c.heading, c.line, v.vector FROM notes n, chunks c, vectors v LIMIT 1",
    ),
    derived=True,
    synchronous="NORMAL",
    pragmas=("secure_delete = ON",),
)


@dataclass(frozen=True, slots=True)
class NoteChunks:
    """A note's path, the hash of its text, and its chunks."""

    path: NotePath
    hash: str
    chunks: tuple[Chunk, ...]


class VectorFile:
    """The file of one model's vectors in `folder`. Thread-safe.

    A file of another model or format is emptied; a damaged one is replaced. Methods raise `sqlite3.Error` if
    the file can't be read or written.

    Raises:
        StorageError: the file can't be opened.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self._path = folder / f"{stem(model)}.sqlite"
        self._model = _signature(model)
        self._lock = threading.Lock()
        self._db, damage = open_database(self._path, SCHEMA)
        if damage is not None:
            log.warning("%s", damage.message)
        # Statements that write start a transaction, which `with` ends.
        self._db.isolation_level = "DEFERRED"
        with self._db:
            row = self._db.execute("SELECT value FROM meta WHERE key = 'model'").fetchone()
            if row != (self._model,):
                _empty(self._db, self._model)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            self._db.close()

    def notes(self) -> dict[NotePath, str]:
        """Return the hash of each note's text at the time of chunking."""
        with self._lock:
            rows = self._db.execute("SELECT path, hash FROM notes").fetchall()
        return {NotePath.on_disk(path): note_hash for path, note_hash in rows}

    def load(self) -> tuple[list[ChunkLocation], Vectors]:
        """Return every chunk's location and vector."""
        with self._lock, closing(self._db.cursor()) as cursor:
            cursor.execute(
                "SELECT c.path, c.heading, c.line, v.vector FROM chunks c JOIN vectors v ON v.hash = c.hash"
            )
            locations: list[ChunkLocation] = []
            blobs: list[bytes] = []
            paths: dict[str, NotePath] = {}
            for path, heading, line, blob in cursor:
                locations.append(ChunkLocation(paths.setdefault(path, NotePath.on_disk(path)), heading, line))
                blobs.append(blob)
        return locations, _to_vectors(blobs)

    def known_vectors(self, hashes: Sequence[str]) -> dict[str, Vectors]:
        """Return the existing vectors for these chunk hashes."""
        vectors: dict[str, Vectors] = {}
        distinct_hashes = list(dict.fromkeys(hashes))
        with self._lock:
            for start in range(0, len(distinct_hashes), _SQL_BATCH_SIZE):
                batch = distinct_hashes[start : start + _SQL_BATCH_SIZE]
                placeholders = ",".join("?" * len(batch))
                rows = self._db.execute(
                    f"SELECT hash, vector FROM vectors WHERE hash IN ({placeholders})", batch
                )
                vectors.update((chunk_hash, _to_vectors([blob])[0]) for chunk_hash, blob in rows)
        return vectors

    def put(self, notes: Iterable[NoteChunks], vectors: dict[str, Vectors]) -> None:
        """Replace the chunks of `notes` and add `vectors` by chunk hash in one transaction."""
        with self._lock, self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                [(key, np.asarray(vector, dtype="<f2").tobytes()) for key, vector in vectors.items()],
            )
            for note in notes:
                path = str(note.path)
                self._db.execute("DELETE FROM chunks WHERE path = ?", (path,))
                self._db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (path, note.hash))
                self._db.executemany(
                    "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)",
                    [(path, n, c.heading, c.line, c.hash) for n, c in enumerate(note.chunks)],
                )

    def remove(self, paths: Iterable[NotePath]) -> None:
        """Delete these notes and their chunks; `prune` deletes the vectors that are then unused."""
        keys = [(str(path),) for path in paths]
        with self._lock, self._db:
            self._db.executemany("DELETE FROM chunks WHERE path = ?", keys)
            self._db.executemany("DELETE FROM notes WHERE path = ?", keys)

    def prune(self) -> None:
        """Delete the vectors of text that is no longer in any note."""
        with self._lock, self._db:
            self._db.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM chunks)")


def stem(model: str) -> str:
    """Return the name, without a suffix, of the file for a model's vectors."""
    if model == SHIPPED_MODEL:
        return "vectors"
    return f"vectors-{hashlib.sha256(model.encode()).hexdigest()[:12]}"


def models_with_vectors(folder: Path) -> tuple[str, ...]:
    """Return the keys of the models with vectors in `folder`, those with the most notes first.

    Files that can't be read are skipped.
    """
    models: list[tuple[int, str]] = []
    for file in folder.glob("vectors*.sqlite"):
        try:
            with closing(connect_read_only(file)) as db:
                (signature,) = db.execute("SELECT value FROM meta WHERE key = 'model'").fetchone()
                (notes,) = db.execute("SELECT count(*) FROM notes").fetchone()
        except (sqlite3.Error, TypeError) as error:
            # Opening it as a store will replace and report it.
            log.warning("%s can't be read: %s", file, error)
            continue
        version, _, model = str(signature).partition(" ")
        if notes and version == _FORMAT_VERSION and file.name == f"{stem(model)}.sqlite":
            models.append((notes, model))
    return tuple(model for _, model in sorted(models, reverse=True))


def remove_vectors(folder: Path, model: str) -> None:
    """Delete the files of a model's vectors, which must not be open.

    Raises:
        OSError: a file can't be deleted.
    """
    for suffix in (".sqlite", ".sqlite-wal", ".sqlite-shm", ".near"):
        (folder / f"{stem(model)}{suffix}").unlink(missing_ok=True)


def _signature(model: str) -> str:
    return f"{_FORMAT_VERSION} {model}"


def _empty(database: sqlite3.Connection, signature: str) -> None:
    for table in ("vectors", "notes", "chunks"):
        database.execute(f"DELETE FROM {table}")
    database.execute("INSERT OR REPLACE INTO meta VALUES ('model', ?)", (signature,))


def round_vectors(vectors: Vectors) -> Vectors:
    """Round vectors as the file does, so that searches return the same results after a restart."""
    return vectors.astype("<f2").astype(np.float32)


def _to_vectors(blobs: list[bytes]) -> Vectors:
    if not blobs:
        return np.zeros((0, 0), dtype=np.float32)
    return np.frombuffer(b"".join(blobs), dtype="<f2").astype(np.float32).reshape(len(blobs), -1)
