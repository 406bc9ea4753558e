"""The camera over the graph: which part is visible, and how it moves. No Qt."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MIN_SCALE = 0.4
MAX_SCALE = 260.0
_MAX_FIT_SCALE = 34.0
_FLIGHT_CURVATURE = 1.3


@dataclass(frozen=True, slots=True)
class Camera:
    """A view centered on `x`, `y` (layout units) at `scale` pixels per unit."""

    x: float = 0.0
    y: float = 0.0
    scale: float = 8.0

    def to_screen(self, at: NDArray[np.float32], width: float, height: float) -> NDArray[np.float32]:
        """Return positions in pixels of a view of that size, float32 (n, 2)."""
        middle = np.array([width / 2, height / 2], dtype=np.float32)
        eye = np.array([self.x, self.y], dtype=np.float32)
        return (at - eye) * np.float32(self.scale) + middle

    def to_world(self, x: float, y: float, width: float, height: float) -> tuple[float, float]:
        """Return the layout position of a pixel in a view of that size."""
        return self.x + (x - width / 2) / self.scale, self.y + (y - height / 2) / self.scale

    def zoomed(self, factor: float, x: float, y: float, width: float, height: float) -> Camera:
        """Return the camera zoomed by `factor` around pixel (x, y)."""
        scale = min(max(self.scale * factor, MIN_SCALE), MAX_SCALE)
        held_x, held_y = self.to_world(x, y, width, height)
        return Camera(held_x - (x - width / 2) / scale, held_y - (y - height / 2) / scale, scale)

    def moved(self, right: float, down: float) -> Camera:
        """Return the camera moved by a number of pixels."""
        return Camera(self.x - right / self.scale, self.y - down / self.scale, self.scale)


@dataclass(frozen=True, slots=True)
class Insets:
    """Pixels at each side of a view that overlays cover."""

    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0


def fit_camera(
    at: NDArray[np.float32], width: float, height: float, margin: float = 44.0, insets: Insets = Insets()
) -> Camera:
    """Return the camera that fits all of `at` into the free part of a view; few nodes keep scale 1."""
    if not len(at):
        return Camera()
    # Column by column, because numpy takes forty times as long for both at once.
    columns = at[:, 0], at[:, 1]
    low = np.array([each.min() for each in columns])
    high = np.array([each.max() for each in columns])
    across, down = free_size(width, height, insets, margin)
    span = np.maximum(high - low, 1e-3)
    scale = max(min(across / float(span[0]), down / float(span[1]), _MAX_FIT_SCALE), MIN_SCALE)
    middle = (low + high) / 2
    right, lower = (insets.left - insets.right) / 2, (insets.top - insets.bottom) / 2
    return Camera(float(middle[0]) - right / scale, float(middle[1]) - lower / scale, scale)


def free_size(width: float, height: float, insets: Insets, margin: float = 44.0) -> tuple[float, float]:
    """Return the width and height of the part of a view that is free of overlays."""
    across = width - insets.left - insets.right - 2 * margin
    down = height - insets.top - insets.bottom - 2 * margin
    return max(across, 40.0), max(down, 40.0)


def flight_path(start: Camera, end: Camera, width: float) -> tuple[Callable[[float], Camera], float]:
    """Return the smoothest flight between two cameras: out, across, in (van Wijk and Nuij, 2003).

    Returns:
        A function from 0 … 1 to the camera on the way, and the length of the way (about 1 per screen).
    """
    wide, narrow = width / start.scale, width / end.scale
    across_x, across_y = end.x - start.x, end.y - start.y
    across = math.hypot(across_x, across_y)
    if across < 1e-4 * wide:
        turn = math.log(narrow / wide)
        straight = lambda part: Camera(  # noqa: E731
            start.x + across_x * part, start.y + across_y * part, width / (wide * math.exp(turn * part))
        )
        return straight, abs(turn) / _FLIGHT_CURVATURE
    bend = _FLIGHT_CURVATURE**2
    first = (narrow**2 - wide**2 + bend**2 * across**2) / (2 * wide * bend * across)
    last = (narrow**2 - wide**2 - bend**2 * across**2) / (2 * narrow * bend * across)
    begin, finish = -math.asinh(first), -math.asinh(last)
    length = (finish - begin) / _FLIGHT_CURVATURE

    def at(part: float) -> Camera:
        s = part * length
        done = (
            wide
            / bend
            * (math.cosh(begin) * math.tanh(_FLIGHT_CURVATURE * s + begin) - math.sinh(begin))
            / across
        )
        span = wide * math.cosh(begin) / math.cosh(_FLIGHT_CURVATURE * s + begin)
        return Camera(start.x + across_x * done, start.y + across_y * done, width / span)

    return at, abs(length)
