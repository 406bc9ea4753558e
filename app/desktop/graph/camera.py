"""The camera over the graph. No Qt."""

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

    def to_screen(self, positions: NDArray[np.float32], width: float, height: float) -> NDArray[np.float32]:
        """Return `positions` in pixels of a view of this size, float32 (n, 2)."""
        view_center = np.array([width / 2, height / 2], dtype=np.float32)
        camera_center = np.array([self.x, self.y], dtype=np.float32)
        return (positions - camera_center) * np.float32(self.scale) + view_center

    def to_world(self, x: float, y: float, width: float, height: float) -> tuple[float, float]:
        """Return the layout position of a pixel in a view of this size."""
        return self.x + (x - width / 2) / self.scale, self.y + (y - height / 2) / self.scale

    def zoomed(self, factor: float, x: float, y: float, width: float, height: float) -> Camera:
        """Return the camera zoomed by `factor` around pixel (x, y), within the limits of the scale."""
        scale = min(max(self.scale * factor, MIN_SCALE), MAX_SCALE)
        anchor_x, anchor_y = self.to_world(x, y, width, height)
        return Camera(anchor_x - (x - width / 2) / scale, anchor_y - (y - height / 2) / scale, scale)

    def moved(self, right: float, down: float) -> Camera:
        """Return the camera after dragging the graph by this many pixels."""
        return Camera(self.x - right / self.scale, self.y - down / self.scale, self.scale)


@dataclass(frozen=True, slots=True)
class Insets:
    """The pixels that overlays cover on each side of a view."""

    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0


def fit_camera(
    positions: NDArray[np.float32],
    width: float,
    height: float,
    margin: float = 44.0,
    insets: Insets = Insets(),
) -> Camera:
    """Return the camera that fits all positions into the free part of a view, at a limited scale."""
    if not len(positions):
        return Camera()
    # Reduce each column separately: numpy takes forty times as long for both together.
    columns = positions[:, 0], positions[:, 1]
    low = np.array([column.min() for column in columns])
    high = np.array([column.max() for column in columns])
    width_px, height_px = free_size(width, height, insets, margin)
    span = np.maximum(high - low, 1e-3)
    scale = max(min(width_px / float(span[0]), height_px / float(span[1]), _MAX_FIT_SCALE), MIN_SCALE)
    center = (low + high) / 2
    shift_x, shift_y = (insets.left - insets.right) / 2, (insets.top - insets.bottom) / 2
    return Camera(float(center[0]) - shift_x / scale, float(center[1]) - shift_y / scale, scale)


def free_size(width: float, height: float, insets: Insets, margin: float = 44.0) -> tuple[float, float]:
    """Return the size of the part of a view without overlays and margins, at least 40 by 40 pixels."""
    free_width = width - insets.left - insets.right - 2 * margin
    free_height = height - insets.top - insets.bottom - 2 * margin
    return max(free_width, 40.0), max(free_height, 40.0)


def flight_path(start: Camera, end: Camera, width: float) -> tuple[Callable[[float], Camera], float]:
    """Return the smoothest flight between two cameras: out, across, in (van Wijk and Nuij, 2003).

    The symbols are those of the paper. `width` is the view's width in pixels.

    Returns:
        A function that maps 0 … 1 to the camera along the way, and the length of the flight (about 1 per
        screen).
    """
    w0, w1 = width / start.scale, width / end.scale
    dx, dy = end.x - start.x, end.y - start.y
    u1 = math.hypot(dx, dy)
    if u1 < 1e-4 * w0:
        log_zoom = math.log(w1 / w0)

        def zoom(fraction: float) -> Camera:
            w = w0 * math.exp(log_zoom * fraction)
            return Camera(start.x + dx * fraction, start.y + dy * fraction, width / w)

        return zoom, abs(log_zoom) / _FLIGHT_CURVATURE
    rho_squared = _FLIGHT_CURVATURE**2
    b0 = (w1**2 - w0**2 + rho_squared**2 * u1**2) / (2 * w0 * rho_squared * u1)
    b1 = (w1**2 - w0**2 - rho_squared**2 * u1**2) / (2 * w1 * rho_squared * u1)
    r0, r1 = -math.asinh(b0), -math.asinh(b1)
    length = (r1 - r0) / _FLIGHT_CURVATURE

    def fly(fraction: float) -> Camera:
        s = fraction * length
        share = (
            w0 / rho_squared * (math.cosh(r0) * math.tanh(_FLIGHT_CURVATURE * s + r0) - math.sinh(r0)) / u1
        )
        w = w0 * math.cosh(r0) / math.cosh(_FLIGHT_CURVATURE * s + r0)
        return Camera(start.x + dx * share, start.y + dy * share, width / w)

    return fly, abs(length)
