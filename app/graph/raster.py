"""Draws all links into one picture: a density of light per colour, then tone mapping.

Lines are summed, not painted over one another, so the picture does not depend on their order, crowds of
links glow softly instead of becoming a block, and a line is as bright in every direction. No Qt here:
pixels are a numpy array, so it runs in any thread and gives the same picture everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.graph import native

_PAD = 3
_CHUNK = 25_000
_GOLDEN = 0.6180339887498949
_NUMPY_HURRIED = 350_000
_CORE_HURRIED = 3_000_000

Ends = NDArray[np.float32]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class EdgeLook:
    """How each link is drawn.

    Args:
        edges: int32 (m, 2) rows.
        colors: uint8 (k, 3), red green blue of each colour class.
        classes: int (m,), the class of each link.
        light: float32 (m,), 1 for an ordinary link, 0 for a hidden one.
        width: float32 (m,), in pixels at a ratio of one.
    """

    edges: NDArray[np.int32]
    colors: NDArray[np.uint8]
    classes: NDArray[np.int16]
    light: NDArray[np.float32]
    width: NDArray[np.float32]


@dataclass(frozen=True)
class Exposure:
    """How light becomes pixels.

    Args:
        alpha: Opacity of one ordinary link, 0 to 1.
        reach: Length in pixels up to which a link has its full light; longer ones fade with the square
            root, so that clusters stand out from what crosses between them.
        ratio: Device pixels per pixel.
        budget: About how many pixels of lines may be drawn: beyond it a fair sample stands for all of
            them, brighter by as much. None draws all.
    """

    alpha: float = 0.35
    reach: float = 70.0
    ratio: float = 1.0
    budget: int | None = None


def draw_edges(
    look: EdgeLook,
    at: NDArray[np.float32],
    width: int,
    height: int,
    exposure: Exposure,
    hidden: NDArray[np.bool_] | None = None,
    threads: int | None = None,
) -> NDArray[np.uint8]:
    """The picture of all links, uint8 (height, width, 4): blue, green, red, alpha; premultiplied.

    Args:
        look: The links.
        at: float32 (n, 2), nodes in pixels of the picture.
        width: Of the picture, in pixels.
        height: Of the picture, in pixels.
        exposure: How light becomes pixels.
        hidden: bool (n,), nodes whose links are left out.
        threads: How many draw; by default the machine's, at most four. The picture is the same for any.
    """
    if native.available():
        return _by_core(look, at, width, height, exposure, hidden, threads)
    return _by_numpy(look, at, width, height, exposure, hidden)


def pixels_in_a_hurry() -> int:
    """The budget (see `Exposure`) of a picture that is drawn in about the time of a frame."""
    return _CORE_HURRIED if native.available() else _NUMPY_HURRIED


def _by_core(
    look: EdgeLook,
    at: NDArray[np.float32],
    width: int,
    height: int,
    exposure: Exposure,
    hidden: NDArray[np.bool_] | None,
    threads: int | None,
) -> NDArray[np.uint8]:
    pixels = np.empty((height, width, 4), dtype=np.uint8)
    lines = native.Lines(
        _packed(at, np.float32),
        _packed(look.edges, np.int32),
        _packed(look.light, np.float32),
        _packed(look.width, np.float32),
        _packed(look.classes, np.int16),
        _packed(look.colors, np.uint8),
        None if hidden is None else (~hidden).view(np.uint8),
        width,
        height,
        reach=exposure.reach,
        ratio=exposure.ratio,
        budget=float(exposure.budget or 0),
    )
    with native.Workers(threads) as workers:
        lines.draw(exposure.alpha, pixels, workers)
    return pixels


def _packed(values: NDArray[Any], kind: type[T]) -> NDArray[T]:
    """As the core takes arrays: C-contiguous, of one type; without a copy where it is so already."""
    return np.ascontiguousarray(values, dtype=kind)


def _by_numpy(
    look: EdgeLook,
    at: NDArray[np.float32],
    width: int,
    height: int,
    exposure: Exposure,
    hidden: NDArray[np.bool_] | None,
) -> NDArray[np.uint8]:
    source, target = at[look.edges[:, 0]], at[look.edges[:, 1]]
    lit = look.light > 0
    if hidden is not None:
        lit &= ~hidden[look.edges].any(axis=1)
    shown = np.flatnonzero(lit)
    source, target, kept = _clipped(source[shown], target[shown], width, height)
    shown = shown[kept]
    apart = at[look.edges[shown, 1]] - at[look.edges[shown, 0]]
    length = np.sqrt((apart * apart).sum(axis=1))
    reach = exposure.reach * exposure.ratio
    light = look.light[shown] * np.sqrt(np.minimum(1.0, reach / np.maximum(length, 1e-3)))
    if exposure.budget is not None:
        span = float(np.abs(target - source).max(axis=1).sum())
        share = exposure.budget / max(span, 1.0)
        if share < 1.0:
            sample = (shown * _GOLDEN) % 1.0 < share
            source, target, shown = source[sample], target[sample], shown[sample]
            light = light[sample] / np.float32(share**0.8)
    breadth = look.width[shown] * np.float32(exposure.ratio)
    color = look.colors[look.classes[shown]][:, ::-1].astype(np.float32)
    planes = _Planes(width, height)
    steep = np.abs(target[:, 1] - source[:, 1]) > np.abs(target[:, 0] - source[:, 0])
    for upright in (False, True):
        mine = np.flatnonzero(steep == upright)
        if len(mine):
            lines = _Lines.of(source[mine], target[mine], upright, light[mine], breadth[mine], color[mine])
            for part in lines.chunks():
                part.splat(planes, upright)
    return _developed(planes.light, planes.colors, exposure.alpha)


def _developed(total: NDArray[np.float32], mixed: NDArray[np.float32], alpha: float) -> NDArray[np.uint8]:
    """Opacity that saturates with the light, and the mean colour of what adds up."""
    opacity = -np.expm1(total * np.float32(np.log1p(-min(alpha, 0.99))))
    pixels = np.empty((*total.shape, 4), dtype=np.uint8)
    share = np.divide(opacity, total, out=np.zeros_like(total), where=total > 1e-6)
    for channel in range(3):
        pixels[..., channel] = np.minimum(mixed[channel] * share, opacity * 255)
    pixels[..., 3] = opacity * 255
    return pixels


def _clipped(
    source: Ends, target: Ends, width: int, height: int
) -> tuple[Ends, Ends, NDArray[np.int64]]:
    """The parts of lines inside the picture (Liang and Barsky), and which lines have one."""
    apart = target - source
    enter = np.zeros(len(source), dtype=np.float32)
    leave = np.ones(len(source), dtype=np.float32)
    for axis, limit in ((0, width - 1e-2), (1, height - 1e-2)):
        step, start = apart[:, axis], source[:, axis]
        flat = np.abs(step) < 1e-6
        safe = np.where(flat, 1.0, step)
        low, high = -start / safe, (limit - start) / safe
        near, far = np.minimum(low, high), np.maximum(low, high)
        outside = flat & ((start < 0) | (start > limit))
        enter = np.maximum(enter, np.where(flat, 0.0, near))
        leave = np.minimum(leave, np.where(flat, 1.0, far))
        leave[outside] = -1.0
    kept = np.flatnonzero(enter < leave)
    first = source[kept] + enter[kept, None] * apart[kept]
    last = source[kept] + leave[kept, None] * apart[kept]
    return first.astype(np.float32), last.astype(np.float32), kept


class _Planes:
    """Light, and light times each colour channel, per pixel; with a rim that lines may overstep."""

    def __init__(self, width: int, height: int) -> None:
        self.stride = width + 2 * _PAD
        self._lines = height + 2 * _PAD
        self._flat = np.zeros((4, self.stride * self._lines), dtype=np.float32)

    def add(self, pixel: NDArray[np.int64], light: NDArray[np.float32], color: NDArray[np.float32]) -> None:
        """Adds `light` (k,) of `color` (3, k) to the pixels (k,)."""
        np.clip(pixel, 0, self._flat.shape[1] - 1, out=pixel)
        np.add.at(self._flat[0], pixel, light)
        for channel in range(3):
            np.add.at(self._flat[channel + 1], pixel, light * color[channel])

    def _inner(self, planes: NDArray[np.float32]) -> NDArray[np.float32]:
        whole = planes.reshape(-1, self._lines, self.stride)
        return whole[:, _PAD:-_PAD, _PAD:-_PAD]

    @property
    def light(self) -> NDArray[np.float32]:
        """float32 (height, width)."""
        return np.asarray(self._inner(self._flat[:1])[0])

    @property
    def colors(self) -> NDArray[np.float32]:
        """float32 (3, height, width)."""
        return self._inner(self._flat[1:])


@dataclass(frozen=True, eq=False)
class _Lines:
    """Lines as columns of samples along their longer axis: line i covers `first[i] … first[i]+count[i]-1`."""

    first: NDArray[np.int64]
    count: NDArray[np.int64]
    begin: NDArray[np.float32]
    slope: NDArray[np.float32]
    light: NDArray[np.float32]
    breadth: NDArray[np.float32]
    color: NDArray[np.float32]

    @classmethod
    def of(
        cls,
        a: Ends,
        b: Ends,
        upright: bool,
        light: NDArray[np.float32],
        breadth: NDArray[np.float32],
        color: NDArray[np.float32],
    ) -> _Lines:
        major, minor = (1, 0) if upright else (0, 1)
        back = a[:, major] > b[:, major]
        a[back], b[back] = b[back], a[back].copy()
        run = np.maximum(b[:, major] - a[:, major], 1e-3)
        slope = np.clip((b[:, minor] - a[:, minor]) / run, -1.0, 1.0)
        first = np.floor(a[:, major]).astype(np.int64)
        count = np.floor(b[:, major]).astype(np.int64) - first + 1
        begin = a[:, minor] + slope * (first + 0.5 - a[:, major])
        slant = np.sqrt(1 + slope * slope)
        broad = breadth * slant
        faint = np.minimum(broad, 1.0)
        broad = np.maximum(broad, 1.0)
        lines = cls(first, count, begin.astype(np.float32), slope, light * faint, broad, color)
        return lines._take(np.argsort(broad, kind="stable"))

    def _take(self, rows: NDArray[np.int64] | slice) -> _Lines:
        return _Lines(
            self.first[rows],
            self.count[rows],
            self.begin[rows],
            self.slope[rows],
            self.light[rows],
            self.breadth[rows],
            self.color[rows],
        )

    def chunks(self) -> list[_Lines]:
        """Pieces of bounded size, narrow lines first, so that only the broad pay for their breadth."""
        ends = np.cumsum(self.count)
        cuts = np.searchsorted(ends, np.arange(_CHUNK, int(ends[-1]) + _CHUNK, _CHUNK))
        narrow = int(np.searchsorted(self.breadth, 1.5))
        bounds = sorted({0, narrow, len(self.count), *(int(cut) + 1 for cut in cuts)})
        bounds = [bound for bound in bounds if bound <= len(self.count)]
        return [self._take(slice(low, high)) for low, high in pairwise(bounds)]

    def splat(self, planes: _Planes, upright: bool) -> None:
        """Adds the light of each sample to the pixels that its column of `breadth` covers."""
        along, across = (planes.stride, 1) if upright else (1, planes.stride)
        count = self.count
        step = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        middle = np.repeat(self.begin, count) + np.repeat(self.slope, count) * step.astype(np.float32)
        half = np.repeat(self.breadth / 2, count)
        light = np.repeat(self.light, count)
        color = np.repeat(self.color.T, count, axis=1)
        low, high = middle - half, middle + half
        row = np.floor(low)
        origin = _PAD * planes.stride + _PAD
        pixel = np.repeat(self.first * along, count) + step * along + row.astype(np.int64) * across + origin
        for tap in range(int(np.ceil(float(self.breadth.max()))) + 1):
            cover = np.clip(np.minimum(high, row + (tap + 1)) - np.maximum(low, row + tap), 0.0, 1.0)
            planes.add(pixel + tap * across, cover * light, color)


@dataclass(frozen=True, eq=False)
class DiscLook:
    """How nodes are drawn.

    Args:
        palette: uint8 (k, 4): red, green, blue, and 1 for a hollow node, of each colour class.
        classes: int16 (n,), the class of each node.
        ground: Red, green and blue of what lies under the picture: rims and hollow nodes are filled with it.
    """

    palette: NDArray[np.uint8]
    classes: NDArray[np.int16]
    ground: tuple[int, int, int]


def draw_discs(
    look: DiscLook,
    at: NDArray[np.float32],
    radii: NDArray[np.float32],
    opacity: NDArray[np.float32],
    order: NDArray[np.int32],
    pixels: NDArray[np.uint8],
    ratio: float = 1.0,
    threads: int | None = None,
) -> None:
    """Draw nodes over what is in `pixels`, premultiplied uint8 (height, width, 4). Needs the C core.

    Args:
        look: The nodes' colours.
        at: float32 (n, 2), in pixels of the picture.
        radii: float32 (n,), in pixels of the picture.
        opacity: float32 (n,), 0 for hidden to 1.
        order: int32 (k,), the rows to draw, those on top last.
        pixels: The picture.
        ratio: Device pixels per pixel, for the breadth of rims.
        threads: How many draw; by default the machine's, at most four. The picture is the same for any.
    """
    with native.Workers(threads) as workers:
        native.draw_discs(
            _packed(at, np.float32),
            _packed(radii, np.float32),
            _packed(opacity, np.float32),
            _packed(look.classes, np.int16),
            _packed(order, np.int32),
            _packed(look.palette, np.uint8),
            look.ground,
            ratio,
            pixels,
            workers,
        )
