"""The graph as arrays without names, cheap to send to another process."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.graph.model import Graph

if TYPE_CHECKING:
    import networkx
    import scipy.sparse


@dataclass(frozen=True, eq=False)
class AdjacencyArrays:
    """The resolved links among `size` nodes.

    Args:
        size: The number of nodes.
        links: int32 (m, 2), rows of source and target; no self-links.
    """

    size: int
    links: NDArray[np.int32]

    @classmethod
    def from_graph(cls, graph: Graph, types: Collection[str] | None = None) -> AdjacencyArrays:
        """Return the links of a graph; if `types` is given, only the relations of these types."""
        links = graph.links
        if types is not None:
            is_wanted = np.array([name in types for name in graph.edge_types] or [False], dtype=bool)
            links = links[is_wanted[graph.edge_codes[: len(links)]]]
        return cls(len(graph), links)

    def without_hidden(self, hidden: NDArray[np.bool_]) -> AdjacencyArrays:
        """Return the same nodes without links to or from those in `hidden`, bool (n,)."""
        return AdjacencyArrays(self.size, self.links[~hidden[self.links].any(axis=1)])

    def matrix(self) -> scipy.sparse.csr_array:
        """Return the symmetric adjacency matrix of ones, float64 (n, n)."""
        import scipy.sparse

        low, high = self.links.min(axis=1, initial=self.size), self.links.max(axis=1, initial=-1)
        pairs = np.unique(low.astype(np.int64) * self.size + high)
        ends = pairs // max(self.size, 1), pairs % max(self.size, 1)
        rows_and_columns = np.concatenate(ends), np.concatenate(ends[::-1])
        return scipy.sparse.coo_array(
            (np.ones(len(rows_and_columns[0])), rows_and_columns), shape=(self.size, self.size)
        ).tocsr()

    def undirected(self) -> networkx.Graph[int]:
        """Return the undirected graph of the nodes and links."""
        import networkx  # Imported on demand, because it takes a few tenths of a second.

        graph: networkx.Graph[int] = networkx.Graph()
        graph.add_nodes_from(range(self.size))
        graph.add_edges_from(self.links.tolist())
        return graph

    def directed(self) -> networkx.DiGraph[int]:
        """Return the directed graph of the nodes and links."""
        import networkx

        graph: networkx.DiGraph[int] = networkx.DiGraph()
        graph.add_nodes_from(range(self.size))
        graph.add_edges_from(self.links.tolist())
        return graph


@dataclass(frozen=True, eq=False)
class EncodedLabels:
    """The nodes' strings as codes: `codes[starts[i] : starts[i + 1]]` are those of node i.

    Args:
        starts: int64 (n + 1,).
        codes: int32, index into `names`.
        names: The distinct strings.
    """

    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    names: tuple[str, ...]

    @classmethod
    def from_strings(cls, rows: Iterable[Collection[str]]) -> EncodedLabels:
        """Encode the strings of each node."""
        code_of: dict[str, int] = {}
        codes: list[int] = []
        starts = [0]
        for labels in rows:
            codes += [code_of.setdefault(label, len(code_of)) for label in labels]
            starts.append(len(codes))
        return cls(np.array(starts, dtype=np.int64), np.array(codes, dtype=np.int32), tuple(code_of))

    def row_labels(self, row: int) -> tuple[str, ...]:
        """Return the strings of a node."""
        return tuple(self.names[code] for code in self.codes[self.starts[row] : self.starts[row + 1]])
