"""The semantic layout: a map on which notes with similar embeddings are close to each other.

A few hundred notes are mapped by t-SNE, which preserves neighbors best but takes quadratic time. With more
notes, each is linked to its nearest neighbors and the force-directed layout places them: it is also a
neighbor embedding, and takes seconds for a hundred thousand nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.graph.circle_packing import enclosing_circle, separate_circles
from app.graph.knn import nearest
from app.graph.layout_fitting import align_to_page
from app.graph.layouts.force_directed import compute_layout
from app.graph.layouts.grouped import bare_graph, pack_discs
from app.graph.model import Positions
from app.graph.static_layout import Region, Report, StaticLayout, no_progress
from app.graph.tsne import tsne_embedding

_NEIGHBOR_COUNT = 8
_NODE_GAP = 0.35
_REGION_GAP = 4.0
_MAX_TSNE_NODES = 600
_ROOM_FACTOR = 1.1
WITHOUT_VECTORS_KEY = "without:"


def semantic_layout(
    vectors: NDArray[np.floating],
    rows: NDArray[np.int64],
    radii: NDArray[np.float32],
    aspect: float = 1.6,
    report: Report = no_progress,
) -> StaticLayout:
    """Return the nodes with a vector as a map, and those without one as a disc next to it.

    Args:
        vectors: float16 or float32 (k, d), unit vectors.
        rows: int64 (k,), the node of each vector.
        radii: float32 (n,), the radii of all nodes.
        aspect: The page's width divided by its height.
        report: Receives the progress.
    """
    positions = np.zeros((len(radii), 2), dtype=np.float32)
    if len(rows):
        single_precision = np.asarray(vectors, dtype=np.float32)
        if len(rows) <= _MAX_TSNE_NODES:
            map_positions = _scale_to_page(tsne_embedding(single_precision, report), radii[rows], aspect)
        else:
            map_positions = _layout_nearest(single_precision, aspect, report)
        positions[rows] = separate_circles(map_positions, radii[rows], _NODE_GAP)
    unplaced_rows = np.setdiff1d(np.arange(len(radii)), rows)
    if not len(unplaced_rows):
        return StaticLayout("meaning", positions)
    packed = pack_discs(radii[unplaced_rows])
    middle, reach = enclosing_circle(packed, radii[unplaced_rows].astype(np.float64))
    center = np.zeros(2)
    if len(rows):
        edge = float((positions[rows, 0] + radii[rows]).max())
        center = np.array([edge + _REGION_GAP + reach, float(np.median(positions[rows, 1]))])
    positions[unplaced_rows] = packed - middle + center
    region = Region(
        "",
        WITHOUT_VECTORS_KEY,
        float(center[0]),
        float(center[1]),
        reach + _REGION_GAP / 4,
        0,
        len(unplaced_rows),
    )
    return StaticLayout("meaning", positions, (region,))


def _scale_to_page(positions: NDArray[np.float32], radii: NDArray[np.float32], aspect: float) -> Positions:
    """Scale positions to the layout and rotate them to align with the page's longer side."""
    reach = max(float(np.sqrt(np.square(positions).sum(axis=1).mean())), 1e-9)
    side = _ROOM_FACTOR * float(np.sqrt(np.square(radii + _NODE_GAP).sum()))
    return align_to_page((positions * (side / reach)).astype(np.float32), aspect)


def _layout_nearest(vectors: NDArray[np.float32], aspect: float, report: Report) -> Positions:
    neighbors, _ = nearest(vectors, _NEIGHBOR_COUNT, report)
    report(-1, "Laying out by meaning")
    edges = np.stack([np.repeat(np.arange(len(vectors)), neighbors.shape[1]), neighbors.ravel()], axis=1)
    return compute_layout(bare_graph(len(vectors), edges.astype(np.int32)), aspect=aspect)
