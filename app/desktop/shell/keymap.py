"""The shortcuts of the commands: the defaults in the registry, with the user's changes."""

from __future__ import annotations

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeySequence

from app.desktop.runtime.translation import translate
from app.desktop.shell.command_registry import COMMANDS, COMMANDS_BY_ID, Command, command_title
from app.settings import ShortcutSettings

_Key = Qt.Key
_MODIFIER_KEYS = (_Key.Key_Shift, _Key.Key_Control, _Key.Key_Alt, _Key.Key_AltGr, _Key.Key_Meta)


class Keymap:
    """The shortcuts of all commands, each for one command only.

    While the user's choice for one command is the default of another, for example of one that a newer version
    has added, the other command does not have it.

    Args:
        settings: The user's changes. Those that can't be used are ignored.

    Attributes:
        shortcuts: The shortcuts by command id, in Qt's portable form; the first one is shown.
        problems: Messages for the user about shortcuts in the settings that are invalid.
        unknown_ids: The commands in the settings that don't exist in this version.
    """

    def __init__(self, settings: ShortcutSettings) -> None:
        self._custom = settings.custom
        chosen: dict[str, tuple[str, ...]] = {}
        problems: list[str] = []
        for command in COMMANDS:
            saved = settings.custom.get(command.id, command.shortcuts)
            valid = tuple(filter(None, map(portable_shortcut, saved)))
            if invalid := [keys for keys in saved if not portable_shortcut(keys)]:
                text = translate(
                    "Keymap", "The shortcut of “{0}” in the settings is invalid and ignored: {1}"
                )
                problems.append(text.format(short_title(command.id), ", ".join(invalid)))
            if command.id in settings.custom and (valid or not saved):
                chosen[command.id] = valid
        self.shortcuts: dict[str, tuple[str, ...]] = {}
        taken: set[str] = set()
        for command in sorted(COMMANDS, key=lambda command: command.id not in chosen):
            shortcuts = tuple(dict.fromkeys(chosen.get(command.id, command.shortcuts)))
            self.shortcuts[command.id] = tuple(keys for keys in shortcuts if keys not in taken)
            taken.update(shortcuts)
        self.problems = tuple(problems)
        self.unknown_ids = tuple(name for name in settings.custom if name not in COMMANDS_BY_ID)

    def text(self, command_id: str) -> str:
        """Return a command's first shortcut in this platform's notation; empty if there is none."""
        shortcuts = self.shortcuts[command_id]
        return shortcut_text(shortcuts[0]) if shortcuts else ""

    def tooltip(self, command_id: str, label: str = "") -> str:
        """Return the tooltip of a button for a command: its title, or `label`, and its shortcut."""
        label, shortcut = label or short_title(command_id), self.text(command_id)
        return f"{label} ({shortcut})" if shortcut else label

    def is_changed(self, command_id: str) -> bool:
        """Return whether a command's shortcuts differ from its defaults."""
        return self.shortcuts[command_id] != COMMANDS_BY_ID[command_id].shortcuts

    def conflicts(self, command_id: str, shortcuts: tuple[str, ...]) -> dict[str, Command]:
        """Return those of `shortcuts` that other commands than this one have, with their commands."""
        return {
            keys: command
            for keys in shortcuts
            for command in COMMANDS
            if command.id != command_id and keys in self.shortcuts[command.id]
        }

    def assign(self, command_id: str, shortcuts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        """Give a command these shortcuts and take them from the other commands.

        Returns:
            The new value of `ShortcutSettings.custom`.
        """
        custom = dict(self._custom)
        for command in COMMANDS:
            current = self.shortcuts[command.id]
            saved = map(portable_shortcut, custom.get(command.id, ()))
            if command.id == command_id:
                new = shortcuts
            elif set(shortcuts).isdisjoint((*current, *saved)):
                continue
            else:
                new = tuple(keys for keys in current if keys not in shortcuts)
            if new == command.shortcuts:
                custom.pop(command.id, None)
            else:
                custom[command.id] = new
        return custom


def portable_shortcut(keys: str | QKeySequence) -> str:
    """Return a shortcut in Qt's portable form, in which equal shortcuts are equal; empty if it is invalid.

    A shortcut is a function key, or another key with Ctrl, Alt or Meta. Text fields need all other keys.
    """
    sequence = QKeySequence(keys)
    if sequence.count() != 1:
        return ""
    combination = first_combination(sequence)
    key, modifiers = combination.key(), combination.keyboardModifiers()
    if key == _Key.Key_unknown or key in _MODIFIER_KEYS:
        return ""
    is_combined = bool(modifiers & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier))
    is_function_key = _Key.Key_F1 <= key <= _Key.Key_F35
    return sequence.toString() if is_combined or is_function_key else ""


def first_combination(sequence: QKeySequence) -> QKeyCombination:
    """Return the first key of a sequence that is not empty, with its modifiers."""
    combination: QKeyCombination = sequence[0]  # type: ignore[index]  # missing in the stubs
    return combination


def shortcut_text(keys: str) -> str:
    """Return a shortcut in this platform's notation."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def short_title(command_id: str) -> str:
    """Return a command's title in the user's language, without the ellipsis of its menu entry."""
    return command_title(command_id).rstrip("…")
