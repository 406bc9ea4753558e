"""Add virtual nodes and links to the index's graph: tags as nodes, and suggested links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.graph.model import Graph
from app.graph.suggested import add_suggestions

TAG_RELATION = "TAGGED"


@dataclass(frozen=True, slots=True)
class SuggestedEdge:
    """A suggested link with its score from 0 to 1."""

    source: str
    target: str
    score: float


class VirtualNodes:
    """Adds tag nodes and suggested links to a graph; the graph's own nodes keep their rows."""

    def __init__(self) -> None:
        self.tags = False
        self.suggested_edges: tuple[SuggestedEdge, ...] = ()
        self._prepared: tuple[Graph, Graph] | None = None

    def prepare(self, graph: Graph) -> None:
        """Precompute the tag nodes for `apply_to` if they are enabled; slow, so call it in a thread."""
        if self.tags:
            self._tagged(graph)

    def apply_to(self, graph: Graph) -> Graph:
        """Return `graph` with the enabled tags and suggested links, or `graph` itself if there are none."""
        extended = self._tagged(graph) if self.tags else graph
        pairs = [
            (graph.rows[edge.source], graph.rows[edge.target], edge.score)
            for edge in self.suggested_edges
            if edge.source in graph.rows and edge.target in graph.rows
        ]
        if not pairs:
            return extended
        rows = np.array([pair[:2] for pair in pairs], dtype=np.int32).reshape(-1, 2)
        return add_suggestions(extended, rows, np.array([pair[2] for pair in pairs], dtype=np.float32))

    def _tagged(self, graph: Graph) -> Graph:
        prepared = self._prepared
        if prepared is None or prepared[0] is not graph:
            prepared = self._prepared = graph, add_tag_nodes(graph)
        return prepared[1]


def add_tag_nodes(graph: Graph) -> Graph:
    """Return `graph` with a node for each tag after its own nodes, linked to the notes that have the tag.

    A tag's path is "#" and the case-folded tag; its name is spelled as in the first note.
    """
    tag_rows: dict[str, int] = {}
    names: list[str] = []
    pairs: list[tuple[int, int]] = []
    for row, tags in enumerate(graph.tags):
        for tag in dict.fromkeys(tag.casefold() for tag in tags):
            index = tag_rows.setdefault(tag, len(tag_rows))
            if index == len(names):
                names.append(next(spelling for spelling in tags if spelling.casefold() == tag))
            pairs.append((row, len(graph) + index))
    if not tag_rows:
        return graph
    count, links = len(tag_rows), np.array(pairs, dtype=np.int32).reshape(-1, 2)
    link_count = len(graph.links)
    types: Sequence[str] = (*graph.edge_types, TAG_RELATION)
    return replace(
        graph,
        paths=(*graph.paths, *(f"#{tag}" for tag in tag_rows)),
        names=(*graph.names, *(f"#{name}" for name in names)),
        types=(*graph.types, *["tag"] * count),
        kinds=(*graph.kinds, *["tag"] * count),
        tags=(*graph.tags, *[()] * count),
        folders=(*graph.folders, *[""] * count),
        modified=np.concatenate([graph.modified, np.zeros(count)]),
        created=np.concatenate([graph.created, np.zeros(count)]),
        edges=np.ascontiguousarray(
            np.concatenate([graph.edges[:link_count], links, graph.edges[link_count:]])
        ),
        edge_types=tuple(types),
        edge_codes=np.concatenate(
            [
                graph.edge_codes[:link_count],
                np.full(len(links), len(types) - 1, dtype=np.int16),
                graph.edge_codes[link_count:],
            ]
        ),
        confidence=np.concatenate(
            [
                graph.confidence[:link_count],
                np.full(len(links), np.nan, dtype=np.float32),
                graph.confidence[link_count:],
            ]
        ),
        suggested=np.concatenate(
            [
                graph.suggested[:link_count],
                np.zeros(len(links), dtype=bool),
                graph.suggested[link_count:],
            ]
        ),
    ).precompute()
