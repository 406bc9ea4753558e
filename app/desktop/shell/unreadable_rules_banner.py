"""A red banner that names permission rule files that can't be read."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.shell.banners import Banners
from app.events import Event
from app.workspace import SettingsChanged

_BANNER_KEY = "unreadable rules"


class UnreadableRulesBanner(QObject):
    """Shows the banner while agents must ask before every call; replaces the files on request."""

    def __init__(self, client: VaultClient, banners: Banners, parent: QWidget) -> None:
        super().__init__(parent)
        self._client = client
        self._banners = banners
        self._window = parent
        client.events.batch.connect(self._handle_events)
        self._refresh()

    def _refresh(self) -> None:
        tasks.start(self.update(), owner=self._window, action=self.tr("read the permission rules"))

    async def update(self) -> None:
        """Show the banner if a file can't be read now, else remove it."""
        files = await self._client.run(lambda vault: vault.settings.unreadable_rules)
        if not files:
            self._banners.clear(_BANNER_KEY)
            return
        text = self.tr(
            "The permission rules in {0} can't be read. Agents ask before every call until you repair "
            "the file and restart Scriptorium, or replace it with the current rules."
        ).format(", ".join(files))
        self._banners.show_message(_BANNER_KEY, text, "danger", (self.tr("Replace file"), self._replace))

    def _replace(self) -> None:
        work = self._client.run(lambda vault: vault.settings.accept_rules())
        tasks.start(work, owner=self._window, action=self.tr("replace the permission rules"))

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        if any(isinstance(event, SettingsChanged) for event in events):
            self._refresh()
