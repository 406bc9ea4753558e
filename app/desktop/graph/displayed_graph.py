"""The graph on the canvas: the whole graph with virtual nodes, or a local graph."""

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
    """Tracks the index's graph separately from the graph that `canvas` shows.

    `whole_graph` is the index's graph, without virtual nodes. Unless a local graph is displayed, its nodes
    come first in the displayed graph, in the same order. `local` holds the start nodes and the depth of the
    local graph; None while the whole graph is displayed.
    """

    def __init__(self, canvas: Canvas, layout_switch: LayoutSwitch, virtual_nodes: VirtualNodes) -> None:
        self._canvas = canvas
        self._layout_switch = layout_switch
        self._virtual_nodes = virtual_nodes
        self.whole_graph: Graph = build_from((), ())
        self._force_positions: Positions = np.empty((0, 2), dtype=np.float32)
        self.local: tuple[tuple[str, ...], int] | None = None

    def positions(self) -> Positions:
        """Return the force-layout positions of `whole_graph`, float32 (n, 2), whatever is displayed."""
        if self.local is not None:
            return self._force_positions[: len(self.whole_graph)]
        force_positions = self._layout_switch.force_positions()
        return (self._canvas.scene.positions if force_positions is None else force_positions)[
            : len(self.whole_graph)
        ]

    def communities(self) -> NDArray[np.int64] | None:
        """Return the communities of `whole_graph`, int64 (n,); None if unknown or in a local graph."""
        all_communities = None if self.local else self._canvas.scene.communities
        return None if all_communities is None else all_communities[: len(self.whole_graph)]

    def show_graph(
        self, graph: Graph, positions: Positions | None, communities: NDArray[np.int64] | None
    ) -> None:
        """Show another graph in the force layout; see `GraphView.set_graph`."""
        self.local = None
        self.whole_graph = graph
        self._layout_switch.reset()
        extended = self._virtual_nodes.apply_to(graph)
        added_count = len(extended) - len(graph)
        if added_count and positions is not None:
            positions = np.concatenate([positions, np.full((added_count, 2), np.nan, dtype=np.float32)])
        if added_count and communities is not None:
            communities = np.concatenate([communities, np.full(added_count, -1, dtype=np.int64)])
        self._canvas.set_graph(extended, positions, communities)

    def update_graph(
        self, graph: Graph, renamed: Mapping[str, str] | None, positions: Positions | None
    ) -> None:
        """Show the next state of the same graph: known nodes stay, new ones appear next to their neighbors.

        A local graph is updated too; if it has lost all of its start nodes, the whole graph is shown.

        Args:
            graph: The next state.
            renamed: New path by old path.
            positions: float32 (n, 2), the result of `transfer_positions` for `positions()`; None to compute
                it here.
        """
        canvas, previous_graph = self._canvas, self.whole_graph
        extended = self._virtual_nodes.apply_to(graph)
        if self.local is not None:
            self._force_positions = (
                transfer_positions(previous_graph, self.positions(), graph, renamed)[0]
                if positions is None
                else positions
            )
            self.whole_graph = graph
            self._update_local(extended, renamed)
            return
        needs_transfer = not self._layout_switch.is_force_layout or len(canvas.scene.graph) != len(
            previous_graph
        )
        if needs_transfer or positions is None or len(extended) != len(graph):
            positions = transfer_positions(canvas.scene.graph, canvas.scene.positions, extended, renamed)[0]
        self.whole_graph = graph
        self._layout_switch.update_graph(extended, renamed)
        canvas.replace_graph(extended, positions)

    def show_local(self, paths: Sequence[str], depth: int) -> str | None:
        """Show the local graph around `paths`; see `extract_subgraph`.

        Returns:
            The name of the first start node; None, with no change, if the graph has none of `paths`.
        """
        graph = self._virtual_nodes.apply_to(self.whole_graph)
        starts = tuple(path for path in paths if path in graph.rows)
        if not starts:
            return None
        if self.local is None:
            self._force_positions = self.positions().copy()
        self.local = (starts, depth)
        self._layout_switch.reset()
        self._canvas.set_graph(extract_subgraph(graph, starts, depth), None)
        return graph.names[graph.rows[starts[0]]]

    def show_whole_graph(self) -> None:
        """Leave the local graph; the nodes return to their earlier positions."""
        self.show_graph(self.whole_graph, self._force_positions[: len(self.whole_graph)], None)

    def _update_local(self, extended: Graph, renamed: Mapping[str, str] | None) -> None:
        """Update the local graph; show the whole graph if none of its start nodes exists anymore."""
        assert self.local is not None
        paths, depth = self.local
        paths = tuple((renamed or {}).get(path, path) for path in paths)
        paths = tuple(path for path in paths if path in extended.rows)
        if not paths:
            self.show_whole_graph()
            return
        self.local = (paths, depth)
        subgraph = extract_subgraph(extended, paths, depth)
        scene, target = self._canvas.scene, self._layout_switch.animation.target
        # The update stops a running animation, so the nodes jump to their final positions.
        positions, _ = transfer_positions(
            scene.graph, scene.positions if target is None else target, subgraph, renamed
        )
        self._layout_switch.update_graph(subgraph, renamed)
        self._canvas.replace_graph(subgraph, positions)
