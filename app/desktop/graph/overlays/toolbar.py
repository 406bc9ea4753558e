"""The toolbar over the graph (zoom, fit, lasso, pause, export) and the bar for the local graph."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QSlider, QToolButton, QWidget

from app.desktop.runtime.translation import PluralText
from app.desktop.shell.command_registry import command_title
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon


class Toolbar(QFrame):
    """Buttons over the graph.

    Signals:
        zoomed: The factor to zoom by.
        fit_requested: The user wants to see the whole graph.
        list_requested: The user wants to show or hide the list of links.
        settings_requested: The user wants to show or hide the settings.
        lasso_toggled: Whether the lasso is on.
        paused: Whether to pause the layout.
        export_requested: "png" or "svg".
        help_requested: The user wants to read the help.
    """

    zoomed = Signal(float)
    fit_requested = Signal()
    list_requested = Signal()
    settings_requested = Signal()
    lasso_toggled = Signal(bool)
    paused = Signal(bool)
    export_requested = Signal(str)
    help_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphToolbar")
        self._theme = theme
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(4, 4, 4, 4)
        self._row.setSpacing(2)
        self._icons: list[tuple[QToolButton, str]] = []
        zoom_out = self._add_button("minus", self.tr("Zoom out (-)"), lambda: self.zoomed.emit(1 / 1.6))
        zoom_in = self._add_button("plus", self.tr("Zoom in (+)"), lambda: self.zoomed.emit(1.6))
        self._add_button("corners-out", self.tr("Fit to view (0)"), self.fit_requested.emit)
        self.lasso = self._add_toggle("scribble-loop", self.tr("Select nodes with a lasso (A)"))
        self.lasso.clicked.connect(self.lasso_toggled)
        self.pause = self._add_toggle("pause", self.tr("Freeze the layout (Space)"))
        self.pause.clicked.connect(self.paused)
        self.list = self._add_toggle("list-bullets", self.tr("List the links of a note (L)"))
        self.list.clicked.connect(lambda: self.list_requested.emit())
        export = self._add_button("download-simple", self.tr("Export graph"))
        export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.export_menu = QMenu(export)
        self.export_menu.addAction(command_title("graph-png"), lambda: self.export_requested.emit("png"))
        self.export_menu.addAction(command_title("graph-svg"), lambda: self.export_requested.emit("svg"))
        export.setMenu(self.export_menu)
        self.settings = self._add_toggle("sliders-horizontal", self.tr("Graph settings (S)"))
        self.settings.clicked.connect(lambda: self.settings_requested.emit())
        self.help = self._add_button("question", self.tr("Help"), self.help_requested.emit)
        self._optional_buttons = (zoom_out, zoom_in, export)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme to the icons."""
        self._theme = theme
        for button, name in self._icons:
            button.setIcon(icon(theme, name))
        self.show_paused(self.pause.isChecked())

    def set_narrow(self, narrow: bool) -> None:
        """Hide or show the zoom and export buttons, whose actions are also available elsewhere."""
        for button in self._optional_buttons:
            button.setVisible(not narrow)

    def show_paused(self, paused: bool) -> None:
        """Show whether the layout is paused."""
        self.pause.setChecked(paused)
        self.pause.setIcon(icon(self._theme, "play" if paused else "pause"))
        freeze, resume = self.tr("Freeze the layout (Space)"), self.tr("Resume the layout (Space)")
        text = resume if paused else freeze
        self.pause.setToolTip(text)
        self.pause.setAccessibleName(text)

    def _add_toggle(self, name: str, text: str) -> QToolButton:
        button = self._add_button(name, text)
        button.setCheckable(True)
        return button

    def _add_button(self, name: str, text: str, action: Callable[[], object] | None = None) -> QToolButton:
        button = QToolButton(self)
        button.setIconSize(QSize(18, 18))
        button.setToolTip(text)
        button.setAccessibleName(text)
        button.setAutoRaise(True)
        if action is not None:
            button.clicked.connect(lambda: action())
        self._icons.append((button, name))
        self._row.addWidget(button)
        return button


class LocalBar(QFrame):
    """Shows the local graph's start nodes and depth, and a button to return to the whole graph.

    Signals:
        depth_changed: The new depth, in links.
        leave_requested: The user wants to see the whole graph.
    """

    depth_changed = Signal(int)
    leave_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphLocalBar")
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 4, 4, 4)
        row.setSpacing(8)
        self._name = QLabel(self)
        self._name.setProperty("textSize", "strong")
        self._slider = QSlider(Qt.Orientation.Horizontal, self)
        self._slider.setRange(1, 5)
        self._slider.setFixedWidth(84)
        self._slider.setPageStep(1)
        self._slider.setAccessibleName(self.tr("Depth: number of links from the note"))
        self._slider.setToolTip(self.tr("Depth: number of links from the note"))
        self._depth = QLabel(self)
        self._depth.setProperty("tone", "muted")
        self._back_button = QToolButton(self)
        self._back_button.setAutoRaise(True)
        self._back_button.setText(self.tr("Whole graph"))
        self._back_button.setToolTip(self.tr("Show all notes"))
        self._back_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for widget in (self._name, self._slider, self._depth, self._back_button):
            row.addWidget(widget)
        self._slider.valueChanged.connect(self._change_depth)
        self._back_button.clicked.connect(lambda: self.leave_requested.emit())
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme to the icon."""
        self._back_button.setIcon(icon(theme, "arrow-left"))

    def show_for(self, name: str, depth: int) -> None:
        """Show the bar with the name of the start node, or a label for several, and the depth in links."""
        self._name.setText(name if len(name) <= 30 else name[:29] + "…")
        self._name.setToolTip(name)
        blocked = self._slider.blockSignals(True)
        self._slider.setValue(depth)
        self._slider.blockSignals(blocked)
        self._show_depth(depth)
        self.show()
        self.adjustSize()

    def _change_depth(self, depth: int) -> None:
        self._show_depth(depth)
        self.depth_changed.emit(depth)

    def _show_depth(self, depth: int) -> None:
        self._depth.setText(PluralText("GraphToolbar", "{0} link", "{0} links").format(depth))
