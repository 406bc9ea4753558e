"""Applies the graph's settings that need no vault: looks, forces and the minimap."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.desktop.graph.appearance import Appearance
from app.desktop.graph.layout_switch import LayoutSwitch
from app.desktop.graph.overlays.minimap import MIN_NODES_FOR_MINIMAP
from app.desktop.graph.settings.model import GraphSettings, LayoutMode
from app.desktop.graph.view_components import ViewComponents
from app.desktop.graph.virtual_nodes import VirtualNodes


class GraphSettingsController(QObject):
    """Applies the choices of a view's settings panel.

    Signals:
        changed: The choices, after every edit.
        colored: What colors show, None for the default.
        decorated: Tags appeared or disappeared.
        resized: An overlay appeared or disappeared.
        arrangement_asked: An arrangement that must be computed elsewhere.
    """

    changed = Signal(object)
    colored = Signal(object)
    decorated = Signal()
    resized = Signal()
    arrangement_asked = Signal(object)

    def __init__(
        self, parts: ViewComponents, appearance: Appearance, arranging: LayoutSwitch, decoration: VirtualNodes
    ) -> None:
        super().__init__(parts.canvas)
        self._parts = parts
        self._appearance = appearance
        self._arranging = arranging
        self._decoration = decoration
        self._now = parts.sheet.choices
        parts.sheet.changed.connect(self._apply)
        parts.sheet.forces.paused.connect(self.pause)
        parts.toolbar.paused.connect(self.pause)
        parts.minimap.turned.connect(self.resized)
        arranging.changed.connect(self._show_arrangement)

    def restore(self, choices: GraphSettings) -> None:
        """Apply the choices of the last session, before a graph is shown."""
        parts = self._parts
        # Suggestions are computed on request, not at every start.
        choices = choices.updated(shown=choices.shown.model_copy(update={"suggestions": False}))
        parts.sheet.show_choices(choices)
        parts.canvas.forces = choices.forces
        parts.canvas.scene.color_by = choices.color_by
        self._appearance.show(choices.shown)
        self._decoration.tags = choices.shown.tags
        self._now = choices

    def graph_changed(self) -> None:
        """Show the minimap of a large graph, unless the user decided otherwise."""
        parts = self._parts
        wanted, count = self._now.minimap, len(parts.canvas.scene.graph)
        on = count > MIN_NODES_FOR_MINIMAP if wanted is None else wanted and count > 0
        parts.minimap.set_shown(on, always=wanted is True)
        parts.sheet.display.show_minimap(on)
        parts.sheet.analysis.set_path_possible(len(parts.canvas.scene.selection) == 2)

    def toggle_minimap(self) -> None:
        """Show or hide the minimap."""
        self.set(self._now.updated(minimap=self._parts.minimap.isHidden()))

    def toggle_pause(self) -> None:
        """Pause or resume the layout."""
        self.pause(not self._parts.canvas.layout_thread.paused)

    def pause(self, on: bool) -> None:
        """Pause or resume the layout."""
        canvas = self._parts.canvas
        if on:
            canvas.layout_thread.pause()
        else:
            canvas.layout_thread.resume()
        canvas.run_frames()
        self._parts.toolbar.show_paused(on)
        self._parts.sheet.forces.pause.setChecked(on)

    def set(self, choices: GraphSettings) -> None:
        """Set the choices as if the user had made them."""
        self._parts.sheet.show_choices(choices)
        self._apply(choices)

    def _apply(self, choices: GraphSettings) -> None:
        before, self._now = self._now, choices
        parts = self._parts
        if choices.color_by != before.color_by:
            self.colored.emit(choices.color_by)
        if choices.minimap != before.minimap:
            self.graph_changed()
            self.resized.emit()
        if choices.shown != before.shown:
            self._appearance.show(choices.shown)
        if choices.shown.tags != before.shown.tags:
            self._decoration.tags = choices.shown.tags
            self.decorated.emit()
        if choices.forces != before.forces:
            parts.canvas.set_forces(choices.forces)
        if choices.arrangement != before.arrangement:
            self._arrange(choices.arrangement)
        self.changed.emit(choices)

    def _arrange(self, kind: LayoutMode) -> None:
        if kind is LayoutMode.FORCE:
            self._arranging.show_by_links()
        else:
            self.arrangement_asked.emit(kind)

    def _show_arrangement(self) -> None:
        """Enable the sliders only for the layout by links, and tick the current arrangement."""
        parts = self._parts
        by_links = self._arranging.is_by_links
        for row in parts.sheet.forces.sliders.values():
            row.setEnabled(by_links)
        if by_links and self._now.arrangement is not LayoutMode.FORCE:
            self._now = self._now.updated(arrangement=LayoutMode.FORCE)
            parts.sheet.show_choices(self._now)
            self.changed.emit(self._now)
