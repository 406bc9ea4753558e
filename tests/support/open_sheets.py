"""The dialogs that are open in the window."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from app.desktop.widgets.dialogs import SheetDialog


def sheets() -> list[SheetDialog]:
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, SheetDialog) and w.isVisible()]
