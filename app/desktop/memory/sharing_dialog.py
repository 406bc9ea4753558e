"""The dialog for sharing a memory block with other agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app.desktop.memory.labels import permission_description, permission_label
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.panel import ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.memory.block import Block, Permission
from app.vault.invisible_chars import escape_hidden

_MAX_NAME_CHARS = 200


class SharingDialog(dialogs.SheetDialog):
    """Edits a block's shares; `shares` has the permission of each agent other than the owner."""

    def __init__(
        self, block: Block, agents: Iterable[str], theme: ThemeSource, parent: QWidget | None
    ) -> None:
        super().__init__(parent, *_dialog_texts(block))
        self._owner = block.owner
        self.table = QTableWidget(0, 2)
        self.table.setHorizontalHeaderLabels([self.tr("Agent"), self.tr("Permission")])
        self.table.setAccessibleName(self.tr("Agents with access to the block"))
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(round(36 * theme.zoom))
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.setColumnWidth(1, round(150 * theme.zoom))
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.setMinimumHeight(round(150 * theme.zoom))
        for agent, permission in block.shares.items():
            self._insert(agent, permission)
        self.agent = QComboBox()
        self.agent.setEditable(True)
        self.agent.addItems([name for name in agents if name != block.owner])
        self.agent.setCurrentText("")
        self.agent.setToolTip(
            self.tr("Name of an agent; for a connected program, enter mcp: and its name, such as mcp:Claude")
        )
        self.agent.setAccessibleName(self.tr("Agent to share with"))
        line = self.agent.lineEdit()
        if line is not None:
            line.setPlaceholderText(self.tr("Share with…"))
            line.setMaxLength(_MAX_NAME_CHARS)
            line.returnPressed.connect(self.share)
        self.permission = _create_permission_box(Permission.READ_ONLY)
        self.share_button = ThemedButton(theme, "plus", self.tr("Share the block with this agent"))
        self.share_button.clicked.connect(self.share)
        self.remove_button = ThemedButton(theme, "minus", self.tr("Stop sharing with the selected agent"))
        self.remove_button.clicked.connect(self.remove_agent)
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.agent, 1)
        for part in (self.permission, self.share_button, self.remove_button):
            layout.addWidget(part)
        self.problem = wrapped_label(tone="danger")
        self.problem.hide()
        for widget in (self.table, row, self.problem):
            self.add_body(widget)
        self.add_button(self.tr("Cancel"), int(QDialog.DialogCode.Rejected))
        self.save_button = self.add_button(self.tr("Save"), int(QDialog.DialogCode.Accepted), "primary")
        self.agent.setFocus()

    @property
    def shares(self) -> Mapping[str, Permission]:
        """The permission of each agent in the table."""
        shares: dict[str, Permission] = {}
        for row in range(self.table.rowCount()):
            item, box = self.table.item(row, 0), self.table.cellWidget(row, 1)
            assert item is not None and isinstance(box, QComboBox)
            shares[item.data(Qt.ItemDataRole.UserRole)] = Permission(box.currentData())
        return shares

    def share(self) -> None:
        """Add the typed agent to the table, or show why that is impossible."""
        name = self.agent.currentText().strip()
        problem = ""
        if not name:
            problem = self.tr("Enter or choose the name of an agent first.")
        elif name == self._owner:
            problem = self.tr("The block already belongs to “{0}”.").format(name)
        elif name in self.shares:
            problem = self.tr(
                "The block is already shared with “{0}”. Change the permission in the list."
            ).format(name)
        else:
            self._insert(name, Permission(self.permission.currentData()))
            self.agent.setCurrentText("")
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

    def done(self, result: int) -> None:
        """Close the dialog. A typed agent is added before saving; if it can't be, the dialog stays open."""
        if result == QDialog.DialogCode.Accepted and self.agent.currentText().strip():
            self.share()
            if self.problem.text():
                return
        super().done(result)

    def remove_agent(self) -> None:
        """Remove the selected agent from the table."""
        if (row := self.table.currentRow()) >= 0:
            self.table.removeRow(row)

    def _insert(self, agent: str, permission: Permission) -> None:
        row = self.table.rowCount()
        self.table.insertRow(row)
        item = QTableWidgetItem(escape_hidden(agent))
        item.setData(Qt.ItemDataRole.UserRole, agent)
        item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
        self.table.setItem(row, 0, item)
        box = _create_permission_box(permission)
        box.setAccessibleName(self.tr("Permission for {0}").format(agent))
        self.table.setCellWidget(row, 1, box)
        self.table.setCurrentItem(item)


def _dialog_texts(block: Block) -> tuple[str, str]:
    title = QCoreApplication.translate("SharingDialog", "Share “{0}”")
    text = QCoreApplication.translate(
        "SharingDialog", "The block belongs to “{0}”. Other agents can use it only if you share it with them."
    )
    return title.format(escape_hidden(block.label)), text.format(escape_hidden(block.owner))


def _create_permission_box(selected: Permission) -> QComboBox:
    box = QComboBox()
    for permission in Permission:
        box.addItem(permission_label(permission), permission)
        description = permission_description(permission)
        box.setItemData(box.count() - 1, description, Qt.ItemDataRole.ToolTipRole)
    box.setCurrentIndex(list(Permission).index(selected))
    return box
