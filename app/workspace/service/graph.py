"""The graph of the notes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.index.graph_values import GraphDelta
    from app.index.records import GraphData
    from app.index.vault_index import VaultIndex


class GraphService:
    """The notes and links as arrays, read in a worker thread."""

    def __init__(self, index: VaultIndex) -> None:
        self._index = index

    async def data(self) -> GraphData:
        """Return the whole graph."""
        return await asyncio.to_thread(self._index.graph)

    async def delta(
        self, touched: Iterable[str], unresolved: Iterable[str], renamed: Iterable[tuple[str, str]]
    ) -> GraphDelta:
        """Return the difference from a graph that was read earlier.

        Args:
            touched: Every path in `IndexUpdated` events since then, as changed, removed or relinked.
            unresolved: The unresolved names that the touched notes link to in that graph.
            renamed: Known pairs of old and new paths; the renamed nodes keep their positions.
        """
        return await asyncio.to_thread(self._index.graph_delta, touched, unresolved, renamed)
