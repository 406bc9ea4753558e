"""The settings panel at the right edge of the graph, with collapsible sections."""

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
        changed: The new settings, after every edit.
        closed: The user closed the panel.
    """

    changed = Signal(object)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphSheet")
        self.setAccessibleName(self.tr("Graph settings"))
        self.settings = GraphSettings()
        # Parents first: adding a populated widget to a parent restyles all of its children.
        self._scroll_area = QScrollArea(self)
        self._scroll_area.setWidgetResizable(True)
        page = QWidget(self._scroll_area)
        self._scroll_area.setWidget(page)
        self.display = DisplaySection(self.settings, page)
        self.filters = FilterSection(theme, self.settings, page)
        self.groups = GroupSection(theme, self.settings, page)
        self.forces = ForceSection(self.settings, page)
        self.layout_section = LayoutSection(self.settings, page)
        self.analysis = AnalysisSection(page)
        self._settings_sections = (self.display, self.filters, self.groups, self.forces, self.layout_section)
        self._close_button = QToolButton(self)
        self._close_button.setAutoRaise(True)
        self._close_button.setToolTip(self.tr("Hide settings (S)"))
        self._close_button.setAccessibleName(self.tr("Hide graph settings"))
        self._close_button.clicked.connect(self.closed)
        self._lay_out(page)
        for settings_section in self._settings_sections:
            settings_section.changed.connect(self._apply)
        for section in self.sections:
            section.toggled.connect(self._save_folded)
        self.show_settings(self.settings)
        self.set_theme(theme)
        self.setFocusProxy(self.filters.query.field)
        self.hide()

    @property
    def sections(self) -> tuple[CollapsibleSection, ...]:
        """The sections from top to bottom."""
        return (*self._settings_sections, self.analysis)

    @property
    def preferred_width(self) -> int:
        """The width for the current font, in pixels."""
        return self.fontMetrics().averageCharWidth() * _WIDTH_CHARS + 24

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme to the icons and the sections."""
        self._close_button.setIcon(icon(theme, "x"))
        for section in self.sections:
            section.set_theme(theme)

    def show_settings(self, settings: GraphSettings) -> None:
        """Show the settings without emitting signals."""
        self.settings = settings
        for settings_section in self._settings_sections:
            settings_section.show_settings(settings)
        for section in self.sections:
            section.set_expanded(section.key not in settings.folded)

    def expand_section(self, section: CollapsibleSection) -> None:
        """Expand a section and scroll to it."""
        if not section.is_expanded:
            section.set_expanded(True)
            self._save_folded(section.key, True)
        # Scroll after the layout, when the section's height is known.
        QTimer.singleShot(0, self._scroll_area, lambda: self._scroll_area.ensureWidgetVisible(section, 0, 8))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit `closed` on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _apply(self, settings: GraphSettings) -> None:
        self.show_settings(settings)
        self.changed.emit(settings)

    def _save_folded(self, key: str, expanded: bool) -> None:
        folded = set(self.settings.folded) - {key} if expanded else {*self.settings.folded, key}
        self._apply(self.settings.updated(folded=tuple(sorted(folded))))

    def _lay_out(self, page: QWidget) -> None:
        title = QLabel(self.tr("Graph settings"), self)
        title.setProperty("textSize", "strong")
        header = QHBoxLayout()
        header.setContentsMargins(12, 6, 6, 2)
        header.addWidget(title, 1)
        header.addWidget(self._close_button)
        page.setObjectName("graphSheetPage")
        column = QVBoxLayout(page)
        column.setContentsMargins(6, 0, 8, 8)
        column.setSpacing(0)
        for section in self.sections:
            column.addWidget(section)
        column.addStretch(1)
        self._scroll_area.setObjectName("graphSheetArea")
        self._scroll_area.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(header)
        layout.addWidget(self._scroll_area, 1)
