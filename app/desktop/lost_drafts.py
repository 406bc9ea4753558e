"""Unsaved text of notes that are gone: said in a banner, and made a note again or thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.desktop import dialogs, tasks
from app.desktop.banner import Banners
from app.desktop.bridge import VaultClient
from app.desktop.note_view import saving
from app.desktop.note_view.drafts import Draft, Drafts
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import Workspace

_KEY = "lost-drafts"
_SHOWN = 400


class LostDrafts(QObject):
    """Offers the drafts of one vault whose notes were deleted or moved meanwhile.

    A draft stays on the disk until its text is a note again or the user threw it away. `open_requested`
    carries the path of a note that was made again.
    """

    open_requested = Signal(str, str)

    def __init__(self, client: VaultClient, banners: Banners, window: QWidget) -> None:
        super().__init__(window)
        self._client = client
        self._banners = banners
        self._window = window
        self._drafts = Drafts(client.workspace.root)

    async def offer(self) -> None:
        """Say so if there are any."""
        lost = await self._client.run(lambda workspace: _lost(workspace, self._drafts))
        if not lost:
            return
        names = ", ".join(f"“{NotePath(draft.path).name}”" for draft in lost[:3])
        more = self.tr(" and {0} more").format(len(lost) - 3) if len(lost) > 3 else ""
        words = self.tr("There is unsaved text of notes that are not there any more: {0}{1}.")
        action = (self.tr("Look at it…"), lambda: self._start(lost))
        self._banners.show_message(_KEY, words.format(names, more), "warning", action)

    def forget(self) -> None:
        """Take the message away: the vault is being closed."""
        self._banners.clear(_KEY)

    def _start(self, lost: tuple[Draft, ...]) -> None:
        self._banners.clear(_KEY)
        tasks.start(self._ask(lost), owner=self._window, what=self.tr("give the unsaved text back"))

    async def _ask(self, lost: tuple[Draft, ...]) -> None:
        for draft in lost:
            title = self.tr("“{0}” is gone, its unsaved text is not").format(draft.path)
            text = draft.text if len(draft.text) <= _SHOWN else f"{draft.text[:_SHOWN]} …"
            answers = (self.tr("Make the note again"), self.tr("Throw the text away"), self.tr("Later"))
            answer = await dialogs.choose(self._window, title, text, answers, main=0)
            if answer == 0:
                await self._make(draft)
            elif answer == 1:
                self._drafts.drop(NotePath(draft.path))

    async def _make(self, draft: Draft) -> None:
        path = NotePath(draft.path)
        result = await self._client.run(lambda workspace: saving.create(workspace, path, draft.text))
        if isinstance(result, saving.Saved):
            self._drafts.drop(path)
            self.open_requested.emit(draft.path, "")
        elif isinstance(result, saving.Changed):
            # The note is back meanwhile: the draft is offered in it.
            self.open_requested.emit(draft.path, "")
        elif isinstance(result, saving.Failed):
            words = self.tr("“{0}” was not made again: {1} Its text is kept.")
            self._banners.show_message(_KEY, words.format(path.name, result.reason), "danger")


def _lost(workspace: Workspace, drafts: Drafts) -> tuple[Draft, ...]:
    """Runs in the service thread: the drafts whose notes are gone."""
    return tuple(draft for draft in drafts.all() if not workspace.store.exists(NotePath(draft.path)))
