"""The tools that float over the graph: zoom, fit, what is shown, and the local graph's depth."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QSlider, QToolButton, QWidget

from app.desktop.colors import Theme
from app.desktop.graph_view.look import ColorBy
from app.desktop.icons import icon

_COLORINGS = ((ColorBy.TYPE, "Type"), (ColorBy.COMMUNITY, "Community"), (ColorBy.FOLDER, "Folder"))
_SHOWN = (
    ("orphans", "Notes without links"),
    ("unresolved", "Notes not written yet"),
    ("attachment", "Attachments"),
)


class Toolbar(QFrame):
    """Buttons; each signal says what was asked for."""

    zoomed = Signal(float)
    fit_asked = Signal()
    arrange_asked = Signal()
    colored = Signal(object)
    shown = Signal(str, bool)
    filtered_hidden = Signal(bool)
    list_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphToolbar")
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 4, 4, 4)
        row.setSpacing(2)
        self._icons: list[tuple[QToolButton, str]] = []
        row.addWidget(self._button("minus", "Zoom out (-)", lambda: self.zoomed.emit(1 / 1.6)))
        row.addWidget(self._button("plus", "Zoom in (+)", lambda: self.zoomed.emit(1.6)))
        row.addWidget(self._button("corners-out", "Show everything (0)", self.fit_asked.emit))
        row.addWidget(self._button("list-bullets", "The links of a note as a list (L)", self.list_asked.emit))
        options = self._button("sliders-horizontal", "What is shown, and in which colours", None)
        options.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        options.setMenu(self._options())
        row.addWidget(options)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Draw the icons in other colours."""
        for button, name in self._icons:
            button.setIcon(icon(theme, name))

    def show_coloring(self, by: ColorBy) -> None:
        """Tick what colours say now."""
        self._colorings[by].setChecked(True)

    def _button(self, name: str, words: str, act: object) -> QToolButton:
        button = QToolButton(self)
        button.setIconSize(QSize(18, 18))
        button.setToolTip(words)
        button.setAccessibleName(words)
        button.setAutoRaise(True)
        if callable(act):
            button.clicked.connect(lambda: act())
        self._icons.append((button, name))
        return button

    def _options(self) -> QMenu:
        menu = QMenu(self)
        menu.addSection("Colour by")
        group = QActionGroup(menu)
        self._colorings: dict[ColorBy, QAction] = {}
        for by, words in _COLORINGS:
            action = menu.addAction(words)
            action.setCheckable(True)
            action.triggered.connect(lambda _checked=False, by=by: self.colored.emit(by))
            group.addAction(action)
            self._colorings[by] = action
        menu.addSection("Show")
        for key, words in _SHOWN:
            action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(True)
            action.toggled.connect(lambda on, key=key: self.shown.emit(key, on))
        menu.addSeparator()
        action = menu.addAction("Hide what the search does not find")
        action.setCheckable(True)
        action.toggled.connect(self.filtered_hidden.emit)
        menu.addAction("Arrange anew").triggered.connect(lambda _checked=False: self.arrange_asked.emit())
        return menu


class LocalBar(QFrame):
    """Says whose surroundings are shown, how far they go, and leads back to the whole graph."""

    depth_changed = Signal(int)
    left = Signal()

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
        self._slider.setAccessibleName("How many links away")
        self._slider.setToolTip("How many links away")
        self._depth = QLabel(self)
        self._depth.setProperty("tone", "muted")
        self._back = QToolButton(self)
        self._back.setAutoRaise(True)
        self._back.setText("Whole graph")
        self._back.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for widget in (self._name, self._slider, self._depth, self._back):
            row.addWidget(widget)
        self._slider.valueChanged.connect(self._changed)
        self._back.clicked.connect(lambda: self.left.emit())
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Draw the icon in other colours."""
        self._back.setIcon(icon(theme, "arrow-left"))

    def show_for(self, name: str, depth: int) -> None:
        """Show the bar for the note called `name`."""
        self._name.setText(name if len(name) <= 30 else name[:29] + "…")
        blocked = self._slider.blockSignals(True)
        self._slider.setValue(depth)
        self._slider.blockSignals(blocked)
        self._say(depth)
        self.show()
        self.adjustSize()

    def _changed(self, depth: int) -> None:
        self._say(depth)
        self.depth_changed.emit(depth)

    def _say(self, depth: int) -> None:
        self._depth.setText("1 link" if depth == 1 else f"{depth} links")
