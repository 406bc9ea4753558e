"""The parts of a graph view: the canvas and its overlays."""

from __future__ import annotations

from dataclasses import dataclass

from app.desktop.graph.annotations import Annotations
from app.desktop.graph.canvas import Canvas
from app.desktop.graph.overlays.find_box import FindBox
from app.desktop.graph.overlays.legend import Legend
from app.desktop.graph.overlays.minimap import Minimap
from app.desktop.graph.overlays.neighbor_list import NeighborList
from app.desktop.graph.overlays.toast import Toast
from app.desktop.graph.overlays.toolbar import LocalBar, Toolbar
from app.desktop.graph.settings_panel import GraphSettingsPanel
from app.desktop.theme.colors import Theme


@dataclass(frozen=True, slots=True)
class ViewComponents:
    """Creates the parts; later ones are stacked over earlier ones."""

    canvas: Canvas
    annotations: Annotations
    legend: Legend
    minimap: Minimap
    find_box: FindBox
    toolbar: Toolbar
    local_bar: LocalBar
    neighbors: NeighborList
    sheet: GraphSettingsPanel
    note: Toast

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme; the legend takes its colors from the groups."""
        for part in (
            self.canvas,
            self.toolbar,
            self.find_box,
            self.local_bar,
            self.neighbors,
            self.sheet,
            self.minimap,
            self.annotations,
        ):
            part.set_theme(theme)
