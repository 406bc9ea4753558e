"""Search by meaning over a vault's vectors: by a text or by a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.embeddings.client import Embedder
    from app.embeddings.table import VectorHit
    from app.embeddings.vectors import VectorStore


class Meaning:
    """Puts the embedder and the vectors of a vault together."""

    def __init__(self, embedder: Embedder, vectors: VectorStore) -> None:
        self._embedder = embedder
        self._vectors = vectors

    def change_model(self, embedder: Embedder) -> None:
        """Ask with another model from now on."""
        self._embedder = embedder

    async def like_text(self, text: str, limit: int, min_similarity: float) -> tuple[VectorHit, ...]:
        """The notes closest in meaning to `text`, each by its best chunk, best first.

        Raises:
            EmbedderUnavailable: no vector can be made of the text.
        """
        (vector,) = await self._embedder.embed([text], priority=True, query=True)
        return self._vectors.search(vector, limit, min_similarity, per_note=True)

    def like_note(self, path: NotePath, limit: int, min_similarity: float) -> tuple[VectorHit, ...]:
        """The other notes closest in meaning to the note at `path`, best first."""
        return self._vectors.similar(path, limit, min_similarity)
