"""Switches between arrangements: nodes glide to another one and back to where the links put them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from app.desktop.graph.annotations import Annotations, AxisTick, RegionDisc
from app.desktop.graph.canvas import Canvas
from app.desktop.graph.position_animation import PositionAnimation
from app.desktop.graph.settings.model import LayoutMode
from app.graph.model import Graph, Positions
from app.graph.position_transfer import transfer_positions


class LayoutSwitch(QObject):
    """Tracks the arrangement of `canvas` and keeps the positions by links.

    `changed` is emitted when another arrangement is shown.
    """

    changed = Signal()

    def __init__(self, canvas: Canvas, annotations: Annotations) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._annotations = annotations
        self.glide = PositionAnimation(canvas)
        self.kind = LayoutMode.FORCE
        self._by_links: tuple[Graph, Positions] | None = None

    @property
    def is_by_links(self) -> bool:
        """Return whether the links determine the positions."""
        return self.kind is LayoutMode.FORCE

    def show(
        self, kind: LayoutMode, places: Positions, discs: Sequence[RegionDisc], moments: Sequence[AxisTick]
    ) -> None:
        """Animate the nodes to `places`, float32 (n, 2), of an arrangement of the displayed graph."""
        scene = self._canvas.scene
        if self.is_by_links:
            self._by_links = scene.graph, scene.positions.copy()
        self.kind = kind
        self._annotations.show_arrangement(discs, moments)
        self.glide.animate_to(places)
        self.changed.emit()

    def show_by_links(self) -> None:
        """Animate the nodes back to their positions by links."""
        if self.is_by_links or self._by_links is None:
            return
        graph, places = self._by_links
        self._clear()
        back, _ = transfer_positions(graph, places, self._canvas.scene.graph)
        self.glide.animate_to(back)

    def link_positions(self) -> Positions | None:
        """Return the positions by links of the displayed nodes; None while the nodes are there."""
        if self.is_by_links:
            return self.glide.target
        if self._by_links is None or self._by_links[0] is not self._canvas.scene.graph:
            return None
        return self._by_links[1]

    def graph_changed(self, graph: Graph, renamed: Mapping[str, str] | None = None) -> None:
        """Keep the positions by links for the next state of the same graph."""
        self.glide.stop()
        if self._by_links is not None:
            before, places = self._by_links
            self._by_links = graph, transfer_positions(before, places, graph, renamed)[0]

    def reset(self) -> None:
        """Reset for another graph, which is arranged by its links."""
        self.glide.stop()
        self._clear()

    def _clear(self) -> None:
        changed = not self.is_by_links
        self.kind, self._by_links = LayoutMode.FORCE, None
        self._annotations.show_arrangement((), ())
        if changed:
            self.changed.emit()
