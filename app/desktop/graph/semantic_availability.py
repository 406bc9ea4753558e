"""Enable the layout by meaning only when notes have embeddings."""

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
    """Disables "By meaning", with the reason, while semantic search is off or no note has an embedding.

    Checks when the settings panel opens, and when embeddings are computed while it is open.
    """

    def __init__(self, client: VaultClient, view: GraphView) -> None:
        super().__init__(view)
        self._client = client
        self._settings_panel = view.settings_panel
        self._settings_panel.installEventFilter(self)
        client.events.batch.connect(self._handle_events)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Check when the settings panel is shown."""
        if event.type() == QEvent.Type.Show:
            self._start_check()
        return False

    def _handle_events(self, events: Sequence[Event]) -> None:
        if self._settings_panel.isVisible() and any(
            isinstance(event, EmbeddingProgressed) for event in events
        ):
            self._start_check()

    def _start_check(self) -> None:
        tasks.start(self._check(), owner=self._settings_panel, action=self.tr("check the available layouts"))

    async def _check(self) -> None:
        count = await self._client.run(_embedded_note_count)
        reasons = {
            None: self.tr("By meaning: semantic search is turned off in the settings."),
            0: self.tr("By meaning: no note is indexed for semantic search yet."),
        }
        disabled = {LayoutMode.MEANING: reasons[count]} if count in reasons else {}
        self._settings_panel.layout_section.disable(disabled)


async def _embedded_note_count(vault: VaultService) -> int | None:
    return vault.analysis.embedded_note_count
