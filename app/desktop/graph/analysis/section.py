"""The section of the settings panel that starts an analysis and shows its progress and result."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from app.desktop.graph.analysis.result import AnalysisResult
from app.desktop.graph.analysis.result_list import AnalysisResultList
from app.desktop.graph.settings.controls import CollapsibleSection
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.widgets.flow_layout import FlowLayout
from app.desktop.widgets.plain_labels import wrapped_label


class AnalysisSection(CollapsibleSection):
    """Starts analyses and shows their progress and results.

    Signals:
        requested: The analysis to run.
        cancelled: The user stopped the running analysis.
        cleared: The user removed the result.
    """

    requested = Signal(str)
    cancelled = Signal()
    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("analysis", "", parent)
        self._header.setText(self.tr("Analysis"))
        grid = QWidget(self.body)
        grid_layout = FlowLayout(grid, columns=2)
        self.buttons: dict[str, QToolButton] = {}
        self._symbols: dict[str, str] = {}
        for kind, symbol, title, description in (
            (
                "communities",
                "circles-three",
                self.tr("Communities"),
                self.tr("Color notes that belong together"),
            ),
            (
                "pagerank",
                "star",
                self.tr("Importance"),
                self.tr("Size notes by the links from other important notes"),
            ),
            (
                "betweenness",
                "git-fork",
                self.tr("Crossroads"),
                self.tr("Size notes by the shortest paths that pass through them"),
            ),
            (
                "path",
                "path",
                self.tr("Shortest path"),
                self.tr("Fewest links between the two selected notes"),
            ),
            (
                "bridges",
                "link",
                self.tr("Bridges"),
                self.tr("Links and notes whose removal would split the graph"),
            ),
            ("orphans", "circle-dashed", self.tr("Orphans"), self.tr("Notes and attachments without links")),
            (
                "suggestions",
                "magic-wand",
                self.tr("Suggest links"),
                self.tr("Notes that are likely related but not linked"),
            ),
        ):
            button = self._create_button(title, description)
            button.clicked.connect(partial(self.requested.emit, kind))
            self.buttons[kind], self._symbols[kind] = button, symbol
            grid_layout.addWidget(button)
        self.add(grid)
        self._create_progress()
        self._create_result()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        super().set_theme(theme)
        for kind, button in self.buttons.items():
            button.setIcon(icon(theme, self._symbols[kind]))

    def set_path_enabled(self, enabled: bool) -> None:
        """Enable or disable the shortest path, which needs two selected notes."""
        description = self.tr("Fewest links between the two selected notes")
        self.buttons["path"].setEnabled(enabled)
        self.buttons["path"].setToolTip(
            description if enabled else self.tr("Select two notes first (Ctrl+click)")
        )

    def show_progress(self, text: str, fraction: float | None = None) -> None:
        """Show a running analysis with its progress (0 to 1, None if unknown); an empty string hides it."""
        self._progress_row.setVisible(bool(text))
        self._progress_label.setText(text)
        self._progress_bar.setRange(0, 0 if fraction is None else 100)
        if fraction is not None:
            self._progress_bar.setValue(round(fraction * 100))

    def show_result(self, result: AnalysisResult | None) -> None:
        """Show a result and check the button of its analysis; None removes the result."""
        self._result_row.setVisible(result is not None)
        for kind, button in self.buttons.items():
            button.setChecked(result is not None and result.kind == kind)
        self.list.setVisible(result is not None and bool(result.rows))
        if result is not None:
            self._summary.setText(f"{result.title}. {result.summary}")
            self.list.show_result(result)

    @property
    def summary(self) -> str:
        """The result's summary; empty if there is none."""
        return "" if self._result_row.isHidden() else self._summary.text()

    def _create_progress(self) -> None:
        self._progress_row = QWidget(self.body)
        self._progress_label = QLabel()
        self._progress_label.setProperty("tone", "muted")
        self._progress_label.setWordWrap(True)
        self._progress_bar = QProgressBar()
        self._progress_bar.setTextVisible(False)
        self.cancel_button = QPushButton(self.tr("Stop"))
        self.cancel_button.setProperty("role", "quiet")
        self.cancel_button.setToolTip(self.tr("Stop the analysis without changing the graph"))
        self.cancel_button.clicked.connect(self.cancelled)
        grid_layout = QGridLayout(self._progress_row)
        grid_layout.setContentsMargins(0, 0, 0, 0)
        grid_layout.setSpacing(4)
        grid_layout.addWidget(self._progress_label, 0, 0)
        grid_layout.addWidget(self.cancel_button, 0, 1, 2, 1)
        grid_layout.addWidget(self._progress_bar, 1, 0)
        grid_layout.setColumnStretch(0, 1)
        self._progress_row.hide()
        self.add(self._progress_row)

    def _create_result(self) -> None:
        self._result_row = QWidget(self.body)
        row = QHBoxLayout(self._result_row)
        row.setContentsMargins(0, 4, 0, 0)
        row.setSpacing(4)
        self._summary = wrapped_label()
        self.clear_button = QPushButton(self.tr("Clear"))
        self.clear_button.setProperty("role", "quiet")
        self.clear_button.setToolTip(self.tr("Remove the analysis from the graph"))
        self.clear_button.clicked.connect(self.cleared)
        row.addWidget(self._summary, 1)
        row.addWidget(self.clear_button, 0, Qt.AlignmentFlag.AlignTop)
        self._result_row.hide()
        self.list = AnalysisResultList()
        self.list.hide()
        self.add(self._result_row)
        self.add(self.list)

    def _create_button(self, title: str, description: str) -> QToolButton:
        button = QToolButton()
        button.setObjectName("graphArrangement")
        button.setText(title)
        button.setToolTip(description)
        button.setAccessibleName(f"{title}: {description}")
        button.setCheckable(True)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setIconSize(QSize(14, 14))
        return button
