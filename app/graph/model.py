"""The vault as a graph: frozen arrays that cross threads, and the values that change it.

A node is a note, an attachment or a name that nothing answers to ("unresolved"). Nodes are known by
their path outside this package and by their row inside it; a row is only good for one `Graph`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.float32]
Rows = NDArray[np.int32]

PLAIN_LINK = "LINKS_TO"


@dataclass(frozen=True, slots=True)
class Node:
    """One node, as a delta brings it."""

    path: str
    name: str
    type: str = "note"
    kind: str = "note"
    tags: tuple[str, ...] = ()
    folder: str = ""
    modified: float = 0.0


@dataclass(frozen=True, slots=True)
class Edge:
    """One link by the paths of its ends; `confidence` is None where none is stated."""

    source: str
    target: str
    type: str = PLAIN_LINK
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class GraphDelta:
    """What saved notes change.

    Args:
        renamed: Pairs of old and new path; a renamed node keeps its links and its place.
        removed: Paths that are gone.
        nodes: Nodes that are new or whose name, type or tags are.
        sources: Paths whose outgoing links are replaced by those in `edges` (empty: only added to).
        edges: Links to add; unknown ends are left out.
    """

    renamed: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    sources: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes and typed links of a vault; nothing in it changes.

    Args:
        paths: The key of every node, unique.
        names: What a person reads.
        types: `note`, `concept`, …: the note's `type` property.
        kinds: `note`, `unresolved` or `attachment`.
        tags: Tags per node.
        folders: Folder per node, empty at the root.
        modified: float64 (n,), unix seconds, 0 where unknown.
        edges: int32 (m, 2), rows of source and target; no self-links, no duplicates of one type.
        edge_types: The table of relation types.
        edge_codes: int16 (m,), index into `edge_types`.
        confidence: float32 (m,), nan where none is stated.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    types: tuple[str, ...]
    kinds: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    folders: tuple[str, ...]
    modified: NDArray[np.float64]
    edges: NDArray[np.int32]
    edge_types: tuple[str, ...]
    edge_codes: NDArray[np.int16]
    confidence: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.paths)

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each path."""
        return {path: row for row, path in enumerate(self.paths)}

    @cached_property
    def degree(self) -> NDArray[np.int32]:
        """How many distinct notes each node is linked with, in either direction."""
        return np.diff(self._adjacency[0]).astype(np.int32)

    @cached_property
    def _adjacency(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Starts and neighbours of a compressed, sorted, undirected adjacency."""
        size = len(self)
        both = np.concatenate([self.edges, self.edges[:, ::-1]]).astype(np.int64)
        keys = np.sort(both[:, 0] * max(size, 1) + both[:, 1])
        keys = keys[np.diff(keys, prepend=-1) > 0]
        sources = keys // max(size, 1)
        starts = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=size))])
        return starts.astype(np.int64), (keys % max(size, 1)).astype(np.int32)

    def neighbours(self, row: int) -> NDArray[np.int32]:
        """Rows linked with `row` in either direction, ascending."""
        starts, neighbours = self._adjacency
        return neighbours[starts[row] : starts[row + 1]]

    def around(self, row: int, depth: int, limit: int | None = None) -> NDArray[np.int32]:
        """Rows at most `depth` links from `row`, nearest first, at most `limit` of them; `row` leads."""
        seen = np.zeros(len(self), dtype=bool)
        seen[row] = True
        rings = [np.array([row], dtype=np.int32)]
        count = 1
        for _ in range(depth):
            reached = [self.neighbours(int(each)) for each in rings[-1]]
            ring = np.unique(np.concatenate(reached)) if reached else np.empty(0, dtype=np.int32)
            ring = ring[~seen[ring]]
            if limit is not None:
                ring = ring[: max(0, limit - count)]
            if not len(ring):
                break
            seen[ring] = True
            rings.append(ring.astype(np.int32))
            count += len(ring)
        return np.concatenate(rings)


def node_radii(graph: Graph) -> NDArray[np.float32]:
    """The radius of every node in layout units: area grows with its links, within bounds."""
    radii = 0.24 + 0.11 * np.sqrt(graph.degree.astype(np.float32))
    radii[np.fromiter(map("note".__ne__, graph.kinds), bool, len(graph))] *= 0.8
    return np.minimum(radii, 2.2).astype(np.float32)
