"""The sections of the graph's settings panel: each edits a part of the `GraphSettings`.

A section's signal `changed` carries the new settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
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
    create_checkbox,
    with_label,
)
from app.desktop.graph.settings.group_rows import GroupRows
from app.desktop.graph.settings.model import GraphSettings, LayoutMode, VisibilitySettings
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.widgets.flow_layout import FlowLayout
from app.graph.force_params import RANGES, ForceParams


class DisplaySection(CollapsibleSection):
    """Colors and the minimap."""

    changed = Signal(object)

    def __init__(self, settings: GraphSettings, parent: QWidget | None = None) -> None:
        super().__init__("display", "", parent)
        self._header.setText(self.tr("Display"))
        self._settings = settings
        self.colors = SectionComboBox()
        self.colors.setToolTip(self.tr("The property that node colors show; group colors take precedence"))
        for color_by, label in (
            (None, self.tr("Automatic")),
            (ColorBy.TYPE, self.tr("Type")),
            (ColorBy.COMMUNITY, self.tr("Community")),
            (ColorBy.FOLDER, self.tr("Folder")),
        ):
            self.colors.addItem(label, color_by)
        self.minimap = create_checkbox(
            self.tr("Minimap"), self.tr("Show a small overview of the whole graph (M)")
        )
        self.add(with_label(self.tr("Color by"), self.colors))
        self.add(self.minimap)
        self.colors.activated.connect(lambda _index: self._emit_changed(color_by=self.colors.currentData()))
        self.minimap.clicked.connect(lambda on: self._emit_changed(minimap=on))

    def show_settings(self, settings: GraphSettings) -> None:
        """Show `settings`, except the minimap, which may depend on the graph's size; see `show_minimap`."""
        self._settings = settings
        self.colors.setCurrentIndex(max(0, self.colors.findData(settings.color_by)))

    def show_minimap(self, visible: bool) -> None:
        """Show whether the minimap is enabled."""
        self.minimap.setChecked(visible)

    def _emit_changed(self, **values: object) -> None:
        self.changed.emit(self._settings.updated(**values))


