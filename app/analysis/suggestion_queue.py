"""The queue of suggested relations that the user has not rejected.

From 0.8 a suggestion may be proposed without a request, from 0.6 it is suggested, below that it is dropped.
Rejections are permanent; the analysis stores them per vault, for this queue and the graph alike.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.analysis.relation_classifier import MIN_SUGGESTED_SCORE
from app.graph.builder import build
from app.graph.model import Graph

if TYPE_CHECKING:
    from app.analysis.service import GraphAnalysisService, LinkSuggestion
    from app.index.vault_index import VaultIndex
    from app.vault.path import NotePath


class SuggestionQueue:
    """The suggestions for the vault in its current state of indexing."""

    def __init__(self, analysis: GraphAnalysisService, index: VaultIndex) -> None:
        self._analysis = analysis
        self._index = index

    async def suggestions(
        self, path: NotePath | None, limit: int, *, private: bool
    ) -> tuple[LinkSuggestion, ...]:
        """Return the suggestions, best first.

        Args:
            path: Only suggestions of this note.
            limit: The maximum number.
            private: False for all callers but the user: hidden notes are then left out.

        Raises:
            ComputationFailed: The suggestions could not be computed.
        """
        graph = await asyncio.to_thread(self._graph)
        suggestions = await self._analysis.suggestions(
            graph, for_path=None if path is None else path.text, limit=limit, private=private
        )
        return tuple(one for one in suggestions if one.score >= MIN_SUGGESTED_SCORE)

    def reject(self, source: NotePath, target: NotePath) -> None:
        """Never suggest a relation between two notes again. Raises `StorageError`."""
        self._analysis.reject(source.text, target.text)

    def is_rejected(self, source: NotePath, target: NotePath) -> bool:
        """Return whether the user has rejected a relation between two notes."""
        first, second = sorted((source.text, target.text))
        return (first, second) in self._analysis.rejected()

    def _graph(self) -> Graph:
        return build(self._index.graph())
