"""Apply the graph settings that need no vault: visibility, colors, forces and the minimap."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.desktop.graph.appearance import Appearance
from app.desktop.graph.layout_switch import LayoutSwitch
from app.desktop.graph.overlays.minimap import MIN_NODES_FOR_MINIMAP
from app.desktop.graph.settings.model import GraphSettings, LayoutMode
from app.desktop.graph.view_components import ViewComponents
from app.desktop.graph.virtual_nodes import VirtualNodes


class GraphSettingsController(QObject):
    """Applies the settings of a view's settings panel.

    Signals:
        changed: The new settings; not emitted by `restore`.
        color_by_changed: The property that determines colors, None for the default.
        virtual_nodes_changed: Tags were shown or hidden.
        overlays_changed: The minimap was shown or hidden.
        arrangement_requested: A layout that must be computed elsewhere.
    """

    changed = Signal(object)
    color_by_changed = Signal(object)
    virtual_nodes_changed = Signal()
    overlays_changed = Signal()
    arrangement_requested = Signal(object)

    def __init__(
        self,
        components: ViewComponents,
        appearance: Appearance,
        layout_switch: LayoutSwitch,
        virtual_nodes: VirtualNodes,
    ) -> None:
        super().__init__(components.canvas)
        self._components = components
        self._appearance = appearance
        self._layout_switch = layout_switch
        self._virtual_nodes = virtual_nodes
        self._settings = components.settings_panel.settings
        components.settings_panel.changed.connect(self._apply)
        components.settings_panel.forces.paused.connect(self.set_paused)
        components.toolbar.paused.connect(self.set_paused)
        components.minimap.visibility_changed.connect(self.overlays_changed)
        layout_switch.changed.connect(self._show_arrangement)

    def restore(self, settings: GraphSettings) -> None:
        """Apply the saved settings, before a graph is shown; suggested links start hidden."""
        components = self._components
        # Suggestions are computed on request, not at every start.
        settings = settings.updated(shown=settings.shown.model_copy(update={"suggestions": False}))
        components.settings_panel.show_settings(settings)
        components.canvas.forces = settings.forces
        components.canvas.scene.color_by = settings.color_by
        self._appearance.set_visibility(settings.shown)
        self._virtual_nodes.tags = settings.shown.tags
        self._settings = settings

    def update_for_graph(self) -> None:
        """Show the minimap of a large graph unless the user decided otherwise, and update the path button."""
        components = self._components
        setting, count = self._settings.minimap, len(components.canvas.scene.graph)
        visible = count > MIN_NODES_FOR_MINIMAP if setting is None else setting and count > 0
        components.minimap.set_shown(visible, always=setting is True)
        components.settings_panel.display.show_minimap(visible)
        components.settings_panel.analysis.set_path_enabled(len(components.canvas.scene.selection) == 2)

    def toggle_minimap(self) -> None:
        """Show or hide the minimap."""
        self.set(self._settings.updated(minimap=self._components.minimap.isHidden()))

    def toggle_pause(self) -> None:
        """Pause or resume the layout."""
        self.set_paused(not self._components.canvas.layout_thread.is_paused)

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the layout, and update the pause buttons."""
        canvas = self._components.canvas
        if paused:
            canvas.layout_thread.pause()
        else:
            canvas.layout_thread.resume()
        canvas.run_frames()
        self._components.toolbar.show_paused(paused)
        self._components.settings_panel.forces.pause.setChecked(paused)

    def set(self, settings: GraphSettings) -> None:
        """Change the settings as if the user had edited them."""
        self._components.settings_panel.show_settings(settings)
        self._apply(settings)

    def _apply(self, settings: GraphSettings) -> None:
        previous, self._settings = self._settings, settings
        components = self._components
        if settings.color_by != previous.color_by:
            self.color_by_changed.emit(settings.color_by)
        if settings.minimap != previous.minimap:
            self.update_for_graph()
            self.overlays_changed.emit()
        if settings.shown != previous.shown:
            self._appearance.set_visibility(settings.shown)
        if settings.shown.tags != previous.shown.tags:
            self._virtual_nodes.tags = settings.shown.tags
            self.virtual_nodes_changed.emit()
        if settings.forces != previous.forces:
            components.canvas.set_forces(settings.forces)
        if settings.arrangement != previous.arrangement:
            self._arrange(settings.arrangement)
        self.changed.emit(settings)

    def _arrange(self, mode: LayoutMode) -> None:
        if mode is LayoutMode.FORCE:
            self._layout_switch.show_force_layout()
        else:
            self.arrangement_requested.emit(mode)

    def _show_arrangement(self) -> None:
        """Enable the sliders only in the force layout; returning to it updates the settings."""
        components = self._components
        is_force_layout = self._layout_switch.is_force_layout
        for row in components.settings_panel.forces.sliders.values():
            row.setEnabled(is_force_layout)
        if is_force_layout and self._settings.arrangement is not LayoutMode.FORCE:
            self._settings = self._settings.updated(arrangement=LayoutMode.FORCE)
            components.settings_panel.show_settings(self._settings)
            self.changed.emit(self._settings)
