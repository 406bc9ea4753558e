"""What follows from the choices in the graph's sheet and needs no vault: looks, forces, the map."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.desktop.graph_view.appearance import Appearance
from app.desktop.graph_view.arranging import Arranging
from app.desktop.graph_view.choices import Arrangement, Choices
from app.desktop.graph_view.decoration import Decoration
from app.desktop.graph_view.minimap import MANY
from app.desktop.graph_view.parts import Parts
from app.graph.physics import Forces


class Chosen(QObject):
    """Lets the parts of a view follow its sheet.

    Signals:
        changed: The choices, after every edit.
        colored: What colours are to say now, None for what suits the vault.
        decorated: Tags have come or gone.
        resized: A part has appeared or gone.
        arrangement_asked: One that must be computed elsewhere.
    """

    changed = Signal(object)
    colored = Signal(object)
    decorated = Signal()
    resized = Signal()
    arrangement_asked = Signal(object)

    def __init__(
        self, parts: Parts, appearance: Appearance, arranging: Arranging, decoration: Decoration
    ) -> None:
        super().__init__(parts.canvas)
        self._parts = parts
        self._appearance = appearance
        self._arranging = arranging
        self._decoration = decoration
        self._now = parts.sheet.choices
        parts.sheet.changed.connect(self._take)
        parts.sheet.forces.paused.connect(self.pause)
        parts.toolbar.paused.connect(self.pause)
        parts.minimap.turned.connect(self.resized)
        arranging.changed.connect(self._show_arrangement)

    def start_with(self, choices: Choices) -> None:
        """Show the choices of last time, before there is a graph."""
        parts = self._parts
        # Suggestions are looked for when they are asked for, not at every start.
        choices = choices.with_(shown=choices.shown.model_copy(update={"suggestions": False}))
        parts.sheet.show_choices(choices)
        parts.canvas.forces = Forces(**choices.pull.model_dump())
        parts.canvas.scene.color_by = choices.color_by
        self._appearance.show(choices.shown)
        self._decoration.tags = choices.shown.tags
        self._now = choices

    def graph_changed(self) -> None:
        """Another graph is shown: a large one has its map, unless the user chose."""
        parts = self._parts
        wanted, count = self._now.minimap, len(parts.canvas.scene.graph)
        on = count > MANY if wanted is None else wanted and count > 0
        parts.minimap.turn(on, always=wanted is True)
        parts.sheet.display.show_minimap(on)
        parts.sheet.analysis.set_path_possible(len(parts.canvas.scene.selection) == 2)

    def turn_minimap(self) -> None:
        """Show the map, or hide it."""
        self.set(self._now.with_(minimap=self._parts.minimap.isHidden()))

    def turn_pause(self) -> None:
        """Hold the graph still, or let it move again."""
        self.pause(not self._parts.canvas.layout_thread.paused)

    def pause(self, on: bool) -> None:
        """Hold the graph still, or let it move again."""
        canvas = self._parts.canvas
        if on:
            canvas.layout_thread.pause()
        else:
            canvas.layout_thread.resume()
        canvas.wake()
        self._parts.toolbar.show_paused(on)
        self._parts.sheet.forces.pause.setChecked(on)

    def set(self, choices: Choices) -> None:
        """Let these be chosen, as if the user had set them."""
        self._parts.sheet.show_choices(choices)
        self._take(choices)

    def _take(self, choices: Choices) -> None:
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
        if choices.pull != before.pull:
            parts.canvas.stir(Forces(**choices.pull.model_dump()))
        if choices.arrangement != before.arrangement:
            self._arrange(choices.arrangement)
        self.changed.emit(choices)

    def _arrange(self, kind: Arrangement) -> None:
        if kind is Arrangement.FORCE:
            self._arranging.show_by_links()
        else:
            self.arrangement_asked.emit(kind)

    def _show_arrangement(self) -> None:
        """The sliders move what lies by its links only; the sheet ticks what is shown."""
        parts = self._parts
        by_links = self._arranging.is_by_links
        for row in parts.sheet.forces.sliders.values():
            row.setEnabled(by_links)
        if by_links and self._now.arrangement is not Arrangement.FORCE:
            self._now = self._now.with_(arrangement=Arrangement.FORCE)
            parts.sheet.show_choices(self._now)
            self.changed.emit(self._now)
