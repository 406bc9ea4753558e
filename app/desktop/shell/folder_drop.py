"""Open folders that are dropped anywhere on the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget


class FolderDropFilter(QObject):
    """Watches the window, and the parts added by `watch`, for a dropped folder.

    `hover_changed` tells whether a folder is over the window; `dropped` carries its path.
    """

    hover_changed = Signal(bool)
    dropped = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def watch(self, part: QWidget) -> None:
        """Watch the widgets in `part` that accept drops."""
        for widget in (part, *part.findChildren(QWidget)):
            if widget.acceptDrops():
                widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle drags that carry a folder."""
        event_type = event.type()
        if event_type in (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop):
            assert isinstance(event, QDragEnterEvent | QDragMoveEvent | QDropEvent)
            folder = dropped_folder(event.mimeData())
            if folder is not None:
                event.acceptProposedAction()
                self.hover_changed.emit(event_type != QEvent.Type.Drop)
                if event_type == QEvent.Type.Drop:
                    self.dropped.emit(str(folder))
                return True
        elif event_type == QEvent.Type.DragLeave:
            self.hover_changed.emit(False)
        return False


def dropped_folder(data: QMimeData) -> Path | None:
    """Return the first local folder in the dragged data, or None."""
    for url in data.urls():
        if not url.isLocalFile():
            continue
        path = Path(url.toLocalFile())
        if path.is_dir():
            return path
    return None
