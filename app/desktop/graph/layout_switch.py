"""Other arrangements than the one by links: nodes glide there, and back to where the forces had them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from app.desktop.graph.annotations import Annotations, AxisTick, RegionDisc
from app.desktop.graph.canvas import Canvas
from app.desktop.graph.position_animation import PositionAnimation
from app.desktop.graph.settings.model import LayoutMode
from app.graph.builder import transfer_positions
from app.graph.model import Graph, Positions


class LayoutSwitch(QObject):
    """Knows what decides where the nodes of `canvas` are, and keeps the places by links meanwhile.

    `changed` comes when another kind is shown.
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
        """Whether the forces have arranged what is shown."""
        return self.kind is LayoutMode.FORCE

    def show(
        self, kind: LayoutMode, places: Positions, discs: Sequence[RegionDisc], moments: Sequence[AxisTick]
    ) -> None:
        """Let the nodes glide to `places`, float32 (n, 2), of an arrangement of the graph that is shown."""
        scene = self._canvas.scene
        if self.is_by_links:
            self._by_links = scene.graph, scene.positions.copy()
        self.kind = kind
        self._annotations.show_arrangement(discs, moments)
        self.glide.animate_to(places)
        self.changed.emit()

    def show_by_links(self) -> None:
        """Let the nodes glide back to the places that they had by their links."""
        if self.is_by_links or self._by_links is None:
            return
        graph, places = self._by_links
        self._clear()
        back, _ = transfer_positions(graph, places, self._canvas.scene.graph)
        self.glide.animate_to(back)

    def link_positions(self) -> Positions | None:
        """Where the nodes shown are by their links, or will be; None while they are there."""
        if self.is_by_links:
            return self.glide.target
        if self._by_links is None or self._by_links[0] is not self._canvas.scene.graph:
            return None
        return self._by_links[1]

    def graph_changed(self, graph: Graph, renamed: Mapping[str, str] | None = None) -> None:
        """The next state of the same graph is shown: the places by links are kept for it."""
        self.glide.stop()
        if self._by_links is not None:
            before, places = self._by_links
            self._by_links = graph, transfer_positions(before, places, graph, renamed)[0]

    def reset(self) -> None:
        """Another graph is shown, which is arranged by its links."""
        self.glide.stop()
        self._clear()

    def _clear(self) -> None:
        changed = not self.is_by_links
        self.kind, self._by_links = LayoutMode.FORCE, None
        self._annotations.show_arrangement((), ())
        if changed:
            self.changed.emit()
