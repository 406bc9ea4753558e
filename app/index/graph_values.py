"""What saved notes change in the graph: the values that go from the index to it."""

from __future__ import annotations

from dataclasses import dataclass

PLAIN_LINK = "LINKS_TO"


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One node, as a delta brings it; times are unix seconds, 0 where unknown."""

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
    """One link by the paths of its ends; `confidence` is None where none is stated.

    A `suggested` link is only proposed: it is drawn, but it joins nothing.
    """

    source: str
    target: str
    type: str = PLAIN_LINK
    confidence: float | None = None
    suggested: bool = False


@dataclass(frozen=True, slots=True)
class GraphDelta:
    """What saved notes change.

    Args:
        renamed: Pairs of old and new path; a renamed node keeps its links and its place. A pair whose old
            path is not known, or whose new one is, says nothing.
        removed: Paths that are gone, with all their links.
        nodes: Nodes that are new or whose name, type, tags or times may be.
        sources: Paths whose outgoing links are replaced by those in `edges` (empty: only added to).
        edges: Links to add; unknown ends are left out.
    """

    renamed: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    nodes: tuple[GraphNode, ...] = ()
    sources: tuple[str, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
