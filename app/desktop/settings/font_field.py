"""A setting that names a font: a list of those that are installed, the first entry for none of one's own."""

from __future__ import annotations

from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QComboBox

from app.desktop.widgets.model_form import Editor


def font_editor(value: object, *, usual: str, fixed_pitch: bool = False) -> Editor:
    """The editor of a font's family.

    Args:
        value: The family; empty for the usual one.
        usual: What the entry for the usual font says.
        fixed_pitch: Offer only fonts whose letters are equally wide.
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
        box.addItem(chosen, chosen)  # From another machine: it is kept.
    box.setCurrentIndex(max(0, box.findData(chosen)))
    made = Editor(box, box.currentData)
    box.currentIndexChanged.connect(made.emit_value)
    return made
