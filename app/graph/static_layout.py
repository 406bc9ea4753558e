"""The result of a layout that does not follow the links: positions, and the regions or axis behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.graph.model import Positions

Report = Callable[[float, str], None]
"""Receives the progress: the completed fraction, from 0 to 1, and a description of the current step."""


def no_progress(share: float, message: str) -> None:
    """Ignore progress reports."""


@dataclass(frozen=True, slots=True)
class Region:
    """A disc around a group: its name, key, position and depth (0 is outermost).

    `count` is the number of notes in it, including those of inner groups.
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
    """A mark on the time axis: its position, its time (Unix seconds), its label, and whether it is major."""

    x: float
    time: float
    label: str
    major: bool


@dataclass(frozen=True, eq=False)
class StaticLayout:
    """Positions float32 (n, 2) of all nodes, and the regions or axis to draw behind them."""

    kind: str
    positions: Positions
    regions: tuple[Region, ...] = ()
    ticks: tuple[Tick, ...] = ()
