"""Physics around a dragged node: its neighborhood follows, and all other nodes stay in place.

Only bodies within a few links of the dragged node move. Links are springs whose rest length is their
length when the drag starts, so the drawing keeps its proportions and merely grabbing a node moves nothing.
After the release, the motion cools down within a second.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.graph.engine import Engine
from app.graph.model import Graph, Positions, affected_rows

_NEIGHBOR_RADIUS = 2.5
_CELL_KEY_STRIDE = 1 << 30
_STEP_RATE = 0.045
_REPULSION = 16.0
_COOLING = 0.93
_MAX_PULL = 9.0


class LocalPhysics:
    """Moves the neighborhood of one dragged node.

    `bodies` contains the rows that move, starting with `dragged`.

    Args:
        graph: The graph whose links pull.
        positions: float32 (n, 2), changed in place by `tick`.
        dragged: The row of the dragged node.
        engine: Computes the repulsion of the bodies.
    """

    def __init__(self, graph: Graph, positions: Positions, dragged: int, engine: Engine) -> None:
        self.dragged = dragged
        self._engine = engine
        self.bodies = affected_rows(graph, dragged)
        self._positions = positions
        self._target = positions[dragged].copy()
        self._speed = np.zeros((len(self.bodies), 2), dtype=np.float32)
        self._heat = 1.0
        self._is_held = True
        self._prepare_springs(graph)
        self._find_bystanders()
        self._balance = self._force()

    @property
    def is_settled(self) -> bool:
        """True if all motion has ended."""
        return self._heat < 0.02

    @property
    def is_held(self) -> bool:
        """True if the node is still held."""
        return self._is_held

    def move_to(self, x: float, y: float) -> None:
        """Hold the dragged node at a point in layout units; it moves there on the next tick."""
        self._target = np.array([x, y], dtype=np.float32)
        self._is_held, self._heat = True, 1.0

    def release(self) -> None:
        """Release the dragged node; the motion cools down."""
        self._is_held = False

    def tick(self) -> None:
        """Compute one step and change the positions in place."""
        positions = self._positions
        if self._is_held:
            positions[self.dragged] = self._target
        self._speed += np.float32(_STEP_RATE) * (self._force() - self._balance)
        self._speed *= np.float32(0.55 * self._heat)
        self._speed[0] = 0
        length = np.sqrt((self._speed**2).sum(axis=1, keepdims=True))
        self._speed *= np.minimum(1.0, 0.6 / np.maximum(length, 1e-6)).astype(np.float32)
        positions[self.bodies] += self._speed
        if self._is_held and float(length[1:].max(initial=0.0)) < 1e-3 and self._is_at_target():
            self._heat = max(0.3, self._heat * _COOLING)
        elif not self._is_held:
            self._heat *= _COOLING

    def _is_at_target(self) -> bool:
        return bool(np.abs(self._positions[self.dragged] - self._target).max() < 1e-4)

    def _prepare_springs(self, graph: Graph) -> None:
        """Collect the links with an end among the bodies; those of the dragged node pull harder."""
        body_index = np.full(len(graph), -1, dtype=np.int64)
        body_index[self.bodies] = np.arange(len(self.bodies))
        edges = graph.links[(body_index[graph.links] >= 0).any(axis=1)].astype(np.int64)
        self._edges: NDArray[np.int64] = edges
        self._inner = body_index[edges]
        count = max(1, len(graph.neighbors(self.dragged)))
        boost = 1 + 24 / np.sqrt(count)
        self._pull = np.where((edges == self.dragged).any(axis=1), boost, 1.0).astype(np.float32)
        offsets = self._positions[edges[:, 1]] - self._positions[edges[:, 0]]
        self._rest = np.sqrt((offsets * offsets).sum(axis=1))
        pulls = np.zeros(len(self.bodies), dtype=np.float32)
        for side in (0, 1):
            rows: NDArray[np.int64] = self._inner[:, side]
            np.add.at(pulls, rows[rows >= 0], self._pull[rows >= 0])
        self._ease = np.minimum(1.0, _MAX_PULL / np.maximum(pulls, 1e-6)).astype(np.float32)

    def _find_bystanders(self) -> None:
        """Find nodes that stay in place but repel the bodies."""
        candidates = self._nearby_rows()
        positions = self._positions[candidates]
        is_near = np.zeros(len(candidates), dtype=np.bool_)
        # One body at a time: there are few, and a k-d tree would load 14 MB of scipy.
        for body_position in self._positions[self.bodies]:
            is_near |= ((positions - body_position) ** 2).sum(axis=1) <= _NEIGHBOR_RADIUS**2
        self._repelling = np.concatenate([self.bodies, candidates[is_near][:900]])

    def _nearby_rows(self) -> NDArray[np.int64]:
        """Return the rows in grid cells of side `_NEIGHBOR_RADIUS` around those of the bodies."""
        square = np.floor(self._positions / np.float32(_NEIGHBOR_RADIUS)).astype(np.int64)
        key = square[:, 0] * _CELL_KEY_STRIDE + square[:, 1]
        offsets = np.array([x * _CELL_KEY_STRIDE + y for x in (-1, 0, 1) for y in (-1, 0, 1)])
        nearby_keys = np.unique(key[self.bodies][:, None] + offsets)
        mask = np.isin(key, nearby_keys)
        mask[self.bodies] = False
        return np.flatnonzero(mask)

    def _force(self) -> Positions:
        positions = self._positions
        push = self._engine.repel(positions[self.bodies], positions[self._repelling])
        force = np.float32(_REPULSION) * push
        offsets = positions[self._edges[:, 1]] - positions[self._edges[:, 0]]
        length = np.sqrt((offsets * offsets).sum(axis=1)) + 1e-6
        pull = (self._pull * (1.0 - self._rest / length))[:, None] * offsets
        for side, sign in ((0, 1), (1, -1)):
            rows: NDArray[np.int64] = self._inner[:, side]
            is_body = rows >= 0
            np.add.at(force, rows[is_body], np.float32(sign) * pull[is_body])
        return np.asarray(force * self._ease[:, None], dtype=np.float32)
