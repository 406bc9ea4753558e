"""Which question puts a graph into another arrangement, with arrays instead of words wherever they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from app.errors import NotFoundError
from app.graph.arrangement import Arrangement, Report
from app.graph.model import Graph, node_radii

if TYPE_CHECKING:
    from app.embeddings.table import NoteVectors

Kind = Literal["folder", "tag", "type", "time", "meaning"]
Question = tuple[Callable[..., Arrangement], tuple[object, ...]]

# Groups that are no folder, tag or type: no such name can end so.
UNRESOLVED, ATTACHMENTS = "unresolved:", "attachments:"


def question(graph: Graph, kind: Kind, by: str, vectors: NoteVectors | None) -> Question:
    """The function that arranges, and its arguments up to the page's aspect.

    Raises:
        NotFoundError: by meaning, and no note has a vector.
    """
    radii = node_radii(graph)
    if kind == "time":
        return _by_time, (graph.links, radii, graph.created if by == "created" else graph.modified)
    if kind == "meaning":
        rows, matrix = vectors_of(graph, vectors)
        if not len(rows):
            raise NotFoundError("No note can be placed by meaning: none has been read for it yet.")
        return _by_meaning, (matrix, rows, radii)
    codes, names = _coded(_groups(graph, kind))
    return _by_groups, (kind, graph.links, radii, codes, names)


# The process that computes imports what it takes; the app, which only says what is to be done, need not.


def _by_time(
    links: NDArray[np.int32],
    radii: NDArray[np.float32],
    times: NDArray[np.float64],
    aspect: float,
    report: Report,
) -> Arrangement:
    from app.graph.timeline import by_time

    return by_time(links, radii, times, aspect, report)


def _by_meaning(
    vectors: NDArray[np.float16],
    rows: NDArray[np.int64],
    radii: NDArray[np.float32],
    aspect: float,
    report: Report,
) -> Arrangement:
    from app.graph.by_meaning import by_meaning

    return by_meaning(vectors, rows, radii, aspect, report)


def _by_groups(
    kind: Kind,
    links: NDArray[np.int32],
    radii: NDArray[np.float32],
    groups: NDArray[np.int32],
    names: tuple[str, ...],
    aspect: float,
    report: Report,
) -> Arrangement:
    from app.graph.groups import by_groups

    return by_groups(kind, links, radii, groups, names, aspect, report)


def _groups(graph: Graph, kind: Kind) -> Iterable[str]:
    """The group of each node."""
    if kind == "folder":
        return _but(graph, graph.folders, {"unresolved": UNRESOLVED})
    if kind == "type":
        return _but(graph, graph.types, {"unresolved": UNRESOLVED, "attachment": ATTACHMENTS})
    counts = Counter(tag for tags in graph.tags for tag in set(tags))
    most = (min(tags, key=lambda tag: (-counts[tag], tag), default="") for tags in graph.tags)
    return _but(graph, most, {"unresolved": UNRESOLVED, "attachment": ATTACHMENTS})


def _but(graph: Graph, groups: Iterable[str], kinds: dict[str, str]) -> Iterable[str]:
    return (kinds.get(kind, group) for kind, group in zip(graph.kinds, groups, strict=True))


def _coded(groups: Iterable[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    place: dict[str, int] = {}
    codes = [place.setdefault(group, len(place)) for group in groups]
    return np.array(codes, dtype=np.int32), tuple(place)


def vectors_of(graph: Graph, vectors: NoteVectors | None) -> tuple[NDArray[np.int64], NDArray[np.float16]]:
    """The rows that have a vector, int64 (k,), and their vectors, float16 (k, d)."""
    if vectors is None or not len(vectors.paths):
        return np.empty(0, dtype=np.int64), np.empty((0, 1), dtype=np.float16)
    rows = np.array([graph.rows.get(path.text, -1) for path in vectors.paths], dtype=np.int64)
    known = rows >= 0
    return rows[known], vectors.matrix[known].astype(np.float16)
