"""The page of one memory block: its metadata, editable text and history."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.desktop.bridge import VaultClient
from app.desktop.memory.labels import format_label, permission_description, permission_label, type_label
from app.desktop.memory.sharing_dialog import SharingDialog
from app.desktop.notes.newlines import for_editor, from_editor
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate_text
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.diff.view import DiffView
from app.desktop.widgets.panel import ElidedLabel
from app.desktop.widgets.plain_labels import wrapped_label
from app.desktop.widgets.time_labels import exact_time
from app.desktop.widgets.two_line_delegate import TwoLineDelegate
from app.errors import NotFoundError, ScriptoriumError
from app.memory.archive import ArchiveHit
from app.memory.block import Block, Permission
from app.permissions.request_labels import format_size
from app.toolkit.memory_service import OWN_AGENT
from app.toolkit.outcome import ToolOutcome
from app.vault.commits import Version
from app.vault.invisible_chars import escape_hidden
from app.workspace.service.memory import BlockHistory

if TYPE_CHECKING:
    from app.workspace import VaultService


_MIN_NAME_WIDTH = 120


class BlockPage(QWidget):
    """Shows a block or an archive entry.

    Unsaved text is kept while another block is shown.

    Signals:
        saved: The user changed the block or discarded unsaved text, so the memory must be loaded again.
    """

    saved = Signal()

    def __init__(self, client: VaultClient, theme: ThemeSource) -> None:
        super().__init__()
        self._client = client
        self.block: Block | None = None
        # The state of the block that the text in the field is based on.
        self._base: Block | None = None
        self._drafts: dict[str, tuple[Block, str]] = {}
        self._history = BlockHistory((), None)
        self._comparison_count = 0
        self._is_saved = False
        # The text saved after `_base` was shown; None once the block with that text is shown.
        self._saved_text: str | None = None
        self._name = ElidedLabel()
        self._name.setProperty("textSize", "strong")
        self._facts_label = ElidedLabel(tone="muted", elide=Qt.TextElideMode.ElideRight)
        self.pin = QCheckBox(self.tr("Pinned"))
        self.pin.setToolTip(self.tr("Always include the block in its agent's context"))
        self.permission = QComboBox()
        self.permission.setAccessibleName(self.tr("Permission of the agent that owns the block"))
        self.permission.setToolTip(self.permission.accessibleName())
        for permission in Permission:
            self.permission.addItem(permission_label(permission), permission)
            description = permission_description(permission)
            self.permission.setItemData(self.permission.count() - 1, description, Qt.ItemDataRole.ToolTipRole)
        self.share = QPushButton(self.tr("Share…"))
        self.share.setToolTip(self.tr("Choose which other agents may read or change the block"))
        self.delete = QPushButton(self.tr("Delete…"))
        self.delete.setToolTip(self.tr("Delete the block (you review the change first)"))
        self.text = QPlainTextEdit()
        self.text.setAccessibleName(self.tr("Text of the block"))
        self.text.setMinimumHeight(round(30 * theme.zoom))
        self.save_button = QPushButton(self.tr("Save"))
        self.save_button.setToolTip(self.tr("Save the text (Ctrl+S)"))
        self.discard_button = QPushButton(self.tr("Discard"))
        self.discard_button.setToolTip(self.tr("Revert to the saved text"))
        self.versions = QListWidget()
        self.versions.setAccessibleName(self.tr("Versions of the block, newest first"))
        self.versions.setItemDelegate(TwoLineDelegate(theme, self.versions))
        self.versions.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.diff_view = DiffView(theme)
        self.roll_back_button = QPushButton(self.tr("Roll back to this version"))
        self.roll_back_button.setToolTip(self.tr("Restore this version of the block (can be undone)"))
        self.status = wrapped_label(tone="muted")
        self.tabs = QTabWidget()
        self._controls: tuple[QWidget, ...] = (self.pin, self.permission, self.share, self.delete)
        self._theme = theme
        self._build()
        self._connect()

    @property
    def is_edited(self) -> bool:
        """True if the text has unsaved changes."""
        if self._base is None:
            return False
        return not self._shows(self._base.text if self._saved_text is None else self._saved_text)

    def show_block(self, block: Block) -> None:
        """Show a block with its unsaved text, if there is any."""
        is_same = self.block is not None and self.block.path == block.path
        if not is_same:
            self._keep_draft()
        keeps_text = is_same and self.is_edited and not self._is_saved
        self.block = block
        shared = ", ".join(
            f"{name}: {permission_label(permission)}" for name, permission in block.shares.items()
        )
        # The type and the format can have the same label.
        facts = list(dict.fromkeys((type_label(block.type), format_label(block.schema))))
        facts.append(escape_hidden(block.owner))
        facts += [self.tr("shared with {0}").format(escape_hidden(shared))] if shared else []
        self._set_header(
            escape_hidden(block.label),
            "   ·   ".join([*facts, escape_hidden(block.description)]).rstrip(" ·"),
        )
        for control in self._controls:
            control.setVisible(True)
        self._show_settings(block)
        self.delete.setEnabled(block.is_stored and block.owner == OWN_AGENT)
        if keeps_text:
            self._base, self._saved_text = self._saved_base, None
        else:
            base, text = self._drafts.pop(block.path.key, (block, block.text))
            self._set_text(base, text, read_only=False)
        self.tabs.setTabVisible(1, True)
        if not is_same:
            self.status.clear()
            self._history = BlockHistory((), None)
            self.versions.clear()
        tasks.start(self._load_history(block), owner=self, action=self.tr("read the history of the block"))

    def show_entry(self, entry: ArchiveHit) -> None:
        """Show an archive entry, which is read-only."""
        self._keep_draft()
        self.block = None
        facts = [entry.created.replace("T", " ").removesuffix("Z"), escape_hidden(entry.owner)]
        facts += [
            f"{escape_hidden(name)}: {escape_hidden(str(value))}" for name, value in entry.metadata.items()
        ]
        self._set_header(self.tr("Archive entry"), "   ·   ".join(facts))
        for control in self._controls:
            control.setVisible(False)
        self._set_text(None, entry.text, read_only=True)
        self.tabs.setCurrentIndex(0)
        self.tabs.setTabVisible(1, False)
        self.status.setText(self.tr("Archive entries can't be edited."))

    async def save(self) -> None:
        """Save unsaved text, merged with changes that an agent has made in the meantime."""
        base = self._saved_base
        if base is not None and self.is_edited:
            text = from_editor(self.text.document().toRawText(), base.text)
            await self._run_change(
                lambda vault: vault.memory.save_text(base, text), self.tr("Saved."), saved_text=text
            )

    async def confirm_close(self) -> bool:
        """Return whether the vault may close, after asking about each block's unsaved text."""
        answers = (self.tr("Save"), self.tr("Discard"), self.tr("Cancel"))
        for base, text in self._unsaved_texts().values():
            title = self.tr("Save the memory block “{0}”?").format(escape_hidden(base.label))
            answer = await dialogs.choose(
                self.window(), title, self.tr("It has unsaved text."), answers, is_first_main=True
            )
            if answer not in (0, 1) or (answer == 0 and not await self._save_unsaved(base, text)):
                return False
        return True

    async def _save_unsaved(self, base: Block, text: str) -> bool:
        """Save the unsaved text of a block and return whether that succeeded; if not, show the reason."""
        try:
            outcome = await self._client.run(lambda vault: vault.memory.save_text(base, text))
        except ScriptoriumError as error:
            problem = error.message
        else:
            problem = "" if outcome.success else outcome.message
        if problem:
            title = self.tr("Could not save “{0}”").format(escape_hidden(base.label))
            await dialogs.show_message(self.window(), title, problem)
            return False
        self._update_draft(base.path.key, text)
        self.saved.emit()
        return True

    def discard(self) -> None:
        """Discard the changes and show the saved text."""
        if self.block is not None:
            self._set_text(self.block, self.block.text, read_only=False)
            self.saved.emit()

    async def roll_back(self) -> None:
        """Restore the block's selected version, and show whether that succeeded."""
        block, version = self.block, self._selected_version
        if block is not None and version is not None and (key := version.hash) is not None:
            message = self.tr("Rolled back. The previous text is kept as a version.")
            await self._run_change(lambda vault: vault.memory.roll_back(block.path, key), message)

    async def change(self, change: Callable[[Block], Block]) -> None:
        """Change the block's pin, permission or shares, or show them unchanged if that fails.

        Unsaved text is kept.
        """
        if (block := self.block) is not None and change(block) != block:
            is_changed = await self._run_change(
                lambda vault: vault.memory.save_settings(block, change), self.tr("Saved."), keeps_text=True
            )
            if not is_changed and self.block is block:
                self._show_settings(block)

    async def share_block(self) -> None:
        """Ask which other agents may use the block."""
        if (block := self.block) is None:
            return
        agents = await self._client.run(lambda vault: vault.memory.agents())
        sheet = SharingDialog(block, agents, self._theme, self.window())
        if await dialogs.run_dialog(sheet) == int(QDialog.DialogCode.Accepted):
            shares = dict(sheet.shares)
            await self.change(lambda changed: replace(changed, shares=shares))

    async def delete_block(self) -> None:
        """Propose deleting the block; the user reviews the change first."""
        if (block := self.block) is not None:
            await self._run_change(lambda vault: vault.memory.delete(block.label), self.tr("Deleted."))

    async def _run_change(
        self,
        work: Callable[[VaultService], Awaitable[ToolOutcome]],
        message: str,
        *,
        keeps_text: bool = False,
        saved_text: str | None = None,
    ) -> bool:
        """Run a change, show its result, and return whether it succeeded.

        Args:
            work: The change.
            message: The status to show on success.
            keeps_text: True if the change does not save or replace the text in the field.
            saved_text: The text that the change saves. Text typed during the save stays unsaved.
        """
        path = self.block.path if self.block is not None else None
        try:
            outcome = await self._client.run(work)
        except ScriptoriumError as error:
            self.status.setText(error.message)
            return False
        if not outcome.success:
            self.status.setText(self.tr("Nothing changed.") if outcome.denied else outcome.message)
            return False
        self.status.setText(message)
        if not keeps_text and path is not None:
            self._update_draft(path.key, saved_text)
        self.saved.emit()
        return True

    def _update_draft(self, key: str, saved_text: str | None) -> None:
        """Allow the next state of a block to replace its text, unless it was edited after the save."""
        if (draft := self._drafts.get(key)) is not None:
            base, text = draft
            if saved_text in (None, text):
                del self._drafts[key]
            else:
                self._drafts[key] = base.with_text(saved_text), text
        if self.block is None or self.block.path.key != key:
            return
        if saved_text is None:
            self._is_saved = True
        else:
            self._saved_text = saved_text
            self._update_buttons()

    @property
    def _saved_base(self) -> Block | None:
        """The block with the text that unsaved changes are based on."""
        if self._base is None or self._saved_text is None:
            return self._base
        return self._base.with_text(self._saved_text)

    @property
    def _selected_version(self) -> Version | None:
        row = self.versions.currentRow()
        return self._history.versions[row] if 0 <= row < len(self._history.versions) else None

    async def _load_history(self, block: Block) -> None:
        history = await self._client.run(lambda vault: vault.memory.history(block.path))
        if self.block is None or self.block.path != block.path:
            return
        if history == self._history and self.versions.count():
            return
        # If the newest version was selected, the selection moves to a newer one; otherwise, it stays.
        selected = self._selected_version if self.versions.currentRow() > 0 else None
        self.versions.blockSignals(True)
        self._history = history
        self.versions.clear()
        for version in history.versions:
            self.versions.addItem(self._version_label(version))
        self.versions.setCurrentRow(history.versions.index(selected) if selected in history.versions else 0)
        self.versions.blockSignals(False)
        self.tabs.setTabText(1, self.tr("History · {0}").format(len(history.versions)))
        self._show_version()
        if not history.versions:
            self.diff_view.show_message(self.tr("This block has no history yet."))
            self.roll_back_button.setEnabled(False)

    def _version_label(self, version: Version) -> str:
        size = self.tr("deleted") if version.hash is None else translate_text(format_size(version.size))
        summary = escape_hidden(version.summary)
        details = f"{summary}   ·   {size}" if summary else size
        return f"{exact_time(version.time)}   ·   {escape_hidden(version.author)}\n{details}"

    def _show_version(self) -> None:
        self._comparison_count += 1
        version, row = self._selected_version, self.versions.currentRow()
        self.roll_back_button.setEnabled(False)
        if version is not None:
            older = self._history.versions[row + 1 :]
            previous_key = older[0].hash if older else None
            tasks.start(
                self._compare(previous_key, version.hash, self._comparison_count),
                owner=self,
                action=self.tr("compare versions"),
            )

    async def _compare(self, old_key: str | None, new_key: str | None, number: int) -> None:
        """Show a version's changes, or an error message if its content is missing."""
        try:
            old_text = await self._read_content(old_key)
            new_text = await self._read_content(new_key)
        except NotFoundError as error:
            if number == self._comparison_count:
                self.diff_view.show_message(error.message)
            return
        if number == self._comparison_count:
            self.diff_view.show_contents(old_text, new_text)
            self.roll_back_button.setEnabled(new_text is not None and new_text != self._history.current)

    async def _read_content(self, key: str | None) -> bytes | None:
        if key is None:
            return None
        content: bytes = await self._client.run(lambda vault: asyncio.to_thread(vault.history.content, key))
        return content

    def _set_header(self, name: str, facts: str) -> None:
        self._name.setText(name)
        name_width = self._name.fontMetrics().horizontalAdvance(name) + 4
        self._name.setMinimumWidth(min(name_width, round(_MIN_NAME_WIDTH * self._theme.zoom)))
        self._facts_label.setText(facts)

    def _show_settings(self, block: Block) -> None:
        for control in (self.pin, self.permission):
            control.blockSignals(True)
        self.pin.setChecked(block.view_of(block.owner).pinned)
        self.permission.setCurrentIndex(list(Permission).index(block.permission))
        for control in (self.pin, self.permission):
            control.blockSignals(False)

    def _keep_draft(self) -> None:
        """Keep unsaved text until its block is shown again."""
        self._drafts = self._unsaved_texts()

    def _unsaved_texts(self) -> dict[str, tuple[Block, str]]:
        """Return the unsaved text of each block and the block that it is based on, by the block's path."""
        base = self._saved_base
        if base is None or not self.is_edited or self._is_saved:
            return dict(self._drafts)
        text = from_editor(self.text.document().toRawText(), base.text)
        return {**self._drafts, base.path.key: (base, text)}

    def _set_text(self, base: Block | None, text: str, *, read_only: bool) -> None:
        self._base = base
        self._is_saved = False
        self._saved_text = None
        self.text.setReadOnly(read_only)
        if not self._shows(text):
            self.text.setPlainText(for_editor(text))
        self._update_buttons()

    def _shows(self, text: str) -> bool:
        return for_editor(self.text.document().toRawText()) == for_editor(text)

    def _update_buttons(self) -> None:
        is_edited = self.is_edited
        is_visible = self.block is not None and self.tabs.currentIndex() <= 0
        self.save_button.setVisible(is_visible)
        self.discard_button.setVisible(is_visible)
        self.save_button.setEnabled(is_edited)
        self.discard_button.setEnabled(is_edited)

    def _connect(self) -> None:
        self.text.textChanged.connect(self._update_buttons)
        self.tabs.currentChanged.connect(self._update_buttons)
        self.versions.currentRowChanged.connect(self._show_version)
        self.discard_button.clicked.connect(self.discard)
        save_label = self.tr("save the block")
        self.save_button.clicked.connect(lambda: tasks.start(self.save(), owner=self, action=save_label))
        key = QShortcut(QKeySequence.StandardKey.Save, self.text)
        key.setContext(Qt.ShortcutContext.WidgetShortcut)
        key.activated.connect(lambda: tasks.start(self.save(), owner=self, action=save_label))
        self.roll_back_button.clicked.connect(
            lambda: tasks.start(self.roll_back(), owner=self, action=self.tr("roll the block back"))
        )
        self.share.clicked.connect(
            lambda: tasks.start(self.share_block(), owner=self, action=self.tr("share the block"))
        )
        self.delete.clicked.connect(
            lambda: tasks.start(self.delete_block(), owner=self, action=self.tr("delete the block"))
        )
        self.pin.toggled.connect(self._start_pin)
        self.permission.currentIndexChanged.connect(self._start_permission)

    def _start_pin(self, pinned: bool) -> None:
        work = self.change(lambda block: _with_pinned(block, pinned))
        tasks.start(work, owner=self, action=self.tr("pin the block"))

    def _start_permission(self, _: int) -> None:
        permission = Permission(self.permission.currentData())
        work = self.change(lambda block: replace(block, permission=permission))
        tasks.start(work, owner=self, action=self.tr("change the permission"))

    def _build(self) -> None:
        title_row = QHBoxLayout()
        title_row.setSpacing(8)
        title_row.addWidget(self._name)
        title_row.addWidget(self._facts_label)
        title_row.addStretch(1)
        controls_row = QHBoxLayout()
        controls_row.setSpacing(8)
        for control in self._controls:
            controls_row.addWidget(control)
        controls_row.addStretch(1)
        header = QVBoxLayout()
        header.setContentsMargins(12, 8, 12, 6)
        header.setSpacing(4)
        header.addLayout(title_row)
        header.addLayout(controls_row)
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.text, self.tr("Text"))
        self.tabs.addTab(self._build_history_page(), self.tr("History"))
        footer = QHBoxLayout()
        footer.setContentsMargins(12, 6, 12, 8)
        footer.setSpacing(8)
        footer.addWidget(self.status, 1)
        footer.addWidget(self.discard_button)
        footer.addWidget(self.save_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(header)
        column.addWidget(self.tabs, 1)
        column.addLayout(footer)

    def _build_history_page(self) -> QWidget:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(8, 4, 8, 0)
        column.setSpacing(6)
        column.addWidget(self.versions, 1)
        column.addWidget(self.roll_back_button)
        split = QSplitter()
        split.addWidget(left)
        split.addWidget(self.diff_view)
        split.setSizes([280, 560])
        split.setStretchFactor(1, 1)
        split.setChildrenCollapsible(False)
        return split


def _with_pinned(block: Block, pinned: bool) -> Block:
    """Return the block with the given pin state in its owner's context."""
    return block.with_view(block.owner, replace(block.view_of(block.owner), pinned=pinned))
