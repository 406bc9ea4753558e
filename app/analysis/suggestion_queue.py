"""The suggested relations that the user has not rejected.

Suggestions below `MIN_SUGGESTED_SCORE` are dropped. The analysis stores rejections per vault, for this queue
and for the graph.
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
    """The suggestions for the vault as currently indexed."""

    def __init__(self, analysis: GraphAnalysisService, index: VaultIndex) -> None:
        self._analysis = analysis
        self._index = index

    async def suggestions(
        self, path: NotePath | None, limit: int, *, private: bool
    ) -> tuple[LinkSuggestion, ...]:
        """Return the suggestions, best first.

        Args:
            path: Return only suggestions for this note; None for all notes.
            limit: The maximum number.
            private: Whether to include hidden notes; False for every caller but the user.

        Raises:
            ComputationError: The suggestions could not be computed.
        """
        graph = await asyncio.to_thread(self._graph)
        suggestions = await self._analysis.suggestions(
            graph, for_path=None if path is None else path.text, limit=limit, private=private
        )
        return tuple(suggestion for suggestion in suggestions if suggestion.score >= MIN_SUGGESTED_SCORE)

    def reject(self, source: NotePath, target: NotePath) -> None:
        """Stop suggesting a relation between two notes, in either direction.

        Raises:
            StorageError: The rejection could not be stored.
        """
        self._analysis.reject(source.text, target.text)

    def is_rejected(self, source: NotePath, target: NotePath) -> bool:
        """Return whether a relation between two notes was rejected, in either direction."""
        first, second = sorted((source.text, target.text))
        return (first, second) in self._analysis.rejected()

    def _graph(self) -> Graph:
        return build(self._index.graph())
