"""The keyboard shortcuts in the settings: a searchable list of the commands, and a card to change one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime import tasks
from app.desktop.settings.reserved_shortcuts import rejection
from app.desktop.shell.command_registry import COMMANDS, COMMANDS_BY_ID, Command, translate_title
from app.desktop.shell.keymap import Keymap, portable_shortcut, short_title, shortcut_text
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.panel import EmptyState, SearchField
from app.desktop.widgets.plain_labels import show_text, wrapped_label
from app.desktop.widgets.row_delegate import RowDelegate
from app.settings import ShortcutSettings

_ID_ROLE = Qt.ItemDataRole.UserRole
_MIN_LIST_HEIGHT = 300


class ShortcutRecorder(QKeySequenceEdit):
    """Records one shortcut; Escape cancels, and Tab is recorded like any other key.

    `recorded` carries the `QKeySequence`.
    """

    recorded = Signal(object)
    canceled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMaximumSequenceLength(1)
        self.setFinishingKeyCombinations([])  # Otherwise, Tab would end the recording.
        self.editingFinished.connect(self._finish)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Record a key, or cancel."""
        if event.key() == Qt.Key.Key_Escape and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self.canceled.emit()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, _next: bool) -> bool:
        """Return False: Tab does not leave the field."""
        return False

    def _finish(self) -> None:
        sequence = self.keySequence()
        if not sequence.isEmpty():
            self.clear()
            self.recorded.emit(sequence)


