"""Recover drafts of deleted notes: a banner offers to restore or discard them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.desktop.bridge import VaultClient
from app.desktop.notes.drafts import DraftStore, NoteDraft
from app.desktop.runtime import tasks
from app.desktop.shell.banners import Banners
from app.desktop.widgets import dialogs
from app.vault.path import NotePath
from app.workspace.service.edits import Failed, SaveConflict, Saved

if TYPE_CHECKING:
    from app.workspace import VaultService

_BANNER_KEY = "lost-drafts"
_MAX_SHOWN_CHARS = 400


class DraftRecovery(QObject):
    """Offers to restore the drafts of one vault whose notes no longer exist.

    A draft stays on disk until it is restored as a note or discarded. `open_requested` carries the path of a
    note that was restored or exists again, and an empty fragment.
    """

    open_requested = Signal(str, str)

    def __init__(self, client: VaultClient, banners: Banners, window: QWidget) -> None:
        super().__init__(window)
        self._client = client
        self._banners = banners
        self._window = window
        self._drafts = DraftStore(client.root)

    async def show_drafts(self) -> None:
        """Show a banner if there are orphaned drafts."""
        drafts = await self._client.run(lambda vault: _orphaned_drafts(vault, self._drafts))
        if not drafts:
            return
        names = ", ".join(f"“{NotePath(draft.path).name}”" for draft in drafts[:3])
        omitted_text = self.tr(" and {0} more").format(len(drafts) - 3) if len(drafts) > 3 else ""
        text = self.tr("Unsaved text from deleted notes: {0}{1}.")
        action = (self.tr("Review…"), lambda: self._start(drafts))
        self._banners.show_message(_BANNER_KEY, text.format(names, omitted_text), "warning", action)

    def clear(self) -> None:
        """Remove the banner when the vault closes."""
        self._banners.clear(_BANNER_KEY)

    def _start(self, drafts: tuple[NoteDraft, ...]) -> None:
        self._banners.clear(_BANNER_KEY)
        tasks.start(self._ask(drafts), owner=self._window, action=self.tr("restore the unsaved text"))

    async def _ask(self, drafts: tuple[NoteDraft, ...]) -> None:
        for draft in drafts:
            title = self.tr("“{0}” was deleted, but its unsaved text was kept").format(draft.path)
            text = draft.text if len(draft.text) <= _MAX_SHOWN_CHARS else f"{draft.text[:_MAX_SHOWN_CHARS]} …"
            answers = (self.tr("Restore note"), self.tr("Discard text"), self.tr("Later"))
            answer = await dialogs.choose(self._window, title, text, answers, is_first_main=True)
            if answer == 0:
                await self._restore(draft)
            elif answer == 1:
                self._drafts.drop(NotePath(draft.path))

    async def _restore(self, draft: NoteDraft) -> None:
        path = NotePath(draft.path)
        result = await self._client.run(lambda vault: vault.edits.create(path, draft.text))
        if isinstance(result, Saved):
            self._drafts.drop(path)
            self.open_requested.emit(draft.path, "")
        elif isinstance(result, SaveConflict):
            # The note exists again, and offers the draft when it is opened.
            self.open_requested.emit(draft.path, "")
        elif isinstance(result, Failed):
            text = self.tr("“{0}” was not restored: {1} Its text is kept.")
            self._banners.show_message(_BANNER_KEY, text.format(path.name, result.reason), "danger")


def _orphaned_drafts(vault: VaultService, drafts: DraftStore) -> tuple[NoteDraft, ...]:
    """Return the drafts whose notes no longer exist; runs in the service thread."""
    return tuple(draft for draft in drafts.list_drafts() if not vault.notes.exists(NotePath(draft.path)))
