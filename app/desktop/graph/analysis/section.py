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


class AnalysisSection(CollapsibleSection):
    """Starts analyses and shows results.

    The signal `asked` carries the analysis; `cancelled` and `cleared` carry nothing.
    """

    asked = Signal(str)
    cancelled = Signal()
    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("analysis", "", parent)
        self._head.setText(self.tr("Analysis"))
        grid = QWidget(self.body)
        cells = QGridLayout(grid)
        cells.setContentsMargins(0, 0, 0, 0)
        cells.setSpacing(4)
        self.buttons: dict[str, QToolButton] = {}
        self._symbols: dict[str, str] = {}
        for place, (kind, symbol, title, words) in enumerate(
            (
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
                ("orphans", "circle-dashed", self.tr("Orphans"), self.tr("Notes without links")),
                (
                    "suggestions",
                    "magic-wand",
                    self.tr("Suggest links"),
                    self.tr("Notes that are likely related but not linked"),
                ),
            )
        ):
            button = self._button(title, words)
            button.clicked.connect(partial(self.asked.emit, kind))
            self.buttons[kind], self._symbols[kind] = button, symbol
            cells.addWidget(button, place // 2, place % 2)
        self.add(grid)
        self._make_progress()
        self._make_finding()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        super().set_theme(theme)
        for kind, button in self.buttons.items():
            button.setIcon(icon(theme, self._symbols[kind]))

    def set_path_possible(self, possible: bool) -> None:
        """Set whether two notes are selected, so that a path between them can be searched."""
        words = self.tr("Fewest links between the two selected notes")
        self.buttons["path"].setEnabled(possible)
        self.buttons["path"].setToolTip(words if possible else self.tr("Select two notes first (Ctrl+click)"))

    def show_progress(self, words: str, share: float | None = None) -> None:
        """Show a running analysis with its progress (0 to 1, None if unknown); an empty text ends it."""
        self._working.setVisible(bool(words))
        self._what.setText(words)
        self._bar.setRange(0, 0 if share is None else 100)
        if share is not None:
            self._bar.setValue(round(share * 100))

    def show_finding(self, finding: AnalysisResult | None) -> None:
        """Show a result; None removes it."""
        self._found.setVisible(finding is not None)
        for kind, button in self.buttons.items():
            button.setChecked(finding is not None and finding.kind == kind)
        self.list.setVisible(finding is not None and bool(finding.lines))
        if finding is not None:
            self._summary.setText(f"{finding.title}. {finding.words}")
            self.list.show_finding(finding)

    @property
    def message(self) -> str:
        """The summary of the result; empty if there is none."""
        return "" if self._found.isHidden() else self._summary.text()

    def _make_progress(self) -> None:
        self._working = QWidget(self.body)
        self._what = QLabel()
        self._what.setProperty("tone", "muted")
        self._what.setWordWrap(True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self.cancel = QPushButton(self.tr("Stop"))
        self.cancel.setProperty("role", "quiet")
        self.cancel.setToolTip(self.tr("Stop the analysis without changing the graph"))
        self.cancel.clicked.connect(self.cancelled)
        cells = QGridLayout(self._working)
        cells.setContentsMargins(0, 0, 0, 0)
        cells.setSpacing(4)
        cells.addWidget(self._what, 0, 0)
        cells.addWidget(self.cancel, 0, 1, 2, 1)
        cells.addWidget(self._bar, 1, 0)
        cells.setColumnStretch(0, 1)
        self._working.hide()
        self.add(self._working)

    def _make_finding(self) -> None:
        self._found = QWidget(self.body)
        row = QHBoxLayout(self._found)
        row.setContentsMargins(0, 4, 0, 0)
        row.setSpacing(4)
        self._summary = QLabel()
        self._summary.setTextFormat(Qt.TextFormat.PlainText)
        self._summary.setWordWrap(True)
        self.clear = QPushButton(self.tr("Clear"))
        self.clear.setProperty("role", "quiet")
        self.clear.setToolTip(self.tr("Remove the analysis from the graph"))
        self.clear.clicked.connect(self.cleared)
        row.addWidget(self._summary, 1)
        row.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignTop)
        self._found.hide()
        self.list = AnalysisResultList()
        self.list.hide()
        self.add(self._found)
        self.add(self.list)

    def _button(self, title: str, words: str) -> QToolButton:
        made = QToolButton()
        made.setObjectName("graphArrangement")
        made.setText(title)
        made.setToolTip(words)
        made.setAccessibleName(f"{title}: {words}")
        made.setCheckable(True)
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        made.setIconSize(QSize(14, 14))
        return made
