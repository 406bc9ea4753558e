from __future__ import annotations

from PySide6.QtWidgets import QMainWindow

from app.desktop.shell.actions import Actions
from app.desktop.shell.command_registry import COMMANDS, Command
from app.desktop.shell.keymap import Keymap
from app.settings import ShortcutSettings


def test_the_theme_in_effect_is_checked(qapp) -> None:
    window, run = QMainWindow(), list[Command]()
    actions = Actions(window, run.append, Keymap(ShortcutSettings()))
    themes = [command for command in COMMANDS if command.group == "theme"]
    assert {command.argument for command in themes} == {"light", "dark", "high-contrast", "system"}
    for command in themes:
        actions.check("theme", command.argument)
        assert [other for other in themes if actions.by_id[other.id].isChecked()] == [command]
    actions.run("theme-system")
    assert run[-1].argument == "system" and actions.by_id["theme-system"].isChecked()


def test_commands_follow_the_keymap(qapp) -> None:
    window = QMainWindow()
    actions = Actions(window, lambda command: None, Keymap(ShortcutSettings()))
    keymaps: list[Keymap] = []
    actions.keymap_changed.connect(keymaps.append)
    assert actions.by_id["save-note"].shortcut().toString() == "Ctrl+S"
    changed = Keymap(ShortcutSettings(custom={"save-note": ("F7",), "back": ()}))
    actions.set_keymap(changed)
    assert keymaps == [changed] and actions.keymap is changed
    assert actions.by_id["save-note"].shortcut().toString() == "F7"
    assert actions.by_id["back"].shortcut().isEmpty()