class FilterSection(CollapsibleSection):
    """A filter query, and the visible kinds of nodes and links."""

    changed = Signal(object)

    def __init__(self, theme: Theme, settings: GraphSettings, parent: QWidget | None = None) -> None:
        super().__init__("filters", "", parent)
        self._header.setText(self.tr("Filters"))
        self._settings = settings
        description = self.tr("Show only the notes that match: words, tag:, path:, type:, -not, OR, (…)")
        self.query = GraphQueryField(theme, self.tr("tag:idea -path:Old"), description)
        self.add(self.query)
        self._boxes: dict[str, QCheckBox] = {}
        for name, title, tooltip in (
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
            box = create_checkbox(title, tooltip)
            box.clicked.connect(lambda checked, name=name: self._emit_field(name, checked))
            self._boxes[name] = box
            self.add(box)
        self.query.submitted.connect(lambda text: self.changed.emit(self._settings.updated(filter=text)))

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        super().set_theme(theme)
        self.query.set_theme(theme)

    def box(self, name: str) -> QCheckBox:
        """Return the checkbox for a field of `VisibilitySettings`."""
        return self._boxes[name]

    def show_settings(self, settings: GraphSettings) -> None:
        """Show `settings`."""
        self._settings = settings
        self.query.set_query(settings.filter)
        for name, box in self._boxes.items():
            box.setChecked(getattr(settings.shown, name))

    def _emit_field(self, name: str, checked: bool) -> None:
        shown = VisibilitySettings.model_validate({**self._settings.shown.model_dump(), name: checked})
        self.changed.emit(self._settings.updated(shown=shown))


class GroupSection(CollapsibleSection):
    """The groups of notes, each with a query and a color."""

    changed = Signal(object)

    def __init__(self, theme: Theme, settings: GraphSettings, parent: QWidget | None = None) -> None:
        super().__init__("groups", "", parent)
        self._header.setText(self.tr("Groups"))
        self._settings = settings
        self.rows = GroupRows(theme)
        self.add(self.rows)
        self.rows.changed.connect(lambda groups: self.changed.emit(self._settings.updated(groups=groups)))

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        super().set_theme(theme)
        self.rows.set_theme(theme)

    def show_settings(self, settings: GraphSettings) -> None:
        """Show `settings`."""
        self._settings = settings
        self.rows.show_groups(settings.groups)


class ForceSection(CollapsibleSection):
    """The sliders for the layout's forces, with reset and pause.

    `paused` carries whether to pause the layout.
    """

    changed = Signal(object)
    paused = Signal(bool)

    def __init__(self, settings: GraphSettings, parent: QWidget | None = None) -> None:
        super().__init__("forces", "", parent)
        self._header.setText(self.tr("Forces"))
        self._settings = settings
        format_factor = "{:.1f} ×".format
        rows = {
            "spacing": self._slider(
                "spacing", self.tr("Spacing"), self.tr("Distance between linked notes"), 1, "{:.0f}".format
            ),
            "attraction": self._slider(
                "attraction",
                self.tr("Link strength"),
                self.tr("How strongly links pull notes together"),
                0.1,
                format_factor,
            ),
            "repulsion": self._slider(
                "repulsion",
                self.tr("Repulsion"),
                self.tr("How strongly notes repel each other"),
                0.1,
                format_factor,
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
            row.moved.connect(lambda value, name=name: self._emit_field(name, value))
        self.reset_button = QPushButton(self.tr("Reset"))
        self.reset_button.setProperty("role", "quiet")
        self.reset_button.setToolTip(self.tr("Reset all sliders to their defaults"))
        self.reset_button.clicked.connect(
            lambda: self.changed.emit(self._settings.updated(forces=ForceParams()))
        )
        self.pause = create_checkbox(self.tr("Freeze"), self.tr("Stop the layout from moving (Space)"))
        self.pause.clicked.connect(self.paused)
        self.add(self.pause)
        self.add(self.reset_button)

    @staticmethod
    def _slider(
        name: str, title: str, tooltip: str, step: float, format_value: Callable[[float], str]
    ) -> SliderRow:
        low, high = RANGES[name]
        return SliderRow(title, tooltip, low, high, getattr(ForceParams(), name), step, format_value)

    def show_settings(self, settings: GraphSettings) -> None:
        """Show `settings`."""
        self._settings = settings
        for name, row in self.sliders.items():
            row.set_value(getattr(settings.forces, name))
        self.reset_button.setEnabled(settings.forces != ForceParams())

    def _emit_field(self, name: str, value: float) -> None:
        self.changed.emit(self._settings.updated(forces=replace(self._settings.forces, **{name: value})))


class LayoutSection(CollapsibleSection):
    """The layout modes, as buttons.

    `rearrange_requested` asks for a force layout from scratch.
    """

    changed = Signal(object)
    rearrange_requested = Signal()

    def __init__(self, settings: GraphSettings, parent: QWidget | None = None) -> None:
        super().__init__("arrange", "", parent)
        self._header.setText(self.tr("Layout"))
        self._settings = settings
        grid = QWidget(self.body)
        grid_layout = FlowLayout(grid, columns=2)
        self._group = QButtonGroup(self)
        self.buttons: dict[LayoutMode, QToolButton] = {}
        self._symbols: dict[LayoutMode, str] = {}
        self._tooltips: dict[LayoutMode, str] = {}
        modes = (
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
        for mode, symbol, title, tooltip in modes:
            button = QToolButton()
            button.setObjectName("graphArrangement")
            button.setText(title)
            button.setCheckable(True)
            self._symbols[mode], self._tooltips[mode] = symbol, tooltip
            button.setToolTip(tooltip)
            button.setAccessibleName(f"{title}: {tooltip}")
            _style_button(button)
            button.clicked.connect(partial(self._emit_layout, mode))
            self._group.addButton(button)
            self.buttons[mode] = button
            grid_layout.addWidget(button)
        self.add(grid)
        self.reason_label = QLabel()
        self.reason_label.setProperty("tone", "faint")
        self.reason_label.setWordWrap(True)
        self.reason_label.hide()
        self.add(self.reason_label)
        rerun_button = QPushButton(self.tr("Re-run layout"))
        rerun_button.setProperty("role", "quiet")
        rerun_button.setToolTip(self.tr("Recompute the layout from the links"))
        rerun_button.clicked.connect(self.rearrange_requested)
        self.add(rerun_button)

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        super().set_theme(theme)
        for mode, button in self.buttons.items():
            button.setIcon(icon(theme, self._symbols[mode]))

    def show_settings(self, settings: GraphSettings) -> None:
        """Show `settings`."""
        self._settings = settings
        self.buttons[settings.arrangement].setChecked(True)

    def disable(self, reasons: Mapping[LayoutMode, str]) -> None:
        """Disable the layouts in `reasons`, show the reasons, and enable the other layouts."""
        for mode, button in self.buttons.items():
            button.setEnabled(mode not in reasons)
            button.setToolTip(reasons.get(mode, self._tooltips[mode]))
        text = "\n".join(dict.fromkeys(reasons.values()))
        self.reason_label.setText(text)
        self.reason_label.setVisible(bool(text))

    def _emit_layout(self, mode: LayoutMode) -> None:
        self.changed.emit(self._settings.updated(arrangement=mode))


def _style_button(button: QToolButton) -> None:
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    button.setIconSize(QSize(14, 14))
