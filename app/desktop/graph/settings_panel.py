"""The settings panel of the graph, in collapsible sections over its right side."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QToolButton, QVBoxLayout, QWidget

from app.desktop.graph.analysis.section import AnalysisSection
from app.desktop.graph.settings.controls import CollapsibleSection
from app.desktop.graph.settings.model import GraphSettings
from app.desktop.graph.settings.sections import (
    DisplaySection,
    FilterSection,
    ForceSection,
    GroupSection,
    LayoutSection,
)
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon

_WIDTH_CHARS = 40


class GraphSettingsPanel(QFrame):
    """Shows and edits `GraphSettings`; hidden at first.

    Signals:
        changed: The new choices, after every edit.
        closed: The user closed the panel.
    """

    changed = Signal(object)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphSheet")
        self.setAccessibleName(self.tr("Graph settings"))
        self.choices = GraphSettings()
        # Parents first: adding a filled widget to a parent styles all of its children again.
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        page = QWidget(self._area)
        self._area.setWidget(page)
        self.display = DisplaySection(self.choices, page)
        self.filters = FilterSection(theme, self.choices, page)
        self.groups = GroupSection(theme, self.choices, page)
        self.forces = ForceSection(self.choices, page)
        self.arrange = LayoutSection(self.choices, page)
        self.analysis = AnalysisSection(page)
        self._settable = (self.display, self.filters, self.groups, self.forces, self.arrange)
        self._close = QToolButton(self)
        self._close.setAutoRaise(True)
        self._close.setToolTip(self.tr("Hide settings (S)"))
        self._close.setAccessibleName(self.tr("Hide graph settings"))
        self._close.clicked.connect(self.closed)
        self._lay_out(page)
        for section in self._settable:
            section.changed.connect(self._apply)
        for part in self.sections:
            part.turned.connect(self._fold)
        self.show_choices(self.choices)
        self.set_theme(theme)
        self.setFocusProxy(self.filters.query.field)
        self.hide()

    @property
    def sections(self) -> tuple[CollapsibleSection, ...]:
        """The sections from top to bottom."""
        return (*self._settable, self.analysis)

    @property
    def preferred_width(self) -> int:
        """The preferred width."""
        return self.fontMetrics().averageCharWidth() * _WIDTH_CHARS + 24

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme to the icons."""
        self._close.setIcon(icon(theme, "x"))
        for section in self.sections:
            section.set_theme(theme)

    def show_choices(self, choices: GraphSettings) -> None:
        """Show the choices without emitting signals."""
        self.choices = choices
        for section in self._settable:
            section.show_choices(choices)
        for part in self.sections:
            part.open(part.key not in choices.folded)

    def unfold(self, section: CollapsibleSection) -> None:
        """Expand a section and scroll to it."""
        if not section.is_open:
            section.open(True)
            self._fold(section.key, True)
        # Scroll after the layout, when the section's height is known.
        QTimer.singleShot(0, self._area, lambda: self._area.ensureWidgetVisible(section, 0, 8))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Hide the panel on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _apply(self, choices: GraphSettings) -> None:
        self.show_choices(choices)
        self.changed.emit(choices)

    def _fold(self, key: str, is_open: bool) -> None:
        folded = set(self.choices.folded) - {key} if is_open else {*self.choices.folded, key}
        self._apply(self.choices.updated(folded=tuple(sorted(folded))))

    def _lay_out(self, page: QWidget) -> None:
        title = QLabel(self.tr("Graph"), self)
        title.setProperty("textSize", "strong")
        head = QHBoxLayout()
        head.setContentsMargins(12, 6, 6, 2)
        head.addWidget(title, 1)
        head.addWidget(self._close)
        page.setObjectName("graphSheetPage")
        column = QVBoxLayout(page)
        column.setContentsMargins(6, 0, 8, 8)
        column.setSpacing(0)
        for section in self.sections:
            column.addWidget(section)
        column.addStretch(1)
        self._area.setObjectName("graphSheetArea")
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(head)
        whole.addWidget(self._area, 1)
