"""Lay out a graph from scratch, coarse to fine, and stream the positions of all nodes.

The coarsest graph is laid out with charges and springs; each finer one starts from its parents' positions and
is refined, by bounded forces if it is large. Only linked nodes take part; packing places the others around
them. A small graph uses stress majorization instead, to leave room for its names. Finally, the layout is
fitted to the page.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from app.graph.coarsen import CoarseLevel, adjacency, damp_hubs
from app.graph.component_packing import ComponentPacking
from app.graph.engine import MAX_CHARGED_LEVEL_SIZE, Engine, ForceSchedule
from app.graph.layout_fitting import align_to_page, ease_density, sunflower_positions, widen
from app.graph.layouts.stress import MAX_STRESS_NODES, label_widths, separate_labels, stress_layout
from app.graph.model import Graph, Positions, node_radii

_COARSE_SCHEDULE = ForceSchedule(60, 0.2, 0.1, 0.1)
_FINEST_SCHEDULE = ForceSchedule(80, 0.2, 2.0, 0.1)
_EVEN_SCHEDULE = ForceSchedule(30, 0.1, 0.2, 0.2)
_MAX_CHARGED_BODIES = 1_600_000
_COARSE_FACTOR = 12
_MIN_INSIDE_SHARE = 0.42
_NORMAL_SPREAD = 0.18
_SHOWN_SPREAD = 0.5
_MAX_ASPECT = 1.8
_SMALL_EASE = 0.55
_EASE = 0.45
_GLIDE_STEPS = 8
# Yielding a coarse level costs time in proportion to the whole graph, so not every step is yielded.
_NODES_PER_FRAME = 8000


def multilevel_layout(
    graph: Graph, engine: Engine, seed: int = 0, aspect: float = 1.0
) -> Iterator[Positions]:
    """Yield float32 (n, 2) positions at intervals, the final layout last. Deterministic for a given seed.

    Args:
        graph: The graph to lay out.
        engine: Computes the forces.
        seed: The random seed.
        aspect: The width of the page to fill, divided by its height.
    """
    size = len(graph)
    aspect = min(max(aspect, 1 / _MAX_ASPECT), _MAX_ASPECT)
    radii = node_radii(graph)
    packing = ComponentPacking(adjacency(graph.links, size), radii, aspect)
    linked = packing.linked
    placed = np.zeros((size, 2), dtype=np.float32)
    if len(linked):
        row_of = np.full(size, -1, dtype=np.int32)
        row_of[linked] = np.arange(len(linked), dtype=np.int32)
        names = tuple(graph.names[row] for row in linked.tolist())
        is_small = len(linked) <= MAX_STRESS_NODES
        linked_edges = row_of[graph.links]
        if is_small:
            steps = _small_layout(linked_edges, radii[linked], names, engine, seed, aspect)
        else:
            steps = _LevelHierarchy(linked_edges, radii[linked], engine, seed, aspect).lay_out()
        for linked_positions in steps:
            placed = np.empty((size, 2), dtype=np.float32)
            placed[linked] = linked_positions
            packing.ring_orphans(placed)
            yield placed
    yield widen(packing.place(placed), aspect)


def _small_layout(
    edges: NDArray[np.int32],
    radii: NDArray[np.float32],
    names: tuple[str, ...],
    engine: Engine,
    seed: int,
    aspect: float,
) -> Iterator[Positions]:
    """Lay out a small graph component by component, with room for its labels."""
    weights = adjacency(edges, len(radii))
    packing = ComponentPacking(weights, radii, aspect)
    widths = label_widths(names, radii, len(radii))
    positions = sunflower_positions(len(radii), 2.0)
    for part in packing.parts:
        for step in stress_layout(weights[part][:, part], radii[part], seed):
            positions[part] = step
            if part is packing.parts[0]:
                yield positions.copy()
        positions[part] = align_to_page(ease_density(positions[part], radii[part], _SMALL_EASE), aspect)
        positions[part] = separate_labels(positions[part], radii[part], widths[part])
    positions = packing.place(positions)
    yield positions
    yield from engine.separate_steps(positions, radii)


class _LevelHierarchy:
    """The levels of detail of the linked nodes, from finest to coarsest.

    Args:
        edges: int32 (m, 2) among linked nodes.
        radii: float32 (n,) of the linked nodes.
        engine: Computes the forces.
        seed: The random seed.
        aspect: The page's width divided by its height.
    """

    def __init__(
        self,
        edges: NDArray[np.int32],
        radii: NDArray[np.float32],
        engine: Engine,
        seed: int,
        aspect: float,
    ) -> None:
        self._engine = engine
        self._size = len(radii)
        self._radii = radii
        self._seed = seed
        weights = adjacency(edges, self._size)
        self._levels = engine.build_levels(weights, seed)
        self._is_even = _is_even(self._levels)
        self._packing = ComponentPacking(weights, radii, aspect)
        self._aspect = aspect

    def lay_out(self) -> Iterator[Positions]:
        """Yield positions of all linked nodes at intervals, from the coarsest level to the finest."""
        coarsest = len(self._levels) - 1
        top = self._levels[coarsest]
        positions = sunflower_positions(len(top), 1.8) * np.float32(top.unit)
        for index in range(coarsest, -1, -1):
            level = self._levels[index]
            rng = np.random.default_rng(self._seed + index)
            if index < coarsest:
                positions = _scatter_children(positions, level, self._levels[index + 1], rng)
            bodies = _node_bodies(self._levels[:index], self._size, rng)
            frame_interval = 1 + self._size // _NODES_PER_FRAME
            for number, step in enumerate(self._steps(level, positions, index, index == coarsest)):
                positions = step
                if number % frame_interval == 0:
                    yield _node_positions(positions, bodies, self._size)
        yield from self._finish(self._levels[0], positions)

    def _steps(
        self, level: CoarseLevel, positions: Positions, index: int, is_coarsest: bool
    ) -> Iterator[Positions]:
        """Return the steps on one level; none on the finest if only bounded forces refine it."""
        if is_coarsest:
            return self._engine.charge_layout(level, positions, 300, 1.0)
        if self._is_even or self._size < MAX_CHARGED_LEVEL_SIZE:
            max_ticks = max(40, _MAX_CHARGED_BODIES // len(level))
            return self._engine.charge_layout(level, positions, min(max_ticks, 300 if index else 150), 1.0)
        if index == 0:
            return iter(())
        if len(level) < MAX_CHARGED_LEVEL_SIZE:
            return self._engine.charge_layout(level, positions, 100, 0.3)
        return self._refine_coarsely(level, positions)

    def _refine_coarsely(self, level: CoarseLevel, positions: Positions) -> Iterator[Positions]:
        """Apply bounded forces between groups, with link weights scaled to a mean sum of six per group."""
        pull = level.weights * np.float32(6 * len(level) / max(float(level.weights.sum()), 1e-9))
        pull = damp_hubs(pull)
        unit = np.float32(level.unit)
        for step in self._engine.refine(
            CoarseLevel(pull, level.mass), self._scale(positions) / unit, _COARSE_SCHEDULE
        ):
            yield step * unit

    def _scale(self, positions: Positions) -> Positions:
        """Scale positions to the spread at which bounded forces start."""
        return positions * np.float32(
            _NORMAL_SPREAD * np.sqrt(self._size) / max(float(positions.std()), 1e-9)
        )

    def _finish(self, level: CoarseLevel, positions: Positions) -> Iterator[Positions]:
        """Pack the components, refine the finest level, fit it to the page and reduce overlaps."""
        positions = self._packing.place(self._scale(positions))
        schedule = (
            _EVEN_SCHEDULE if self._is_even and self._size >= MAX_CHARGED_LEVEL_SIZE else _FINEST_SCHEDULE
        )
        for step in self._engine.refine(
            CoarseLevel(damp_hubs(level.weights), level.mass), positions, schedule
        ):
            positions = step
            yield positions
        main = self._packing.parts[0]
        fitted = positions.copy()
        fitted[main] = align_to_page(ease_density(positions[main], self._radii[main], _EASE), self._aspect)
        for step in _interpolate(positions, self._packing.place(fitted)):
            positions = step
            yield positions
        yield from self._engine.separate_steps(positions, self._radii)


def _is_even(levels: list[CoarseLevel]) -> bool:
    """Return whether the first sufficiently coarse level has too little link weight inside its groups.

    In that case, groups are misleading, and charges find a better shape.
    """
    total_weight = float(levels[0].weights.sum())
    coarse = [level for level in levels if _COARSE_FACTOR * len(level) <= len(levels[0])]
    return bool(coarse) and 1 - float(coarse[0].weights.sum()) / total_weight < _MIN_INSIDE_SHARE


def _scatter_children(
    parent_positions: Positions, fine: CoarseLevel, coarse: CoarseLevel, rng: np.random.Generator
) -> Positions:
    """Return positions for the finer level's bodies, scattered randomly around their parents."""
    assert fine.parent is not None
    area = np.sqrt(coarse.mass)[fine.parent][:, None] * 0.3
    return (parent_positions[fine.parent] + rng.standard_normal((len(fine), 2)) * area).astype(np.float32)


