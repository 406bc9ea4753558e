"""Semantic search: the state of the notes' vectors, and queries on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.embeddings.duplicates import Duplicate
    from app.embeddings.languages import VaultLanguages
    from app.vault.path import NotePath
    from app.workspace.embedding_service import EmbeddingService


class SemanticService:
    """The vectors of the notes, which are computed in the background.

    Args:
        read: Returns the bytes of a note.
    """

    def __init__(self, embeddings: EmbeddingService, read: Callable[[NotePath], bytes]) -> None:
        self._embeddings = embeddings
        self._read = read

    @property
    def note_count(self) -> int:
        """The number of notes that have vectors."""
        return self._embeddings.vectors.notes

    @property
    def languages(self) -> VaultLanguages | None:
        """The languages of the vault's notes; None until they are measured."""
        return self._embeddings.languages

    @property
    def switching_to(self) -> str:
        """The key of the model that is replacing the current one; empty if no switch is in progress."""
        return self._embeddings.switching_to

    def start(self) -> None:
        """Compute missing vectors now."""
        self._embeddings.scheduler.start()

    def pause(self) -> None:
        """Stop computing vectors until `resume`."""
        self._embeddings.scheduler.pause()

    def resume(self) -> None:
        """Continue to compute vectors."""
        self._embeddings.scheduler.resume()

    def prioritize(self, paths: Iterable[NotePath]) -> None:
        """Compute the vectors of these notes first."""
        self._embeddings.scheduler.prioritize(paths)

    async def near_duplicates(self) -> tuple[Duplicate, ...]:
        """Return pairs of notes with nearly the same content, the most similar first."""
        return await self._embeddings.semantic_search.near_duplicates(self._read)
