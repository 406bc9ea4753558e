"""Graph deltas: the current state of a few files in the index, as a change to the graph.

A delta describes a state, not a history: it replaces whatever the graph had for these paths. It may therefore
arrive late or twice, or contain more paths than have changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from app.index.graph_data import file_row, unresolved_row
from app.index.graph_values import GraphDelta, GraphEdge, GraphNode
from app.index.names import link_key, target_key

_FILE = (
    "SELECT path, is_note, modified, created, type, tags FROM files LEFT JOIN notes USING (id) WHERE files."
)


def graph_delta(
    connection: sqlite3.Connection,
    touched: Iterable[str],
    unresolved: Iterable[str],
    renamed: Iterable[tuple[str, str]],
) -> GraphDelta:
    """Return the change that brings a graph up to date with `touched`; see `VaultIndex.graph_delta`."""
    return _DeltaBuilder(connection).delta(dict.fromkeys(touched), unresolved, tuple(renamed))


class _DeltaBuilder:
    """Builds one delta.

    The nodes include the targets of links: the event for an indexed file may still be pending, and links to
    the file must not be lost.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._files: dict[int, GraphNode] = {}
        self._names: dict[str, GraphNode] = {}
        self._renamed: list[tuple[str, str]] = []

    def delta(
        self, touched: dict[str, None], unresolved: Iterable[str], renamed: tuple[tuple[str, str], ...]
    ) -> GraphDelta:
        removed: list[str] = []
        sources: list[str] = []
        edges: list[GraphEdge] = []
        for path in touched:
            row = self._connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
            if row is None:
                removed.append(path)
                continue
            self._file_node(row[0])
            sources.append(path)
            edges += self._edges(row[0], path)
        for name in unresolved:
            self._add_respelled(name)
        self._rename_removed(removed)
        nodes = (*self._files.values(), *self._names.values())
        return GraphDelta((*renamed, *self._renamed), tuple(removed), nodes, tuple(sources), tuple(edges))

    def _file_node(self, row_id: int) -> GraphNode:
        if row_id not in self._files:
            columns = self._connection.execute(f"{_FILE}id = ?", (row_id,)).fetchone()
            self._files[row_id] = GraphNode(*file_row(*columns))
        return self._files[row_id]

    def _edges(self, row_id: int, path: str) -> Iterator[GraphEdge]:
        """Yield a note's links, in order."""
        rows = self._connection.execute(
            "SELECT target_id, target_key, type, confidence FROM links WHERE source = ? ORDER BY id",
            (row_id,),
        ).fetchall()
        for target_id, key, type_, confidence in rows:
            end = self._unresolved_node(key) if target_id is None else self._file_node(target_id)
            if end is not None:
                yield GraphEdge(path, end.path, type_, confidence)

    def _unresolved_node(self, key: str) -> GraphNode | None:
        """Return the node of an unresolved name, merging its spellings, or None if no link uses it."""
        if key not in self._names:
            spellings = [
                text
                for (text,) in self._connection.execute(
                    "SELECT DISTINCT target FROM links"
                    " WHERE link_key = ? AND target_key = ? AND target_id IS NULL ORDER BY target",
                    (link_key(key), key),
                )
            ]
            if not spellings:
                return None
            self._names[key] = GraphNode(*unresolved_row(spellings[0]))
            self._renamed += ((other, spellings[0]) for other in spellings[1:])
        return self._names[key]

    def _add_respelled(self, name: str) -> None:
        """Rename the node of an unresolved name to its new spelling or to the file it now resolves to."""
        key = target_key(name)
        node = self._unresolved_node(key)
        if node is not None:
            if node.path != name:
                self._renamed.append((name, node.path))
            return
        row = self._connection.execute(
            "SELECT target_id FROM links WHERE link_key = ? AND target_key = ? LIMIT 1", (link_key(key), key)
        ).fetchone()
        if row is not None:
            self._renamed.append((name, self._file_node(row[0]).path))

    def _rename_removed(self, removed: Iterable[str]) -> None:
        """Rename the nodes of removed notes to which links remain: they become nodes of unresolved names."""
        node_paths = {link_key(key): node.path for key, node in self._names.items()}
        for path in removed:
            if name := node_paths.get(link_key(target_key(path))):
                self._renamed.append((path, name))
