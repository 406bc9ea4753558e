"""Icons: Phosphor, drawn from the font that qtawesome ships, in the colours of the theme.

qtawesome was chosen because it brings one consistent family as a font: sharp at every scale and in any
colour, without hundreds of image files.
"""

from __future__ import annotations

import os

# qtpy, under qtawesome, would take another binding where one is installed.
os.environ.setdefault("QT_API", "pyside6")

import qtawesome
from PySide6.QtGui import QIcon

from app.desktop.colors import Theme


def icon(theme: Theme, name: str, color: str | None = None) -> QIcon:
    """The Phosphor icon `name` ("files", "magnifying-glass") in the theme's muted colour or in `color`.

    While hovered and when checked it takes the text's colour, so that a button answers the pointer.
    Unknown names raise, so a misspelt icon is found by the first test that builds its widget.
    """
    resting = color or theme.muted
    lively = color or theme.text
    made: QIcon = qtawesome.icon(
        f"ph.{name}",
        color=resting,
        color_active=lively,
        color_on=color or theme.accent,
        color_disabled=theme.border if theme.is_dark else theme.faint,
    )
    return made