def _node_bodies(
    finer: list[CoarseLevel], size: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Positions]:
    """Return each node's body on this level, and the node's provisional offset from it."""
    body = np.arange(size)
    for level in finer:
        assert level.parent is not None
        body = level.parent[body]
    crowd = np.bincount(body)[body]
    scatter = rng.standard_normal((size, 2)) * np.where(crowd > 1, 0.25 * np.sqrt(crowd), 0.0)[:, None]
    return body, scatter.astype(np.float32)


def _node_positions(
    body_positions: Positions, bodies: tuple[NDArray[np.int64], Positions], size: int
) -> Positions:
    """Return the positions of all nodes, centered and scaled for display."""
    body, scatter = bodies
    spread = body_positions[body] + scatter
    spread = spread - spread.mean(axis=0)
    scale = np.float32(_SHOWN_SPREAD * np.sqrt(size) / max(float(spread.std()), 1e-9))
    return np.asarray(spread * scale, dtype=np.float32)


def _interpolate(start: Positions, end: Positions) -> Iterator[Positions]:
    """Yield the steps of an eased transition from one layout to another."""
    for step in range(1, _GLIDE_STEPS + 1):
        share = np.float32(step / _GLIDE_STEPS)
        yield start + (end - start) * (share * share * (3 - 2 * share))
