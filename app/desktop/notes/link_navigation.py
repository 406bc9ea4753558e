"""Follow the links in a note: to other notes, within the note, to a search, or to another program."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import unquote, urlsplit

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.widgets.web_address import open_address
from app.vault.path import NotePath
from app.vault.reference import Reference, parse_reference


class LinkNavigation(QObject):
    """Follows links for the note view that is its parent.

    Args:
        client: The open vault.
        path: Returns the path of the current note.
        parent: The note view.

    Signals:
        open_requested: A path and a fragment.
        create_requested: The name of a note that does not exist.
        search_requested: A query.
        fragment_requested: A fragment of the note itself.
    """

    open_requested = Signal(str, str)
    create_requested = Signal(str)
    search_requested = Signal(str)
    fragment_requested = Signal(str)

    def __init__(self, client: VaultClient, path: Callable[[], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._client = client
        self._path = path
        self._view = parent

    def follow(self, kind: str, target: str) -> None:
        """Follow a link.

        Args:
            kind: "tag", "address" (a web or email address, or a percent-encoded path) or "note".
            target: The tag, the address, or the note's name with an optional fragment.
        """
        if kind == "tag":
            self.search_requested.emit(f"tag:{target}")
        elif kind == "address" and urlsplit(target).scheme in ("http", "https", "mailto"):
            open_address(self._view, target)
        else:
            name = target if kind == "note" else unquote(target)
            link = parse_reference(f"[[{name}]]")
            tasks.start(self._open(link), owner=self._view, action=self.tr("follow the link"))

    async def _open(self, link: Reference) -> None:
        source = NotePath(self._path())
        fragment = f"^{link.block}" if link.block else link.heading or ""
        if not link.target:
            self.fragment_requested.emit(fragment)
            return
        path = await self._client.run(lambda vault: vault.notes.resolve(link.target, source).path)
        if path is None:
            self.create_requested.emit(link.target)
        else:
            self.open_requested.emit(path.text, fragment)
