"""What follows from the choices in the graph's sheet, for the part that needs no vault: looks, forces, map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.desktop.graph_view.choices import Arrangement, Choices
from app.desktop.graph_view.minimap import MANY
from app.graph.physics import Forces

if TYPE_CHECKING:
    from app.desktop.graph_view.view import GraphView


class Chosen(QObject):
    """Lets `view` follow its sheet. `arrangement_asked` carries one that must be computed elsewhere."""

    arrangement_asked = Signal(object)

    def __init__(self, view: GraphView) -> None:
        super().__init__(view)
        self._view = view
        self._now = view.sheet.choices
        view.sheet.changed.connect(self._take)
        view.sheet.forces.paused.connect(self.pause)
        view.sheet.arrange.anew.connect(view.arrange)
        view.toolbar.paused.connect(self.pause)
        view.arranging.changed.connect(self._show_arrangement)

    def start_with(self, choices: Choices) -> None:
        """Show the choices of last time, before there is a graph."""
        view = self._view
        # Suggestions are looked for when they are asked for, not at every start.
        choices = choices.with_(shown=choices.shown.model_copy(update={"suggestions": False}))
        view.sheet.show_choices(choices)
        view.canvas.forces = Forces(**choices.pull.model_dump())
        view.canvas.scene.color_by = choices.color_by
        view.appearance.show(choices.shown)
        view.decoration.tags = choices.shown.tags
        self._now = choices

    def graph_changed(self) -> None:
        """Another graph is shown: a large one has its map, unless the user chose."""
        view = self._view
        on = self._now.minimap
        on = len(view.canvas.scene.graph) > MANY if on is None else on
        view.minimap.turn(on and len(view.canvas.scene.graph) > 0)
        view.sheet.display.show_minimap(on)
        view.sheet.analysis.set_path_possible(len(view.canvas.scene.selection) == 2)

    def turn_minimap(self) -> None:
        """Show the map, or hide it."""
        self.set(self._now.with_(minimap=self._view.minimap.isHidden()))

    def turn_pause(self) -> None:
        """Hold the graph still, or let it move again."""
        self.pause(not self._view.canvas.layout_thread.paused)

    def pause(self, on: bool) -> None:
        """Hold the graph still, or let it move again."""
        canvas = self._view.canvas
        if on:
            canvas.layout_thread.pause()
        else:
            canvas.layout_thread.resume()
        canvas.wake()
        self._view.toolbar.show_paused(on)
        self._view.sheet.forces.pause.setChecked(on)

    def set(self, choices: Choices) -> None:
        """Let these be chosen, as if the user had set them."""
        self._view.sheet.show_choices(choices)
        self._take(choices)

    def _take(self, choices: Choices) -> None:
        before, self._now = self._now, choices
        view = self._view
        if choices.color_by != before.color_by:
            view.set_color_by(choices.color_by)
        if choices.minimap != before.minimap:
            self.graph_changed()
            view.lay_out()
        if choices.shown != before.shown:
            view.appearance.show(choices.shown)
        if choices.shown.tags != before.shown.tags:
            view.decoration.tags = choices.shown.tags
            view.redecorate()
        if choices.pull != before.pull:
            view.canvas.stir(Forces(**choices.pull.model_dump()))
        if choices.arrangement != before.arrangement:
            self._arrange(choices.arrangement)
        view.choices_changed.emit(choices)

    def _arrange(self, kind: Arrangement) -> None:
        if kind is Arrangement.FORCE:
            self._view.arranging.show_by_links()
        else:
            self.arrangement_asked.emit(kind)

    def _show_arrangement(self) -> None:
        """The sliders move what lies by its links only; the sheet ticks what is shown."""
        view = self._view
        by_links = view.arranging.is_by_links
        for row in view.sheet.forces.sliders.values():
            row.setEnabled(by_links)
        if by_links and self._now.arrangement is not Arrangement.FORCE:
            self._now = self._now.with_(arrangement=Arrangement.FORCE)
            view.sheet.show_choices(self._now)
            view.choices_changed.emit(self._now)
