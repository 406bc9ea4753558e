from __future__ import annotations

from PySide6.QtWidgets import QMainWindow

from app.desktop.shell.actions import Actions
from app.desktop.shell.command_registry import COMMANDS, Command


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
