"""A widget over a scene whose nodes can be marked: own colors and sizes, visibility, glows, a path."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.desktop.graph.scene import Scene


class HighlightMixin(QWidget):
    """What a canvas offers to those who mark nodes; each call shows at once.

    Rows are those of the scene's graph; arrays are taken over, and not changed by anybody afterwards. Marks
    follow the nodes into the next state of the same graph and end with another one.

    Signals:
        marked: Something is marked in another way; true where the picture of links changes with it.
    """

    marked = Signal(bool)

    def __init__(self, scene: Scene, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scene = scene

    def set_node_colors(self, colors: NDArray[np.uint32] | None) -> None:
        """Give nodes colors of their own: uint32 (n,), 0xRRGGBB or `look.NO_COLOR`; None ends that."""
        self.scene.marks.colors = colors
        self.scene.recolor()
        self.marked.emit(True)

    def set_node_sizes(self, factors: NDArray[np.float32] | None) -> None:
        """Draw nodes larger or smaller: float32 (n,), factors on the radius; None ends that."""
        self.scene.marks.set_sizes(factors)
        self.scene.resize()
        self.marked.emit(True)

    def set_visible(self, mask: NDArray[np.bool_] | None) -> None:
        """Hide the nodes whose entry in bool (n,) is false, besides those hidden already; None ends that."""
        self.scene.marks.visible = mask
        self.scene.refilter()
        self.marked.emit(True)

    def set_glow(self, key: str, paths: Collection[str], color: str = "", breathing: bool = False) -> None:
        """Put a light around nodes until the same `key` comes without paths; "" is the accent's color."""
        self.scene.marks.set_glow(key, paths, color, breathing)
        self.marked.emit(False)

    def highlight_path(self, rows: Sequence[int]) -> None:
        """Draw a way through the graph, node by node, and dim what is not on it; no rows end that."""
        self.scene.marks.path = list(rows)
        self.marked.emit(False)
