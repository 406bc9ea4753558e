"""The list of memory blocks by type and of archive entries."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem

from app.desktop.memory.labels import permission_description, permission_label
from app.desktop.runtime.translation import PluralText
from app.desktop.theme.theme import ThemeSource
from app.memory.archive import ArchiveHit
from app.memory.block import Block, BlockType, Permission
from app.vault.invisible_chars import escape_hidden
from app.workspace.service.memory import MemoryOverview

_DATA_ROLE = Qt.ItemDataRole.UserRole
_MAX_TEXT_CHARS = 120
_MIN_WIDE_WIDTH = 330


class MemoryList(QTreeWidget):
    """Lists blocks and archive entries.

    `chosen` carries the selected `Block` or `ArchiveHit`, or None if there are no rows.
    """

    chosen = Signal(object)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._zoom = theme.zoom
        self.setHeaderLabels((self.tr("Block"), self.tr("Size"), self.tr("Permission"), self.tr("Owner")))
        self.setAccessibleName(self.tr("Memory blocks and entries"))
        self.setUniformRowHeights(True)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.setIndentation(round(14 * theme.zoom))
        for column, width in ((1, 52), (2, 112), (3, 98)):
            self.setColumnWidth(column, round(width * theme.zoom))
        self.header().setMinimumSectionSize(30)
        self.currentItemChanged.connect(self._emit_chosen)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide permission and owner in a narrow list, so that the name stays readable."""
        super().resizeEvent(event)
        self.setColumnHidden(2, self.width() < _MIN_WIDE_WIDTH * self._zoom)
        self.setColumnHidden(3, self.width() < _MIN_WIDE_WIDTH * self._zoom)

    def show_overview(self, overview: MemoryOverview, query: str) -> None:
        """Show the blocks that match `query`, and the entries; keep the selection or select the first row."""
        previous_key = self._item_key(self.current)
        self.blockSignals(True)
        self.clear()
        search_text = query.casefold()
        for block_type in BlockType:
            blocks = [
                block
                for block in overview.blocks
                if block.type is block_type and _matches(block, search_text)
            ]
            if blocks:
                self._add_group(self._type_labels()[block_type], [self._block_row(block) for block in blocks])
        if overview.entries:
            count = f"{len(overview.entries):,}" if query else f"{overview.total:,}"
            name = self.tr("Archive · {0}").format(count)
            self._add_group(name, [self._entry_row(entry) for entry in overview.entries])
        self.blockSignals(False)
        self._select(previous_key)

    @property
    def current(self) -> Block | ArchiveHit | None:
        """The selected block or entry; None if none is selected."""
        item = self.currentItem()
        data: Block | ArchiveHit | None = None if item is None else item.data(0, _DATA_ROLE)
        return data

    def choose_block(self, label: str) -> None:
        """Select the block with this label if it is listed."""
        for item in self._rows():
            block = item.data(0, _DATA_ROLE)
            if isinstance(block, Block) and block.label == label:
                self.setCurrentItem(item)
                return

    def _select(self, key: str) -> None:
        rows = self._rows()
        match = next((item for item in rows if self._item_key(item.data(0, _DATA_ROLE)) == key), None)
        if match is not None or rows:
            self.setCurrentItem(match or rows[0])
        else:
            self.chosen.emit(None)

    def _rows(self) -> list[QTreeWidgetItem]:
        items = [self.topLevelItem(index) for index in range(self.topLevelItemCount())]
        groups = [group for group in items if group is not None]
        rows = [group.child(index) for group in groups for index in range(group.childCount())]
        return [row for row in rows if row is not None]

    def _item_key(self, data: Block | ArchiveHit | None) -> str:
        match data:
            case Block():
                return data.path.key
            case ArchiveHit():
                return f"{data.owner} {data.entry}"
            case _:
                return ""

    def _type_labels(self) -> dict[BlockType, str]:
        return {
            BlockType.CORE: self.tr("Core"),
            BlockType.WORKING: self.tr("Working"),
            BlockType.ARCHIVAL: self.tr("Archived"),
            BlockType.LOG: self.tr("Logs"),
        }

    def _add_group(self, name: str, rows: list[QTreeWidgetItem]) -> None:
        group = QTreeWidgetItem([name])
        group.setFlags(Qt.ItemFlag.ItemIsEnabled)
        group.setFirstColumnSpanned(True)
        group.addChildren(rows)
        self.addTopLevelItem(group)
        group.setExpanded(True)

    def _block_row(self, block: Block) -> QTreeWidgetItem:
        is_pinned = block.view_of(block.owner).pinned
        name = escape_hidden(block.label)
        label = self.tr("{0} · pinned").format(name) if is_pinned else name
        texts = [
            label,
            f"{block.size:,}",
            permission_label(block.permission),
            escape_hidden(block.owner),
        ]
        row = QTreeWidgetItem(texts)
        row.setData(0, _DATA_ROLE, block)
        row.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.setToolTip(0, escape_hidden(block.description) or name)
        row.setToolTip(2, permission_description(block.permission))
        row.setToolTip(1, PluralText("MemoryList", "{0} character", "{0} characters").format(block.size))
        return row

    def _entry_row(self, entry: ArchiveHit) -> QTreeWidgetItem:
        text = escape_hidden(" ".join(entry.text.split())[:_MAX_TEXT_CHARS])
        row = QTreeWidgetItem(
            [text, f"{len(entry.text):,}", permission_label(Permission.READ_ONLY), escape_hidden(entry.owner)]
        )
        row.setData(0, _DATA_ROLE, entry)
        row.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.setToolTip(0, text)
        return row

    def _emit_chosen(self, item: QTreeWidgetItem | None) -> None:
        if item is None or item.data(0, _DATA_ROLE) is not None:
            self.chosen.emit(self.current)


def _matches(block: Block, search_text: str) -> bool:
    return not search_text or any(
        search_text in text.casefold() for text in (block.label, block.description, block.text, block.owner)
    )
