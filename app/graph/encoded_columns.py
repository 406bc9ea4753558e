"""Strings of a graph's nodes encoded as integers, computed once per graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from app.graph.model import Graph


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """A string for each node, encoded: row i has `words[codes[i]]`.

    Args:
        codes: int32 (n,).
        words: The distinct strings.
    """

    codes: NDArray[np.int32]
    words: tuple[str, ...]

    @classmethod
    def encode(cls, values: Sequence[str]) -> Column:
        """Encode the strings."""
        code_of = {word: code for code, word in enumerate(dict.fromkeys(values))}
        return cls(np.fromiter(map(code_of.__getitem__, values), np.int32, len(values)), tuple(code_of))

    def is_among(self, words: Iterable[str]) -> NDArray[np.bool_]:
        """Return bool (n,): the nodes whose string is one of `words`."""
        wanted = set(words)
        return np.array([word in wanted for word in self.words] or [False], dtype=bool)[self.codes]


@dataclass(frozen=True, eq=False, slots=True)
class Columns:
    """The columns of one graph: kinds, types, and top-level folders ("/" for the root)."""

    kinds: Column
    types: Column
    top_folders: Column


_columns_of: WeakKeyDictionary[Graph, Columns] = WeakKeyDictionary()


def encode_columns(graph: Graph) -> Columns:
    """Return the columns of `graph`, cached as long as the graph exists."""
    columns = _columns_of.get(graph)
    if columns is None:
        folders = Column.encode(graph.folders)
        top_folders = Column.encode([folder.partition("/")[0] or "/" for folder in folders.words])
        codes = top_folders.codes[folders.codes] if len(graph) else folders.codes
        columns = Columns(
            Column.encode(graph.kinds), Column.encode(graph.types), Column(codes, top_folders.words)
        )
        _columns_of[graph] = columns
    return columns


def warm_graph(graph: Graph) -> Graph:
    """Compute and cache the data for displaying a graph, in the thread that builds it; return the graph."""
    encode_columns(graph)
    return graph.precompute()
