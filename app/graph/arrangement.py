"""What other arrangements of a graph than by its links give: positions, and what to draw behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.graph.model import Positions

Report = Callable[[float, str], None]


def no_progress(share: float, words: str) -> None:
    """Progress that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Region:
    """A disc that holds a group: its name, what it stands for, where it is, how deep it lies (0: outermost).

    `count` notes are in it, those of inner groups included.
    """

    name: str
    key: str
    x: float
    y: float
    radius: float
    depth: int
    count: int


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on the axis of time: where, when (Unix seconds), and its date as ISO writes it."""

    x: float
    time: float
    label: str
    major: bool


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Positions float32 (n, 2) of all nodes, without overlaps, and what to draw behind them."""

    kind: str
    positions: Positions
    regions: tuple[Region, ...] = ()
    ticks: tuple[Tick, ...] = ()
