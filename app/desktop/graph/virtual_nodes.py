"""Additions to the index's graph: tags as nodes, and suggested links."""

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
    """Adds tags and suggested links to a graph; its nodes keep their rows, and added ones follow."""

    def __init__(self) -> None:
        self.tags = False
        self.proposed: tuple[SuggestedEdge, ...] = ()
        self._prepared: tuple[Graph, Graph] | None = None

    def prepare(self, graph: Graph) -> None:
        """Compute in a thread what `apply_to` needs."""
        if self.tags:
            self._tagged(graph)

    def apply_to(self, graph: Graph) -> Graph:
        """Return `graph` with the additions that the user chose."""
        shown = self._tagged(graph) if self.tags else graph
        pairs = [
            (graph.rows[one.source], graph.rows[one.target], one.score)
            for one in self.proposed
            if one.source in graph.rows and one.target in graph.rows
        ]
        if not pairs:
            return shown
        rows = np.array([pair[:2] for pair in pairs], dtype=np.int32).reshape(-1, 2)
        return add_suggestions(shown, rows, np.array([pair[2] for pair in pairs], dtype=np.float32))

    def _tagged(self, graph: Graph) -> Graph:
        prepared = self._prepared
        if prepared is None or prepared[0] is not graph:
            prepared = self._prepared = graph, add_tag_nodes(graph)
        return prepared[1]


def add_tag_nodes(graph: Graph) -> Graph:
    """Return `graph` with a node for each tag after its own nodes, linked with the notes that have it.

    A tag's path is "#" and its name in lower case; its name is spelled as in the first note.
    """
    known: dict[str, int] = {}
    names: list[str] = []
    pairs: list[tuple[int, int]] = []
    for row, tags in enumerate(graph.tags):
        for tag in dict.fromkeys(tag.casefold() for tag in tags):
            place = known.setdefault(tag, len(known))
            if place == len(names):
                names.append(next(each for each in tags if each.casefold() == tag))
            pairs.append((row, len(graph) + place))
    if not known:
        return graph
    count, links = len(known), np.array(pairs, dtype=np.int32).reshape(-1, 2)
    first = len(graph.links)
    types: Sequence[str] = (*graph.edge_types, TAG_RELATION)
    return replace(
        graph,
        paths=(*graph.paths, *(f"#{tag}" for tag in known)),
        names=(*graph.names, *(f"#{name}" for name in names)),
        types=(*graph.types, *["tag"] * count),
        kinds=(*graph.kinds, *["tag"] * count),
        tags=(*graph.tags, *[()] * count),
        folders=(*graph.folders, *[""] * count),
        modified=np.concatenate([graph.modified, np.zeros(count)]),
        created=np.concatenate([graph.created, np.zeros(count)]),
        edges=np.ascontiguousarray(np.concatenate([graph.edges[:first], links, graph.edges[first:]])),
        edge_types=tuple(types),
        edge_codes=np.concatenate(
            [
                graph.edge_codes[:first],
                np.full(len(links), len(types) - 1, dtype=np.int16),
                graph.edge_codes[first:],
            ]
        ),
        confidence=np.concatenate(
            [
                graph.confidence[:first],
                np.full(len(links), np.nan, dtype=np.float32),
                graph.confidence[first:],
            ]
        ),
        suggested=np.concatenate(
            [
                graph.suggested[:first],
                np.zeros(len(links), dtype=bool),
                graph.suggested[first:],
            ]
        ),
    ).precompute()
