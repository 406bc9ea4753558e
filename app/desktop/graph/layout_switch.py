"""Switch between layouts: animate the nodes to another one and back to the positions by links."""

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
    """Tracks the layout of `canvas` and keeps the positions by links.

    `changed` is emitted when another layout is shown.
    """

    changed = Signal()

    def __init__(self, canvas: Canvas, annotations: Annotations) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._annotations = annotations
        self.animation = PositionAnimation(canvas)
        self.kind = LayoutMode.FORCE
        self._link_layout: tuple[Graph, Positions] | None = None

    @property
    def is_by_links(self) -> bool:
        """True if the links determine the positions."""
        return self.kind is LayoutMode.FORCE

    def show(
        self, kind: LayoutMode, positions: Positions, discs: Sequence[RegionDisc], ticks: Sequence[AxisTick]
    ) -> None:
        """Animate the nodes to `positions`, float32 (n, 2), of a layout of the displayed graph."""
        scene = self._canvas.scene
        if self.is_by_links:
            self._link_layout = scene.graph, scene.positions.copy()
        self.kind = kind
        self._annotations.show_arrangement(discs, ticks)
        self.animation.animate_to(positions)
        self.changed.emit()

    def show_by_links(self) -> None:
        """Animate the nodes back to their positions by links."""
        if self.is_by_links or self._link_layout is None:
            return
        graph, positions = self._link_layout
        self._clear()
        targets, _ = transfer_positions(graph, positions, self._canvas.scene.graph)
        self.animation.animate_to(targets)

    def link_positions(self) -> Positions | None:
        """Return the displayed nodes' positions by links; None if the canvas shows them already."""
        if self.is_by_links:
            return self.animation.target
        if self._link_layout is None or self._link_layout[0] is not self._canvas.scene.graph:
            return None
        return self._link_layout[1]

    def graph_changed(self, graph: Graph, renamed: Mapping[str, str] | None = None) -> None:
        """Keep the positions by links for the next state of the same graph."""
        self.animation.stop()
        if self._link_layout is not None:
            previous_graph, positions = self._link_layout
            self._link_layout = graph, transfer_positions(previous_graph, positions, graph, renamed)[0]

    def reset(self) -> None:
        """Return to the layout by links for another graph."""
        self.animation.stop()
        self._clear()

    def _clear(self) -> None:
        is_changed = not self.is_by_links
        self.kind, self._link_layout = LayoutMode.FORCE, None
        self._annotations.show_arrangement((), ())
        if is_changed:
            self.changed.emit()
