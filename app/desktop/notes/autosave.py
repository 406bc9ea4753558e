"""Automatic saving: shortly after typing stops, and when the editor loses focus or is hidden."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QWidget

from app.desktop.bridge import VaultClient
from app.desktop.notes.document import NoteDocument
from app.desktop.runtime import tasks
from app.vault.watcher import VaultFound
from app.workspace import SettingsChanged

_MIN_RETRY_DELAY_S = 5.0
_MAX_RETRY_DELAY_S = 300.0


class Autosave(QObject):
    """Schedules the saves of one document.

    A failed save is retried with exponential backoff, when the vault is available again, and after the next
    edit. Nothing is saved during a conflict: the user decides first.

    Args:
        client: The open vault; its settings determine whether and how soon to save.
        document: The document to save.
        editor: The widget that the user types in.
    """

    def __init__(self, client: VaultClient, document: NoteDocument, editor: QWidget) -> None:
        super().__init__(editor)
        self._client = client
        self._document = document
        self._editor = editor
        self._retry_s = _MIN_RETRY_DELAY_S
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.flush)
        document.edited.connect(self._schedule)
        document.saved.connect(lambda _: self._reset_backoff())
        editor.installEventFilter(self)
        client.events.batch.connect(self._receive)

    def flush(self) -> None:
        """Start saving unsaved text if automatic saving is enabled and there is no conflict."""
        self._timer.stop()
        document = self._document
        if document.is_dirty and document.has_autosave and document.conflict is None:
            tasks.start(self._save(), owner=self._editor, action=self.tr("save the note"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Save when the editor is hidden or loses focus, except to a menu or a popup."""
        if event.type() == QEvent.Type.FocusOut and isinstance(event, QFocusEvent):
            ignored_reasons = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.MenuBarFocusReason)
            if event.reason() not in ignored_reasons:
                self.flush()
        elif event.type() == QEvent.Type.Hide:
            self.flush()
        return super().eventFilter(watched, event)

    async def _save(self) -> None:
        if await self._document.save():
            # The user may have typed while the save was running.
            if self._document.is_dirty:
                self._schedule()
        elif self._document.failure:
            self._timer.start(round(self._retry_s * 1000))
            self._retry_s = min(2 * self._retry_s, _MAX_RETRY_DELAY_S)

    def _schedule(self) -> None:
        if self._document.has_autosave and self._document.is_dirty:
            delay = max(self._client.settings.editor.autosave_delay, self._document.min_save_delay_s)
            self._timer.start(round(delay * 1000))
        else:
            self._timer.stop()

    def _reset_backoff(self) -> None:
        self._retry_s = _MIN_RETRY_DELAY_S

    def _receive(self, events: tuple[object, ...]) -> None:
        if any(isinstance(event, VaultFound) for event in events):
            self._reset_backoff()
            self.flush()
        if any(isinstance(event, SettingsChanged) for event in events):
            self._document.refresh_state()
            self._schedule()
