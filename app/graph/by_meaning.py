"""Notes by what they mean: a map on which notes of like meaning are neighbours.

Up to some hundred notes by t-SNE, which keeps neighbours best; it grows with the square of their number.
Beyond that the nearest of each note are joined, and the layout by links does the rest: the same neighbour
embedding in principle, by an engine that is here already and takes seconds for a hundred thousand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.graph.arrangement import Arrangement, Region, Report, silent
from app.graph.discs import around, kept_apart
from app.graph.groups import bare_graph, heap
from app.graph.layout import laid_out
from app.graph.model import Positions
from app.graph.nearest import nearest
from app.graph.neighbour_embedding import embedded
from app.graph.shaping import laid_along

_NEIGHBOURS = 8
_GAP = 0.35
_APART = 4.0
_BY_PAIRS_UP_TO = 600
_ROOM = 1.1
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
        exact = np.asarray(vectors, dtype=np.float32)
        if len(rows) <= _BY_PAIRS_UP_TO:
            at = _roomy(embedded(exact, report), radii[rows], aspect)
        else:
            at = _joined(exact, aspect, report)
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


def _roomy(at: NDArray[np.float32], radii: NDArray[np.float32], aspect: float) -> Positions:
    """At the scale of the layout, with the longer way along the page's longer side."""
    reach = max(float(np.sqrt(np.square(at).sum(axis=1).mean())), 1e-9)
    room = _ROOM * float(np.sqrt(np.square(radii + _GAP).sum()))
    return laid_along((at * (room / reach)).astype(np.float32), aspect)


def _joined(vectors: NDArray[np.float32], aspect: float, report: Report) -> Positions:
    near, _ = nearest(vectors, _NEIGHBOURS, report)
    report(-1, "Laying out by meaning")
    joined = np.stack([np.repeat(np.arange(len(vectors)), near.shape[1]), near.ravel()], axis=1)
    return laid_out(bare_graph(len(vectors), joined.astype(np.int32)), aspect=aspect)
