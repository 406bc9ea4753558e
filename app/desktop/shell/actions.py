"""The window's menus, with an action for each command."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from app.desktop.shell.command_registry import COMMANDS, MENUS, Command, translate_title
from app.desktop.shell.keymap import Keymap


class Actions(QObject):
    """The window's `QAction`s by command id, in its menus.

    `keymap_changed` carries the new `Keymap`.

    Args:
        window: The window whose menu bar is filled.
        execute: Runs a command.
        keymap: The shortcuts.
    """

    keymap_changed = Signal(object)

    def __init__(self, window: QMainWindow, execute: Callable[[Command], object], keymap: Keymap) -> None:
        super().__init__(window)
        self._execute = execute
        self._has_vault = False
        self._groups: dict[str, QActionGroup] = {}
        self.menus: dict[str, QMenu] = {
            name: window.menuBar().addMenu(f"&{translate_title(name)}") for name in MENUS
        }
        self.by_id: dict[str, QAction] = {
            command.id: self._create_action(window, command) for command in COMMANDS
        }
        self.set_has_vault(False)
        self.set_keymap(keymap)

    def set_keymap(self, keymap: Keymap) -> None:
        """Give the commands these shortcuts."""
        self.keymap = keymap
        for command_id, action in self.by_id.items():
            action.setShortcuts([QKeySequence(keys) for keys in keymap.shortcuts[command_id]])
        self.keymap_changed.emit(keymap)

    def set_has_vault(self, has_vault: bool) -> None:
        """Enable or disable the commands that need a vault, and disable those that need a tab or a note."""
        self._has_vault = has_vault
        self.set_open_tab(False)

    def set_open_tab(self, has_tab: bool, *, is_note: bool = False) -> None:
        """Enable or disable the commands that need an open tab, or a note in it.

        Without a vault they stay disabled.
        """
        enabled = {
            "always": True,
            "vault": self._has_vault,
            "tab": has_tab and self._has_vault,
            "note": has_tab and is_note and self._has_vault,
        }
        for command in COMMANDS:
            self.by_id[command.id].setEnabled(enabled[command.when])

    def check(self, group: str, argument: str) -> None:
        """Check the command with this argument, and uncheck the others in its group."""
        for command in COMMANDS:
            if command.group == group:
                self.by_id[command.id].setChecked(command.argument == argument)

    def run(self, command_id: str) -> None:
        """Run the command if it is enabled."""
        action = self.by_id[command_id]
        if action.isEnabled():
            action.trigger()

    def available(self) -> tuple[Command, ...]:
        """Return the enabled commands."""
        return tuple(command for command in COMMANDS if self.by_id[command.id].isEnabled())

    def _create_action(self, window: QMainWindow, command: Command) -> QAction:
        action = QAction(translate_title(command.title), window)
        action.setMenuRole(command.role)
        action.triggered.connect(lambda *_: self._execute(command))
        if command.group:
            action.setCheckable(True)
            self._groups.setdefault(command.group, QActionGroup(window)).addAction(action)
        menu = self.menus[command.menu]
        if command.separator:
            menu.addSeparator()
        menu.addAction(action)
        return action
