"""Reload a view after the index has changed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app.desktop.bridge import VaultClient
from app.events import Event
from app.index.records import IndexUpdated


class IndexUpdateTimer(QTimer):
    """Calls `reload` once, `delay_ms` after the first of several updates of the index.

    Args:
        client: The open vault.
        reload: Called in the GUI thread.
        delay_ms: The delay in milliseconds.
        parent: The view; no call follows its destruction.
    """

    def __init__(
        self, client: VaultClient, reload: Callable[[], None], delay_ms: int, parent: QObject
    ) -> None:
        super().__init__(parent, singleShot=True, interval=delay_ms)
        self.timeout.connect(reload)
        client.events.batch.connect(self._handle_events)

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        if not self.isActive() and any(isinstance(event, IndexUpdated) for event in events):
            self.start()
