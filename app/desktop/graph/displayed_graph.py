"""The graph on the canvas: the whole graph with its decorations, or the neighborhood of some notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from app.desktop.graph.canvas import Canvas
from app.desktop.graph.layout_switch import LayoutSwitch
from app.desktop.graph.local_graph import extract_subgraph
from app.desktop.graph.virtual_nodes import VirtualNodes
from app.graph.builder import build_from
from app.graph.model import Graph, Positions
from app.graph.position_transfer import transfer_positions


class DisplayedGraph:
    """Separates the graph of the index from what `canvas` shows.

    `whole` is the graph of the index; its nodes come first in the displayed graph, in the same order.
    """

    def __init__(self, canvas: Canvas, arranging: LayoutSwitch, decoration: VirtualNodes) -> None:
        self._canvas = canvas
        self._arranging = arranging
        self._decoration = decoration
        self.whole: Graph = build_from((), ())
        self._places: Positions = np.empty((0, 2), dtype=np.float32)
        self.local: tuple[tuple[str, ...], int] | None = None

    def positions(self) -> Positions:
        """Return the positions of `whole` by links, float32 (n, 2), also in another arrangement."""
        if self.local is not None:
            return self._places[: len(self.whole)]
        kept = self._arranging.link_positions()
        return (self._canvas.scene.positions if kept is None else kept)[: len(self.whole)]

    def communities(self) -> NDArray[np.int64] | None:
        """Return the communities of `whole`, int64 (n,); None if they were not computed."""
        found = None if self.local else self._canvas.scene.communities
        return None if found is None else found[: len(self.whole)]

    def show_graph(
        self, graph: Graph, positions: Positions | None, communities: NDArray[np.int64] | None
    ) -> None:
        """Show another graph at given positions (nan for none), or arrange it from scratch."""
        self.local = None
        self.whole = graph
        self._arranging.reset()
        shown = self._decoration.apply_to(graph)
        more = len(shown) - len(graph)
        if more and positions is not None:
            positions = np.concatenate([positions, np.full((more, 2), np.nan, dtype=np.float32)])
        if more and communities is not None:
            communities = np.concatenate([communities, np.full(more, -1, dtype=np.int64)])
        self._canvas.set_graph(shown, positions, communities)

    def update_graph(self, graph: Graph, renamed: Mapping[str, str] | None, places: Positions | None) -> None:
        """Show the next state of the same graph: known nodes stay, new ones appear next to their neighbors.

        Args:
            graph: The next state.
            renamed: New path by old path.
            places: float32 (n, 2), what `carry` gives for `positions()`; None to compute it here.
        """
        canvas, before = self._canvas, self.whole
        shown = self._decoration.apply_to(graph)
        if self.local is not None:
            self._places = (
                transfer_positions(before, self.positions(), graph, renamed)[0] if places is None else places
            )
            self.whole = graph
            self._go_on_locally(shown, renamed)
            return
        elsewhere = not self._arranging.is_by_links or len(canvas.scene.graph) != len(before)
        if elsewhere or places is None or len(shown) != len(graph):
            places = transfer_positions(canvas.scene.graph, canvas.scene.positions, shown, renamed)[0]
        self.whole = graph
        self._arranging.graph_changed(shown, renamed)
        canvas.replace_graph(shown, places)

    def show_local(self, paths: Sequence[str], depth: int) -> str | None:
        """Show what is at most `depth` links from `paths`; return the first name or None."""
        whole = self._decoration.apply_to(self.whole)
        listed = tuple(path for path in paths if path in whole.rows)
        if not listed:
            return None
        if self.local is None:
            self._places = self.positions().copy()
        self.local = (listed, depth)
        self._arranging.reset()
        self._canvas.set_graph(extract_subgraph(whole, listed, depth), None)
        return whole.names[whole.rows[listed[0]]]

    def show_whole(self) -> None:
        """Leave the local graph; every node returns to its place."""
        self.show_graph(self.whole, self._places[: len(self.whole)], None)

    def _go_on_locally(self, shown: Graph, renamed: Mapping[str, str] | None) -> None:
        """Update the local graph; show the whole graph if its notes are gone."""
        assert self.local is not None
        paths, depth = self.local
        paths = tuple((renamed or {}).get(path, path) for path in paths)
        paths = tuple(path for path in paths if path in shown.rows)
        if not paths:
            self.show_whole()
            return
        self.local = (paths, depth)
        part = extract_subgraph(shown, paths, depth)
        known, _ = transfer_positions(self._canvas.scene.graph, self._canvas.scene.positions, part, renamed)
        self._canvas.replace_graph(part, known)
