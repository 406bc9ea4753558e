"""Select the layout function for a kind of layout, and convert a graph to its array arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from app.errors import NotFoundError
from app.graph.model import Graph, node_radii
from app.graph.static_layout import Report, StaticLayout

if TYPE_CHECKING:
    from app.embeddings.vector_table import NoteVectors

Kind = Literal["folder", "tag", "type", "time", "meaning"]
LayoutCall = tuple[Callable[..., StaticLayout], tuple[object, ...]]

# Groups that are not folders, tags or types; the colon distinguishes them from those.
UNRESOLVED, ATTACHMENTS = "unresolved:", "attachments:"


def layout_request(graph: Graph, kind: Kind, by: str, vectors: NoteVectors | None) -> LayoutCall:
    """Return the layout function and its arguments, except for the aspect ratio and the progress report.

    Args:
        graph: The graph.
        kind: The kind of layout.
        by: For a timeline, `created` or `modified`.
        vectors: The notes' vectors, for a layout by meaning.

    Raises:
        NotFoundError: The layout is by meaning and no note has a vector.
    """
    radii = node_radii(graph)
    if kind == "time":
        return _timeline_layout, (graph.links, radii, graph.created if by == "created" else graph.modified)
    if kind == "meaning":
        rows, matrix = node_vectors(graph, vectors)
        if not len(rows):
            raise NotFoundError(
                "The layout by meaning is not available yet: no note is indexed for semantic search."
            )
        return _semantic_layout, (matrix, rows, radii)
    codes, names = _encode_groups(_groups(graph, kind))
    return _grouped_layout, (kind, graph.links, radii, codes, names)


# Each function imports its layout in the worker process; the app itself never needs it.


def _timeline_layout(
    links: NDArray[np.int32],
    radii: NDArray[np.float32],
    times: NDArray[np.float64],
    aspect: float,
    report: Report,
) -> StaticLayout:
    from app.graph.layouts.timeline import timeline_layout

    return timeline_layout(links, radii, times, aspect, report)


def _semantic_layout(
    vectors: NDArray[np.float16],
    rows: NDArray[np.int64],
    radii: NDArray[np.float32],
    aspect: float,
    report: Report,
) -> StaticLayout:
    from app.graph.layouts.semantic import semantic_layout

    return semantic_layout(vectors, rows, radii, aspect, report)


def _grouped_layout(
    kind: Kind,
    links: NDArray[np.int32],
    radii: NDArray[np.float32],
    groups: NDArray[np.int32],
    names: tuple[str, ...],
    aspect: float,
    report: Report,
) -> StaticLayout:
    from app.graph.layouts.grouped import grouped_layout

    return grouped_layout(kind, links, radii, groups, names, aspect, report)


def _groups(graph: Graph, kind: Kind) -> Iterable[str]:
    """Return the group of each node."""
    if kind == "folder":
        return _replace_kinds(graph, graph.folders, {"unresolved": UNRESOLVED})
    if kind == "type":
        return _replace_kinds(graph, graph.types, {"unresolved": UNRESOLVED, "attachment": ATTACHMENTS})
    counts = Counter(tag for tags in graph.tags for tag in set(tags))
    most_frequent = (min(tags, key=lambda tag: (-counts[tag], tag), default="") for tags in graph.tags)
    return _replace_kinds(graph, most_frequent, {"unresolved": UNRESOLVED, "attachment": ATTACHMENTS})


def _replace_kinds(graph: Graph, groups: Iterable[str], kinds: dict[str, str]) -> Iterable[str]:
    return (kinds.get(kind, group) for kind, group in zip(graph.kinds, groups, strict=True))


def _encode_groups(groups: Iterable[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    code_of: dict[str, int] = {}
    codes = [code_of.setdefault(group, len(code_of)) for group in groups]
    return np.array(codes, dtype=np.int32), tuple(code_of)


def node_vectors(graph: Graph, vectors: NoteVectors | None) -> tuple[NDArray[np.int64], NDArray[np.float16]]:
    """Return the rows of the nodes that have a vector, int64 (k,), and their vectors, float16 (k, d)."""
    if vectors is None or not len(vectors.paths):
        return np.empty(0, dtype=np.int64), np.empty((0, 1), dtype=np.float16)
    rows = np.array([graph.rows.get(path.text, -1) for path in vectors.paths], dtype=np.int64)
    is_known = rows >= 0
    return rows[is_known], vectors.matrix[is_known].astype(np.float16)
