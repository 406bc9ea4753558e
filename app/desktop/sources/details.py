"""The details and settings of one source."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QListWidget,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime.translation import PluralText
from app.desktop.sources.labels import kind_label
from app.desktop.sources.rules_editor import RulesEditor
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ElidedLabel, ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.desktop.widgets.time_labels import time_or_date
from app.sources.config import FeedConfig, FolderConfig, StreamConfig
from app.sources.source import Notification, SourceInfo

_WEB_SCHEMES = ("http://", "https://")


class SourceDetails(QWidget):
    """The details of the selected source, in the right half of the panel.

    `changed` carries the edited configuration, `note_requested` a note's path; `pause_requested`,
    `check_requested`, `edit_requested` and `remove_requested` carry the displayed `SourceInfo`.
    """

    changed = Signal(object)
    pause_requested = Signal(object)
    check_requested = Signal(object)
    edit_requested = Signal(object)
    remove_requested = Signal(object)
    note_requested = Signal(str)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._info: SourceInfo | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(6)
        column.addLayout(self._build_header(theme))
        self.location = ElidedLabel(tone="muted")
        column.addWidget(self.location)
        self.problem = wrapped_label(tone="danger")
        column.addWidget(self.problem)
        self.rules = RulesEditor(theme)
        self.rules.saved.connect(self.changed)
        self.loaded = QListWidget()
        self.loaded.setAccessibleName(self.tr("Files that agents have loaded"))
        self._loaded_label = QLabel()
        self._loaded_label.setProperty("tone", "muted")
        self._loaded_label.setWordWrap(True)
        files = QWidget()
        columns = QHBoxLayout(files)
        columns.setContentsMargins(0, 0, 0, 0)
        columns.setSpacing(14)
        columns.addWidget(self.rules, 3)
        right = QVBoxLayout()
        right.addWidget(self._loaded_label, 0, Qt.AlignmentFlag.AlignTop)
        right.addWidget(self.loaded, 1)
        right.addStretch(0)
        columns.addLayout(right, 1)
        self._stack = QStackedWidget()
        self._stack.addWidget(files)
        self._stack.addWidget(self._build_stream(theme))
        column.addWidget(self._stack, 1)

    def show_source(self, info: SourceInfo) -> None:
        """Show a source."""
        self._info = info
        config = info.config
        self.name.setText(config.name)
        self.kind.setText(kind_label(config.kind))
        self.location.setText(info.detail)
        self.location.setVisible(bool(info.detail))
        self.problem.setText(info.problem)
        self.problem.setVisible(bool(info.problem))
        self.pause_button.set_symbol("play" if config.paused else "pause")
        self.pause_button.set_label(self.tr("Resume") if config.paused else self.tr("Pause"))
        self.open_button.setVisible(bool(info.detail))
        self.check_button.setVisible(config.kind == "feed" and not config.paused)
        if isinstance(config, FolderConfig):
            self._stack.setCurrentIndex(0)
            self._show_files(info, config)
        else:
            self._stack.setCurrentIndex(1)
            self._show_stream(info, config)

    def _show_files(self, info: SourceInfo, config: FolderConfig) -> None:
        self.rules.show_rules(config)
        self.loaded.clear()
        self.loaded.addItems([label.split(":", 2)[2] for label in info.loaded])
        self.loaded.setVisible(bool(info.loaded))
        empty_text = self.tr("No agent has loaded a file yet.")
        self._loaded_label.setText(self.tr("Loaded into memory:") if info.loaded else empty_text)

    def _show_stream(self, info: SourceInfo, config: StreamConfig) -> None:
        self.starts_turn.blockSignals(True)
        self.starts_turn.setChecked(config.starts_turn)
        self.starts_turn.blockSignals(False)
        self.items.clear()
        for notification in info.items:
            row = QTreeWidgetItem([time_or_date(notification.at), notification.title])
            row.setToolTip(1, f"{notification.title}\n{notification.text}\n{notification.link}".strip())
            row.setData(0, Qt.ItemDataRole.UserRole, notification)
            self.items.addTopLevelItem(row)
        self.items.setVisible(bool(info.items))
        text = self.tr("No new items since the app started.")
        if info.waiting:
            text = PluralText(
                "SourceDetails", "{0} item not yet read by an agent.", "{0} items not yet read by an agent."
            ).format(info.waiting)
        elif info.items:
            text = self.tr("Agents have read all items.")
        if info.checked:
            text += self.tr(" Last checked: {0}.").format(time_or_date(info.checked))
        if isinstance(config, FeedConfig):
            text += " " + PluralText(
                "SourceDetails", "Checked every minute.", "Checked every {0} minutes."
            ).format(config.minutes)
        elif config.globs:
            text += self.tr(" Limited to {0}.").format(", ".join(config.globs))
        self.summary.setText(text)

    def _open(self) -> None:
        if self._info is not None:
            location = self._info.detail
            url = QUrl(location) if location.startswith(_WEB_SCHEMES) else QUrl.fromLocalFile(location)
            QDesktopServices.openUrl(url)

    def _open_item(self, row: QTreeWidgetItem) -> None:
        notification = row.data(0, Qt.ItemDataRole.UserRole)
        if not isinstance(notification, Notification) or self._info is None:
            return
        if notification.link.startswith(_WEB_SCHEMES):
            QDesktopServices.openUrl(QUrl(notification.link))
        elif notification.path and self._info.config.kind == "vault":
            self.note_requested.emit(notification.path)

    def _emit_starts_turn(self, enabled: bool) -> None:
        if self._info is not None:
            self.changed.emit(self._info.config.model_copy(update={"starts_turn": enabled}))

    def _build_header(self, theme: ThemeSource) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(6)
        self.name = ElidedLabel()
        self.name.setProperty("textSize", "strong")
        self.kind = QLabel()
        self.kind.setProperty("tone", "faint")
        row.addWidget(self.name)
        row.addWidget(self.kind)
        row.addStretch(1)
        self.check_button = ThemedButton(theme, "arrows-clockwise", self.tr("Check the feed now"))
        self.open_button = ThemedButton(theme, "arrow-square-out", self.tr("Open in the default app"))
        self.edit_button = ThemedButton(theme, "pencil-simple", self.tr("Edit name and settings…"))
        self.pause_button = ThemedButton(theme, "pause", self.tr("Pause"))
        self.remove_button = ThemedButton(theme, "trash", self.tr("Remove the source (files are kept)"))
        self.check_button.clicked.connect(lambda: self.check_requested.emit(self._info))
        self.open_button.clicked.connect(self._open)
        self.edit_button.clicked.connect(lambda: self.edit_requested.emit(self._info))
        self.pause_button.clicked.connect(lambda: self.pause_requested.emit(self._info))
        self.remove_button.clicked.connect(lambda: self.remove_requested.emit(self._info))
        buttons = self.check_button, self.open_button, self.edit_button, self.pause_button, self.remove_button
        for button in buttons:
            row.addWidget(button)
        return row

    def _build_stream(self, theme: ThemeSource) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self.starts_turn = QCheckBox(self.tr("Let new items start the agent"))
        self.starts_turn.setToolTip(
            self.tr(
                "Needs a model; otherwise items wait for the agent's next turn. Changes need your approval "
                "as usual."
            )
        )
        self.starts_turn.toggled.connect(self._emit_starts_turn)
        column.addWidget(self.starts_turn)
        self.summary = wrapped_label(tone="muted")
        column.addWidget(self.summary)
        self.items = QTreeWidget()
        self.items.setAccessibleName(self.tr("Recent items"))
        self.items.setHeaderLabels([self.tr("Time"), self.tr("Title")])
        self.items.setRootIsDecorated(False)
        self.items.setUniformRowHeights(True)
        self.items.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.items.setColumnWidth(0, round(84 * theme.zoom))
        self.items.itemActivated.connect(self._open_item)
        column.addWidget(self.items, 1)
        column.addStretch(0)
        return page
