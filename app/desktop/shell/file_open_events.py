"""Open folders that macOS passes to the app as events instead of arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QFileOpenEvent


class FileOpenEvents(QObject):
    """Handles the application's `QFileOpenEvent`s.

    An event may arrive before a window exists, for example when the user drops a folder on the icon of an app
    that is not running. The last such folder is kept until `set_receiver` is called.
    """

    def __init__(self, application: QObject, platform: str = sys.platform) -> None:
        super().__init__(application)
        self._pending: Path | None = None
        self._open: Callable[[Path], object] | None = None
        # Other platforms never send these, and the filter runs for every event of every widget.
        if platform == "darwin":
            application.installEventFilter(self)

    def set_receiver(self, open_folder: Callable[[Path], object] | None) -> bool:
        """Call `open_folder` with each folder from now on, starting with the pending one.

        Args:
            open_folder: Opens a folder; None to keep the last folder until the next call.

        Returns:
            True if a folder was pending.
        """
        self._open = open_folder
        pending, self._pending = self._pending, None
        if pending is not None and open_folder is not None:
            open_folder(pending)
        return pending is not None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the event if it names a local folder."""
        if event.type() != QEvent.Type.FileOpen or not isinstance(event, QFileOpenEvent):
            return False
        path = Path(event.file())
        if not event.file() or not path.is_dir():
            return False
        if self._open is None:
            self._pending = path
        else:
            self._open(path)
        return True
