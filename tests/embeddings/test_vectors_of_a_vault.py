"""The vectors of a real folder, computed with the real index, store and model."""

from __future__ import annotations

from pathlib import Path

from app.embeddings.client import Embedder
from app.embeddings.vectors import VectorStore
from app.events import EventBus
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.store import NoteStore
from tests.support.vector_sync import sync_vectors


async def test_a_vault_is_embedded_kept_up_to_date_and_found_by_meaning(
    sample_vault: Path, tmp_path: Path
) -> None:
    index = VaultIndex(sample_vault, tmp_path / "cache", IndexSettings(), EventBus())
    journal = Journal(tmp_path / "journal")
    store = NoteStore(sample_vault, journal)
    vectors, embedder = VectorStore(tmp_path / "cache"), Embedder()
    try:
        await index.open()
        await index.scan(lambda progress: None, lambda: False)
        report = await sync_vectors(vectors, index, store, embedder)
        private = [record.path for record in index.notes() if record.private]
        assert private, "the sample vault has a private note"
        assert not any(path in vectors.hashes for path in private)
        assert vectors.notes == len(index.notes()) - len(private)
        assert not report.failed

        note = NotePath.parse("Events/Scurvy.md")
        (sample_vault / "Events" / "Scurvy.md").write_text("# Scurvy\n\nA disease cured by fresh lemons.\n")
        await index.refresh([note], [])
        again = await sync_vectors(vectors, index, store, embedder, [note])
        assert again.updated == 1
        (question,) = await embedder.embed(["which fruit heals an illness"], priority=True)
        assert vectors.search(question, 1, 0.2)[0].path == note

        (sample_vault / "Events" / "Scurvy.md").unlink()
        await index.refresh([], [note])
        await sync_vectors(vectors, index, store, embedder, [note])
        assert note not in vectors.hashes
    finally:
        await embedder.close()
        vectors.close()
        await index.close()
        journal.close()
