"""The base class of the canvas: highlights nodes by color, size, visibility, glow or a path."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.desktop.graph.scene import Scene


class HighlightMixin(QWidget):
    """Highlights nodes of `scene`; each call takes effect immediately.

    Rows are those of the scene's graph; arrays must not be changed afterwards. Highlights follow the nodes
    into the next state of the same graph and are removed when another graph is shown.

    Signals:
        highlights_changed: Highlights changed; true if the links must be redrawn.
    """

    highlights_changed = Signal(bool)

    def __init__(self, scene: Scene, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scene = scene

    def set_node_colors(self, colors: NDArray[np.uint32] | None) -> None:
        """Set colors, uint32 (n,), 0xRRGGBB or `NO_COLOR`; None removes them."""
        self.scene.highlights.colors = colors
        self.scene.recolor()
        self.highlights_changed.emit(True)

    def set_node_sizes(self, factors: NDArray[np.float32] | None) -> None:
        """Set factors for the radii, float32 (n,), clamped to 0.25 to 6; None removes them."""
        self.scene.highlights.set_sizes(factors)
        self.scene.resize()
        self.highlights_changed.emit(True)

    def set_visible(self, mask: NDArray[np.bool_] | None) -> None:
        """Hide nodes that are false in `mask`, bool (n,), in addition to filtered ones; None shows them."""
        self.scene.highlights.visible = mask
        self.scene.refilter()
        self.highlights_changed.emit(True)

    def set_glow(self, key: str, paths: Collection[str], color: str = "", is_pulsating: bool = False) -> None:
        """Set a glow around nodes; no paths remove it.

        Args:
            key: The name of the glow; an earlier one with this name is replaced.
            paths: The nodes.
            color: "#rrggbb"; empty for the accent color.
            is_pulsating: True if it pulsates.
        """
        self.scene.highlights.set_glow(key, paths, color, is_pulsating)
        self.highlights_changed.emit(False)

    def highlight_path(self, rows: Sequence[int]) -> None:
        """Highlight a path node by node and dim everything else; an empty path removes the highlight."""
        self.scene.highlights.path = list(rows)
        self.highlights_changed.emit(False)
