"""Enables the layout by meaning when notes have embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

from app.desktop.bridge import VaultClient
from app.desktop.graph.settings.model import LayoutMode
from app.desktop.graph.view import GraphView
from app.desktop.runtime import tasks
from app.embeddings.sync_scheduler import EmbeddingProgressed
from app.events import Event

if TYPE_CHECKING:
    from app.workspace import VaultService


class SemanticLayoutAvailability(QObject):
    """Disables "By meaning", with the reason, while no note has an embedding.

    Checks when the settings panel opens, and when embeddings appear while it is open.
    """

    def __init__(self, client: VaultClient, view: GraphView) -> None:
        super().__init__(view)
        self._client = client
        self._sheet = view.sheet
        self._sheet.installEventFilter(self)
        client.events.batch.connect(self._handle_events)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Check when the settings panel is shown."""
        if event.type() == QEvent.Type.Show:
            self._begin()
        return False

    def _handle_events(self, events: Sequence[Event]) -> None:
        if self._sheet.isVisible() and any(isinstance(each, EmbeddingProgressed) for each in events):
            self._begin()

    def _begin(self) -> None:
        tasks.start(self._check(), owner=self._sheet, what=self.tr("check the available layouts"))

    async def _check(self) -> None:
        notes = await self._client.run(_notes_with_meaning)
        reasons = {
            None: self.tr("By meaning: semantic search is turned off in the settings."),
            0: self.tr("By meaning: no note is indexed for semantic search yet."),
        }
        forbidden = {LayoutMode.MEANING: reasons[notes]} if notes in reasons else {}
        self._sheet.arrange.forbid(forbidden)


async def _notes_with_meaning(vault: VaultService) -> int | None:
    return vault.analysis.embedded_note_count
