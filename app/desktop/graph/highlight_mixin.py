"""A widget over a scene whose nodes can be highlighted by color, size, visibility, glow or a path."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.desktop.graph.scene import Scene


class HighlightMixin(QWidget):
    """Highlights nodes of the canvas; every call is visible at once.

    Rows are those of the scene's graph; arrays are taken over and must not be changed afterwards. Highlights
    follow the nodes into the next state of the same graph and end with another one.

    Signals:
        marked: Highlights changed; true if the picture of links changes with them.
    """

    marked = Signal(bool)

    def __init__(self, scene: Scene, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scene = scene

    def set_node_colors(self, colors: NDArray[np.uint32] | None) -> None:
        """Set colors, uint32 (n,), 0xRRGGBB or `look.NO_COLOR`; None removes them."""
        self.scene.marks.colors = colors
        self.scene.recolor()
        self.marked.emit(True)

    def set_node_sizes(self, factors: NDArray[np.float32] | None) -> None:
        """Set size factors on the radius, float32 (n,); None removes them."""
        self.scene.marks.set_sizes(factors)
        self.scene.resize()
        self.marked.emit(True)

    def set_visible(self, mask: NDArray[np.bool_] | None) -> None:
        """Hide the nodes that are false in bool (n,), in addition to hidden ones; None shows them again."""
        self.scene.marks.visible = mask
        self.scene.refilter()
        self.marked.emit(True)

    def set_glow(self, key: str, paths: Collection[str], color: str = "", breathing: bool = False) -> None:
        """Set a glow around nodes until the same `key` is set without paths; "" is the accent color."""
        self.scene.marks.set_glow(key, paths, color, breathing)
        self.marked.emit(False)

    def highlight_path(self, rows: Sequence[int]) -> None:
        """Highlight a path node by node and dim everything else; no rows remove it."""
        self.scene.marks.path = list(rows)
        self.marked.emit(False)