class ShortcutCard(QFrame):
    """Shows the shortcut of one command, and lets the user change, remove or reset it.

    If another command has the chosen shortcut, the card asks before it takes the shortcut from it.

    Signals:
        assigned: The id of the command, and its new shortcuts.
        finished: The user has changed the shortcut or canceled.
    """

    assigned = Signal(str, object)
    finished = Signal()

    def __init__(self, keymap: Keymap, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._keymap = keymap
        self._command = COMMANDS[0]
        self._is_recording = False
        self._conflicting: tuple[str, ...] = ()
        self._title = QLabel()
        self._title.setProperty("textSize", "strong")
        self._details = QLabel()
        self._details.setProperty("tone", "muted")
        self.recorder = ShortcutRecorder()
        self.recorder.setAccessibleName(self.tr("New shortcut"))
        self.recorder.recorded.connect(self._check)
        self.recorder.canceled.connect(self.cancel)
        self.message = wrapped_label()
        self.record_button = self._create_button(self.tr("Change…"), self.record)
        self.remove_button = self._create_button(self.tr("Remove"), self.remove)
        self.reset_button = self._create_button(self.tr("Reset"), self.reset)
        self.reassign_button = self._create_button(self.tr("Reassign"), self._reassign)
        self.reassign_button.setProperty("role", "primary")
        self.cancel_button = self._create_button(self.tr("Cancel"), self.cancel)
        heading = QHBoxLayout()
        heading.setSpacing(12)
        heading.addWidget(self._title)
        heading.addWidget(self._details)
        heading.addStretch(1)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (
            self.record_button,
            self.remove_button,
            self.reset_button,
            self.reassign_button,
            self.cancel_button,
        ):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addLayout(heading)
        column.addWidget(self.recorder)
        column.addWidget(self.message)
        column.addLayout(buttons)
        self._show()

    def show_command(self, command: Command, keymap: Keymap) -> None:
        """Show a command, and stop recording."""
        self._command, self._keymap = command, keymap
        self._is_recording, self._conflicting = False, ()
        self._show()

    def record(self) -> None:
        """Wait for the new shortcut."""
        self._is_recording, self._conflicting = True, ()
        self._show()
        self.recorder.setFocus(Qt.FocusReason.OtherFocusReason)

    def remove(self) -> None:
        """Leave the command without a shortcut, if the Remove button could be pressed."""
        if self.remove_button.isEnabled() and not self.remove_button.isHidden():
            self._assign(())

    def reset(self) -> None:
        """Restore the default shortcuts of the command."""
        self._assign_free(self._command.shortcuts)

    def cancel(self) -> None:
        """Cancel the change of the shortcut."""
        self.show_command(self._command, self._keymap)
        self.finished.emit()

    def _create_button(self, text: str, callback: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setAutoDefault(False)
        button.clicked.connect(callback)
        return button

    def _check(self, sequence: QKeySequence) -> None:
        """Assign a recorded sequence if it can be a shortcut and is free."""
        if not self._is_recording:
            return
        if reason := rejection(sequence):
            advice = self.tr("Press another shortcut, or Esc to cancel.")
            show_text(self.message, f"{reason} {advice}", "danger")
        else:
            self._assign_free((portable_shortcut(sequence),))

    def _assign_free(self, shortcuts: tuple[str, ...]) -> None:
        """Assign shortcuts, or ask if other commands have them."""
        conflicts = self._keymap.conflicts(self._command.id, shortcuts)
        if not conflicts:
            self._assign(shortcuts)
            return
        self._is_recording, self._conflicting = False, shortcuts
        self._show()
        owners = [
            self.tr("{0} is the shortcut of “{1}”.").format(shortcut_text(keys), short_title(command.id))
            for keys, command in conflicts.items()
        ]
        question = self.tr("Reassign it to “{0}”?").format(short_title(self._command.id))
        show_text(self.message, " ".join((*owners, question)), "warning")
        self.cancel_button.setFocus()

    def _reassign(self) -> None:
        self._assign(self._conflicting)

    def _assign(self, shortcuts: tuple[str, ...]) -> None:
        self.assigned.emit(self._command.id, shortcuts)
        self.finished.emit()

    def _show(self) -> None:
        command, keymap = self._command, self._keymap
        self._title.setText(short_title(command.id))
        shortcut = _shortcuts_text(keymap.shortcuts[command.id]) or self.tr("No shortcut")
        is_changed = keymap.is_changed(command.id)
        if is_changed:
            default = _shortcuts_text(command.shortcuts) or self.tr("none")
            shortcut = self.tr("{0} (default: {1})").format(shortcut, default)
        self._details.setText(shortcut)
        hint = self.tr("Press the new shortcut, or Esc to cancel.") if self._is_recording else ""
        show_text(self.message, hint)
        is_idle = not self._is_recording and not self._conflicting
        self.recorder.setVisible(self._is_recording)
        self.record_button.setVisible(is_idle)
        self.remove_button.setVisible(is_idle)
        self.remove_button.setEnabled(bool(keymap.shortcuts[command.id]))
        self.reset_button.setVisible(is_idle)
        self.reset_button.setEnabled(is_changed)
        self.reassign_button.setVisible(bool(self._conflicting))
        self.cancel_button.setVisible(not is_idle)


class ShortcutsPage(QWidget):
    """Lists the commands with their shortcuts; the selected one can be changed.

    `changed` carries the new value of `ShortcutSettings.custom`.
    """

    changed = Signal(object)

    def __init__(self, theme: ThemeSource, settings: ShortcutSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self._keymap = Keymap(settings)
        self.setProperty("searchKeywords", self.tr("keys hotkeys commands key bindings"))
        self.problems = wrapped_label()
        self.search = SearchField(theme, self.tr("Search commands or shortcuts"))
        self.search.textChanged.connect(self._filter)
        self.reset_all_button = QPushButton(self.tr("Reset all…"))
        self.reset_all_button.setAutoDefault(False)
        self.reset_all_button.setToolTip(self.tr("Restore the default shortcuts of all commands"))
        self.reset_all_button.clicked.connect(
            lambda: tasks.start(self._reset_all(), owner=self, action=self.tr("reset the shortcuts"))
        )
        self.table = self._create_table()
        self._rows: dict[str, QTreeWidgetItem] = {}
        for command in COMMANDS:
            row = QTreeWidgetItem(self.table, [short_title(command.id), translate_title(command.menu), ""])
            row.setData(0, _ID_ROLE, command.id)
            self._rows[command.id] = row
        self._no_match = EmptyState(theme, "magnifying-glass", self.tr("No commands found"), "")
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._no_match)
        self._stack.setMinimumHeight(round(_MIN_LIST_HEIGHT * theme.zoom))
        self.card = ShortcutCard(self._keymap)
        self.card.assigned.connect(
            lambda command_id, shortcuts: self.changed.emit(self._keymap.assign(command_id, shortcuts))
        )
        self.card.finished.connect(self.table.setFocus)
        top_row = QHBoxLayout()
        top_row.setSpacing(8)
        top_row.addWidget(self.search, 1)
        top_row.addWidget(self.reset_all_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.problems)
        column.addLayout(top_row)
        column.addWidget(self._stack)
        column.addWidget(self.card)
        self.select(COMMANDS[0].id)
        self.show_settings(settings)

    def show_settings(self, settings: ShortcutSettings) -> None:
        """Show the shortcuts with these settings."""
        self._keymap = Keymap(settings)
        problems = list(self._keymap.problems)
        if unknown := self._keymap.unknown_ids:
            text = self.tr("The settings have shortcuts of commands that this version does not have: {0}")
            problems.append(text.format(", ".join(unknown)))
        show_text(self.problems, "\n".join(problems), "warning")
        self.reset_all_button.setEnabled(bool(settings.custom))
        font = self.table.font()
        for command_id, row in self._rows.items():
            row.setText(2, _shortcuts_text(self._keymap.shortcuts[command_id]))
            font.setBold(self._keymap.is_changed(command_id))
            row.setFont(2, font)
        self._show_current()

    def select(self, command_id: str) -> None:
        """Select a command."""
        self.table.setCurrentItem(self._rows[command_id])

    def _create_table(self) -> QTreeWidget:
        table = QTreeWidget()
        table.setColumnCount(3)
        table.setHeaderLabels([self.tr("Command"), self.tr("Menu"), self.tr("Shortcut")])
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setItemDelegate(RowDelegate(table))
        table.setAccessibleName(self.tr("Commands"))
        table.header().setSectionsMovable(False)
        table.header().setStretchLastSection(False)
        table.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.currentItemChanged.connect(lambda *_: self._show_current())
        table.itemDoubleClicked.connect(lambda *_: self.card.record())
        for keys, action in (
            (Qt.Key.Key_Return, lambda: self.card.record()),
            (Qt.Key.Key_Enter, lambda: self.card.record()),
            (Qt.Key.Key_Delete, lambda: self.card.remove()),
        ):
            QShortcut(QKeySequence(keys), table, action, context=Qt.ShortcutContext.WidgetShortcut)
        return table

    def _show_current(self) -> None:
        if (row := self.table.currentItem()) is not None:
            self.card.show_command(COMMANDS_BY_ID[row.data(0, _ID_ROLE)], self._keymap)

    def _filter(self, text: str) -> None:
        """List the commands that contain all words in their title, menu or shortcut."""
        words = text.casefold().split()
        first: QTreeWidgetItem | None = None
        for row in self._rows.values():
            row_text = " ".join(row.text(column) for column in range(3)).casefold()
            row.setHidden(not all(word in row_text for word in words))
            if first is None and not row.isHidden():
                first = row
        current = self.table.currentItem()
        if first is not None and (current is None or current.isHidden()):
            self.table.setCurrentItem(first)
        self._stack.setCurrentWidget(self.table if first is not None else self._no_match)
        self.card.setVisible(first is not None)

    async def _reset_all(self) -> None:
        if await dialogs.confirm(
            self.window(),
            self.tr("Reset all shortcuts?"),
            self.tr("All commands get their default shortcuts. Your changes are lost."),
            self.tr("Reset all"),
            is_destructive=True,
        ):
            self.changed.emit({})


def _shortcuts_text(shortcuts: tuple[str, ...]) -> str:
    """Return the shortcuts of a command in this platform's notation."""
    return "   ".join(map(shortcut_text, shortcuts))
