"""The timeline layout: from left to right by date, from top to bottom by links.

If too many notes have nearly the same date, an even axis would pile them up. The axis is then stretched at
crowded dates, only as far as needed; the order is preserved, and ticks mark the dates.
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from app.graph import core_bindings
from app.graph.coarsen import adjacency
from app.graph.model import Positions
from app.graph.raster import as_contiguous
from app.graph.static_layout import Report, StaticLayout, Tick, no_progress

_NODE_GAP = 0.35
_ROOM_FACTOR = 5.0
_COLUMN_WIDTH = 3.0
_SMOOTHING_ROUNDS = 40
_MIN_TICKS = 4
_UNKNOWN_GAP = 6.0
_BLOCK_ROOM_FACTOR = 1.6
_TICK_STEPS = (
    ("year", 10),
    ("year", 5),
    ("year", 2),
    ("year", 1),
    ("month", 6),
    ("month", 3),
    ("month", 1),
    ("day", 14),
    ("day", 7),
    ("day", 2),
    ("day", 1),
)


def timeline_layout(
    links: NDArray[np.int32],
    radii: NDArray[np.float32],
    times: NDArray[np.float64],
    aspect: float = 1.6,
    report: Report = no_progress,
) -> StaticLayout:
    """Return all nodes along a time axis, with undated ones in a block of the same height before it.

    Args:
        links: int32 (m, 2), rows.
        radii: float32 (n,) of the nodes.
        times: float64 (n,), Unix seconds, 0 if unknown.
        aspect: The page's width divided by its height.
        report: Receives the progress.
    """
    size = len(radii)
    if not size:
        return StaticLayout("time", np.empty((0, 2), dtype=np.float32))
    has_time = times > 0
    areas = np.square(2 * radii + _NODE_GAP)
    area = float(areas[has_time].sum() or areas.sum()) * _ROOM_FACTOR
    width = float(np.sqrt(area * aspect))
    height = area / width
    axis = _Axis(times[has_time], width, height)
    x = np.empty(size)
    x[has_time] = axis.place(times[has_time])
    block_width = float(areas[~has_time].sum()) * _BLOCK_ROOM_FACTOR / height
    steps = np.arange(size - has_time.sum()) + 0.5
    x[~has_time] = -_UNKNOWN_GAP - float(radii.max()) - block_width * steps / max(1, len(steps))
    target_y = _link_order(links, size) * height / 2
    y = _pack_column(x, target_y, radii.astype(np.float64), report)
    positions: Positions = np.stack([x, y], axis=1).astype(np.float32)
    return StaticLayout("time", positions, ticks=axis.ticks() if has_time.any() else ())


class _Axis:
    """The mapping from time to x: even, with a degree of stretching where dates cluster.

    Args:
        times: float64 (k,), the dates of all nodes that have one.
        width: The length of the axis in layout units.
        height: The maximum height of columns.
    """

    def __init__(self, times: NDArray[np.float64], width: float, height: float) -> None:
        self._sorted = np.sort(times)
        self._width = width
        self._stretch = 0.0
        for stretch in (0.0, 0.25, 0.5, 0.75, 0.9, 1.0):
            self._stretch = stretch
            crowd = np.bincount((self.place(times) // _COLUMN_WIDTH).astype(np.int64)).max(initial=0)
            if crowd * 1.2 <= 1.6 * height * _COLUMN_WIDTH / 2:
                break

    def place(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the x of the nodes' dates; equal dates are spread where the axis is stretched."""
        if not len(self._sorted):
            return np.zeros(len(times))
        low, high = self._sorted[0], self._sorted[-1]
        even_share = (times - low) / (high - low) if high > low else np.full(len(times), 0.5)
        rank = np.empty(len(times))
        rank[np.argsort(times, kind="stable")] = np.arange(len(times)) + 0.5
        stretch = self._stretch
        return np.asarray(self._width * ((1 - stretch) * even_share + stretch * rank / len(self._sorted)))

    def ticks(self) -> tuple[Tick, ...]:
        """Return round dates at the largest step that yields `_MIN_TICKS`, else at the smallest step.

        If not even the smallest step yields any, return the first date.
        """
        low, high = float(self._sorted[0]), float(self._sorted[-1])
        dates: list[datetime] = []
        unit = "day"
        for unit, step in _TICK_STEPS:
            dates = _round_dates(low, high, unit, step)
            if len(dates) >= _MIN_TICKS:
                break
        if not dates:
            dates, unit = [datetime.fromtimestamp(low, UTC)], "day"
        times = np.array([date.timestamp() for date in dates])
        date_format = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}[unit]
        return tuple(
            Tick(float(x), float(time), date.strftime(date_format), _is_major(date, unit))
            for x, time, date in zip(self.place_any(times), times, dates, strict=True)
        )

    def place_any(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the x of any dates, not only those of notes."""
        low, high = self._sorted[0], self._sorted[-1]
        even_share = (times - low) / (high - low) if high > low else np.full(len(times), 0.5)
        rank = np.interp(times, self._sorted, (np.arange(len(self._sorted)) + 0.5) / len(self._sorted))
        return np.asarray(self._width * ((1 - self._stretch) * even_share + self._stretch * rank))


def _round_dates(low: float, high: float, unit: str, step: int) -> list[datetime]:
    """Return the round dates from `low` to `high`, at most 60."""
    start, end = datetime.fromtimestamp(low, UTC), datetime.fromtimestamp(high, UTC)
    dates: list[datetime] = []
    if unit == "day":
        first = int(low // 86400) + 1
        first += -first % step
        last = int(high // 86400)
        return [datetime.fromtimestamp(day * 86400, UTC) for day in range(first, last + 1, step)][:60]
    months = step * 12 if unit == "year" else step
    month = start.year * 12 + start.month - 1
    month += -month % months
    while month <= end.year * 12 + end.month - 1 and len(dates) < 60:
        date = datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC)
        if start <= date <= end:
            dates.append(date)
        month += months
    return dates


def _is_major(date: datetime, unit: str) -> bool:
    return {"year": date.year % 10 == 0, "month": date.month == 1, "day": date.day == 1}[unit]


def _link_order(links: NDArray[np.int32], size: int) -> NDArray[np.float64]:
    """Return float64 (n,): numbers spread evenly from -1 to 1, similar for linked nodes."""
    weights = adjacency(links, size)
    degree = np.asarray(weights.sum(axis=1)).ravel()
    spread = scipy.sparse.diags_array(1 / np.maximum(degree, 1)) @ weights
    value = np.random.default_rng(0).uniform(-1, 1, size)
    for _ in range(_SMOOTHING_ROUNDS):
        value = np.where(degree > 0, 0.5 * value + 0.5 * (spread @ value), value)
        value = _spread_evenly(value)
    return value


def _spread_evenly(value: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = np.empty(len(value))
    spread[np.argsort(value, kind="stable")] = (np.arange(len(value)) + 0.5) / len(value) * 2 - 1
    return spread


def _pack_column(
    x: NDArray[np.float64],
    target_y: NDArray[np.float64],
    radii: NDArray[np.float64],
    report: Report,
) -> NDArray[np.float64]:
    """Return the y of each node, as close to its target as the nodes placed before it allow.

    Large nodes are placed first; all keep their x.
    """
    order = np.lexsort((np.arange(len(x)), -radii))
    report(0.5, "Laying out by date")
    x32, target32, radii32 = (as_contiguous(column, np.float32) for column in (x, target_y, radii))
    y = core_bindings.beeswarm(x32, target32, radii32, as_contiguous(order, np.int32), _NODE_GAP)
    return y.astype(np.float64)
