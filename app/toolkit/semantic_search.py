"""Semantic search over a vault's vectors, by text or by note, and its fusion with word search."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from app.embeddings import EmbedderUnavailableError, rank_fusion
from app.embeddings.rank_fusion import Key
from app.errors import NotFoundError, StorageError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.embeddings.client import Embedder
    from app.embeddings.duplicates import Duplicate
    from app.embeddings.onnx_model import Vectors
    from app.embeddings.vector_table import VectorHit
    from app.embeddings.vectors import VectorStore
    from app.index.term_statistics import TermStatistics


class SemanticSearch:
    """Searches a vault's vectors; the embedder computes a query's vector."""

    def __init__(self, embedder: Embedder, vectors: VectorStore) -> None:
        self._embedder = embedder
        self._vectors = vectors

    def change_model(self, embedder: Embedder, vectors: VectorStore) -> None:
        """Switch to another model and its vectors."""
        self._embedder, self._vectors = embedder, vectors

    @property
    def model_key(self) -> str:
        """The key of the embedding model."""
        return self._embedder.model.key

    async def vectors_of(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return unit vectors of texts that are not notes, with shape (n, dimension).

        Args:
            texts: The texts.
            query: Embed them as queries; some models distinguish queries from passages.

        Raises:
            EmbedderUnavailableError: the texts can't be embedded.
        """
        return await self._embedder.embed(texts, priority=True, query=query)

    def fuse(
        self,
        words: Sequence[tuple[Key, float]],
        semantic_hits: Sequence[tuple[Key, float]],
        terms: TermStatistics,
        similarities: Mapping[Key, float] | None = None,
    ) -> list[tuple[Key, float]]:
        """Merge a query's rankings by words and by meaning; see `rank_fusion.fuse`."""
        return rank_fusion.fuse(words, semantic_hits, terms, self._embedder.model, similarities)

    async def like_text(self, text: str, limit: int, min_similarity: float) -> tuple[VectorHit, ...]:
        """Return the notes closest in meaning to `text`, each by its best chunk, best first.

        Raises:
            EmbedderUnavailableError: the text can't be embedded.
        """
        vector, vectors = await self._embed_query(text)
        return vectors.search(vector, limit, min_similarity, per_note=True)

    async def chunks_like(self, text: str, limit: int) -> tuple[VectorHit, ...]:
        """Return the chunks closest in meaning to `text`, best first; raises as `like_text` does."""
        vector, vectors = await self._embed_query(text)
        return vectors.search(vector, limit, 0.0)

    async def _embed_query(self, text: str) -> tuple[Vectors, VectorStore]:
        """Return a query's vector, and the vault's vectors by the same model.

        Vectors of two models can't be compared, and the model may change while it embeds the query.
        """
        while True:
            embedder, vectors = self._embedder, self._vectors
            try:
                (vector,) = await embedder.embed([text], priority=True, query=True)
            except EmbedderUnavailableError:
                if embedder is self._embedder:
                    raise
            else:
                return vector, vectors

    async def similarities(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the cosine similarity of each of the other texts to `text`, in their order.

        Raises:
            EmbedderUnavailableError: the texts can't be embedded.
        """
        vectors = await self._embedder.embed([text, *others], priority=True)
        return [float(cosine) for cosine in vectors[1:] @ vectors[0]]

    def like_note(self, path: NotePath, limit: int, min_similarity: float) -> tuple[VectorHit, ...]:
        """Return the other notes closest in meaning to the note at `path`, best first."""
        return self._vectors.similar(path, limit, min_similarity)

    def is_current(self, path: NotePath, note_hash: str) -> bool:
        """Return whether the vectors of the note at `path` match the text with this SHA-256."""
        return self._vectors.hashes.get(path) == note_hash

    def without_vectors(self, paths: Iterable[NotePath]) -> frozenset[NotePath]:
        """Return the notes among `paths` without vectors: not embedded yet, private or excluded."""
        return frozenset(paths).difference(self._vectors.hashes)

    def note_similarity(self, first: NotePath, second: NotePath) -> float | None:
        """Return the cosine similarity of two notes, or None if one of them has no vectors."""
        return self._vectors.similarity(first, second)

    async def rank_notes(
        self, text: str, words: Sequence[tuple[NotePath, float]], terms: TermStatistics
    ) -> list[tuple[NotePath, float]]:
        """Rank notes by the words and the meaning of `text` together.

        Args:
            text: The query.
            words: The notes that match its words, best first, with their scores.
            terms: The statistics of the query's words in the notes (`VaultIndex.term_statistics`).

        Raises:
            EmbedderUnavailableError: the text can't be embedded.
        """
        vector, vectors = await self._embed_query(text)
        hits = vectors.search(vector, rank_fusion.MAX_FUSED_HITS, 0.0, per_note=True)
        similarities = vectors.similarities(
            vector, [*(path for path, _ in words), *(hit.path for hit in hits)]
        )
        return self.fuse(words, [(hit.path, hit.score) for hit in hits], terms, similarities)

    async def near_duplicates(self, read: Callable[[NotePath], bytes]) -> tuple[Duplicate, ...]:
        """Return pairs of notes with nearly the same content, the most similar first; can be canceled.

        Args:
            read: Returns the bytes of a note; a note for which it raises NotFoundError or StorageError is
                left out.
        """
        # Imported on demand: opening a vault does not need the word comparison.
        from app.embeddings.duplicates import near_duplicates

        def read_body(path: NotePath) -> str | None:
            try:
                text = decode_lossy(read(path))
            except (NotFoundError, StorageError):
                return None
            return text[read_frontmatter(text).body_start :]

        stop = threading.Event()
        try:
            return await asyncio.to_thread(
                near_duplicates, self._vectors.note_matrix(), read_body, stop.is_set
            )
        finally:
            stop.set()
