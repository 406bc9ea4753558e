"""Animate the camera and fades. The caller passes the elapsed time, so tests control it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from app.desktop.graph.camera import Camera, flight_path

_ZOOM_HALF_LIFE_S = 0.07


def ease_in_out(fraction: float) -> float:
    """Ease a fraction (0 to 1) in and out: slow at both ends."""
    return fraction * fraction * (3 - 2 * fraction)


@dataclass(slots=True)
class Fade:
    """A value that approaches its target exponentially; `half_life` is in seconds."""

    value: float = 0.0
    target: float = 0.0
    half_life: float = 0.05

    @property
    def is_moving(self) -> bool:
        """True if the value is still changing."""
        return self.value != self.target

    def advance(self, seconds: float) -> None:
        """Advance by `seconds`."""
        remaining = (self.value - self.target) * 0.5 ** (seconds / self.half_life)
        self.value = self.target + (remaining if abs(remaining) > 0.01 else 0.0)


class CameraAnimation:
    """Moves the camera: flies to a target, zooms around a pixel, or pans."""

    def __init__(self) -> None:
        self.camera = Camera()
        self._flight: Callable[[float], Camera] | None = None
        self._end = Camera()
        self._duration = 0.0
        self._elapsed = 0.0
        self._zoom = 1.0
        self._anchor = (0.0, 0.0, 1.0, 1.0)

    @property
    def is_moving(self) -> bool:
        """True if an animation is running."""
        return self._flight is not None or self._zoom != 1.0

    def set(self, camera: Camera) -> None:
        """Set the camera and stop all motion."""
        self._flight, self._zoom, self.camera = None, 1.0, camera

    def fly(self, target: Camera, width: float) -> None:
        """Fly to `target`; a longer flight takes longer, at most one second.

        `width` is the view's width in pixels.
        """
        self._zoom = 1.0
        self._flight, length = flight_path(self.camera, target, max(width, 1.0))
        self._end = target
        self._duration = min(0.28 + 0.22 * length, 1.0)
        self._elapsed = 0.0

    def zoom(self, factor: float, x: float, y: float, width: float, height: float) -> None:
        """Zoom smoothly by `factor` around pixel (x, y); successive calls multiply.

        `width` and `height` are the view's size in pixels.
        """
        self._flight = None
        self._zoom = min(max(self._zoom * factor, 1e-3), 1e3)
        self._anchor = (x, y, width, height)

    def pan(self, right: float, down: float) -> None:
        """Move the view by these pixels without an animation, and stop a flight."""
        self._flight = None
        self.camera = self.camera.moved(right, down)
        x, y, width, height = self._anchor
        self._anchor = (x + right, y + down, width, height)

    def advance(self, seconds: float) -> None:
        """Advance the running animation by `seconds`."""
        if self._flight is not None:
            self._elapsed += seconds
            fraction = min(1.0, self._elapsed / self._duration)
            self.camera = self._flight(ease_in_out(fraction))
            if fraction >= 1.0:
                self._flight, self.camera = None, self._end
        elif self._zoom != 1.0:
            step = 1 - 0.5 ** (seconds / (_ZOOM_HALF_LIFE_S * 0.6))
            factor = math.exp(math.log(self._zoom) * step)
            if abs(math.log(self._zoom)) < 0.004:
                factor = self._zoom
            previous_scale = self.camera.scale
            self.camera = self.camera.zoomed(factor, *self._anchor)
            is_at_limit = self.camera.scale == previous_scale
            self._zoom = 1.0 if is_at_limit or factor == self._zoom else self._zoom / factor
