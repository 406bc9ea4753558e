"""The C core, typed: forces, clustering and separation; and whether it is there.

The core comes with the package (app/graph/core, built when it is installed). Where that failed, `missing`
says why, and the layout and the pictures are computed by numpy, more slowly. Setting `SCRIPTORIUM_NO_CORE`
leaves it out.

All functions let other threads run, and give the same numbers for any number of threads. Arrays are
C-contiguous; a wrong type or shape raises TypeError or ValueError and never does harm. Rows whose place is
not finite push nobody and are brought back to the origin by `step`. Pictures are in `native_pictures`.
"""

from __future__ import annotations

import logging
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

log = logging.getLogger(__name__)

_ABI_VERSION = 6
missing: str | None = None
try:
    if os.environ.get("SCRIPTORIUM_NO_CORE"):
        raise ImportError("turned off by SCRIPTORIUM_NO_CORE")
    from app.graph import _graphcore

    core = _graphcore
    if core.interface() != _ABI_VERSION:
        raise ImportError("it was built for another version of the app")
except ImportError as error:
    missing = str(error)
    log.warning("the graph's C core is not there (%s): layout and pictures are computed by numpy", error)

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]

CHARGE = 0
BOUNDED = 1

# What is shared among threads in parts of at least so many: with smaller ones they would mostly wait.
_MIN_ROWS_PER_THREAD = 2000
_MIN_LINKED_ROWS_PER_THREAD = 16_000
_MIN_LEAVES_PER_THREAD = 1500


def available() -> bool:
    """Whether the core is there."""
    return missing is None


class WorkerThreads:
    """Some threads that share the rows of one task. A context, or closed by its owner.

    Args:
        threads: How many; by default the machine's, at most four.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or max(1, min(4, os.cpu_count() or 1))
        self._pool: ThreadPoolExecutor | None = None

    def ranges(self, work: Callable[[int, int], None], count: int, least: int = _MIN_ROWS_PER_THREAD) -> None:
        """Call `work(first, last)` for ranges that make up 0 … count, at least `least` in each."""
        parts = max(1, min(4 * self.threads, count // max(least, 1))) if self.threads > 1 else 1
        if parts == 1:
            work(0, count)
            return
        bounds = [count * part // parts for part in range(parts + 1)]
        self._each(work, bounds)

    def each(self, work: Callable[[int], None], count: int) -> None:
        """Call `work(index)` for every index below `count`."""
        if self.threads == 1 or count < 2:
            for index in range(count):
                work(index)
            return
        list(self._running().map(work, range(count)))

    def _each(self, work: Callable[[int, int], None], bounds: list[int]) -> None:
        list(self._running().map(work, bounds[:-1], bounds[1:]))

    def _running(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="graph core")
        return self._pool

    def close(self) -> None:
        """End the threads."""
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
    """An undirected graph as compressed rows, each link from both its ends.

    Args:
        starts: int32 (n + 1,), where the neighbours of each row begin.
        neighbours: int32 (h,), rows.
        weight: float32 (h,).
    """

    starts: Ints
    neighbors: Ints
    weight: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def from_matrix(cls, weights: scipy.sparse.csr_matrix) -> CsrGraph:
        """The links of a symmetric sparse matrix."""
        return cls(
            np.ascontiguousarray(weights.indptr, dtype=np.int32),
            np.ascontiguousarray(weights.indices, dtype=np.int32),
            np.ascontiguousarray(weights.data, dtype=np.float32),
        )

    def degree(self) -> Ints:
        """int32 (n,): how many neighbours each row has."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class Push:
    """How bodies push one another away.

    Args:
        kernel: `CHARGE`, 1/distance, or `BOUNDED`, d/(1 + d²)².
        strength: Factor.
        softness: `CHARGE`: added to the squared distance. `BOUNDED`: 1 by the squared unit of length.
        opening: Squared accuracy: a cell counts as one body when its squared side is below this times the
            squared distance. 0 is exact.
    """

    kernel: int
    strength: float = 1.0
    softness: float = 1.0
    opening: float = 1.44


class BarnesHutTree:
    """A Barnes-Hut tree. One thread builds it while no other reads; RuntimeError otherwise."""

    def __init__(self) -> None:
        self._tree = core.tree()
        self._leaves = 0

    def build(self, at: Floats, mass: Floats | None = None) -> None:
        """Sort bodies in.

        Args:
            at: float32 (n, 2).
            mass: float32 (n,); None is 1 each. What is not above zero pushes nobody.
        """
        self._leaves = core.build(self._tree, at, mass)

    def push(self, how: Push, force: Floats, workers: WorkerThreads | None = None) -> None:
        """Add the push of all bodies on each of them to `force`, float32 (n, 2)."""

        def work(first: int, last: int) -> None:
            core.push(self._tree, first, last, how.kernel, how.strength, how.softness, how.opening, force)

        if workers is None:
            work(0, self._leaves)
        else:
            workers.ranges(work, self._leaves, _MIN_LEAVES_PER_THREAD)

    def push_places(self, how: Push, at: Floats, force: Floats) -> None:
        """Add the push of all bodies at the places `at`, float32 (k, 2), to `force`, of the same shape."""
        core.push_places(self._tree, at, how.kernel, how.strength, how.softness, how.opening, force)


