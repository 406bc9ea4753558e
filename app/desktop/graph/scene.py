"""The state of the graph view: graph, positions, selection, filters and highlights."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from app.desktop.graph.camera import Camera
from app.desktop.graph.highlights import Highlights
from app.desktop.graph.node_style import (
    ColorBy,
    default_color_by,
    node_colors,
    style_edges,
    style_nodes,
    transfer_communities,
)
from app.desktop.theme.colors import Theme
from app.graph.builder import build_from
from app.graph.core_drawing import Bodies, Viewport, disc_at
from app.graph.edge_style import EdgeStyle
from app.graph.encoded_columns import encode_columns
from app.graph.model import Graph, Positions, node_radii

_FILTERED_OPACITY = 0.09
_REFERENCE_SCALE = 9.0
_MIN_RADIUS = 1.15
_HIT_TOLERANCE = 4.0


class Scene:
    """The state of the canvas, without painting or widgets.

    `strength` is 1 for a fully visible node, 0.09 for a filtered one, 0 for a hidden one. `version` is
    incremented whenever nodes move or change appearance; `is_whole` is true if no node is hidden.
    """

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.color_by: ColorBy | None = None
        self.hidden_groups: set[str] = set()
        self.hidden_kinds: set[str] = set()
        self.hide_orphans = False
        self.hide_filtered = False
        self.matches: frozenset[str] | None = None
        self.selection: list[int] = []
        self.hovered = -1
        self.version = 0
        self.is_loading = True
        self._communities: NDArray[np.int64] | None = None
        self.pending: set[str] = set()
        self.changed: set[str] = set()
        self.highlights = Highlights()
        self._edges: EdgeStyle | None = None
        self._links_of: tuple[object, NDArray[np.int64]] = None, np.empty(0, dtype=np.int64)
        self._links_touching: tuple[object, NDArray[np.int64]] = None, np.empty(0, dtype=np.int64)
        self.graph: Graph = build_from((), ())
        self.set_graph(self.graph, np.empty((0, 2), dtype=np.float32))

    def set_graph(
        self,
        graph: Graph,
        positions: Positions,
        *,
        is_update: bool = False,
        communities: NDArray[np.int64] | None = None,
    ) -> None:
        """Show another graph; nodes that still exist stay selected, and any hover ends.

        Args:
            graph: The new graph.
            positions: float32 (n, 2).
            is_update: True for the next state of the same vault: communities and highlights are kept.
            communities: int64 (n,), the new graph's communities if they are known; ignored for an update.
        """
        self.highlights = self.highlights.transferred(self.graph, graph) if is_update else Highlights()
        if not is_update:
            self._communities = communities
        elif self._communities is not None:
            self._communities = transfer_communities(self.graph, self._communities, graph)
        selected_paths = [self.graph.paths[row] for row in self.selection] if self.selection else []
        self.graph = graph
        self.move(positions)
        self.resize()
        self.weight = graph.degree.astype(np.float32) + 0.5
        # 16-bit integers, which numpy sorts ten times as fast.
        lightness = np.uint16(65535) - np.minimum(graph.degree, 65535).astype(np.uint16)
        self.heaviest = np.argsort(lightness, kind="stable").astype(np.int32)
        self.selection = [graph.rows[path] for path in selected_paths if path in graph.rows]
        self.hovered = -1
        self.restyle()

    def move(self, positions: Positions) -> None:
        """Set new positions, float32 (n, 2)."""
        self.positions = np.ascontiguousarray(positions, dtype=np.float32)
        self.version += 1

    @property
    def needs_communities(self) -> bool:
        """True if communities are needed but unknown; until then all notes have the same color."""
        return self.coloring is ColorBy.COMMUNITY and self._communities is None and len(self.graph) > 0

    @property
    def communities(self) -> NDArray[np.int64] | None:
        """The community of each node, int64 (n,), -1 for none; None if they were not computed."""
        return self._communities

    def set_communities(self, graph: Graph, communities: NDArray[np.int64]) -> bool:
        """Set the communities if `graph` is still the displayed graph; return whether it is."""
        if graph is not self.graph:
            return False
        self._communities = communities
        self.restyle()
        return True

    @property
    def coloring(self) -> ColorBy:
        """The property that determines colors: the user's choice, or the default for the vault."""
        return self.color_by or self._default_color_by

    def resize(self) -> None:
        """Recompute radii and drawing order, smallest nodes first."""
        radii = node_radii(self.graph)
        sizes = self.highlights.sizes
        self.radii = radii if sizes is None else radii * sizes
        quantized = np.minimum(self.radii * np.float32(4096), 65535).astype(np.uint16)
        self.order = np.argsort(quantized, kind="stable").astype(np.int32)
        self.largest = np.ascontiguousarray(self.order[::-1])
        self.version += 1

    def restyle(self) -> None:
        """Recompute colors and strengths."""
        self._default_color_by = default_color_by(self.graph)
        communities = self._communities
        if communities is None:
            communities = np.full(len(self.graph), -1, dtype=np.int64)
        self.nodes = style_nodes(self.graph, self.theme, self.coloring, communities)
        self.recolor()
        self.refilter()

    def recolor(self) -> None:
        """Recompute the color of each node and link."""
        self.colors = node_colors(self.nodes, self.highlights.colors)
        self._edges = None
        self.version += 1

    def refilter(self) -> None:
        """Recompute strengths after filters changed."""
        graph = self.graph
        strength = np.ones(len(graph), dtype=np.float32)
        if self.matches is not None:
            strength[:] = 0.0 if self.hide_filtered else _FILTERED_OPACITY
            strength[self.rows(self.matches)] = 1.0
        if self.hidden_kinds:
            strength[encode_columns(graph).kinds.is_among(self.hidden_kinds)] = 0.0
        if self.hide_orphans:
            strength[graph.degree == 0] = 0.0
        hidden = [index for index, group in enumerate(self.nodes.groups) if group.key in self.hidden_groups]
        if hidden:
            strength[np.isin(self.nodes.group, hidden)] = 0.0
        if self.highlights.visible is not None:
            strength[~self.highlights.visible] = 0.0
        self.strength = strength
        self.is_whole = bool((strength > 0.0).all())
        self._edges = None
        self.version += 1

    @property
    def edges(self) -> EdgeStyle:
        """The links' style."""
        return self.edge_style_factory()()

    def edge_style_factory(self) -> Callable[[], EdgeStyle]:
        """Return a function that computes the links' style in its caller's thread, unless it is cached."""
        cached = self._edges
        if cached is not None:
            return lambda: cached
        graph, theme, colors, strength = self.graph, self.theme, self.colors, self.strength

        def compute() -> EdgeStyle:
            if self._edges is not None and self.strength is strength and self.colors is colors:
                return self._edges
            style = style_edges(graph, theme, colors, strength)
            if self.strength is strength and self.colors is colors:
                self._edges = style
            return style

        return compute

    def links_of(self, row: int) -> NDArray[np.int64]:
        """Return a node's visible links, int64 (k,); the last result is cached."""
        key = (row, self.version)
        if self._links_of[0] != key:
            ends = self.graph.edges
            links = np.flatnonzero((ends[:, 0] == row) | (ends[:, 1] == row))
            if not self.is_whole:
                links = links[(self.strength[ends[links]] > 0).all(axis=1)]
            self._links_of = key, links
        return self._links_of[1]

    def links_touching(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the links with an end in `rows` that are neither hidden nor filtered, int64 (k,).

        The result is cached for the same array.
        """
        if self._links_touching[0] is not rows:
            is_row = np.zeros(len(self.graph), dtype=bool)
            is_row[rows] = True
            ends = self.graph.edges
            links = np.flatnonzero(is_row[ends[:, 0]] | is_row[ends[:, 1]])
            self._links_touching = rows, links[self.strength[ends[links]].min(axis=1, initial=1.0) > 0.2]
        return self._links_touching[1]

    @property
    def bodies(self) -> Bodies:
        """The nodes in the form that the core draws."""
        return Bodies(self.positions, self.radii, self.strength)

    def view(self, camera: Camera, width: float, height: float) -> Viewport:
        """Return the viewport of `camera` in a view of this size.

        When the user zooms in, nodes grow more slowly than the distances between them. When the user zooms
        out, they shrink faster, so that the links of a large vault stay visible.
        """
        power = 0.55 if camera.scale > _REFERENCE_SCALE else 1.3
        growth = _REFERENCE_SCALE * (camera.scale / _REFERENCE_SCALE) ** power
        center = (width / 2, height / 2)
        return Viewport((camera.x, camera.y), camera.scale, center, growth, _MIN_RADIUS)

    def pixel_radii(self, scale: float) -> NDArray[np.float32]:
        """Return the nodes' radii in pixels, float32 (n,)."""
        return self.view(Camera(scale=scale), 0, 0).radii(self.radii)

    def node_at(self, x: float, y: float, camera: Camera, width: int, height: int) -> int:
        """Return the row of the node under or near a pixel, the one with the nearest rim; -1 for none."""
        if not len(self.graph):
            return -1
        view = self.view(camera, width, height)
        return disc_at(self.bodies, view, x, y, _HIT_TOLERANCE)

    def nodes_in_rectangle(
        self,
        corner: tuple[float, float],
        opposite: tuple[float, float],
        camera: Camera,
        width: int,
        height: int,
    ) -> list[int]:
        """Return the rows of visible nodes with centers in a rectangle of pixels."""
        pixels = camera.to_screen(self.positions, width, height)
        low, high = np.minimum(corner, opposite), np.maximum(corner, opposite)
        is_inside = (pixels >= low).all(axis=1) & (pixels <= high).all(axis=1) & (self.strength > 0.0)
        return [int(row) for row in np.flatnonzero(is_inside)]

    def nodes_in_polygon(
        self, polygon: NDArray[np.float32], camera: Camera, width: int, height: int
    ) -> list[int]:
        """Return the rows of visible nodes with centers in a polygon of pixels, float32 (k, 2).

        Overlapping parts follow the even-odd rule.
        """
        if len(polygon) < 3:
            return []
        low, high = polygon.min(axis=0).tolist(), polygon.max(axis=0).tolist()
        candidates = self.nodes_in_rectangle((low[0], low[1]), (high[0], high[1]), camera, width, height)
        pixels = camera.to_screen(self.positions[candidates], width, height)
        mask = np.zeros(len(candidates), dtype=bool)
        x, y = pixels[:, 0], pixels[:, 1]
        for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
            if y0 != y1:
                mask ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
        return [row for row, is_inside in zip(candidates, mask.tolist(), strict=True) if is_inside]

    def rows(self, paths: Iterable[str]) -> list[int]:
        """Return the rows of `paths`; paths that are not in the graph are ignored."""
        row_by_path = self.graph.rows
        return [row_by_path[path] for path in paths if path in row_by_path]

    def selected_paths(self) -> tuple[str, ...]:
        """Return the selected paths in the order of selection."""
        return tuple(self.graph.paths[row] for row in self.selection)

    def bright_rows(self) -> NDArray[np.int32]:
        """Return the rows that stay bright during a hover: the node and its visible neighbors."""
        if self.hovered < 0:
            return np.empty(0, dtype=np.int32)
        neighbors = self.graph.neighbors(self.hovered)
        return np.append(neighbors[self.strength[neighbors] > 0], np.int32(self.hovered))

    def set_group_hidden(self, key: str, hidden: bool) -> None:
        """Hide or show the nodes of a legend entry."""
        (self.hidden_groups.add if hidden else self.hidden_groups.discard)(key)
        self.refilter()

    def set_matches(self, paths: Collection[str] | None) -> None:
        """Dim or hide all nodes but `paths`; None shows them all."""
        self.matches = None if paths is None else frozenset(paths)
        self.refilter()
