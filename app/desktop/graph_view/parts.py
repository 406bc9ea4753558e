"""What a graph view is made of: the canvas, and what floats over it."""

from __future__ import annotations

from dataclasses import dataclass

from app.desktop.colors import Theme
from app.desktop.graph_view.annotations import Annotations
from app.desktop.graph_view.canvas import Canvas
from app.desktop.graph_view.find_box import FindBox
from app.desktop.graph_view.legend import Legend
from app.desktop.graph_view.minimap import Minimap
from app.desktop.graph_view.neighbour_list import NeighbourList
from app.desktop.graph_view.note_line import NoteLine
from app.desktop.graph_view.side_sheet import SideSheet
from app.desktop.graph_view.toolbar import LocalBar, Toolbar


@dataclass(frozen=True, slots=True)
class Parts:
    """Each of them once; those that come later lie over the earlier ones."""

    canvas: Canvas
    annotations: Annotations
    legend: Legend
    minimap: Minimap
    find_box: FindBox
    toolbar: Toolbar
    local_bar: LocalBar
    neighbours: NeighbourList
    sheet: SideSheet
    note: NoteLine

    def set_theme(self, theme: Theme) -> None:
        """Paint in other colours; the legend has its own from the groups."""
        for part in (
            self.canvas,
            self.toolbar,
            self.find_box,
            self.local_bar,
            self.neighbours,
            self.sheet,
            self.minimap,
            self.annotations,
        ):
            part.set_theme(theme)
