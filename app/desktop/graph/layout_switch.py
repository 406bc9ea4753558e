"""Switch between the force layout and other layouts, and animate the nodes to their new positions."""

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
    """Tracks the layout of `canvas`, and keeps the force-layout positions while another layout is shown.

    `changed` is emitted when the layout changes.
    """

    changed = Signal()

    def __init__(self, canvas: Canvas, annotations: Annotations) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._annotations = annotations
        self.animation = PositionAnimation(canvas)
        self.mode = LayoutMode.FORCE
        self._force_layout: tuple[Graph, Positions] | None = None

    @property
    def is_force_layout(self) -> bool:
        """True if the force layout is shown."""
        return self.mode is LayoutMode.FORCE

    def show(
        self, mode: LayoutMode, positions: Positions, discs: Sequence[RegionDisc], ticks: Sequence[AxisTick]
    ) -> None:
        """Animate the nodes to `positions`, float32 (n, 2), in a layout of the displayed graph."""
        scene = self._canvas.scene
        if self.is_force_layout:
            # The nodes may still be returning to the force layout.
            target = self.animation.target
            self._force_layout = scene.graph, (scene.positions if target is None else target).copy()
        self.mode = mode
        self._annotations.show_arrangement(discs, ticks)
        self.animation.animate_to(positions)
        self.changed.emit()

    def show_force_layout(self) -> None:
        """Animate the nodes back to their positions in the force layout."""
        if self.is_force_layout or self._force_layout is None:
            return
        graph, positions = self._force_layout
        self._clear()
        targets, _ = transfer_positions(graph, positions, self._canvas.scene.graph)
        self.animation.animate_to(targets)

    def force_positions(self) -> Positions | None:
        """Return the displayed nodes' force-layout positions; None if the canvas shows them."""
        if self.is_force_layout:
            return self.animation.target
        return None if self._force_layout is None else self._force_layout[1]

    def update_graph(self, graph: Graph, renamed: Mapping[str, str] | None = None) -> None:
        """Stop the animation, and carry the saved force-layout positions over to the graph's next state."""
        self.animation.stop()
        if self._force_layout is not None:
            previous_graph, positions = self._force_layout
            self._force_layout = graph, transfer_positions(previous_graph, positions, graph, renamed)[0]

    def reset(self) -> None:
        """Stop the animation and return to the force layout without moving the nodes."""
        self.animation.stop()
        self._clear()

    def _clear(self) -> None:
        is_changed = not self.is_force_layout
        self.mode, self._force_layout = LayoutMode.FORCE, None
        self._annotations.show_arrangement((), ())
        if is_changed:
            self.changed.emit()
