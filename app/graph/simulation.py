"""The simulation of all nodes: they move toward equilibrium under the sliders' forces, or around a drag.

A finished layout is not in equilibrium under the forces alone: it was eased, fitted to the page and packed.
Therefore, the initial force on each body is kept, and bodies respond to the difference from it. Unchanged
forces move nothing, moving a slider back restores the layout, and only changes cause motion.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from app.graph.engine import Engine
from app.graph.force_params import ForceParams
from app.graph.model import Positions

_STEP_RATE = 0.05
_DAMPING = 0.6
_COOLING = 0.98
_MIN_HEAT = 0.02
_DRAG_HEAT = 0.35
_MAX_STEP = 1.5
_MAX_STIFFNESS = 9.0
_GRAVITY = 0.15
_GLIDE_RATE = 0.12
_GRIP_STRENGTH = 24.0
_NODE_GAP = 0.1
# Beyond this size a node is smaller than a pixel in the overview, and separation takes too long.
_MAX_SEPARATED_NODES = 30_000
_STILL_TOLERANCE = 1e-3


class Simulation:
    """Moves all nodes; one tick takes a few milliseconds with 10,000 nodes.

    Args:
        weights: The symmetric adjacency, a sparse matrix.
        positions: float32 (n, 2), the bodies at rest under `forces`.
        engine: Computes attraction and repulsion.
        forces: The initial forces.
        radii: float32 (n,) of the nodes, in layout units, to keep them apart. None allows overlaps.
    """

    def __init__(
        self,
        weights: scipy.sparse.csr_matrix,
        positions: Positions,
        engine: Engine,
        forces: ForceParams,
        radii: NDArray[np.float32] | None,
    ) -> None:
        self._engine = engine
        self._radii = None if radii is None else np.ascontiguousarray(radii, dtype=np.float32)
        self._weights = weights
        self._field = engine.force_field(weights)
        self._drags: dict[int, _Drag] = {}
        self._forces = forces
        self._unit = forces.unit
        self._positions = np.array(positions / np.float32(self._unit), dtype=np.float32, order="C")
        self._middle = self._positions.mean(axis=0)
        pull = _MAX_STIFFNESS / np.maximum(np.asarray(weights.sum(axis=1)).ravel(), 1e-6)
        self._ease = np.minimum(1.0, pull).astype(np.float32)[:, None]
        self._balance = self._force()
        self._speed = np.zeros_like(self._positions)
        self._heat = 0.0

    @property
    def is_settled(self) -> bool:
        """True if all motion has ended."""
        return self._heat < _MIN_HEAT and not self._drags and self._is_at_scale

    @property
    def _is_at_scale(self) -> bool:
        return abs(self._unit - self._forces.unit) < _STILL_TOLERANCE * self._forces.unit

    @property
    def positions(self) -> Positions:
        """The positions in layout units, a new array float32 (n, 2)."""
        return np.asarray(self._positions * np.float32(self._unit), dtype=np.float32)

    def set_forces(self, forces: ForceParams) -> None:
        """Let all bodies move to equilibrium under `forces`, from their current positions and speeds."""
        self._heat = 1.0 if forces != self._forces else self._heat
        self._forces = forces

    def hold(self, row: int, x: float, y: float) -> None:
        """Hold a body at a point; this affects all others, especially those linked to it."""
        if row not in self._drags:
            matrix = self._weights
            linked = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
            self._drags[row] = _Drag(row, linked[linked != row], self._positions)
        self.place(row, x, y)

    def place(self, row: int, x: float, y: float) -> None:
        """Move a single body to a point."""
        self._positions[row] = (x / self._unit, y / self._unit)
        self._speed[row] = 0.0
        if row in self._drags:
            self._drags[row].position = self._positions[row].copy()

    def release(self, row: int) -> None:
        """Release a held body; all bodies settle."""
        if self._drags.pop(row, None) is not None:
            self._heat = max(self._heat, _DRAG_HEAT)

    def tick(self) -> None:
        """Compute one step of all bodies."""
        self._unit += _GLIDE_RATE * (self._forces.unit - self._unit)
        if self._is_at_scale:
            self._unit = self._forces.unit
        if self._drags:
            self._heat = max(self._heat, _DRAG_HEAT)
        if self._heat < _MIN_HEAT:
            return
        self._speed += np.float32(_STEP_RATE) * self._ease * (self._force() - self._balance)
        self._speed *= np.float32(_DAMPING * min(1.0, 2 * self._heat))
        length = np.sqrt((self._speed * self._speed).sum(axis=1, keepdims=True))
        self._speed *= np.minimum(1.0, _MAX_STEP / np.maximum(length, 1e-6)).astype(np.float32)
        self._positions += self._speed
        if self._radii is not None and len(self._positions) <= _MAX_SEPARATED_NODES:
            self._engine.separate_once(self._positions, self._radii / np.float32(self._unit), _NODE_GAP)
        for row, drag in self._drags.items():
            self._positions[row], self._speed[row] = drag.position, 0.0
        self._heat *= _COOLING if float(length.max(initial=0.0)) > _STILL_TOLERANCE else 0.5

    def _force(self) -> Positions:
        forces = self._forces
        force = self._field(self._positions, forces.attraction, forces.repulsion)
        force -= np.float32(_GRAVITY * forces.gravity) * (self._positions - self._middle)
        for drag in self._drags.values():
            force[drag.linked] += drag.pull(self._positions)
        return force


class _Drag:
    """A held body; its links are springs with the length that they had at the start of the drag.

    Args:
        row: The body.
        linked: The rows linked to it.
        positions: float32 (n, 2), all bodies at the start of the drag.
    """

    def __init__(self, row: int, linked: NDArray[np.int32], positions: Positions) -> None:
        self.linked = linked
        self.position = positions[row].copy()
        self._strength = np.float32(_GRIP_STRENGTH / np.sqrt(max(len(linked), 1)))
        offsets = self.position - positions[linked]
        self._length = np.sqrt((offsets * offsets).sum(axis=1))

    def pull(self, positions: Positions) -> Positions:
        """Return the force on the linked bodies, float32 (k, 2)."""
        offsets = self.position - positions[self.linked]
        length = np.sqrt((offsets * offsets).sum(axis=1)) + np.float32(1e-6)
        return np.asarray(self._strength * (1 - self._length / length)[:, None] * offsets, dtype=np.float32)
