"""The force parameters that the sliders set, with their limits; importing them does not load the layouts."""

from __future__ import annotations

from dataclasses import dataclass

RANGES: dict[str, tuple[float, float]] = {
    "spacing": (4.0, 40.0),
    "attraction": (0.0, 3.0),
    "repulsion": (0.0, 4.0),
    "gravity": (0.0, 1.0),
}


@dataclass(frozen=True, slots=True)
class ForceParams:
    """The forces of the simulation; the defaults leave a newly computed layout unchanged.

    Args:
        spacing: The distance between notes.
        attraction: The attraction of links, as a factor.
        repulsion: The repulsion of notes, as a factor.
        gravity: The attraction toward the center.
    """

    spacing: float = 16.0
    attraction: float = 1.0
    repulsion: float = 1.0
    gravity: float = 0.0

    def within_limits(self) -> ForceParams:
        """Return the parameters clamped to their `RANGES`; nan becomes the default."""
        defaults = ForceParams()
        values = {}
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            values[name] = min(max(value, low), high) if value == value else getattr(defaults, name)
        return ForceParams(**values)

    @property
    def unit(self) -> float:
        """The size of a layout unit with this spacing, as a factor of the default one."""
        return self.spacing / ForceParams().spacing
