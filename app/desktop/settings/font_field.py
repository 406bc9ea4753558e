"""The editor for a font setting: the installed fonts, and a first entry for the default."""

from __future__ import annotations

from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QComboBox

from app.desktop.widgets.model_form import Editor


def create_font_editor(value: object, *, default_label: str, fixed_pitch: bool = False) -> Editor:
    """Create the editor for a font family.

    Args:
        value: The family; empty for the default.
        default_label: The label of the default.
        fixed_pitch: Whether to list only fixed-pitch fonts.
    """
    box = QComboBox()
    box.addItem(default_label, "")
    for family in QFontDatabase.families():
        is_private = QFontDatabase.isPrivateFamily(family)
        if not is_private and (not fixed_pitch or QFontDatabase.isFixedPitch(family)):
            box.addItem(family, family)
    family_name = str(value)
    if family_name and box.findData(family_name) < 0:
        box.addItem(family_name, family_name)  # Keep a font that is installed only on another computer.
    box.setCurrentIndex(max(0, box.findData(family_name)))
    editor = Editor(box, box.currentData)
    box.currentIndexChanged.connect(editor.emit_value)
    return editor
