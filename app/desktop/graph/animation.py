"""Values that move over time: the eye that travels, and fades. Time comes in, so tests can say it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from app.desktop.graph.camera import Camera, flight_path

_ZOOM_HALF_LIFE_S = 0.07


def ease_in_out(part: float) -> float:
    """Slow at both ends."""
    return part * part * (3 - 2 * part)


@dataclass(slots=True)
class Fade:
    """A value that goes to its aim with a half-life, in seconds."""

    value: float = 0.0
    aim: float = 0.0
    seconds: float = 0.05

    @property
    def moving(self) -> bool:
        """Whether the value still changes."""
        return self.value != self.aim

    def advance(self, passed: float) -> None:
        """Let `passed` seconds go by."""
        left = (self.value - self.aim) * 0.5 ** (passed / self.seconds)
        self.value = self.aim + (left if abs(left) > 0.01 else 0.0)


class CameraAnimation:
    """The camera in motion: it flies, glides to a zoom at the pointer, or is set."""

    def __init__(self) -> None:
        self.camera = Camera()
        self._way: Callable[[float], Camera] | None = None
        self._end = Camera()
        self._seconds = 0.0
        self._passed = 0.0
        self._zoom = 1.0
        self._anchor = (0.0, 0.0, 1.0, 1.0)

    @property
    def moving(self) -> bool:
        """Whether the camera will change by itself."""
        return self._way is not None or self._zoom != 1.0

    def set(self, camera: Camera) -> None:
        """Be there, and stop all motion."""
        self._way, self._zoom, self.camera = None, 1.0, camera

    def fly(self, to: Camera, width: float) -> None:
        """Travel there; farther takes longer, but never more than a second."""
        self._zoom = 1.0
        self._way, length = flight_path(self.camera, to, max(width, 1.0))
        self._end = to
        self._seconds = min(0.28 + 0.22 * length, 1.0)
        self._passed = 0.0

    def zoom(self, factor: float, x: float, y: float, width: float, height: float) -> None:
        """Glide closer by `factor`, the place under (x, y) held; further calls add up."""
        self._way = None
        self._zoom = min(max(self._zoom * factor, 1e-3), 1e3)
        self._anchor = (x, y, width, height)

    def pan(self, right: float, down: float) -> None:
        """Move the picture at once."""
        self._way = None
        self.camera = self.camera.moved(right, down)
        x, y, width, height = self._anchor
        self._anchor = (x + right, y + down, width, height)

    def advance(self, passed: float) -> None:
        """Let `passed` seconds go by."""
        if self._way is not None:
            self._passed += passed
            part = min(1.0, self._passed / self._seconds)
            self.camera = self._way(ease_in_out(part))
            if part >= 1.0:
                self._way, self.camera = None, self._end
        elif self._zoom != 1.0:
            step = 1 - 0.5 ** (passed / (_ZOOM_HALF_LIFE_S * 0.6))
            factor = math.exp(math.log(self._zoom) * step)
            if abs(math.log(self._zoom)) < 0.004:
                factor = self._zoom
            before = self.camera.scale
            self.camera = self.camera.zoomed(factor, *self._anchor)
            stuck = self.camera.scale == before
            self._zoom = 1.0 if stuck or factor == self._zoom else self._zoom / factor


def rescale(camera: Camera, factor: float) -> Camera:
    """The same place at another scale."""
    return replace(camera, scale=camera.scale * factor)
