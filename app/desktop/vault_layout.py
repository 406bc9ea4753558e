"""The layout of an open vault: side panels, graph and notes, agent, and the collapsible bottom area.

It creates the panels of the registry: the initial ones one by one, so that the window stays responsive in
between, and the others when they are first needed. `panel_created` lets the owner connect each panel to its
context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, TypeVar, overload

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.desktop.bridge import VaultClient
from app.desktop.notes.tabs import NoteTabs
from app.desktop.shell.command_registry import PanelSpec, resolve, translate_title
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import Panel, ThemedButton

_SIDE_WIDTH = 264
_AGENT_WIDTH = 372
_BOTTOM_HEIGHT = 280
_MIN_SIDE_WIDTH = 180
_MIN_GRAPH_WIDTH = 200
_MIN_AGENT_WIDTH = 280
_MIN_BOTTOM_HEIGHT = 200
PanelT = TypeVar("PanelT", bound=QWidget)
_CENTER_SHARES = [46, 54]  # the initial shares of the graph and the notes


class VaultLayout(QWidget):
    """The panels of one vault; `panel` finds one by its id.

    `command` carries the id of a command, or `help:` and a page. `panel_created` carries the id of a new
    panel and the panel.
    """

    command = Signal(str)
    panel_created = Signal(str, QWidget)

    def __init__(self, client: VaultClient, theme: ThemeSource, specs: Iterable[PanelSpec]) -> None:
        super().__init__()
        self.client = client
        self._theme = theme
        self._specs = {spec.id: spec for spec in specs}
        self._panels: dict[str, QWidget] = {}
        self._tabs: dict[str, QWidget] = {}  # the tab pages at the bottom
        self._saved_state: dict[str, Any] = {}  # the state that was restored last
        self._buttons: dict[str, ThemedButton] = {}
        self._collapsed_areas: set[str] = set()  # the areas that are hidden only for lack of space
        self._shares = _CENTER_SHARES
        self.setObjectName("page")
        self._fit_timer = QTimer(self, singleShot=True, interval=0)
        self._fit_timer.timeout.connect(self._collapse_to_fit)
        # Created from the outside in, since adding a populated widget to a parent restyles everything in it.
        self._vertical_splitter = _create_splitter(Qt.Orientation.Vertical, self)
        self._horizontal_splitter = _create_splitter(Qt.Orientation.Horizontal, self._vertical_splitter)
        self.side = QStackedWidget(self._horizontal_splitter)
        self.side.setObjectName("panel")
        self.center = _create_splitter(Qt.Orientation.Horizontal, self._horizontal_splitter)
        self.bottom = QTabWidget(self._vertical_splitter)
        self.bottom.setDocumentMode(True)
        self._arrange()

    @overload
    def panel(self, panel_id: str) -> QWidget | None: ...
    @overload
    def panel(self, panel_id: str, kind: type[PanelT]) -> PanelT | None: ...
    def panel(self, panel_id: str, kind: type[QWidget] = QWidget) -> QWidget | None:
        """Return a panel, which is created if needed; None if no panel has this id and class."""
        if panel_id not in self._panels and panel_id in self._specs:
            self._create_panel(self._specs[panel_id])
        return self.existing(panel_id, kind)

    @overload
    def existing(self, panel_id: str) -> QWidget | None: ...
    @overload
    def existing(self, panel_id: str, kind: type[PanelT]) -> PanelT | None: ...
    def existing(self, panel_id: str, kind: type[QWidget] = QWidget) -> QWidget | None:
        """Return a panel; None if it has not been created or has a different class."""
        panel = self._panels.get(panel_id)
        return panel if isinstance(panel, kind) else None

    def existing_panels(self) -> tuple[QWidget, ...]:
        """Return the panels that have been created."""
        return tuple(self._panels.values())

    def reveal(self, panel_id: str) -> bool:
        """Create a panel if needed and show it; return whether there is such a panel."""
        if self.panel(panel_id) is None:
            return False
        area = self._specs[panel_id].area
        if area == "side":
            self.show_side(panel_id)
        elif area == "bottom":
            self.show_bottom(panel_id)
        else:
            self.show_area(panel_id)
        return True

    async def build(self, state: dict[str, Any]) -> None:
        """Create the initial panels one by one, processing events in between, and restore `state`."""
        self._saved_state = state
        for panel_id in self._initial_panels():
            self.panel(panel_id)
            self._lay_out()
            await asyncio.sleep(0)
        self.restore(state)

    @property
    def notes(self) -> NoteTabs | None:
        """The note tabs, once they have been created."""
        return self.existing("notes", NoteTabs)

    def show_side(self, panel_id: str, *, collapse: bool = False) -> None:
        """Show a side panel; with `collapse`, hide the side if it already shows this panel."""
        panel = self.panel(panel_id)
        if panel is None:
            return
        if collapse and self.side.currentWidget() is panel and not self.side.isHidden():
            self.side.hide()
            self._collapse_to_fit()
        else:
            self.side.setCurrentWidget(panel)
            self.show_area("side")

    def toggle(self, area: str) -> None:
        """Show or hide "side", "graph", "agent" or "bottom"."""
        widget = self._areas()[area]
        if widget is None:
            return
        if widget.isHidden():
            self.show_area(area)
        else:
            widget.hide()
            self._fit_center()
            self._collapse_to_fit()

    def show_area(self, area: str) -> None:
        """Show "side", "graph", "agent" or "bottom"; others are collapsed if they do not fit."""
        if (widget := self._areas().get(area)) is not None:
            self._collapsed_areas.discard(area)
            if area == "bottom":
                self._expand_bottom()
            widget.show()
            self._fill_bottom()
        self._fit_center()
        self._collapse_to_fit(keep=area)

    def show_bottom(self, panel_id: str) -> None:
        """Expand the bottom with this panel in front."""
        if self.panel(panel_id) is not None:
            self.bottom.setCurrentWidget(self._tabs[panel_id])
            self._expand_bottom()
            self._mark_buttons()

    def _expand_bottom(self) -> None:
        """Show the bottom, at least at its default height if that is less than half of the layout."""
        if self.bottom.isHidden():
            self.bottom.show()
            total, height = sum(self._vertical_splitter.sizes()), round(_BOTTOM_HEIGHT * self._theme.zoom)
            if self._vertical_splitter.sizes()[1] < height < total // 2:
                self._vertical_splitter.setSizes([total - height, height])

    def state(self) -> dict[str, Any]:
        """Return the layout, for `restore`."""
        current = next(
            (name for name, panel in self._panels.items() if panel is self.side.currentWidget()), ""
        )
        hidden_areas = {
            name for name, widget in self._areas().items() if widget is not None and widget.isHidden()
        }
        hidden = sorted(hidden_areas - self._collapsed_areas)
        sizes = {name: splitter.sizes() for name, splitter in self._splitters().items()}
        self._save_shares()
        sizes["centre"] = self._shares
        return {"side": current, "hidden": hidden, "sizes": sizes}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the layout in `state`, or the default one."""
        self._saved_state = state
        for panel_id in self._initial_panels():
            self.panel(panel_id)
        self._lay_out()

    def _initial_panels(self) -> list[str]:
        """Return the ids of the panels to create first: side, center, agent and visible bottom."""
        sides = [spec.id for spec in self._specs.values() if spec.area == "side"]
        saved_side = str(self._saved_state.get("side"))
        side = saved_side if saved_side in sides else next(iter(sides), "")
        center = [spec.id for spec in self._specs.values() if spec.area not in ("side", "bottom")]
        bottom = [] if "bottom" in self._saved_hidden_areas() else list(self._tabs)[:1]
        return [panel_id for panel_id in (side, *center, *bottom) if panel_id]

    def _saved_hidden_areas(self) -> list[str]:
        hidden: list[str] = self._saved_state.get("hidden", ["bottom"])
        return hidden

    def _lay_out(self) -> None:
        """Show and size the areas as they were saved, or by default."""
        state = self._saved_state
        for name, widget in self._areas().items():
            if widget is not None:
                widget.setVisible(name not in self._saved_hidden_areas())
        if (panel := self._panels.get(str(state.get("side")))) is not None:
            self.side.setCurrentWidget(panel)
        zoom = self._theme.zoom
        default_sizes = {
            "across": [round(_SIDE_WIDTH * zoom), 10_000, round(_AGENT_WIDTH * zoom)],
            "centre": _CENTER_SHARES,
            "down": [10_000, round(_BOTTOM_HEIGHT * zoom)],
        }
        saved_sizes = state.get("sizes", {})
        for name, splitter in self._splitters().items():
            sizes = saved_sizes.get(name, [])
            fits = len(sizes) == splitter.count() and (all(sizes) if name == "centre" else any(sizes))
            splitter.setSizes(sizes if fits else default_sizes[name][: splitter.count()])
            if name == "centre" and fits:
                self._shares = list(sizes)
        self._fit_center()
        self._collapse_to_fit()

    def event(self, event: QEvent) -> bool:
        """Fit the areas again when a part needs more space, for example after a note is loaded."""
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self._fit_timer.start()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Collapse areas that do not fit, or restore them."""
        super().resizeEvent(event)
        self._collapse_to_fit()

    def _collapse_to_fit(self, *, keep: str = "") -> None:
        """Collapse the side, then the graph, then the agent, until the rest fits, but never `keep`.

        Collapsed areas return as soon as there is space again. The graph stays while no note is open.
        """
        areas, widths = self._areas(), self._needed_widths()
        available = self.width() - self._bar.sizeHint().width() if self.isVisible() else sum(widths.values())
        collapsed: set[str] = set()
        for name in ("side", "graph", "agent"):
            needed = sum(width for area, width in widths.items() if area not in collapsed)
            is_only_content = name == "graph" and "notes" not in widths
            if needed > available and name in widths and name != keep and not is_only_content:
                collapsed.add(name)
        for name in self._collapsed_areas ^ collapsed:
            if (widget := areas[name]) is not None:
                widget.setVisible(name not in collapsed)
        self._collapsed_areas = collapsed
        self._mark_buttons()

    def _needed_widths(self) -> dict[str, int]:
        """Return the minimum width in pixels of each area that the user wants to see."""
        min_widths = {"side": _MIN_SIDE_WIDTH, "graph": _MIN_GRAPH_WIDTH, "agent": _MIN_AGENT_WIDTH}
        areas = self._areas()
        widths = {
            name: max(round(width * self._theme.zoom), _min_width(widget))
            + self._horizontal_splitter.handleWidth()
            for name, width in min_widths.items()
            if (widget := areas[name]) is not None
            and (not widget.isHidden() or name in self._collapsed_areas)
        }
        if self.notes is not None and self.notes.tabs():
            widths["notes"] = _min_width(self.notes)
        return widths

    def _fit_center(self) -> None:
        """Give the graph the whole center while no note is open; otherwise, restore both shares."""
        notes, graph = self.notes, self._panels.get("graph")
        if notes is None:
            return
        has_no_graph = graph is None or (graph.isHidden() and "graph" not in self._collapsed_areas)
        shows_notes = bool(notes.tabs()) or has_no_graph
        if shows_notes and notes.isHidden():
            notes.show()
            if graph is not None:
                self.center.setSizes(self._shares)
        elif not shows_notes and not notes.isHidden():
            self._save_shares()
            notes.hide()

    def _follow_notes(self, *_: object) -> None:
        self._fit_center()
        self._collapse_to_fit()

    def _save_shares(self) -> None:
        """Store the graph's and the notes' shares of the center, if both are visible."""
        notes, graph = self.notes, self._panels.get("graph")
        are_both_visible = notes is not None and graph is not None and notes.isVisible() and graph.isVisible()
        if are_both_visible and all(self.center.sizes()):
            self._shares = self.center.sizes()

    def _areas(self) -> dict[str, QWidget | None]:
        return {
            "side": self.side,
            "graph": self._panels.get("graph"),
            "agent": self._panels.get("agent"),
            "bottom": self.bottom,
        }

    def _splitters(self) -> dict[str, QSplitter]:
        return {"across": self._horizontal_splitter, "centre": self.center, "down": self._vertical_splitter}

    def _create_panel(self, spec: PanelSpec) -> None:
        tab = self._tabs.get(spec.id)
        parents = {"side": self.side, "graph": self.center, "notes": self.center, "bottom": tab}
        panel: QWidget = resolve(spec.target)(
            self.client, self._theme, parents.get(spec.area) or self._horizontal_splitter
        )
        self._panels[spec.id] = panel
        if spec.area == "side":
            self.side.addWidget(panel)
        elif spec.area in ("graph", "notes"):
            self.center.insertWidget(0 if spec.area == "graph" else self.center.count(), panel)
        elif tab is not None and (layout := tab.layout()) is not None:
            layout.addWidget(panel)
        else:
            self._horizontal_splitter.addWidget(panel)
        self._link_help(spec, panel)
        if spec.id == "agent":
            panel.setMinimumWidth(round(_MIN_AGENT_WIDTH * self._theme.zoom))
        if isinstance(panel, NoteTabs):
            panel.shown.connect(self._follow_notes)
        self.panel_created.emit(spec.id, panel)

    def _link_help(self, spec: PanelSpec, panel: QWidget) -> None:
        """Give the panel a button that opens its help page.

        Panels at the bottom share the button next to their tabs; the graph and the notes have their own.
        """
        requested = getattr(panel, "help_requested", None)
        if isinstance(panel, Panel) and spec.area != "bottom":
            button = ThemedButton(self._theme, "question", self.tr("Help"))
            panel.title.add(button)
            requested = button.clicked
        if isinstance(requested, SignalInstance):
            requested.connect(lambda: self.command.emit(f"help:panel:{spec.id}"))

    def _request_help(self) -> None:
        current_tab = self.bottom.currentWidget()
        panel = next((name for name, tab in self._tabs.items() if tab is current_tab), "")
        self.command.emit(f"help:panel:{panel}")

    def panel_in_focus(self) -> str:
        """Return the id of the panel that has the keyboard focus; empty if none has it."""
        if (focused := QApplication.focusWidget()) is None:
            return ""
        panels = self._panels.items()
        return next((name for name, panel in panels if panel is focused or panel.isAncestorOf(focused)), "")

    def _create_tabs(self) -> None:
        """Create the tab pages at the bottom; each panel is created when its page is first shown."""
        for spec in self._specs.values():
            if spec.area == "bottom":
                tab = self._tabs[spec.id] = QWidget()
                row = QHBoxLayout(tab)
                row.setContentsMargins(0, 0, 0, 0)
                self.bottom.addTab(tab, translate_title(spec.title))
        self.bottom.currentChanged.connect(lambda _: self._fill_bottom())
        button = ThemedButton(self._theme, "question", self.tr("Help"), self.bottom)
        button.clicked.connect(self._request_help)
        self.bottom.setCornerWidget(button, Qt.Corner.TopRightCorner)

    def _fill_bottom(self) -> None:
        """Create the panel of the current tab, if it is visible."""
        current_tab = self.bottom.currentWidget()
        if not self.bottom.isHidden():
            for panel_id, tab in self._tabs.items():
                if tab is current_tab:
                    self.panel(panel_id)

    def _arrange(self) -> None:
        self._horizontal_splitter.addWidget(self.side)
        self._horizontal_splitter.addWidget(self.center)
        self._horizontal_splitter.setStretchFactor(1, 1)
        self.side.setMinimumWidth(round(_MIN_SIDE_WIDTH * self._theme.zoom))
        self._create_tabs()
        # Panels at the bottom scroll or shrink, so that they do not squeeze the notes.
        self.bottom.setMinimumHeight(round(_MIN_BOTTOM_HEIGHT * self._theme.zoom))
        self.bottom.hide()
        self._vertical_splitter.addWidget(self._horizontal_splitter)
        self._vertical_splitter.addWidget(self.bottom)
        self._vertical_splitter.setStretchFactor(0, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._bar = self._create_activity_bar()
        row.addWidget(self._bar)
        row.addWidget(self._vertical_splitter, 1)

    def _create_activity_bar(self) -> QWidget:
        bar = QWidget()
        bar.setObjectName("activityBar")
        bar.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(bar)
        column.setContentsMargins(6, 8, 6, 8)
        column.setSpacing(4)
        for spec in self._specs.values():
            if spec.area == "side":
                title = translate_title(spec.title)
                column.addWidget(self._create_button(spec.id, spec.icon, title, f"show-{spec.id}"))
        column.addStretch(1)
        for name in ("graph", "agent"):
            if name in self._specs:
                spec = self._specs[name]
                title = translate_title(spec.title)
                column.addWidget(self._create_button(name, spec.icon, title, f"toggle-{name}"))
        bottom_label = self.tr("Activity and audit log")
        column.addWidget(self._create_button("bottom", "activity", bottom_label, "toggle-bottom"))
        settings_button = ThemedButton(self._theme, "gear-six", self.tr("Settings"), size=20)
        settings_button.clicked.connect(lambda: self.command.emit("settings"))
        column.addWidget(settings_button)
        return bar

    def _create_button(self, name: str, icon: str, label: str, command: str) -> ThemedButton:
        button = ThemedButton(self._theme, icon, label, size=20)
        button.setCheckable(True)
        button.clicked.connect(lambda: self.command.emit(command))
        self._buttons[name] = button
        return button

    def _mark_buttons(self) -> None:
        areas = self._areas()
        for name, button in self._buttons.items():
            if name in areas:
                area = areas[name]
                button.setChecked(area is not None and not area.isHidden())
            else:
                panel = self._panels.get(name)
                is_in_front = panel is not None and self.side.currentWidget() is panel
                button.setChecked(is_in_front and not self.side.isHidden())


def _create_splitter(orientation: Qt.Orientation, parent: QWidget) -> QSplitter:
    splitter = QSplitter(orientation, parent)
    splitter.setHandleWidth(1)
    splitter.setChildrenCollapsible(False)
    return splitter


def _min_width(widget: QWidget) -> int:
    """Return the width below which a splitter does not shrink the widget."""
    return widget.minimumWidth() or widget.minimumSizeHint().width()
