"""The sections of the graph's settings panel: each edits its part of the `GraphSettings`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QGridLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from app.desktop.graph.node_style import ColorBy
from app.desktop.graph.settings.controls import (
    CollapsibleSection,
    GraphQueryField,
    SectionComboBox,
    SliderRow,
    checkbox,
    with_label,
)
from app.desktop.graph.settings.group_rows import GroupRows
from app.desktop.graph.settings.model import GraphSettings, LayoutMode, VisibilitySettings
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.graph.force_params import RANGES, ForceParams


class DisplaySection(CollapsibleSection):
    """Colors and the minimap."""

    changed = Signal(object)

    def __init__(self, choices: GraphSettings, parent: QWidget | None = None) -> None:
        super().__init__("display", "", parent)
        self._head.setText(self.tr("Display"))
        self._choices = choices
        self.colors = SectionComboBox()
        self.colors.setToolTip(self.tr("What node colors show; group colors take precedence"))
        for by, words in (
            (None, self.tr("Automatic")),
            (ColorBy.TYPE, self.tr("Type")),
            (ColorBy.COMMUNITY, self.tr("Community")),
            (ColorBy.FOLDER, self.tr("Folder")),
        ):
            self.colors.addItem(words, by)
        self.minimap = checkbox(self.tr("Minimap"), self.tr("Show a small overview of the whole graph (M)"))
        self.add(with_label(self.tr("Color by"), self.colors))
        self.add(self.minimap)
        self.colors.activated.connect(lambda _at: self._emit_changed(color_by=self.colors.currentData()))
        self.minimap.clicked.connect(lambda on: self._emit_changed(minimap=on))

    def show_choices(self, choices: GraphSettings) -> None:
        """Show `choices`."""
        self._choices = choices
        self.colors.setCurrentIndex(max(0, self.colors.findData(choices.color_by)))

    def show_minimap(self, on: bool) -> None:
        """Show whether the minimap is visible, by choice or by size."""
        self.minimap.setChecked(on)

    def _emit_changed(self, **values: object) -> None:
        self.changed.emit(self._choices.updated(**values))


class FilterSection(CollapsibleSection):
    """A filter query, and the visible kinds of nodes and links."""

    changed = Signal(object)

    def __init__(self, theme: Theme, choices: GraphSettings, parent: QWidget | None = None) -> None:
        super().__init__("filters", "", parent)
        self._head.setText(self.tr("Filters"))
        self._choices = choices
        words = self.tr("Show only the notes that match: words, tag:, path:, type:, -not, OR, (…)")
        self.query = GraphQueryField(theme, self.tr("Search, such as tag:idea -path:Archive"), words)
        self.add(self.query)
        self._boxes: dict[str, QCheckBox] = {}
        for name, title, tip in (
            (
                "dimmed",
                self.tr("Dim other notes"),
                self.tr("Dim the notes that don't match instead of hiding them"),
            ),
            (
                "orphans",
                self.tr("Notes without links"),
                self.tr("Show notes without incoming or outgoing links"),
            ),
            (
                "unresolved",
                self.tr("Unresolved links"),
                self.tr("Show link targets that don't exist yet"),
            ),
            ("attachments", self.tr("Attachments"), self.tr("Show files other than notes")),
            ("tags", self.tr("Tags"), self.tr("Show each tag as a node linked to its notes")),
            (
                "suggestions",
                self.tr("Suggested links"),
                self.tr("Show suggested links as dashed lines"),
            ),
        ):
            box = checkbox(title, tip)
            box.clicked.connect(lambda on, name=name: self._set(name, on))
            self._boxes[name] = box
            self.add(box)
        self.query.asked.connect(lambda text: self.changed.emit(self._choices.updated(filter=text)))

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        super().set_theme(theme)
        self.query.set_theme(theme)

    def box(self, name: str) -> QCheckBox:
        """Return the switch of one field of `VisibilitySettings`."""
        return self._boxes[name]

    def show_choices(self, choices: GraphSettings) -> None:
        """Show `choices`."""
        self._choices = choices
        self.query.set_query(choices.filter)
        for name, box in self._boxes.items():
            box.setChecked(getattr(choices.shown, name))

    def _set(self, name: str, on: bool) -> None:
        shown = VisibilitySettings.model_validate({**self._choices.shown.model_dump(), name: on})
        self.changed.emit(self._choices.updated(shown=shown))


class GroupSection(CollapsibleSection):
    """Groups by query."""

    changed = Signal(object)

    def __init__(self, theme: Theme, choices: GraphSettings, parent: QWidget | None = None) -> None:
        super().__init__("groups", "", parent)
        self._head.setText(self.tr("Groups"))
        self._choices = choices
        self.rows = GroupRows(theme)
        self.add(self.rows)
        self.rows.changed.connect(lambda groups: self.changed.emit(self._choices.updated(groups=groups)))

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        super().set_theme(theme)
        self.rows.set_theme(theme)

    def show_choices(self, choices: GraphSettings) -> None:
        """Show `choices`."""
        self._choices = choices
        self.rows.show_groups(choices.groups)


class ForceSection(CollapsibleSection):
    """The sliders of the physics, with reset and pause."""

    changed = Signal(object)
    paused = Signal(bool)

    def __init__(self, choices: GraphSettings, parent: QWidget | None = None) -> None:
        super().__init__("forces", "", parent)
        self._head.setText(self.tr("Forces"))
        self._choices = choices
        times = "{:.1f} ×".format
        rows = {
            "spacing": self._slider(
                "spacing", self.tr("Spacing"), self.tr("Distance between linked notes"), 1, "{:.0f}".format
            ),
            "attraction": self._slider(
                "attraction",
                self.tr("Link strength"),
                self.tr("How strongly links pull notes together"),
                0.1,
                times,
            ),
            "repulsion": self._slider(
                "repulsion", self.tr("Repulsion"), self.tr("How strongly notes repel each other"), 0.1, times
            ),
            "gravity": self._slider(
                "gravity",
                self.tr("Gravity"),
                self.tr("How strongly notes are pulled to the center"),
                0.02,
                "{:.2f}".format,
            ),
        }
        self.sliders: Mapping[str, SliderRow] = rows
        for name, row in rows.items():
            self.add(row)
            row.moved.connect(lambda value, name=name: self._set(name, value))
        self.reset = QPushButton(self.tr("Reset"))
        self.reset.setProperty("role", "quiet")
        self.reset.setToolTip(self.tr("Reset all sliders to their defaults"))
        self.reset.clicked.connect(lambda: self.changed.emit(self._choices.updated(forces=ForceParams())))
        self.pause = checkbox(self.tr("Freeze"), self.tr("Stop the layout from moving (Space)"))
        self.pause.clicked.connect(self.paused)
        self.add(self.pause)
        self.add(self.reset)

    @staticmethod
    def _slider(
        name: str, title: str, tooltip: str, step: float, formatted: Callable[[float], str]
    ) -> SliderRow:
        low, high = RANGES[name]
        return SliderRow(title, tooltip, low, high, getattr(ForceParams(), name), step, formatted)

    def show_choices(self, choices: GraphSettings) -> None:
        """Show `choices`."""
        self._choices = choices
        for name, row in self.sliders.items():
            row.set_value(getattr(choices.forces, name))
        self.reset.setEnabled(choices.forces != ForceParams())

    def _set(self, name: str, value: float) -> None:
        self.changed.emit(self._choices.updated(forces=replace(self._choices.forces, **{name: value})))


class LayoutSection(CollapsibleSection):
    """The layout modes, as buttons."""

    changed = Signal(object)
    rearrange_requested = Signal()

    def __init__(self, choices: GraphSettings, parent: QWidget | None = None) -> None:
        super().__init__("arrange", "", parent)
        self._head.setText(self.tr("Layout"))
        self._choices = choices
        grid = QWidget(self.body)
        cells = QGridLayout(grid)
        cells.setContentsMargins(0, 0, 0, 0)
        cells.setSpacing(4)
        self._group = QButtonGroup(self)
        self.buttons: dict[LayoutMode, QToolButton] = {}
        self._symbols: dict[LayoutMode, str] = {}
        self._words: dict[LayoutMode, str] = {}
        kinds = (
            (
                LayoutMode.FORCE,
                "share-network",
                self.tr("By links"),
                self.tr("Place linked notes close together"),
            ),
            (LayoutMode.FOLDER, "folder", self.tr("By folder"), self.tr("Group notes by folder")),
            (LayoutMode.TAG, "hash", self.tr("By tag"), self.tr("Group notes by tag")),
            (LayoutMode.TYPE, "squares-four", self.tr("By type"), self.tr("Group notes by type")),
            (
                LayoutMode.CREATED,
                "calendar-plus",
                self.tr("By creation"),
                self.tr("From oldest to newest"),
            ),
            (
                LayoutMode.MODIFIED,
                "clock",
                self.tr("By last edit"),
                self.tr("From least to most recently edited"),
            ),
            (
                LayoutMode.MEANING,
                "brain",
                self.tr("By meaning"),
                self.tr("Group notes with similar content"),
            ),
        )
        for place, (kind, symbol, title, words) in enumerate(kinds):
            button = QToolButton()
            button.setObjectName("graphArrangement")
            button.setText(title)
            button.setCheckable(True)
            self._symbols[kind], self._words[kind] = symbol, words
            button.setToolTip(words)
            button.setAccessibleName(f"{title}: {words}")
            _make_wide(button)
            button.clicked.connect(partial(self._choose, kind))
            self._group.addButton(button)
            self.buttons[kind] = button
            cells.addWidget(button, place // 2, place % 2)
        self.add(grid)
        self.why = QLabel()
        self.why.setProperty("tone", "faint")
        self.why.setWordWrap(True)
        self.why.hide()
        self.add(self.why)
        again = QPushButton(self.tr("Re-run layout"))
        again.setProperty("role", "quiet")
        again.setToolTip(self.tr("Compute the layout again from the links"))
        again.clicked.connect(self.rearrange_requested)
        self.add(again)

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        super().set_theme(theme)
        for kind, button in self.buttons.items():
            button.setIcon(icon(theme, self._symbols[kind]))

    def show_choices(self, choices: GraphSettings) -> None:
        """Show `choices`."""
        self._choices = choices
        self.buttons[choices.arrangement].setChecked(True)

    def show_state(self, kind: LayoutMode) -> None:
        """Check the current arrangement."""
        self.buttons[kind].setChecked(True)

    def forbid(self, reasons: Mapping[LayoutMode, str]) -> None:
        """Disable what is unavailable, with the reason as its tool tip."""
        for kind, button in self.buttons.items():
            button.setEnabled(kind not in reasons)
            button.setToolTip(reasons.get(kind, self._words[kind]))
        text = "\n".join(dict.fromkeys(reasons.values()))
        self.why.setText(text)
        self.why.setVisible(bool(text))

    def _choose(self, kind: LayoutMode) -> None:
        self.changed.emit(self._choices.updated(arrangement=kind))


def _make_wide(button: QToolButton) -> None:

    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    button.setIconSize(QSize(14, 14))
