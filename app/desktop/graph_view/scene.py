"""What the graph view shows: a graph, where its nodes are, and what is chosen, found, hidden or held."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from app.desktop.colors import Theme
from app.desktop.graph_view.camera import Camera
from app.desktop.graph_view.look import ColorBy, best_coloring, edge_look, kept_communities, node_look
from app.graph.builder import build_from
from app.graph.model import Graph, Positions, node_radii

_FAINT = 0.09
_REFERENCE_SCALE = 9.0
_SMALLEST_RADIUS = 1.15
_REACH = 4.0


class Scene:
    """The state behind the canvas; no painting, no widgets.

    `strength` is 1 for a node in full, faint for one that a filter dims, 0 for a hidden one. `version` grows
    whenever nodes move or strengths change.
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
        self._found: NDArray[np.int64] | None = None
        self.pending: set[str] = set()
        self.changed: set[str] = set()
        self.graph: Graph = build_from((), ())
        self.set_graph(self.graph, np.empty((0, 2), dtype=np.float32))

    def set_graph(
        self,
        graph: Graph,
        positions: Positions,
        *,
        again: bool = False,
        found: NDArray[np.int64] | None = None,
    ) -> None:
        """Show another graph; what is selected stays selected where it is still there.

        With `again` it is the next state of the same vault, and communities are kept. `found` are the
        communities of another one, where they are known.
        """
        if not again:
            self._found = found
        elif self._found is not None:
            self._found = kept_communities(self.graph, self._found, graph)
        selected = [self.graph.paths[row] for row in self.selection] if self.selection else []
        self.graph = graph
        self.move(positions)
        self.radii = node_radii(graph)
        self.order = np.argsort(self.radii, kind="stable")
        self.weight = graph.degree.astype(np.float32) + 0.5
        self.selection = [graph.rows[path] for path in selected if path in graph.rows]
        self.hovered = -1
        self.restyle()

    def move(self, positions: Positions) -> None:
        """Nodes are elsewhere now."""
        self.positions = positions
        self.version += 1

    @property
    def unsorted(self) -> bool:
        """Whether communities are wanted and not known yet: until `sort` all nodes have one colour."""
        return self.coloring is ColorBy.COMMUNITY and self._found is None and len(self.graph) > 0

    @property
    def communities(self) -> NDArray[np.int64] | None:
        """int64 (n,): the community of each node, -1 for none; None while nobody has looked for them."""
        return self._found

    def sort(self, graph: Graph, found: NDArray[np.int64]) -> bool:
        """Take over the communities of `graph`; whether it is still the one that is shown."""
        if graph is not self.graph:
            return False
        self._found = found
        self.restyle()
        return True

    @property
    def coloring(self) -> ColorBy:
        """What colours say now: the user's choice, or what suits the vault."""
        return self.color_by or self._suited

    def restyle(self) -> None:
        """Work out colours and strengths anew."""
        self._suited = best_coloring(self.graph)
        found = self._found
        if found is None:
            found = np.full(len(self.graph), -1, dtype=np.int64)
        self.nodes = node_look(self.graph, self.theme, self.coloring, found)
        self.refilter()

    def refilter(self) -> None:
        """Work out strengths anew after a change of what is hidden or found."""
        graph = self.graph
        strength = np.ones(len(graph), dtype=np.float32)
        if self.matches is not None:
            found = np.array([path in self.matches for path in graph.paths], dtype=bool)
            strength[~found] = 0.0 if self.hide_filtered else _FAINT
        if self.hidden_kinds:
            strength[np.array([kind in self.hidden_kinds for kind in graph.kinds], dtype=bool)] = 0.0
        if self.hide_orphans:
            strength[graph.degree == 0] = 0.0
        hidden = [place for place, group in enumerate(self.nodes.groups) if group.key in self.hidden_groups]
        strength[np.isin(self.nodes.group, hidden)] = 0.0
        self.strength = strength
        self.version += 1
        self.edges = edge_look(graph, self.theme, self.nodes, strength)

    def pixel_radii(self, scale: float) -> NDArray[np.float32]:
        """float32 (n,): radii in pixels; close by nodes grow slower than the distances between them.

        From afar they shrink faster, so that a large vault stays light.
        """
        power = 0.55 if scale > _REFERENCE_SCALE else 1.3
        damped = _REFERENCE_SCALE * (scale / _REFERENCE_SCALE) ** power
        return np.asarray(np.maximum(self.radii * np.float32(damped), _SMALLEST_RADIUS), dtype=np.float32)

    def node_at(self, x: float, y: float, camera: Camera, width: int, height: int) -> int:
        """The row under a pixel, or near it; -1 for none. Among several the one whose rim is nearest."""
        if not len(self.graph):
            return -1
        at = camera.to_screen(self.positions, width, height)
        apart = np.hypot(at[:, 0] - x, at[:, 1] - y) - self.pixel_radii(camera.scale)
        apart[self.strength <= 0.0] = np.inf
        nearest = int(apart.argmin())
        return nearest if apart[nearest] <= _REACH else -1

    def nodes_in(
        self,
        corner: tuple[float, float],
        opposite: tuple[float, float],
        camera: Camera,
        width: int,
        height: int,
    ) -> list[int]:
        """Rows of the nodes shown inside a rectangle of pixels."""
        at = camera.to_screen(self.positions, width, height)
        low, high = np.minimum(corner, opposite), np.maximum(corner, opposite)
        inside = (at >= low).all(axis=1) & (at <= high).all(axis=1) & (self.strength > 0.0)
        return [int(row) for row in np.flatnonzero(inside)]

    def rows(self, paths: Iterable[str]) -> list[int]:
        """Rows of those `paths` that are in the graph."""
        known = self.graph.rows
        return [known[path] for path in paths if path in known]

    def selected_paths(self) -> tuple[str, ...]:
        """The selected nodes, in the order in which they were chosen."""
        return tuple(self.graph.paths[row] for row in self.selection)

    def lit(self) -> NDArray[np.int32]:
        """Rows that stay bright while a node is hovered: it and its neighbours."""
        if self.hovered < 0:
            return np.empty(0, dtype=np.int32)
        neighbours = self.graph.neighbours(self.hovered)
        return np.append(neighbours[self.strength[neighbours] > 0], np.int32(self.hovered))

    def hide_kind(self, kind: str, hide: bool) -> None:
        """Hide or show unresolved names or attachments."""
        self._toggle(self.hidden_kinds, kind, hide)

    def hide_group(self, key: str, hide: bool) -> None:
        """Hide or show an entry of the legend."""
        self._toggle(self.hidden_groups, key, hide)

    def _toggle(self, hidden: set[str], key: str, hide: bool) -> None:
        if hide:
            hidden.add(key)
        else:
            hidden.discard(key)
        self.refilter()

    def find(self, paths: Collection[str] | None) -> None:
        """Dim or hide all but `paths`; None ends that."""
        self.matches = None if paths is None else frozenset(paths)
        self.refilter()
