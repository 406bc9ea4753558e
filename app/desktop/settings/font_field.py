"""The editor of a font setting: the installed fonts, and a first entry for the default."""

from __future__ import annotations

from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QComboBox

from app.desktop.widgets.model_form import Editor


def font_editor(value: object, *, usual: str, fixed_pitch: bool = False) -> Editor:
    """Return the editor of a font family.

    Args:
        value: The family; empty for the default.
        usual: The label of the default.
        fixed_pitch: List only fonts with a fixed pitch.
    """
    box = QComboBox()
    box.addItem(usual, "")
    families = QFontDatabase.families()
    for family in families:
        private = QFontDatabase.isPrivateFamily(family)
        if not private and (not fixed_pitch or QFontDatabase.isFixedPitch(family)):
            box.addItem(family, family)
    chosen = str(value)
    if chosen and box.findData(chosen) < 0:
        box.addItem(chosen, chosen)  # A font of another machine is kept.
    box.setCurrentIndex(max(0, box.findData(chosen)))
    editor = Editor(box, box.currentData)
    box.currentIndexChanged.connect(editor.emit_value)
    return editor
