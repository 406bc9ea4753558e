"""Typed bindings for the C core: forces, clustering and separation.

The core is built when the package is installed (app/graph/core), and is part of every wheel and installer.
Importing this module raises ImportError if the core is missing or was built for another version.

All functions release the GIL, and return the same numbers for any number of threads. Arrays are C-contiguous;
a wrong type or shape raises TypeError or ValueError and never corrupts memory. Rows without a finite
position repel nothing, and `step` moves them back to the origin. Drawing is in `core_drawing`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import scipy.sparse

_ABI_VERSION = 6
_REMEDY = "Run `python packaging/build_core.py`, or run the installer again."
try:
    from app.graph import _graphcore
except ImportError as error:
    raise ImportError(f"The graph's C core is missing ({error}). {_REMEDY}") from error
if _graphcore.interface() != _ABI_VERSION:
    raise ImportError(f"The graph's C core was built for another version of the app. {_REMEDY}")
core = _graphcore

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]

CHARGE = 0
BOUNDED = 1

# The minimum number of rows per thread; with fewer, threads would mostly wait.
_MIN_ROWS_PER_THREAD = 2000
_MIN_LINKED_ROWS_PER_THREAD = 16_000
_MIN_LEAVES_PER_THREAD = 1500


class WorkerThreads:
    """A thread pool that divides the rows of one task. Use it as a context manager, or close it.

    Args:
        threads: The number of threads; by default one per processor, at most four.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or max(1, min(4, os.cpu_count() or 1))
        self._pool: ThreadPoolExecutor | None = None

    def ranges(
        self, work: Callable[[int, int], None], count: int, min_rows: int = _MIN_ROWS_PER_THREAD
    ) -> None:
        """Call `work(first, last)` for ranges that cover 0 … count.

        A range has fewer than `min_rows` rows only if `count` is smaller.
        """
        parts = max(1, min(4 * self.threads, count // max(min_rows, 1))) if self.threads > 1 else 1
        if parts == 1:
            work(0, count)
            return
        bounds = [count * part // parts for part in range(parts + 1)]
        list(self._get_pool().map(work, bounds[:-1], bounds[1:]))

    def each(self, work: Callable[[int], None], count: int) -> None:
        """Call `work(index)` for every index below `count`."""
        if self.threads == 1 or count < 2:
            for index in range(count):
                work(index)
            return
        list(self._get_pool().map(work, range(count)))

    def _get_pool(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="graph core")
        return self._pool

    def close(self) -> None:
        """Stop the threads; a later task starts new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, eq=False)
class CsrGraph:
    """An undirected graph in compressed rows, with each link stored at both ends.

    Args:
        starts: int32 (n + 1,), where the neighbors of each row begin.
        neighbors: int32 (h,), rows.
        weight: float32 (h,).
    """

    starts: Ints
    neighbors: Ints
    weight: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def from_matrix(cls, weights: scipy.sparse.csr_matrix) -> CsrGraph:
        """Convert a symmetric sparse matrix."""
        return cls(
            np.ascontiguousarray(weights.indptr, dtype=np.int32),
            np.ascontiguousarray(weights.indices, dtype=np.int32),
            np.ascontiguousarray(weights.data, dtype=np.float32),
        )

    def degree(self) -> Ints:
        """Return the number of neighbors of each row, int32 (n,)."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class Repulsion:
    """The repulsion of bodies.

    Args:
        kernel: `CHARGE`, 1/distance, or `BOUNDED`, d/(1 + d²)².
        strength: The factor.
        softness: `CHARGE`: added to the squared distance. `BOUNDED`: 1 divided by the squared unit of length.
        opening: Squared accuracy: a cell counts as one body if its squared side is below this times the
            squared distance. 0 is exact.
    """

    kernel: int
    strength: float = 1.0
    softness: float = 1.0
    opening: float = 1.44


class BarnesHutTree:
    """A Barnes-Hut tree; using it while another thread builds it raises RuntimeError."""

    def __init__(self) -> None:
        self._tree = core.tree()
        self._leaves = 0

    def build(self, positions: Floats, mass: Floats | None = None) -> None:
        """Build the tree.

        Args:
            positions: float32 (n, 2).
            mass: float32 (n,); None means 1 for each body. A body whose mass is not positive repels nothing.
        """
        self._leaves = core.build(self._tree, positions, mass)

    def add_repulsion(
        self, repulsion: Repulsion, force: Floats, workers: WorkerThreads | None = None
    ) -> None:
        """Add the repulsion of all bodies on each of them to `force`, float32 (n, 2)."""

        def work(first: int, last: int) -> None:
            core.push(
                self._tree,
                first,
                last,
                repulsion.kernel,
                repulsion.strength,
                repulsion.softness,
                repulsion.opening,
                force,
            )

        if workers is None:
            work(0, self._leaves)
        else:
            workers.ranges(work, self._leaves, _MIN_LEAVES_PER_THREAD)

    def add_repulsion_at(self, repulsion: Repulsion, points: Floats, force: Floats) -> None:
        """Add the repulsion of all bodies at `points`, float32 (k, 2), to `force`, float32 (k, 2)."""
        core.push_places(
            self._tree,
            points,
            repulsion.kernel,
            repulsion.strength,
            repulsion.softness,
            repulsion.opening,
            force,
        )


def attract(
    links: CsrGraph,
    positions: Floats,
    linear: float,
    near: float,
    rate: float,
    force: Floats,
    workers: WorkerThreads,
) -> None:
    """Add t-FDP's attraction, weight · d · (linear + near / (1 + d²)) · rate, to `force`, float32 (n, 2)."""
    workers.ranges(
        lambda first, last: core.attract(
            links.starts, links.neighbors, links.weight, positions, linear, near, rate, first, last, force
        ),
        len(links),
        _MIN_LINKED_ROWS_PER_THREAD,
    )


@dataclass(frozen=True, eq=False)
class Springs:
    """d3's springs along the links of a graph: float32 (h,) each, with an entry for each end of a link.

    Args:
        strength: The stiffness.
        share: The share of the force that this end takes.
        length: The rest length in layout units.
    """

    strength: Floats
    share: Floats
    length: Floats

    @classmethod
    def of(cls, links: CsrGraph, width: Floats) -> Springs:
        """Return springs as in d3: weaker at hubs, and the end with fewer links moves more.

        A spring is as long as the mean `width`, float32 (n,), of its ends.
        """
        degree = np.maximum(links.degree(), 1).astype(np.float32)
        sources = np.repeat(np.arange(len(links)), links.degree())
        targets = links.neighbors
        strength = links.weight / np.minimum(degree[sources], degree[targets])
        share = degree[targets] / (degree[sources] + degree[targets])
        length = 0.5 * (width[sources] + width[targets])
        return cls(strength.astype(np.float32), share.astype(np.float32), length.astype(np.float32))


def spring(
    links: CsrGraph, springs: Springs, positions: Floats, rate: float, force: Floats, workers: WorkerThreads
) -> None:
    """Add the force of springs toward their rest lengths, times `rate`, to `force`, float32 (n, 2)."""
    workers.ranges(
        lambda first, last: core.spring(
            links.starts,
            links.neighbors,
            springs.strength,
            springs.share,
            springs.length,
            positions,
            rate,
            first,
            last,
            force,
        ),
        len(links),
    )


def step(
    positions: Floats,
    velocity: Floats,
    *,
    gravity: float = 0.0,
    damping: float = 0.5,
    max_displacement: float = 3.0,
    fixed: Bytes | None = None,
) -> float:
    """Move all bodies by their velocity, in place, and return the longest displacement.

    Args:
        positions: float32 (n, 2), layout units.
        velocity: float32 (n, 2), units per step; gravity, damping and the limit are applied first.
        gravity: The force toward the origin per unit of distance.
        damping: The share of the velocity that remains after a step.
        max_displacement: The maximum displacement of a body in one step.
        fixed: uint8 (n,), bodies that do not move.
    """
    return core.step(positions, velocity, fixed, gravity, damping, max_displacement, 0, len(positions))


def cluster(links: CsrGraph, mass: Floats, order: Ints, cap: float, rounds: int = 4) -> Ints:
    """Return a label per body, int32 (n,); no label's mass exceeds `cap`.

    Args:
        links: Weights that tie bodies to labels.
        mass: float32 (n,).
        order: int32 (n,), the order in which bodies choose.
        cap: The maximum mass of a label; a heavier body gets a label of its own.
        rounds: The maximum number of choices of each body.
    """
    label = np.empty(len(links), dtype=np.int32)
    core.cluster(links.starts, links.neighbors, links.weight, mass, order, cap, rounds, label)
    return label


def separate(positions: Floats, radii: Floats, gap: float = 0.2) -> float:
    """Push overlapping discs apart once, in place, and return the largest overlap before the push.

    Args:
        positions: float32 (n, 2).
        radii: float32 (n,); the smaller disc moves more.
        gap: The distance between rims; smaller distances count as overlaps.
    """
    return core.separate(positions, radii, gap)


def beeswarm(x: Floats, wanted: Floats, radii: Floats, order: Ints, gap: float) -> Floats:
    """Return the y of each disc, float32 (n,), as close to the wanted one as earlier discs allow.

    Args:
        x: float32 (n,).
        wanted: float32 (n,).
        radii: float32 (n,).
        order: int32 (n,), every row once.
        gap: The distance between rims.
    """
    y = wanted.copy()
    core.swarm(x, radii, order, gap, y)
    return y
