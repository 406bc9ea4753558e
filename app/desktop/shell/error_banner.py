"""Show failed tasks as banners."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.desktop.runtime import tasks
from app.desktop.shell.banners import Banners
from app.errors import ScriptoriumError, VaultLostError


class ErrorBanner(QObject):
    """Shows each failure until it is dismissed; a lost vault has its own message."""

    def __init__(self, banners: Banners, parent: QObject) -> None:
        super().__init__(parent)
        self._banners = banners
        disconnect = tasks.failed.connect(self._show)
        self.destroyed.connect(lambda *_: disconnect())

    def _show(self, failure: tasks.TaskFailure) -> None:
        if isinstance(failure.error, VaultLostError):
            return
        text = self.describe(failure)
        action = (self.tr("Copy"), lambda: QApplication.clipboard().setText(text))
        self._banners.show_message(f"failed:{failure.action}", text, "danger", action)

    def describe(self, failure: tasks.TaskFailure) -> str:
        """Describe the failure for the user; the log has the traceback."""
        action = failure.action or self.tr("complete the action")
        problem = self.tr("Could not {0}.").format(action)
        if isinstance(failure.error, ScriptoriumError):
            return f"{problem} {failure.error.message}"
        error_type, message = type(failure.error).__name__, str(failure.error)
        details = f"{message} ({error_type})" if message else error_type
        advice = self.tr("No file was left partially written. See the log for details.")
        return f"{problem} {details}. {advice}"
