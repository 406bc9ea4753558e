"""Highlights on top of the default appearance of nodes: colors, sizes, visibility, glows and a path."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from app.desktop.graph.node_style import NO_COLOR
from app.graph.model import Graph

T = TypeVar("T", bound=np.generic)
_MIN_SIZE_FACTOR, _MAX_SIZE_FACTOR = 0.25, 6.0


@dataclass(frozen=True, slots=True)
class Glow:
    """A glow around nodes.

    Args:
        paths: The nodes.
        color: "#rrggbb"; empty for the accent color.
        is_pulsating: True if it pulsates.
    """

    paths: frozenset[str]
    color: str = ""
    is_pulsating: bool = False


@dataclass(slots=True)
class Highlights:
    """Highlights of nodes; None and empty values keep the default appearance.

    Args:
        colors: uint32 (n,), 0xRRGGBB; `NO_COLOR` for a node with its group's color.
        sizes: float32 (n,), factors for the radii.
        visible: bool (n,), false for a hidden node.
        path: The rows of a path through the graph, in order.
        glows: Glows by key.
    """

    colors: NDArray[np.uint32] | None = None
    sizes: NDArray[np.float32] | None = None
    visible: NDArray[np.bool_] | None = None
    path: list[int] = field(default_factory=list)
    glows: dict[str, Glow] = field(default_factory=dict)

    def set_sizes(self, factors: NDArray[np.float32] | None) -> None:
        """Set factors for the radii, clamped to 0.25 to 6; None removes them."""
        self.sizes = None
        if factors is not None:
            self.sizes = np.clip(factors, _MIN_SIZE_FACTOR, _MAX_SIZE_FACTOR).astype(np.float32)

    def set_glow(self, key: str, paths: Collection[str], color: str, is_pulsating: bool) -> None:
        """Set the glow with this `key`, or remove it if `paths` is empty."""
        self.glows.pop(key, None)
        if paths:
            self.glows[key] = Glow(frozenset(paths), color, is_pulsating)

    @property
    def is_pulsating(self) -> bool:
        """True if a glow pulsates."""
        return any(glow.is_pulsating for glow in self.glows.values())

    def transferred(self, before: Graph, after: Graph) -> Highlights:
        """Return the highlights for the next state of a graph; a path that has lost a node is removed.

        Nodes are matched by path; new ones are visible, with no color and the default size. Glows are
        shared.
        """
        if before is after:
            return self
        before_rows = before.rows
        rows = np.array([before_rows.get(path, -1) for path in after.paths], dtype=np.int64)
        after_rows = after.rows
        path = [after_rows.get(before.paths[row], -1) for row in self.path]
        return Highlights(
            _transfer(self.colors, rows, np.uint32(NO_COLOR)),
            _transfer(self.sizes, rows, np.float32(1.0)),
            _transfer(self.visible, rows, np.bool_(True)),
            path if -1 not in path else [],
            self.glows,
        )


def _transfer(values: NDArray[T] | None, rows: NDArray[np.int64], fill: T) -> NDArray[T] | None:
    if values is None:
        return None
    if not len(values):
        return np.full(len(rows), fill)
    return np.where(rows >= 0, values[rows], fill)
