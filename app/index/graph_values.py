"""Changes to the graph, as the index reports them."""

from __future__ import annotations

from dataclasses import dataclass

PLAIN_LINK = "LINKS_TO"


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node in a delta; times are Unix seconds, 0 if unknown."""

    path: str
    name: str
    type: str = "note"
    kind: str = "note"
    tags: tuple[str, ...] = ()
    folder: str = ""
    modified: float = 0.0
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A link, given by the paths of its endpoints; `confidence` is None if not stated.

    A `suggested` link is only proposed: it is drawn, but does not connect components.
    """

    source: str
    target: str
    type: str = PLAIN_LINK
    confidence: float | None = None
    suggested: bool = False


@dataclass(frozen=True, slots=True)
class GraphDelta:
    """A change to the graph after notes were saved.

    Args:
        renamed: Pairs of old and new paths; a renamed node keeps its links and its position. Pairs with an
            unknown old path or a known new path are ignored.
        removed: Paths to remove, with all their links.
        nodes: New nodes, and nodes whose name, type, tags or times may have changed.
        sources: Paths whose outgoing links are replaced with those in `edges` (empty: links are only added).
        edges: Links to add; those with unknown endpoints are ignored.
    """

    renamed: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    nodes: tuple[GraphNode, ...] = ()
    sources: tuple[str, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
