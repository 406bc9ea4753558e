"""The forces of the layout in numpy, pair by pair, to compare the core with.

There are two models. *Charge* is d3-force's: repulsion 1/distance and springs with a rest length; it
determines the overall shape. *Bounded* is t-FDP (Zhong, Xue, Zhang, Zhang, Ban, Deussen, Wang:
"Force-directed graph layouts revisited: a new force based on the t-distribution", 2023): repulsion
d/(1+d²)², which fades within a few units, and attraction d·(a + b/(1+d²)); it keeps neighbors together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from app.graph.model import Positions

Values = NDArray[np.float32]
Kernel = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def bounded(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return t-FDP's repulsion per unit of distance, for squared distances."""
    return 1.0 / (1.0 + squared) ** 2


def charge(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return d3's repulsion per unit of distance, softened at distances far below one."""
    return 1.0 / (squared + 0.02)


def dense_repulsion(kernel: Kernel, at: Positions, others: Positions, mass: Values) -> Positions:
    """Return the repulsion of all `others` on each body in `at`, computed pair by pair."""
    x = at[:, 0, None] - others[None, :, 0]
    y = at[:, 1, None] - others[None, :, 1]
    strength = np.asarray(kernel(x * x + y * y)) * mass
    return np.stack([(x * strength).sum(axis=1), (y * strength).sum(axis=1)], axis=1).astype(np.float32)


class ReferenceSprings:
    """Springs that pull the ends of every edge together.

    Args:
        edges: int (m, 2) rows.
        size: The number of bodies.
        weight: float32 (m,).
    """

    def __init__(self, edges: NDArray[np.int32], size: int, weight: Values) -> None:
        self.edges = edges
        self.weight = weight
        count = len(edges)
        rows = np.concatenate([edges[:, 0], edges[:, 1]])
        columns = np.concatenate([np.arange(count), np.arange(count)])
        signs = np.concatenate([np.ones(count), -np.ones(count)]).astype(np.float32)
        self._ends = scipy.sparse.csr_matrix((signs, (rows, columns)), shape=(size, count))

    def difference(self, at: Positions) -> Positions:
        """Return the vector from source to target of each edge, float32 (m, 2)."""
        return at[self.edges[:, 1]] - at[self.edges[:, 0]]

    def gather(self, pull: Positions) -> Positions:
        """Add each edge's force to its source and subtract it from its target."""
        return np.asarray(self._ends @ pull, dtype=np.float32)

    def bounded(self, at: Positions, linear: float = 0.1, near: float = 8.0) -> Positions:
        """Return t-FDP's attraction."""
        apart = self.difference(at)
        squared = (apart * apart).sum(axis=1)
        return self.gather((self.weight * (linear + near / (1.0 + squared)))[:, None] * apart)


class RestingSprings(ReferenceSprings):
    """d3's springs: a rest length per edge, and the lighter end moves more."""

    def __init__(self, edges: NDArray[np.int32], size: int, weight: Values, rest: Values) -> None:
        super().__init__(edges, size, weight)
        degree = np.maximum(np.bincount(edges.ravel(), minlength=size), 1).astype(np.float32)
        source, target = degree[edges[:, 0]], degree[edges[:, 1]]
        self._strength = weight / np.minimum(source, target)
        self._rest = rest
        bias = source / (source + target)
        count = len(edges)
        rows = np.concatenate([edges[:, 0], edges[:, 1]])
        columns = np.concatenate([np.arange(count), np.arange(count)])
        shares = np.concatenate([1 - bias, -bias]).astype(np.float32)
        self._ends = scipy.sparse.csr_matrix((shares, (rows, columns)), shape=(size, count))

    def resting(self, at: Positions) -> Positions:
        """Return the force towards the rest lengths."""
        apart = self.difference(at)
        length = np.sqrt((apart * apart).sum(axis=1)) + 1e-6
        return self.gather((self._strength * (length - self._rest) / length)[:, None] * apart)
