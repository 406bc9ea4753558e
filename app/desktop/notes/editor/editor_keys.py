"""The keys of the editor's own commands, which are not commands of the window."""

from __future__ import annotations

from PySide6.QtCore import QKeyCombination, Qt

_Ctrl = Qt.KeyboardModifier.ControlModifier
_Shift = Qt.KeyboardModifier.ShiftModifier
_Alt = Qt.KeyboardModifier.AltModifier
_Key = Qt.Key
# A shifted digit reaches the application as the character on the key, depending on the layout.
EDIT_COMMANDS: dict[tuple[Qt.KeyboardModifier, int], str] = {
    (_Ctrl, _Key.Key_B): "bold",
    (_Ctrl, _Key.Key_I): "italic",
    (_Ctrl, _Key.Key_K): "link",
    (_Ctrl, _Key.Key_QuoteLeft): "code",
    (_Ctrl, _Key.Key_Slash): "comment",
    (_Ctrl, _Key.Key_Return): "task-toggle",
    (_Ctrl, _Key.Key_Enter): "task-toggle",
    (_Ctrl | _Shift, _Key.Key_7): "list-number",
    (_Ctrl | _Shift, _Key.Key_Ampersand): "list-number",
    (_Ctrl | _Shift, _Key.Key_8): "list-bullet",
    (_Ctrl | _Shift, _Key.Key_Asterisk): "list-bullet",
    (_Ctrl | _Shift, _Key.Key_9): "list-task",
    (_Ctrl | _Shift, _Key.Key_ParenLeft): "list-task",
    (_Alt, _Key.Key_Up): "line-up",
    (_Alt, _Key.Key_Down): "line-down",
}
# These do not change the text, so they also work in a read-only editor.
VIEW_COMMANDS: dict[tuple[Qt.KeyboardModifier, int], str] = {
    (_Alt, _Key.Key_Return): "link-follow",
    (_Alt, _Key.Key_Enter): "link-follow",
    (_Ctrl | _Shift, _Key.Key_BracketLeft): "fold",
    (_Ctrl | _Shift, _Key.Key_BraceLeft): "fold",
    (_Ctrl | _Shift, _Key.Key_BracketRight): "unfold",
    (_Ctrl | _Shift, _Key.Key_BraceRight): "unfold",
}
_SHIFTED_KEYS = (
    _Key.Key_Ampersand,
    _Key.Key_Asterisk,
    _Key.Key_ParenLeft,
    _Key.Key_BraceLeft,
    _Key.Key_BraceRight,
)


def is_editor_key(combination: QKeyCombination) -> bool:
    """Return whether the editor handles a key itself, before the commands of the window."""
    modifiers, key = combination.keyboardModifiers(), combination.key()
    if key in _SHIFTED_KEYS:
        # A recorded shortcut does not name the Shift key that the character needs.
        modifiers |= _Shift
    return (modifiers, key) in EDIT_COMMANDS or (modifiers, key) in VIEW_COMMANDS
