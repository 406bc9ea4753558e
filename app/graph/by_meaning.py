"""Notes by what they mean: a map on which notes of like meaning are neighbours.

The nearest of each note are joined and the layout by links does the rest: the same neighbour embedding in
principle as UMAP or t-SNE, by an engine that is here already and is fast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.graph.arrangement import Arrangement, Region, Report, silent
from app.graph.discs import around, kept_apart
from app.graph.groups import bare_graph, heap
from app.graph.layout import laid_out
from app.graph.nearest import nearest

_NEIGHBOURS = 8
_GAP = 0.35
_APART = 4.0
WITHOUT = "without:"


def by_meaning(
    vectors: NDArray[np.floating],
    rows: NDArray[np.int64],
    radii: NDArray[np.float32],
    aspect: float = 1.6,
    report: Report = silent,
) -> Arrangement:
    """The nodes with a vector as a map; those without one as a disc beside it.

    Args:
        vectors: float16 or float32 (k, d), unit vectors.
        rows: int64 (k,), whose they are.
        radii: float32 (n,) of all nodes.
        aspect: Width by height of the page.
        report: Told how far it is.
    """
    positions = np.zeros((len(radii), 2), dtype=np.float32)
    if len(rows):
        near, _ = nearest(np.asarray(vectors, dtype=np.float32), _NEIGHBOURS, report)
        report(-1, "Laying out by meaning")
        joined = np.stack([np.repeat(np.arange(len(rows)), near.shape[1]), near.ravel()], axis=1)
        at = laid_out(bare_graph(len(rows), joined.astype(np.int32)), aspect=aspect)
        positions[rows] = kept_apart(at, radii[rows], _GAP)
    rest = np.setdiff1d(np.arange(len(radii)), rows)
    if not len(rest):
        return Arrangement("meaning", positions)
    heaped = heap(radii[rest])
    middle, reach = around(heaped, radii[rest].astype(np.float64))
    centre = np.zeros(2)
    if len(rows):
        edge = float((positions[rows, 0] + radii[rows]).max())
        centre = np.array([edge + _APART + reach, float(np.median(positions[rows, 1]))])
    positions[rest] = heaped - middle + centre
    region = Region("", WITHOUT, float(centre[0]), float(centre[1]), reach + _APART / 4, 0, len(rest))
    return Arrangement("meaning", positions, (region,))
