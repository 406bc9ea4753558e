"""One external server in the settings: its state and its tools."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
)

from app.desktop.settings.external.labels import (
    TONES,
    location_label,
    state_label,
    status_label,
    tool_tooltip,
    tools_label,
)
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource, code_font
from app.desktop.widgets.panel import ElidedLabel
from app.desktop.widgets.plain_labels import wrapped_label
from app.external.connection import ConnectionState
from app.external.states import ServerState, ToolState
from app.settings import ExternalServer
from app.vault.invisible_chars import escape_hidden

_MAX_ROWS = 8
_CHECKBOX_WIDTH = 46
_MAX_NAME_WIDTH = 240
_MAX_ERROR_LINES = 6
_TOOL_ROLE = Qt.ItemDataRole.UserRole


class ServerCard(QFrame):
    """Shows a server; its signals report the user's actions.

    `switched` carries whether to enable the server; `allowed`, `revoked` and `reviewed` carry a `ToolState`.
    """

    switched = Signal(bool)
    edited = Signal()
    removed = Signal()
    retried = Signal()
    allowed = Signal(object)
    revoked = Signal(object)
    reviewed = Signal(object)

    def __init__(self, server: ExternalServer, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("card")
        self.server = server
        self._theme = theme
        self.state: ServerState | None = None
        self.state_label = wrapped_label()
        self.location_label = ElidedLabel(location_label(server), tone="faint")
        self.errors = wrapped_label(tone="muted")
        self.errors.setFont(code_font(theme.zoom))
        self.problems = wrapped_label(tone="warning")
        self.tools_label = wrapped_label(tone="muted")
        self.retry_button = _create_button(self.tr("Retry now"), self.tr("Restart the server now"))
        self.retry_button.clicked.connect(self.retried)
        self.tree = self._build_tree()
        self.details_button = _create_button(
            self.tr("Review…"), self.tr("Show the full description of the selected tool and its changes")
        )
        self.details_button.clicked.connect(self._review)
        self.all_button = _create_button(
            self.tr("Allow new tools"),
            self.tr("Allow all new tools; changed tools must be reviewed individually"),
        )
        self.all_button.clicked.connect(self._allow_new)
        self._build()
        self.show_state(None)
        theme.changed.connect(self._update_icons)

    def _build(self) -> None:
        name_label = QLabel(self.server.name)
        name_label.setTextFormat(Qt.TextFormat.PlainText)
        name_label.setProperty("textSize", "strong")
        self.switch = QCheckBox(self.tr("On"))
        self.switch.setChecked(self.server.on)
        self.switch.setAccessibleName(self.tr("{0} is on").format(self.server.name))
        self.switch.setToolTip(self.tr("Start with the vault and offer the allowed tools"))
        self.switch.toggled.connect(self.switched)
        edit_button = _create_button(self.tr("Edit…"), self.tr("Change the program, address or token"))
        edit_button.clicked.connect(self.edited)
        remove_button = _create_button(self.tr("Remove…"), self.tr("Remove the server from the settings"))
        remove_button.clicked.connect(self.removed)
        header = QHBoxLayout()
        header.setSpacing(8)
        header.addWidget(name_label, 1)
        for widget in (edit_button, remove_button, self.switch):
            header.addWidget(widget)
        state_row = QHBoxLayout()
        state_row.addWidget(self.state_label, 1)
        state_row.addWidget(self.retry_button)
        footer = QHBoxLayout()
        footer.addWidget(self.tools_label, 1)
        footer.addWidget(self.all_button)
        footer.addWidget(self.details_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 12)
        column.setSpacing(4)
        column.addLayout(header)
        column.addLayout(state_row)
        column.addWidget(self.location_label)
        column.addWidget(self.errors)
        column.addWidget(self.problems)
        column.addLayout(footer)
        column.addWidget(self.tree)

    def _build_tree(self) -> QTreeWidget:
        tree = QTreeWidget()
        tree.setColumnCount(3)
        tree.setHeaderHidden(True)
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        tree.setAccessibleName(self.tr("Tools from {0}; check to allow").format(self.server.name))
        header = tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        tree.itemChanged.connect(self._toggle_tool)
        tree.itemActivated.connect(lambda *_: self._review())
        tree.currentItemChanged.connect(lambda *_: self._show_buttons())
        return tree

    def show_state(self, state: ServerState | None) -> None:
        """Show the state of the server; None if it is unknown, for example because no vault is open."""
        previous_state, self.state = self.state, state
        has_failed = state is not None and state.connection_state is ConnectionState.FAILED
        self.state_label.setText(state_label(state) if state else self.tr("Runs while a vault is open."))
        self.state_label.setProperty("tone", TONES[state.connection_state] if state else "faint")
        self.state_label.style().polish(self.state_label)
        self.retry_button.setVisible(has_failed)
        lines = state.errors[-_MAX_ERROR_LINES:] if state and has_failed else ()
        _set_label_text(self.errors, "\n".join(escape_hidden(line) for line in lines))
        _set_label_text(
            self.problems, "\n".join(escape_hidden(problem) for problem in state.problems) if state else ""
        )
        tools = state.tools if state and state.connection_state is not ConnectionState.OFF else ()
        _set_label_text(self.tools_label, tools_label(state) if state and tools else "")
        previous_tools = previous_state.tools if previous_state is not None else ()
        if tools != previous_tools or bool(tools) is self.tree.isHidden():
            self._fill(tools)
        self._show_buttons()

    def _fill(self, tools: tuple[ToolState, ...]) -> None:
        selected = self._selected_tool
        self.tree.blockSignals(True)
        self.tree.clear()
        theme = self._theme.theme
        for tool in tools:
            row = QTreeWidgetItem([escape_hidden(tool.name), escape_hidden(tool.summary), status_label(tool)])
            row.setData(0, _TOOL_ROLE, tool)
            is_allowed = tool.status == "allowed"
            row.setCheckState(0, Qt.CheckState.Checked if is_allowed else Qt.CheckState.Unchecked)
            if tool.status == "changed":
                row.setIcon(2, icon(theme, "warning", theme.warning))
            for column in range(3):
                row.setToolTip(column, tool_tooltip(tool))
            self.tree.addTopLevelItem(row)
            if selected is not None and tool.name == selected.name:
                self.tree.setCurrentItem(row)
        self.tree.blockSignals(False)
        self.tree.setColumnWidth(0, self._name_width(tools))
        self.tree.setVisible(bool(tools))
        height = self.tree.sizeHintForRow(0) if tools else 0
        self.tree.setFixedHeight(height * min(len(tools), _MAX_ROWS) + 2 * self.tree.frameWidth() + 2)

    def _update_icons(self, _: Theme) -> None:
        """Draw the icons in the colors of the current theme."""
        if not self.tree.isHidden() and self.state is not None:
            self._fill(self.state.tools)

    def _name_width(self, tools: tuple[ToolState, ...]) -> int:
        """Return the width of the longest name and its checkbox, leaving space for the summaries."""
        widths = (self.tree.fontMetrics().horizontalAdvance(escape_hidden(tool.name)) for tool in tools)
        zoom = self._theme.zoom
        return min(max(widths, default=0) + round(_CHECKBOX_WIDTH * zoom), round(_MAX_NAME_WIDTH * zoom))

    @property
    def _selected_tool(self) -> ToolState | None:
        row = self.tree.currentItem()
        return row.data(0, _TOOL_ROLE) if row is not None else None

    def _show_buttons(self) -> None:
        tools = self.state.tools if self.state is not None and not self.tree.isHidden() else ()
        self.details_button.setVisible(bool(tools))
        self.details_button.setEnabled(self._selected_tool is not None)
        self.all_button.setVisible(sum(tool.status == "new" for tool in tools) > 1)

    def _toggle_tool(self, row: QTreeWidgetItem) -> None:
        tool: ToolState = row.data(0, _TOOL_ROLE)
        is_checked = row.checkState(0) is Qt.CheckState.Checked
        if is_checked is (tool.status == "allowed"):
            return
        if not is_checked:
            self.revoked.emit(tool)
        elif tool.status == "new":
            self.allowed.emit(tool)
        else:
            # A changed tool is reviewed first; the checkbox follows the decision.
            self.tree.blockSignals(True)
            row.setCheckState(0, Qt.CheckState.Unchecked)
            self.tree.blockSignals(False)
            if tool.status == "changed":
                self.reviewed.emit(tool)

    def _review(self) -> None:
        if (tool := self._selected_tool) is not None:
            self.reviewed.emit(tool)

    def _allow_new(self) -> None:
        for tool in self.state.tools if self.state is not None else ():
            if tool.status == "new":
                self.allowed.emit(tool)

    def sizeHint(self) -> QSize:
        """Return the height of the content and a small width, so that the page determines the width."""
        return QSize(200, super().sizeHint().height())


def _create_button(text: str, tooltip: str) -> QPushButton:
    button = QPushButton(text)
    button.setProperty("role", "quiet")
    button.setToolTip(tooltip)
    button.setAutoDefault(False)
    return button


def _set_label_text(label: QLabel, text: str) -> None:
    label.setText(text)
    label.setVisible(bool(text))
