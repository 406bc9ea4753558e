"""Search by meaning while the embedding model changes."""

from __future__ import annotations

import numpy as np
import pytest

from app.embeddings import EmbedderUnavailableError
from app.embeddings.model_config import SentenceModelConfig
from app.embeddings.onnx_model import Vectors
from app.embeddings.vector_table import VectorHit
from app.index.term_statistics import TermStatistics
from app.toolkit.semantic_search import SemanticSearch
from app.vault.path import NotePath


class Store:
    """Vectors by one model, which can only be searched with a vector by the same model."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    def search(self, vector: Vectors, limit: int, min_similarity: float, **more: bool) -> tuple[str, ...]:
        assert vector.shape == (self.dimension,)
        return (f"hit of dimension {self.dimension}",)


class SwitchedEmbedder:
    """An embedder whose model is replaced while it embeds a query."""

    def __init__(self, dimension: int, *, fails: bool = False) -> None:
        self.dimension = dimension
        self.fails = fails
        self.search: SemanticSearch | None = None

    async def embed(self, texts: list[str], **more: bool) -> Vectors:
        if self.search is not None:
            self.search.change_model(SwitchedEmbedder(3), Store(3))
        if self.fails:
            raise EmbedderUnavailableError("closed")
        return np.ones((len(texts), self.dimension), np.float32)


@pytest.mark.parametrize("fails", [False, True])
async def test_a_query_is_compared_only_with_vectors_by_its_own_model(fails: bool) -> None:
    expected = "hit of dimension 3" if fails else "hit of dimension 2"
    for per_note in (False, True):
        embedder = SwitchedEmbedder(2, fails=fails)
        embedder.search = search = SemanticSearch(embedder, Store(2))
        hits = await (search.like_text("tea", 5, 0.0) if per_note else search.chunks_like("tea", 5))
        assert hits == (expected,)


async def test_an_embedder_that_fails_without_a_successor_is_reported() -> None:
    search = SemanticSearch(SwitchedEmbedder(2, fails=True), Store(2))
    for question in (search.like_text("tea", 5, 0.0), search.chunks_like("tea", 5)):
        with pytest.raises(EmbedderUnavailableError):
            await question


class ComparedStore(Store):
    """Finds two notes by meaning, and knows how similar all notes are."""

    def __init__(self, similarities: dict[NotePath, float]) -> None:
        super().__init__(2)
        self.known = similarities

    def search(
        self, vector: Vectors, limit: int, min_similarity: float, **more: bool
    ) -> tuple[VectorHit, ...]:
        return tuple(
            VectorHit(NotePath(f"{name}.md"), "", 1, score) for name, score in (("x", 0.6), ("y", 0.4))
        )

    def similarities(self, vector: Vectors, paths: list[NotePath]) -> dict[NotePath, float]:
        return {path: self.known[path] for path in paths if path in self.known}


@pytest.mark.parametrize("closer", ["b", "c"])
async def test_notes_that_only_the_words_find_are_compared_by_their_similarity(closer: str) -> None:
    embedder = SwitchedEmbedder(2)
    embedder.model = SentenceModelConfig()
    words = [(NotePath(f"{name}.md"), score) for name, score in (("a", 9.0), ("b", 8.9), ("c", 8.9))]
    similarities = {path: 0.1 for path, _ in words} | {NotePath(f"{closer}.md"): 0.45}
    terms = TermStatistics(1000, ("rye", "bread"), (3, 5), (True, True))
    ranked = await SemanticSearch(embedder, ComparedStore(similarities)).rank_notes("rye bread", words, terms)
    names = [path.name for path, _ in ranked]
    assert sorted(names) == ["a", "b", "c", "x", "y"]
    assert names.index(closer) < names.index({"b": "c", "c": "b"}[closer])