def attract(
    links: CsrGraph,
    at: Floats,
    linear: float,
    near: float,
    rate: float,
    force: Floats,
    workers: WorkerThreads,
) -> None:
    """Add t-FDP's attraction, weight · d · (linear + near / (1 + d²)) · rate, to `force`, float32 (n, 2)."""
    workers.ranges(
        lambda first, last: core.attract(
            links.starts, links.neighbors, links.weight, at, linear, near, rate, first, last, force
        ),
        len(links),
        _MIN_LINKED_ROWS_PER_THREAD,
    )


@dataclass(frozen=True, eq=False)
class RestLengths:
    """d3's springs over `links`: float32 (h,) each, per link and end.

    Args:
        strength: How hard it pulls.
        share: How much of it this end takes.
        length: Its rest length, in layout units.
    """

    strength: Floats
    share: Floats
    length: Floats

    @classmethod
    def of(cls, links: CsrGraph, width: Floats) -> RestLengths:
        """As d3 has it: weaker at hubs, the lighter end gives way; as long as bodies of `width` (n,)."""
        degree = np.maximum(links.degree(), 1).astype(np.float32)
        here = np.repeat(np.arange(len(links)), links.degree())
        there = links.neighbors
        strength = links.weight / np.minimum(degree[here], degree[there])
        share = degree[there] / (degree[here] + degree[there])
        length = 0.5 * (width[here] + width[there])
        return cls(strength.astype(np.float32), share.astype(np.float32), length.astype(np.float32))


def spring(
    links: CsrGraph, rest: RestLengths, at: Floats, rate: float, force: Floats, workers: WorkerThreads
) -> None:
    """Add the pull of springs to their rest lengths, times `rate`, to `force`, float32 (n, 2)."""
    workers.ranges(
        lambda first, last: core.spring(
            links.starts,
            links.neighbors,
            rest.strength,
            rest.share,
            rest.length,
            at,
            rate,
            first,
            last,
            force,
        ),
        len(links),
    )


def step(
    at: Floats,
    velocity: Floats,
    *,
    gravity: float = 0.0,
    damping: float = 0.5,
    longest: float = 3.0,
    fixed: Bytes | None = None,
) -> float:
    """Move all bodies by their velocity, in place; the longest way one went.

    Args:
        at: float32 (n, 2), layout units.
        velocity: float32 (n, 2), units per step; drawn to the origin, damped and cut first.
        gravity: Pull to the origin per unit of distance.
        damping: What is left of a velocity after a step.
        longest: No body goes farther in one step.
        fixed: uint8 (n,), bodies that stay.
    """
    return core.step(at, velocity, fixed, gravity, damping, longest, 0, len(at))


def cluster(links: CsrGraph, mass: Floats, order: Ints, cap: float, rounds: int = 4) -> Ints:
    """int32 (n,): a label per body, such that no label's mass is above `cap`.

    Args:
        links: Whose weights tie bodies to labels.
        mass: float32 (n,).
        order: int32 (n,), the order in which bodies choose.
        cap: The most mass of one label; a heavier body stays alone.
        rounds: How often each body may choose, at most.
    """
    label = np.empty(len(links), dtype=np.int32)
    core.cluster(links.starts, links.neighbors, links.weight, mass, order, cap, rounds, label)
    return label


def separate(at: Floats, radii: Floats, gap: float = 0.2) -> float:
    """Push overlapping discs apart once, in place; the largest overlap before it.

    Args:
        at: float32 (n, 2).
        radii: float32 (n,); a small disc gives way to a large one.
        gap: Kept between rims.
    """
    return core.separate(at, radii, gap)


def swarm(x: Floats, wanted: Floats, radii: Floats, order: Ints, gap: float) -> Floats:
    """Y of each disc, as near to the wanted one as those before it leave room; none moves aside.

    Args:
        x: float32 (n,).
        wanted: float32 (n,).
        radii: float32 (n,).
        order: int32 (n,), every row once.
        gap: Kept between rims.
    """
    y = wanted.copy()
    core.swarm(x, radii, order, gap, y)
    return y
