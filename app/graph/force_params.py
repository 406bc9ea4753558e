"""What the sliders of the graph set. Light to import: the window has sliders before it has a layout."""

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
    """The forces of live physics; the defaults leave a layout from scratch as it is.

    Args:
        spacing: Room between notes, 4 to 40; distances grow with it.
        attraction: How hard links pull, as a factor, 0 to 3.
        repulsion: How hard notes push, as a factor, 0 to 4.
        gravity: How hard all is drawn to the middle, 0 to 1.
    """

    spacing: float = 16.0
    attraction: float = 1.0
    repulsion: float = 1.0
    gravity: float = 0.0

    def within_limits(self) -> ForceParams:
        """The same, with each value inside of its `RANGES`; what is not a number becomes the default."""
        usual = ForceParams()
        values = {}
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            values[name] = min(max(value, low), high) if value == value else getattr(usual, name)
        return ForceParams(**values)

    @property
    def unit(self) -> float:
        """The length of one layout unit under this spacing."""
        return self.spacing / ForceParams().spacing
