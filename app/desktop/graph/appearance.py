"""What of the graph is bright, faint, hidden or colored: filters, queries, analyses over the scene."""

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
    """Lays filters and colors over the scene of `canvas`, and lays them anew when its graph is another.

    A node is bright if the filter of the sheet and the search both have it. While changes wait for an
    answer, the notes that they touch are bright and all else is faint. Colors of an analysis come before
    those of queries, and both before the scene's own.
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
        """What the sheet's filter finds; None for no filter."""
        self._kept = None if paths is None else frozenset(paths)
        self._filter()

    def find(self, paths: Collection[str] | None) -> None:
        """What the search panel finds; None for no search."""
        self._found = None if paths is None else frozenset(paths)
        self._filter()

    def await_answer(self, paths: Collection[str]) -> None:
        """What changes touch that wait for an answer."""
        self._pending = frozenset(paths)
        self._filter()

    def show(self, shown: VisibilitySettings) -> None:
        """Which kinds of nodes are there, and whether the rest is dimmed or hidden."""
        scene = self._canvas.scene
        scene.hide_orphans = not shown.orphans
        scene.hidden_kinds = {
            kind
            for kind, on in (("unresolved", shown.unresolved), ("attachment", shown.attachments))
            if not on
        }
        self._dimmed = shown.dimmed
        self._filter()

    def dim_rest(self, on: bool) -> None:
        """Whether what a filter leaves out stays, but faint."""
        self._dimmed = on
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
        """Colours by query: each group and the paths that it has."""
        self._queries, self._answers = tuple(groups), tuple(frozenset(each) for each in found)
        self._paint()

    def set_analysis(self, layer: Layer | None) -> None:
        """Colours of an analysis of the graph that is shown; None ends them."""
        self._analysis = None if layer is None else (self._canvas.scene.graph, layer)
        self._paint()

    def set_sizes(self, factors: NDArray[np.float32] | None, words: str = "") -> None:
        """Sizes of an analysis of the graph that is shown, as factors, and what they mean; None ends them."""
        self.size_words = "" if factors is None else words
        self._sizes = None if factors is None else (self._canvas.scene.graph, factors)
        self._canvas.set_node_sizes(factors)

    def hide(self, key: str, hidden: bool) -> bool:
        """Hide or show the nodes of an entry of the legend; whether the entry is one of a layer."""
        if self._layer is None or key not in {group.key for group in self._layer.groups}:
            return False
        (self._hidden.add if hidden else self._hidden.discard)(key)
        self._canvas.set_visible(~self._layer.hidden(self._hidden) if self._hidden else None)
        return True

    def entries(self) -> tuple[tuple[LegendEntry, ...], frozenset[str]]:
        """What the legend lists: entries of the layer and of the scene, and the keys of hidden ones."""
        scene = self._canvas.scene
        hidden = frozenset(scene.hidden_groups | self._hidden)
        if self._layer is None:
            return scene.nodes.groups, hidden
        if self._analysis is not None:
            return self._layer.groups, hidden
        return (*self._layer.groups, *scene.nodes.groups), hidden

    def counts(self) -> tuple[int, ...]:
        """How many nodes each query's group has."""
        on_top = self._layer is not None and self._analysis is None
        return tuple(group.count for group in self._layer.groups) if on_top and self._layer else ()

    def set_theme(self, theme: Theme) -> None:
        """Colour in another theme."""
        if self._analysis is not None:
            graph, layer = self._analysis
            self._analysis = graph, recolor_layer(layer, theme)
        self._paint()

    def graph_changed(self) -> None:
        """Another graph, or another state of it, is in the scene."""
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
    """One value per row of `old`, brought to the rows of `new` by path; nodes that are new get `fill`."""
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
