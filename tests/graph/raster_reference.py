"""A reference implementation of the link picture in numpy, to compare the core with."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.graph.edge_style import EdgeStyle, Exposure

_PADDING = 3
_CHUNK_SAMPLES = 25_000
_GOLDEN = 0.6180339887498949
_DASH_LENGTH = 6.0
_DASH_PERIOD = 10.2

Ends = NDArray[np.float32]


def draw_edges(
    style: EdgeStyle,
    at: NDArray[np.float32],
    width: int,
    height: int,
    exposure: Exposure,
    hidden: NDArray[np.bool_] | None,
) -> NDArray[np.uint8]:
    """Draw like `app.graph.raster.draw_edges`."""
    source, target = at[style.edges[:, 0]], at[style.edges[:, 1]]
    is_visible = style.light > 0
    if hidden is not None:
        is_visible &= ~hidden[style.edges].any(axis=1)
    shown = np.flatnonzero(is_visible)
    source, target, kept = _clipped(source[shown], target[shown], width, height)
    shown = shown[kept]
    apart = at[style.edges[shown, 1]] - at[style.edges[shown, 0]]
    length = np.sqrt((apart * apart).sum(axis=1))
    reach = exposure.reach * exposure.ratio
    light = style.light[shown] * np.sqrt(np.minimum(1.0, reach / np.maximum(length, 1e-3)))
    if exposure.budget is not None:
        span = float(np.abs(target - source).max(axis=1).sum())
        share = exposure.budget / max(span, 1.0)
        if share < 1.0:
            sample = (shown * _GOLDEN) % 1.0 < share
            source, target, shown = source[sample], target[sample], shown[sample]
            light = light[sample] / np.float32(share**0.8)
    if style.dashed is not None and style.dashed[shown].any():
        source, target, parts = _in_dashes(source, target, style.dashed[shown], exposure.ratio)
        light, shown = light[parts], shown[parts]
    breadth = style.width[shown] * np.float32(exposure.ratio)
    color = style.colors[style.classes[shown]][:, ::-1].astype(np.float32)
    planes = _LightBuffer(width, height)
    steep = np.abs(target[:, 1] - source[:, 1]) > np.abs(target[:, 0] - source[:, 0])
    for upright in (False, True):
        mine = np.flatnonzero(steep == upright)
        if len(mine):
            lines = _SampledLines.of(
                source[mine], target[mine], upright, light[mine], breadth[mine], color[mine]
            )
            for part in lines.chunks():
                part.splat(planes, upright)
    return _developed(planes.light, planes.colors, exposure.alpha)


def _in_dashes(
    source: Ends, target: Ends, dashed: NDArray[np.bool_], ratio: float
) -> tuple[Ends, Ends, NDArray[np.int64]]:
    """Split every dashed line into its dashes; return the parts and the line of each part."""
    apart = target - source
    length = np.sqrt((apart * apart).sum(axis=1)).astype(np.float32)
    period = _DASH_PERIOD * ratio
    count = np.where(dashed, np.ceil(length / period), 1).astype(np.int64)
    parts = np.repeat(np.arange(len(source)), count)
    step = (np.arange(len(parts)) - np.repeat(np.cumsum(count) - count, count)) * period
    whole = ~dashed[parts]
    begin = np.where(whole, 0.0, step / np.maximum(length[parts], 1e-6))
    end = np.where(
        whole, 1.0, np.minimum(1.0, begin + _DASH_LENGTH * ratio / np.maximum(length[parts], 1e-6))
    )
    way = apart[parts]
    first = source[parts] + begin[:, None].astype(np.float32) * way
    return first, source[parts] + end[:, None].astype(np.float32) * way, parts


def _developed(total: NDArray[np.float32], mixed: NDArray[np.float32], alpha: float) -> NDArray[np.uint8]:
    """Convert light to opacity, which saturates, and the mean color of the overlapping lines."""
    opacity = -np.expm1(total * np.float32(np.log1p(-min(alpha, 0.99))))
    pixels = np.empty((*total.shape, 4), dtype=np.uint8)
    share = np.divide(opacity, total, out=np.zeros_like(total), where=total > 1e-6)
    for channel in range(3):
        pixels[..., channel] = np.minimum(mixed[channel] * share, opacity * 255)
    pixels[..., 3] = opacity * 255
    return pixels


def _clipped(source: Ends, target: Ends, width: int, height: int) -> tuple[Ends, Ends, NDArray[np.int64]]:
    """Return the parts of lines inside the picture (Liang and Barsky), and the lines that have one."""
    apart = target - source
    enter = np.zeros(len(source), dtype=np.float32)
    exit_at = np.ones(len(source), dtype=np.float32)
    for axis, limit in ((0, width - 1e-2), (1, height - 1e-2)):
        step, start = apart[:, axis], source[:, axis]
        flat = np.abs(step) < 1e-6
        safe = np.where(flat, 1.0, step)
        low, high = -start / safe, (limit - start) / safe
        near, far = np.minimum(low, high), np.maximum(low, high)
        outside = flat & ((start < 0) | (start > limit))
        enter = np.maximum(enter, np.where(flat, 0.0, near))
        exit_at = np.minimum(exit_at, np.where(flat, 1.0, far))
        exit_at[outside] = -1.0
    kept = np.flatnonzero(enter < exit_at)
    first = source[kept] + enter[kept, None] * apart[kept]
    last = source[kept] + exit_at[kept, None] * apart[kept]
    return first.astype(np.float32), last.astype(np.float32), kept


class _LightBuffer:
    """Light, and light times each color channel, per pixel; with a margin that lines may overstep."""

    def __init__(self, width: int, height: int) -> None:
        self.stride = width + 2 * _PADDING
        self._lines = height + 2 * _PADDING
        self._flat = np.zeros((4, self.stride * self._lines), dtype=np.float32)

    def add(self, pixel: NDArray[np.int64], light: NDArray[np.float32], color: NDArray[np.float32]) -> None:
        """Add `light` (k,) of `color` (3, k) to the pixels (k,)."""
        np.clip(pixel, 0, self._flat.shape[1] - 1, out=pixel)
        np.add.at(self._flat[0], pixel, light)
        for channel in range(3):
            np.add.at(self._flat[channel + 1], pixel, light * color[channel])

    def _inner(self, planes: NDArray[np.float32]) -> NDArray[np.float32]:
        whole = planes.reshape(-1, self._lines, self.stride)
        return whole[:, _PADDING:-_PADDING, _PADDING:-_PADDING]

    @property
    def light(self) -> NDArray[np.float32]:
        """The light, float32 (height, width)."""
        return np.asarray(self._inner(self._flat[:1])[0])

    @property
    def colors(self) -> NDArray[np.float32]:
        """The colored light, float32 (3, height, width)."""
        return self._inner(self._flat[1:])


@dataclass(frozen=True, eq=False)
class _SampledLines:
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
    ) -> _SampledLines:
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

    def _take(self, rows: NDArray[np.int64] | slice) -> _SampledLines:
        return _SampledLines(
            self.first[rows],
            self.count[rows],
            self.begin[rows],
            self.slope[rows],
            self.light[rows],
            self.breadth[rows],
            self.color[rows],
        )

    def chunks(self) -> list[_SampledLines]:
        """Return chunks of limited size, narrow lines first, so that only wide ones pay for their width."""
        ends = np.cumsum(self.count)
        cuts = np.searchsorted(
            ends, np.arange(_CHUNK_SAMPLES, int(ends[-1]) + _CHUNK_SAMPLES, _CHUNK_SAMPLES)
        )
        narrow = int(np.searchsorted(self.breadth, 1.5))
        bounds = sorted({0, narrow, len(self.count), *(int(cut) + 1 for cut in cuts)})
        bounds = [bound for bound in bounds if bound <= len(self.count)]
        return [self._take(slice(low, high)) for low, high in pairwise(bounds)]

    def splat(self, planes: _LightBuffer, upright: bool) -> None:
        """Add the light of each sample to the pixels that its column of `breadth` covers."""
        along, across = (planes.stride, 1) if upright else (1, planes.stride)
        count = self.count
        step = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        middle = np.repeat(self.begin, count) + np.repeat(self.slope, count) * step.astype(np.float32)
        half = np.repeat(self.breadth / 2, count)
        light = np.repeat(self.light, count)
        color = np.repeat(self.color.T, count, axis=1)
        low, high = middle - half, middle + half
        row = np.floor(low)
        origin = _PADDING * planes.stride + _PADDING
        pixel = np.repeat(self.first * along, count) + step * along + row.astype(np.int64) * across + origin
        for tap in range(int(np.ceil(float(self.breadth.max()))) + 1):
            cover = np.clip(np.minimum(high, row + (tap + 1)) - np.maximum(low, row + tap), 0.0, 1.0)
            planes.add(pixel + tap * across, cover * light, color)
