"""Bring vectors up to date without a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.embeddings.client import Embedder
from app.embeddings.sync_run import BATCH_NOTES, SyncRun
from app.embeddings.vectors import VectorStore
from app.index.vault_index import VaultIndex
from app.vault.path import NotePath
from app.vault.store import NoteStore


@dataclass(frozen=True)
class SyncReport:
    """The number of notes whose vectors were computed, and the notes that failed, each with the reason."""

    updated: int
    failed: tuple[tuple[NotePath, str], ...]


async def sync_vectors(
    vectors: VectorStore,
    index: VaultIndex,
    store: NoteStore,
    embedder: Embedder,
    paths: Iterable[NotePath] | None = None,
    is_excluded: Callable[[NotePath], bool] = lambda path: False,
) -> SyncReport:
    """Update the vectors of `paths`, by default of all notes, in batches."""
    run = SyncRun(vectors, index, store, embedder, is_excluded)
    changed = await run.collect_changes(paths)
    updated = 0
    for start in range(0, len(changed), BATCH_NOTES):
        updated += len(await run.update_notes(changed[start : start + BATCH_NOTES]))
    await run.finish()
    return SyncReport(updated, tuple(run.failed))
