"""The keys that can't be the shortcut of a command because text fields, the editor or a panel use them."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence

from app.desktop.notes.editor.editor_keys import is_editor_key
from app.desktop.runtime.translation import translate
from app.desktop.shell.command_registry import COMMANDS, MENUS, translate_title
from app.desktop.shell.keymap import first_combination, portable_shortcut, shortcut_text

PANEL_KEYS = frozenset(
    ("Ctrl+Enter", "Ctrl+M", "Ctrl+Return", "F2", "F3", "F5", "F8", "Shift+F3", "Shift+F8")
)
"""The shortcuts of panels; Qt would run neither the panel's action nor a command with the same keys."""
_Key = QKeySequence.StandardKey
_TEXT_KEYS = (
    _Key.Copy,
    _Key.Cut,
    _Key.Paste,
    _Key.Undo,
    _Key.Redo,
    _Key.SelectAll,
    _Key.InsertParagraphSeparator,
    _Key.InsertLineSeparator,
    _Key.DeleteStartOfWord,
    _Key.DeleteEndOfWord,
    _Key.MoveToNextChar,
    _Key.MoveToPreviousChar,
    _Key.MoveToNextWord,
    _Key.MoveToPreviousWord,
    _Key.MoveToStartOfLine,
    _Key.MoveToEndOfLine,
    _Key.MoveToStartOfBlock,
    _Key.MoveToEndOfBlock,
    _Key.MoveToStartOfDocument,
    _Key.MoveToEndOfDocument,
    _Key.SelectNextChar,
    _Key.SelectPreviousChar,
    _Key.SelectNextWord,
    _Key.SelectPreviousWord,
    _Key.SelectStartOfLine,
    _Key.SelectEndOfLine,
    _Key.SelectStartOfBlock,
    _Key.SelectEndOfBlock,
    _Key.SelectStartOfDocument,
    _Key.SelectEndOfDocument,
)


def rejection(sequence: QKeySequence) -> str:
    """Return why a recorded sequence can't be a shortcut, as a sentence; empty if it can.

    The default of a command is always accepted.
    """
    keys = portable_shortcut(sequence)
    text = shortcut_text(sequence.toString())
    if not keys:
        return translate(
            "ShortcutsPage",
            "{0} is needed for writing. Combine it with Ctrl or Alt, or use a function key.",
        ).format(text)
    if any(keys in command.shortcuts for command in COMMANDS):
        return ""
    if any(sequence in QKeySequence.keyBindings(key) for key in _TEXT_KEYS):
        return translate("ShortcutsPage", "Text fields use {0}.").format(text)
    if is_editor_key(first_combination(sequence)):
        return translate("ShortcutsPage", "The editor uses {0}.").format(text)
    if keys in PANEL_KEYS:
        return translate("ShortcutsPage", "A panel uses {0}.").format(text)
    if any(sequence == QKeySequence.mnemonic(f"&{translate_title(menu)}") for menu in MENUS):
        return translate("ShortcutsPage", "A menu uses {0}.").format(text)
    return ""
