"""The editor of a folder's rules, each with a file pattern, a permission and an optional agent."""

from __future__ import annotations

from itertools import groupby

from pydantic import ValidationError
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime import tasks
from app.desktop.sources.labels import permission_label
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.panel import ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.memory.block import Permission
from app.sources.config import AgentRules, FileRule, FolderConfig

_FILES_COLUMN, _PERMISSION_COLUMN, _AGENT_COLUMN = range(3)


class RulesEditor(QWidget):
    """A table with a row for each rule; `saved` carries the source's configuration with the new rules."""

    saved = Signal(object)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._config: FolderConfig | None = None
        self._is_filling = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        label = wrapped_label(
            self.tr(
                "The first matching rule applies; other files are read-only. A rule for one agent can only"
                " restrict the rules for all agents. Every write needs your approval."
            ),
            "muted",
        )
        column.addWidget(label)
        self.table = self._build_table(theme)
        column.addWidget(self.table, 1)
        column.addLayout(self._build_buttons(theme))

    def show_rules(self, config: FolderConfig) -> None:
        """Show a source's rules, unless it is already shown with unsaved edits."""
        if self._config is not None and self._config.id == config.id and self.save_button.isEnabled():
            self._config = config.model_copy(
                update={"rules": self._config.rules, "agents": self._config.agents}
            )
            return
        self._config = config
        self._is_filling = True
        self.table.setRowCount(0)
        for agent_rules in config.agents:
            for rule in agent_rules.rules:
                self._insert(rule.glob, rule.permission, agent_rules.agent)
        for rule in config.rules:
            self._insert(rule.glob, rule.permission, "")
        self._is_filling = False
        self.save_button.setEnabled(False)

    def add_rule(self) -> None:
        """Add a rule for all files and start editing its pattern."""
        files = self._insert("**", Permission.READ_WRITE, "")
        self.table.setCurrentItem(files)
        self.table.editItem(files)
        self._mark_edited()

    def save(self) -> None:
        """Emit `saved` with the rules in the table, except rows without a pattern.

        If a pattern or an agent's name is too long, a message says so, and the edits stay in the table.
        """
        if self._config is None:
            return
        try:
            rules = self._read_rules()
        except ValidationError:
            title = self.tr("The rules were not saved")
            text = self.tr(
                "Your edits are kept in the table. A pattern can have up to 500 characters, and the name of "
                "an agent up to 200. Shorten the text, then save again."
            )
            tasks.start(
                dialogs.show_message(self.window(), title, text),
                owner=self,
                action=self.tr("report the problem"),
            )
            return
        self.save_button.setEnabled(False)
        self.saved.emit(self._config.model_copy(update=rules))

    def _read_rules(self) -> dict[str, object]:
        """Return the fields `rules` and `agents` of the configuration.

        Raises:
            ValidationError: A pattern or an agent's name is too long.
        """
        rows = [self._read_row(row) for row in range(self.table.rowCount())]
        agent_rules = [
            (agent, FileRule(glob=glob, permission=permission)) for glob, permission, agent in rows if glob
        ]
        general_rules = tuple(rule for agent, rule in agent_rules if not agent)
        named_rules = sorted(
            ((agent, rule) for agent, rule in agent_rules if agent), key=lambda pair: pair[0]
        )
        agents = tuple(
            AgentRules(agent=agent, rules=tuple(rule for _, rule in rules))
            for agent, rules in groupby(named_rules, key=lambda pair: pair[0])
        )
        return {"rules": general_rules, "agents": agents}

    def _read_row(self, row: int) -> tuple[str, Permission, str]:
        box = self.table.cellWidget(row, _PERMISSION_COLUMN)
        assert isinstance(box, QComboBox)
        return (
            self._cell_text(row, _FILES_COLUMN),
            Permission(box.currentData()),
            self._cell_text(row, _AGENT_COLUMN),
        )

    def _cell_text(self, row: int, column: int) -> str:
        item = self.table.item(row, column)
        return item.text().strip() if item is not None else ""

    def _insert(self, glob: str, permission: Permission, agent: str) -> QTableWidgetItem:
        row = self.table.rowCount()
        self.table.insertRow(row)
        files = QTableWidgetItem(glob)
        self.table.setItem(row, _FILES_COLUMN, files)
        item = QTableWidgetItem(agent)
        item.setToolTip(
            self.tr("Name of an agent, such as scriptorium or mcp:*. Leave empty for all agents.")
        )
        self.table.setItem(row, _AGENT_COLUMN, item)
        box = QComboBox()
        box.setAccessibleName(self.tr("Permission for agents"))
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(8)
        for choice in Permission:
            box.addItem(permission_label(choice), choice.value)
        box.setCurrentIndex(box.findData(permission.value))
        box.currentIndexChanged.connect(self._mark_edited)
        self.table.setCellWidget(row, _PERMISSION_COLUMN, box)
        return files

    def _remove(self) -> None:
        if (row := self.table.currentRow()) >= 0:
            self.table.removeRow(row)
            self._mark_edited()

    def _move_up(self) -> None:
        """Move the current rule up by one."""
        current = self.table.currentRow()
        if current < 1:
            return
        rows = [self._read_row(number) for number in range(self.table.rowCount())]
        rows[current - 1], rows[current] = rows[current], rows[current - 1]
        self.table.setRowCount(0)
        for row in rows:
            self._insert(*row)
        self.table.setCurrentCell(current - 1, _FILES_COLUMN)
        self._mark_edited()

    def _mark_edited(self, *_: object) -> None:
        if not self._is_filling:
            self.save_button.setEnabled(True)

    def _build_table(self, theme: ThemeSource) -> QTableWidget:
        table = QTableWidget(0, 3)
        table.setAccessibleName(self.tr("Rules"))
        table.setHorizontalHeaderLabels([self.tr("Files"), self.tr("Permission"), self.tr("Agent")])
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(round(34 * theme.zoom))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        header = table.horizontalHeader()
        header.setSectionResizeMode(_FILES_COLUMN, QHeaderView.ResizeMode.Stretch)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(round(60 * theme.zoom))
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.setColumnWidth(_PERMISSION_COLUMN, round(216 * theme.zoom))
        table.setColumnWidth(_AGENT_COLUMN, round(96 * theme.zoom))
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.itemChanged.connect(self._mark_edited)
        return table

    def _build_buttons(self, theme: ThemeSource) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        self.add_button = ThemedButton(theme, "plus", self.tr("Add rule"))
        self.add_button.clicked.connect(self.add_rule)
        self.up_button = ThemedButton(theme, "arrow-up", self.tr("Move rule up"))
        self.up_button.clicked.connect(self._move_up)
        self.remove_button = ThemedButton(theme, "minus", self.tr("Remove rule"))
        self.remove_button.clicked.connect(self._remove)
        self.save_button = QPushButton(self.tr("Save rules"))
        self.save_button.setToolTip(self.tr("Save and apply these rules"))
        self.save_button.setProperty("role", "primary")
        self.save_button.setEnabled(False)
        self.save_button.clicked.connect(self.save)
        for button in (self.add_button, self.up_button, self.remove_button):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.save_button)
        return row
