"""The version history of a note: compare each version with the current text, and restore it.

The saves in one editing session, and the changes in one agent turn, form one entry with nested steps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText, translate_text
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.dialogs import resize_within_screen
from app.desktop.widgets.diff.view import DiffView
from app.desktop.widgets.panel import ElidedLabel
from app.desktop.widgets.plain_labels import heading_label, wrapped_label
from app.desktop.widgets.time_labels import exact_time
from app.desktop.widgets.two_line_delegate import TwoLineDelegate
from app.errors import NotFoundError
from app.permissions.caller import Caller
from app.permissions.request_labels import format_size
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.vault.commits import OUTSIDE_AUTHOR, Version
from app.vault.history import group_sessions
from app.vault.invisible_chars import escape_hidden
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService


class HistoryDialog(QDialog):
    """Lists the versions of a note, newest first; restoring goes through the gate like any other change."""

    def __init__(
        self, path: NotePath, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(self.tr("History"))
        resize_within_screen(self, 1000, 660)
        self._path = path
        self._client = client
        self.versions: tuple[Version, ...] = ()
        self._current: bytes | None = None
        self._request_number = 0
        self.list = QTreeWidget()
        self.list.setHeaderHidden(True)
        self.list.setIndentation(16)
        self.list.setAccessibleName(self.tr("Versions, newest first"))
        self.list.setItemDelegate(TwoLineDelegate(theme, self.list))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.diff_view = DiffView(theme)
        self._compared_label = ElidedLabel()
        self._compared_label.setContentsMargins(0, 0, 12, 0)
        self.diff_view.set_header(self._compared_label)
        self._status = wrapped_label()
        self.restore_button = QPushButton(self.tr("Restore this version…"))
        self.restore_button.setAutoDefault(False)
        self._build()
        self.list.currentItemChanged.connect(lambda item, _: self._choose(self._version_of(item)))
        self.restore_button.clicked.connect(
            lambda: tasks.start(self.restore(), owner=self, action=self.tr("restore the version"))
        )
        self.show_versions((), None)
        tasks.start(self.load(), owner=self, action=self.tr("read the history"))

    async def load(self) -> None:
        """Load and show the versions for comparison with the current text.

        Raises:
            StorageError: The note can't be read.
        """

        def read(vault: VaultService) -> tuple[tuple[Version, ...], bytes | None]:
            try:
                current: bytes | None = vault.notes.read(self._path)
            except NotFoundError:
                current = None
            return vault.history.versions(self._path), current

        versions, current = await self._client.run(read)
        self.show_versions(versions, current)
        if not versions:
            self.diff_view.show_message(
                self.tr("No versions yet. Each change made through the app adds one.")
            )

    async def restore(self) -> None:
        """Propose to restore the selected version; the change needs approval like any other."""
        version = self._version_of(self.list.currentItem())
        if version is None or (key := version.hash) is None:
            return
        arguments = {"name": str(self._path), "version": key}
        outcome: ToolOutcome = await self._client.run(
            lambda vault: vault.call(Call.of("restore_note", arguments, Caller.user()))
        )
        if outcome.success:
            await self.load()
            self._status.setText(self.tr("Restored. The previous text is kept as a version."))
        elif not outcome.denied:
            self._status.setText(outcome.message)

    def show_versions(self, versions: Sequence[Version], current: bytes | None) -> None:
        """List `versions` for comparison with `current` (None: the note does not exist)."""
        self.versions = tuple(versions)
        self._current = current
        self.list.clear()
        start = 0
        for group in group_sessions(self.versions):
            steps = [
                _item(self._version_label(version), version, start + offset)
                for offset, version in enumerate(group)
            ]
            first, start = start, start + len(group)
            if len(group) == 1:
                self.list.addTopLevelItem(steps[0])
                continue
            entry = _item(self._group_label(group), group[0], first)
            entry.addChildren(steps)
            self.list.addTopLevelItem(entry)
        if (newest := self.list.topLevelItem(0)) is not None:
            self.list.setCurrentItem(newest)
        else:
            self._choose(None)

    def _version_of(self, item: QTreeWidgetItem | None) -> Version | None:
        if item is None:
            return None
        return self.versions[int(item.data(0, Qt.ItemDataRole.UserRole))]

    def _group_label(self, group: Sequence[Version]) -> str:
        author, count = escape_hidden(group[0].author), len(group)
        size = self.tr("deleted") if group[0].hash is None else translate_text(format_size(group[0].size))
        span = " – ".join(dict.fromkeys(exact_time(version.time) for version in (group[-1], group[0])))
        changes = PluralText("HistoryDialog", "{0} change", "{0} changes").format(count)
        return f"{span}   ·   {author}\n{changes}   ·   {size}"

    def _version_label(self, version: Version) -> str:
        author = (
            self.tr("outside the app") if version.author == OUTSIDE_AUTHOR else escape_hidden(version.author)
        )
        size = self.tr("deleted") if version.hash is None else translate_text(format_size(version.size))
        summary = escape_hidden(version.summary)
        details = f"{summary}   ·   {size}" if summary else size
        return f"{exact_time(version.time)}   ·   {author}\n{details}"

    def _choose(self, version: Version | None) -> None:
        self._request_number += 1
        self.restore_button.setEnabled(False)
        if version is None:
            return
        self._compared_label.setText(
            self.tr("{0}, compared with the current text").format(escape_hidden(str(version.path)))
        )
        if (key := version.hash) is None:
            self.diff_view.show_message(self.tr("The note was deleted in this version."))
            return
        tasks.start(
            self._compare(key, self._request_number), owner=self, action=self.tr("compare the versions")
        )

    async def _compare(self, key: str, request_number: int) -> None:
        try:
            content: bytes = await self._client.run(
                lambda vault: asyncio.to_thread(vault.history.content, key)
            )
        except NotFoundError as error:
            if request_number == self._request_number:
                self.diff_view.show_message(error.message)
            return
        if request_number != self._request_number:
            return
        is_same = content == self._current
        self.restore_button.setEnabled(not is_same)
        if is_same:
            self.diff_view.show_message(self.tr("This version is the same as the current text."))
        else:
            self.diff_view.show_contents(content, self._current)

    def _build(self) -> None:
        title = heading_label(self.tr("History of {0}").format(escape_hidden(self._path.name)))
        title.setContentsMargins(16, 14, 16, 10)
        body = QSplitter()
        body.addWidget(self.list)
        body.addWidget(self.diff_view)
        body.setSizes([280, 720])
        body.setStretchFactor(1, 1)
        body.setChildrenCollapsible(False)
        close_button = QPushButton(self.tr("Close"))
        close_button.setDefault(True)
        close_button.clicked.connect(self.reject)
        row = QHBoxLayout()
        row.setContentsMargins(16, 10, 16, 12)
        row.setSpacing(8)
        row.addWidget(self._status, 1)
        row.addWidget(self.restore_button)
        row.addWidget(close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(title)
        layout.addWidget(body, 1)
        layout.addLayout(row)


def _item(text: str, version: Version, index: int) -> QTreeWidgetItem:
    item = QTreeWidgetItem([text])
    item.setData(0, Qt.ItemDataRole.UserRole, index)
    item.setToolTip(0, escape_hidden(version.summary))
    return item
