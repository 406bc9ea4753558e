"""The brightness, visibility and color of nodes, by filters, queries and analyses."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from app.desktop.graph.canvas import Canvas
from app.desktop.graph.color_layers import Layer, query_layer, recolor_layer
from app.desktop.graph.node_style import LegendEntry
from app.desktop.graph.settings.model import QueryGroup, VisibilitySettings
from app.desktop.theme.colors import Theme
from app.graph.model import Graph


class Appearance:
    """Applies filters and colors to the scene of `canvas`, and reapplies them when its graph changes.

    A node is bright if both the panel's filter and the search find it. While changes await approval, the
    notes that they touch are bright and all others are dimmed. Colors of an analysis override those of
    queries, and both override the scene's own.
    """

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._kept: frozenset[str] | None = None
        self._found: frozenset[str] | None = None
        self._pending: frozenset[str] = frozenset()
        self._dimmed = True
        self._queries: tuple[QueryGroup, ...] = ()
        self._answers: tuple[frozenset[str], ...] = ()
        self._analysis: tuple[Graph, Layer] | None = None
        self._sizes: tuple[Graph, NDArray[np.float32]] | None = None
        self._layer: Layer | None = None
        self.size_words = ""
        self._hidden: set[str] = set()

    # Filters

    def set_filter_result(self, paths: Collection[str] | None) -> None:
        """Set what the panel's filter finds; None removes the filter."""
        self._kept = None if paths is None else frozenset(paths)
        self._filter()

    def find(self, paths: Collection[str] | None) -> None:
        """Set what the search panel finds; None ends the search."""
        self._found = None if paths is None else frozenset(paths)
        self._filter()

    def await_answer(self, paths: Collection[str]) -> None:
        """Set the notes that changes awaiting approval touch."""
        self._pending = frozenset(paths)
        self._filter()

    def show(self, shown: VisibilitySettings) -> None:
        """Set the visible kinds of nodes, and whether filtered nodes are dimmed or hidden."""
        scene = self._canvas.scene
        scene.hide_orphans = not shown.orphans
        scene.hidden_kinds = {
            kind
            for kind, on in (("unresolved", shown.unresolved), ("attachment", shown.attachments))
            if not on
        }
        self._dimmed = shown.dimmed
        self._filter()

    def _filter(self) -> None:
        scene = self._canvas.scene
        waiting = self._pending & scene.graph.rows.keys()
        sets = [each for each in (self._kept, self._found) if each is not None]
        if waiting:
            scene.hide_filtered = False
            scene.find(waiting)
        else:
            scene.hide_filtered = not self._dimmed
            scene.find(frozenset.intersection(*sets) if sets else None)
        self._canvas.refresh()

    # Colors and sizes

    def set_queries(self, groups: Sequence[QueryGroup], found: Sequence[Collection[str]]) -> None:
        """Color nodes by query: each group with the paths that it found."""
        self._queries, self._answers = tuple(groups), tuple(frozenset(each) for each in found)
        self._paint()

    def set_analysis(self, layer: Layer | None) -> None:
        """Set the colors of an analysis; None removes them."""
        self._analysis = None if layer is None else (self._canvas.scene.graph, layer)
        self._paint()

    def set_sizes(self, factors: NDArray[np.float32] | None, words: str = "") -> None:
        """Set the sizes of an analysis as factors, with their meaning; None removes them."""
        self.size_words = "" if factors is None else words
        self._sizes = None if factors is None else (self._canvas.scene.graph, factors)
        self._canvas.set_node_sizes(factors)

    def hide(self, key: str, hidden: bool) -> bool:
        """Hide or show the nodes of a legend entry; return whether the entry belongs to a color layer."""
        if self._layer is None or key not in {group.key for group in self._layer.groups}:
            return False
        (self._hidden.add if hidden else self._hidden.discard)(key)
        self._canvas.set_visible(~self._layer.hidden(self._hidden) if self._hidden else None)
        return True

    def entries(self) -> tuple[tuple[LegendEntry, ...], frozenset[str]]:
        """Return the legend's entries, of the layer and of the scene, and the keys of hidden ones."""
        scene = self._canvas.scene
        hidden = frozenset(scene.hidden_groups | self._hidden)
        if self._layer is None:
            return scene.nodes.groups, hidden
        if self._analysis is not None:
            return self._layer.groups, hidden
        return (*self._layer.groups, *scene.nodes.groups), hidden

    def counts(self) -> tuple[int, ...]:
        """Return the number of nodes of each query's group."""
        on_top = self._layer is not None and self._analysis is None
        return tuple(group.count for group in self._layer.groups) if on_top and self._layer else ()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        if self._analysis is not None:
            graph, layer = self._analysis
            self._analysis = graph, recolor_layer(layer, theme)
        self._paint()

    def graph_changed(self) -> None:
        """Reapply everything to the scene's new graph or its new state."""
        graph = self._canvas.scene.graph
        if self._sizes is not None:
            known, factors = self._sizes
            self._canvas.set_node_sizes(transfer_values(factors, known, graph, 1.0))
        self._filter()
        self._paint()

    def _paint(self) -> None:
        scene = self._canvas.scene
        self._layer = None
        if self._analysis is not None:
            known, layer = self._analysis
            self._layer = Layer(layer.groups, transfer_values(layer.member, known, scene.graph, -1))
        elif self._queries:
            self._layer = query_layer(scene.graph, self._queries, self._answers, scene.theme)
        keys = {group.key for group in self._layer.groups} if self._layer else set()
        self._hidden &= keys
        self._canvas.set_node_colors(self._layer.colors() if self._layer else None)
        hides = self._layer is not None and bool(self._hidden)
        self._canvas.set_visible(~self._layer.hidden(self._hidden) if hides and self._layer else None)


def transfer_values(values: NDArray, old: Graph, new: Graph, fill: float) -> NDArray:  # type: ignore[type-arg]
    """Map values per row of `old` to the rows of `new` by path; new nodes get `fill`."""
    if old is new:
        return values
    size = len(old)
    if new.paths[:size] == old.paths:
        rest = np.full(len(new) - size, fill, dtype=values.dtype)
        return np.concatenate([values, rest])
    rows = np.array([old.rows.get(path, -1) for path in new.paths], dtype=np.int64)
    brought = values[rows] if size else np.full(len(new), fill, dtype=values.dtype)
    brought[rows < 0] = fill
    return np.asarray(brought, dtype=values.dtype)
