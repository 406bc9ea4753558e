"""Set the brightness, visibility, color and size of nodes based on filters, queries and analyses."""

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
    """Applies filters, colors and sizes to the scene of `canvas`, again when the scene's graph changes.

    A node is bright if it matches the panel's filter and the search, if any. While changes await
    approval, the notes that they touch are bright and all others are dimmed. An analysis's colors override
    those of queries, and both override the scene's own.
    """

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._filter_matches: frozenset[str] | None = None
        self._search_matches: frozenset[str] | None = None
        self._pending: frozenset[str] = frozenset()
        self._dimmed = True
        self._queries: tuple[QueryGroup, ...] = ()
        self._query_matches: tuple[frozenset[str], ...] = ()
        self._analysis: tuple[Graph, Layer] | None = None
        self._sizes: tuple[Graph, NDArray[np.float32]] | None = None
        self._layer: Layer | None = None
        self.size_description = ""
        self._hidden: set[str] = set()

    # Filters

    def set_filter_result(self, paths: Collection[str] | None) -> None:
        """Set the matches of the panel's filter; None removes the filter."""
        self._filter_matches = None if paths is None else frozenset(paths)
        self._apply_filters()

    def set_search_result(self, paths: Collection[str] | None) -> None:
        """Set the matches of the search panel; None ends the search."""
        self._search_matches = None if paths is None else frozenset(paths)
        self._apply_filters()

    def set_pending(self, paths: Collection[str]) -> None:
        """Set the notes that pending proposals would change."""
        self._pending = frozenset(paths)
        self._apply_filters()

    def set_visibility(self, shown: VisibilitySettings) -> None:
        """Set the visible kinds of nodes, and whether filtered nodes are dimmed or hidden."""
        scene = self._canvas.scene
        scene.hide_orphans = not shown.orphans
        scene.hidden_kinds = {
            kind
            for kind, visible in (("unresolved", shown.unresolved), ("attachment", shown.attachments))
            if not visible
        }
        self._dimmed = shown.dimmed
        self._apply_filters()

    def _apply_filters(self) -> None:
        scene = self._canvas.scene
        pending = self._pending & scene.graph.rows.keys()
        match_sets = [
            matches for matches in (self._filter_matches, self._search_matches) if matches is not None
        ]
        if pending:
            scene.hide_filtered = False
            scene.set_matches(pending)
        else:
            scene.hide_filtered = not self._dimmed
            scene.set_matches(frozenset.intersection(*match_sets) if match_sets else None)
        self._canvas.refresh()

    # Colors and sizes

    def set_queries(self, groups: Sequence[QueryGroup], matches: Sequence[Collection[str]]) -> None:
        """Color nodes by query: `matches` are the paths that each group's query finds."""
        self._queries, self._query_matches = tuple(groups), tuple(frozenset(paths) for paths in matches)
        self._apply_colors()

    def set_analysis(self, layer: Layer | None) -> None:
        """Set the colors of an analysis; None removes them."""
        self._analysis = None if layer is None else (self._canvas.scene.graph, layer)
        self._apply_colors()

    def set_sizes(self, factors: NDArray[np.float32] | None, description: str = "") -> None:
        """Set an analysis's node sizes as factors, with their description; None removes them."""
        self.size_description = "" if factors is None else description
        self._sizes = None if factors is None else (self._canvas.scene.graph, factors)
        self._canvas.set_node_sizes(factors)

    def set_entry_hidden(self, key: str, hidden: bool) -> bool:
        """Hide or show the nodes of a legend entry; return whether the entry belongs to a color layer."""
        if self._layer is None or key not in {group.key for group in self._layer.groups}:
            return False
        (self._hidden.add if hidden else self._hidden.discard)(key)
        self._canvas.set_visible(~self._layer.has_entry_in(self._hidden) if self._hidden else None)
        return True

    def entries(self) -> tuple[tuple[LegendEntry, ...], frozenset[str]]:
        """Return the entries of the legend and the keys of the hidden ones.

        An analysis's entries replace the scene's; those of queries precede them. The group "other" is omitted
        until communities are found.
        """
        scene = self._canvas.scene
        hidden = frozenset(scene.hidden_groups | self._hidden)
        groups = scene.nodes.groups
        if scene.needs_communities:
            groups = tuple(group for group in groups if group.key != "other")
        if self._layer is None:
            return groups, hidden
        if self._analysis is not None:
            return self._layer.groups, hidden
        return (*self._layer.groups, *groups), hidden

    def counts(self) -> tuple[int, ...]:
        """Return the number of nodes in each query's group; empty while queries do not color the graph."""
        shows_queries = self._layer is not None and self._analysis is None
        return tuple(group.count for group in self._layer.groups) if shows_queries and self._layer else ()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        if self._analysis is not None:
            graph, layer = self._analysis
            self._analysis = graph, recolor_layer(layer, theme)
        self._apply_colors()

    def reapply(self) -> None:
        """Reapply everything to the scene's new graph or its new state."""
        graph = self._canvas.scene.graph
        if self._sizes is not None:
            previous_graph, factors = self._sizes
            self._canvas.set_node_sizes(transfer_values(factors, previous_graph, graph, 1.0))
        self._apply_filters()
        self._apply_colors()

    def _apply_colors(self) -> None:
        scene = self._canvas.scene
        self._layer = None
        if self._analysis is not None:
            graph, layer = self._analysis
            self._layer = Layer(layer.groups, transfer_values(layer.member, graph, scene.graph, -1))
        elif self._queries:
            self._layer = query_layer(scene.graph, self._queries, self._query_matches, scene.theme)
        keys = {group.key for group in self._layer.groups} if self._layer else set()
        self._hidden &= keys
        self._canvas.set_node_colors(self._layer.colors() if self._layer else None)
        has_hidden_entries = self._layer is not None and bool(self._hidden)
        self._canvas.set_visible(
            ~self._layer.has_entry_in(self._hidden) if has_hidden_entries and self._layer else None
        )


def transfer_values(values: NDArray, before: Graph, after: Graph, fill: float) -> NDArray:  # type: ignore[type-arg]
    """Map values per row of `before` to the rows of `after` by path; new nodes get `fill`."""
    if before is after:
        return values
    size = len(before)
    if after.paths[:size] == before.paths:
        added_values = np.full(len(after) - size, fill, dtype=values.dtype)
        return np.concatenate([values, added_values])
    rows = np.array([before.rows.get(path, -1) for path in after.paths], dtype=np.int64)
    transferred = values[rows] if size else np.full(len(after), fill, dtype=values.dtype)
    transferred[rows < 0] = fill
    return np.asarray(transferred, dtype=values.dtype)
