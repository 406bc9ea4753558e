"""What the user does to notes from menus: each goes through the one gate, as any tool call does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget

from app.desktop import dialogs, tasks
from app.desktop.bridge import VaultClient
from app.desktop.theme import ThemeSource
from app.desktop.tool_form import ToolForm, show_result
from app.permissions.caller import Caller
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.toolkit.outcome import ToolOutcome


class NoteCommands(QObject):
    """Runs the commands of one vault for `window`.

    `open_requested` carries the path of a note that was made; `ask_requested` a text for the agent; `failed`
    one sentence for the user.
    """

    open_requested = Signal(str, str)
    ask_requested = Signal(str)
    failed = Signal(str)

    def __init__(self, client: VaultClient, window: QWidget) -> None:
        super().__init__(window)
        self._client = client
        self._window = window

    def act(self, what: str, about: str, more: str = "") -> None:
        """Do `what` with the note or folder `about`; `more` is the folder that a note moves to."""
        if what == "open":
            self.open_requested.emit(about, "")
        elif what == "reveal":
            self._reveal(about)
        elif what == "copy-link":
            QGuiApplication.clipboard().setText(f"[[{NotePath(about).name}]]")
        elif what == "related":
            self.ask_requested.emit(self.tr("Find notes related to [[{0}]]").format(NotePath(about).name))
        else:
            tasks.start(self._change(what, about, more), owner=self._window, what=self.tr("change the note"))

    async def run(self, tool: str, arguments: Mapping[str, object]) -> ToolOutcome:
        """Call a tool as the user; what went wrong is told."""
        outcome: ToolOutcome = await self._client.run(
            lambda workspace: workspace.runner.call(tool, arguments, Caller.user())
        )
        if not outcome.success and not outcome.denied:
            self.failed.emit(outcome.message)
        return outcome

    async def new_note(self, name: str, folder: str = "") -> None:
        """Make a note and open it."""
        outcome = await self.run("create_note", {"name": name, "content": "", "folder": folder})
        if outcome.success:
            path = outcome.result.get("path") or f"{folder}/{name}.md".lstrip("/")
            self.open_requested.emit(str(path), "")

    async def call_by_hand(self, name: str, theme: ThemeSource) -> None:
        """Ask for a tool's arguments, call it, and show what it answered."""
        tool = await self._client.run(lambda workspace: workspace.registry.get(name))
        form = ToolForm(tool, self._window)
        if await dialogs.ask(form) != int(QDialog.DialogCode.Accepted):
            return
        outcome = await self.run(name, form.arguments)
        if outcome.success and not outcome.denied:
            title = name.replace("_", " ").capitalize()
            await show_result(self._window, theme, title, outcome.message, outcome.result)

    async def rename_tag(self, tag: str) -> None:
        """Ask for the tag's new name and rename it in every note."""
        new = await dialogs.prompt_text(
            self._window, self.tr("Rename #{0}").format(tag), self.tr("Its new name, in all notes:"), tag
        )
        if new is not None and new.lstrip("#") != tag:
            await self.run("rename_tag", {"tag": tag, "new_tag": new.lstrip("#")})

    async def _change(self, what: str, about: str, more: str) -> None:
        if what == "new-note":
            place = self.tr("In {0}. Its name:").format(about) if about else self.tr("Its name:")
            name = await dialogs.prompt_text(self._window, self.tr("New note"), place)
            if name is not None:
                await self.new_note(name, about)
        elif what == "rename":
            old = NotePath(about).name
            new = await dialogs.prompt_text(
                self._window, self.tr("Rename “{0}”").format(old), self.tr("Links to it follow."), old
            )
            if new is not None and new != old:
                await self.run("move_note", {"name": about, "new_name": new})
        elif what == "move":
            await self.run("move_note", {"name": about, "folder": more})
        elif what == "delete":
            await self.run("delete_note", {"name": about})

    def _reveal(self, about: str) -> None:
        root = Path(self._client.workspace.root)
        place = root / about if about else root
        folder = place if place.is_dir() else place.parent
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
