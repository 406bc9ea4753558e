"""The app's icon: a quill and a graph, drawn on 16, 32 and 256 px grids for light and dark themes."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QIcon

from app import paths
from app.desktop.theme.colors import Theme

SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


def app_icon(theme: Theme) -> QIcon:
    """Return the app's icon in colors that stand out in `theme`.

    Each size is read when it is first painted.
    """
    folder = paths.resources_folder() / "icons"
    if theme.is_dark:
        folder /= "dark"
    result = QIcon()
    for size in SIZES:
        result.addFile(str(folder / f"{size}.png"), QSize(size, size))
    return result
