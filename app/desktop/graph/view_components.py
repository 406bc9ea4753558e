"""The components of a graph view: the canvas and its overlays."""

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
    """The canvas and its overlays."""

    canvas: Canvas
    annotations: Annotations
    legend: Legend
    minimap: Minimap
    find_box: FindBox
    toolbar: Toolbar
    local_bar: LocalBar
    neighbors: NeighborList
    settings_panel: GraphSettingsPanel
    toast: Toast

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme; `Legend.show_groups` applies it to the legend."""
        for component in (
            self.canvas,
            self.toolbar,
            self.find_box,
            self.local_bar,
            self.neighbors,
            self.settings_panel,
            self.minimap,
            self.annotations,
        ):
            component.set_theme(theme)
