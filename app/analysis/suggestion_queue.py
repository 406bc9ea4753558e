"""The queue of relations that may be missing: what the analysis suggests and nobody has rejected.

From 0.8 a suggestion may be proposed without being asked for, from 0.6 it is suggested, below it is dropped.
What is rejected stays so: the analysis keeps that for each vault, for this queue and the graph alike.
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
    """Asks the analysis about the vault as it is indexed now."""

    def __init__(self, analyst: GraphAnalysisService, index: VaultIndex) -> None:
        self._analyst = analyst
        self._index = index

    async def suggestions(
        self, path: NotePath | None, limit: int, *, private: bool, least: float = MIN_SUGGESTED_SCORE
    ) -> tuple[LinkSuggestion, ...]:
        """The suggestions, best first.

        Args:
            path: Only those of this note.
            limit: How many at most.
            private: False for everybody but the user: then hidden notes are as if they were not there.
            least: The lowest score, 0 to 1.

        Raises:
            AnalysisFailed: it could not be computed.
        """
        graph = await asyncio.to_thread(self._graph)
        found = await self._analyst.suggestions(
            graph, for_path=None if path is None else path.text, limit=limit, private=private
        )
        return tuple(one for one in found if one.score >= least)

    def reject(self, source: NotePath, target: NotePath) -> None:
        """Suggest nothing between two notes again. Raises `StorageError`."""
        self._analyst.reject(source.text, target.text)

    def is_rejected(self, source: NotePath, target: NotePath) -> bool:
        """Whether somebody has said no to a relation between two notes."""
        first, second = sorted((source.text, target.text))
        return (first, second) in self._analyst.rejected()

    def _graph(self) -> Graph:
        return build(self._index.graph())
