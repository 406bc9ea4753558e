"""The forces of the layout in numpy: springs, and repulsion, dense or by a mesh.

There are two models. *Charge* is d3-force's: repulsion 1/distance and springs with a rest length; it
determines the overall shape. *Bounded* is t-FDP (Zhong, Xue, Zhang, Zhang, Ban, Deussen, Wang:
"Force-directed graph layouts revisited: a new force based on the t-distribution", 2023): repulsion
d/(1+d²)², which fades within a few units, and attraction d·(a + b/(1+d²)); it keeps neighbors together.

A mesh sums a kernel over all pairs with one FFT convolution: masses are spread to the four nearest
mesh points, and forces are read back with the same weights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.fft
import scipy.sparse
from numpy.typing import NDArray

from app.graph.model import Positions

Values = NDArray[np.float32]
Kernel = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_MAX_DENSE_BODIES = 420
_MAX_MESH_SIZE = 512


def bounded(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return t-FDP's repulsion per unit of distance, for squared distances."""
    return 1.0 / (1.0 + squared) ** 2


def charge(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return d3's repulsion per unit of distance, softened at distances far below one."""
    return 1.0 / (squared + 0.02)


class Repulsion:
    """The sum of a kernel over all pairs of bodies.

    Args:
        kernel: Force per unit of distance, as a function of the squared distance.
        mass: float32 (n,), the strength of each body.
        spacing: The mesh width, well below the distance over which the kernel changes. 0 selects the finest
            mesh.
    """

    def __init__(self, kernel: Kernel, mass: Values, spacing: float) -> None:
        self._kernel = kernel
        self._mass = mass
        self._spacing = spacing
        self._transformed: dict[tuple[int, float], NDArray[np.complex64]] = {}

    def __call__(self, at: Positions) -> Positions:
        """Return the repulsion on each body, float32 (n, 2)."""
        if len(at) <= _MAX_DENSE_BODIES:
            return dense_repulsion(self._kernel, at, at, self._mass)
        return self._by_mesh(at)

    def _by_mesh(self, at: Positions) -> Positions:
        low = at.min(axis=0)
        reach = float((at.max(axis=0) - low).max()) + 1e-6
        size, width = self._mesh(reach)
        scaled = (at - low) / np.float32(width)
        cell = scaled.astype(np.int32)
        part = scaled - cell
        x, y = part[:, 0], part[:, 1]
        base = cell[:, 1] * size + cell[:, 0]
        weights = ((1 - x) * (1 - y), x * (1 - y), (1 - x) * y, x * y)
        offsets = (0, 1, size, size + 1)
        density = np.zeros(size * size, dtype=np.float64)
        for offset, weight in zip(offsets, weights, strict=True):
            density += np.bincount(base + offset, weight * self._mass, size * size)
        field = self._convolved(density.reshape(size, size).astype(np.float32), size, width)
        push = sum(weight * field[base + offset] for offset, weight in zip(offsets, weights, strict=True))
        return np.stack([push.real, push.imag], axis=1).astype(np.float32)

    def _mesh(self, reach: float) -> tuple[int, float]:
        """Return the points per side (a multiple of 32, to reuse kernels) and the width between them."""
        if not self._spacing:
            size = 160
            return size, reach * 1.02 / (size - 2)
        size = int(np.ceil((reach / self._spacing + 3) / 32) * 32)
        if size <= _MAX_MESH_SIZE:
            return size, self._spacing
        return _MAX_MESH_SIZE, reach * 1.02 / (_MAX_MESH_SIZE - 2)

    def _convolved(self, density: Values, size: int, width: float) -> NDArray[np.complex64]:
        """Return the field on the mesh: x in the real part, y in the imaginary part."""
        key = (size, width)
        kernel = self._transformed.get(key)
        if kernel is None:
            steps = np.fft.fftfreq(2 * size) * 2 * size * width
            x, y = np.meshgrid(steps, steps)
            shape = (x + 1j * y) * self._kernel(x * x + y * y)
            kernel = scipy.fft.fft2(shape.astype(np.complex64))
            self._transformed = {key: kernel}
        spectrum = scipy.fft.fft2(density.astype(np.complex64), s=(2 * size, 2 * size))
        spectrum *= kernel
        field = scipy.fft.ifft2(spectrum, overwrite_x=True)[:size, :size]
        return np.ascontiguousarray(field).ravel()


def dense_repulsion(kernel: Kernel, at: Positions, others: Positions, mass: Values) -> Positions:
    """Return the repulsion of all `others` on each body in `at`, computed pair by pair."""
    x = at[:, 0, None] - others[None, :, 0]
    y = at[:, 1, None] - others[None, :, 1]
    strength = np.asarray(kernel(x * x + y * y)) * mass
    return np.stack([(x * strength).sum(axis=1), (y * strength).sum(axis=1)], axis=1).astype(np.float32)


class Springs:
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


class RestingSprings(Springs):
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
