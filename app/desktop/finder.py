"""What the command palette offers, and what choosing does: notes, commands and tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.desktop.actions import Actions, shortcut_text, translated
from app.desktop.bridge import VaultClient
from app.desktop.palette import Choice, Palette
from app.permissions.caller import Caller

if TYPE_CHECKING:
    from app.index.records import NoteRecord

_COMMAND, _TOOL, _SEARCH = "command:", "tool:", "search:"


class Finder(QObject):
    """Feeds `palette`.

    `note_chosen` carries a path, `note_wanted` a name that no note has, `tool_chosen` a tool's name,
    `search_chosen` the name of a saved search.
    """

    note_chosen = Signal(str, str)
    note_wanted = Signal(str)
    tool_chosen = Signal(str)
    search_chosen = Signal(str)

    def __init__(self, palette: Palette, actions: Actions, parent: QObject) -> None:
        super().__init__(parent)
        self._palette = palette
        self._actions = actions
        self.client: VaultClient | None = None
        palette.chosen.connect(self._choose)
        palette.fallback.connect(self._fall_back)

    def show_notes(self) -> None:
        """Offer the notes by name, those changed last first."""
        self._palette.open("notes", self.tr("Go to a note by its name, title or alias"), self._notes)

    def show_commands(self) -> None:
        """Offer the commands and tools by title."""
        self._palette.open("commands", self.tr("Do a command or call a tool"), self._commands)

    async def _notes(self) -> Sequence[Choice]:
        if self.client is None:
            return ()
        notes = await self.client.run(lambda workspace: workspace.index.notes())
        return await asyncio.to_thread(_choices, notes)

    async def _commands(self) -> Sequence[Choice]:
        commands = [
            Choice(
                _COMMAND + command.id,
                translated(command.title),
                translated(command.menu),
                shortcut_text(command),
                command.symbol or "caret-right",
            )
            for command in self._actions.available()
            if command.id != "commands"
        ]
        if self.client is None:
            return commands
        tools = await self.client.run(
            lambda workspace: [(tool.name, tool.summary) for tool in workspace.registry.tools(Caller.user())]
        )
        searches = await self.client.run(lambda workspace: workspace.searches.all())
        saved = [
            Choice(_SEARCH + one.name, one.name, self.tr("Saved search"), symbol="star", others=(one.query,))
            for one in searches
        ]
        return (
            commands
            + saved
            + [
                Choice(_TOOL + name, name.replace("_", " ").capitalize(), words, symbol="wrench")
                for name, words in tools
            ]
        )

    def _choose(self, mode: str, key: str) -> None:
        if mode == "notes":
            self.note_chosen.emit(key, "")
        elif key.startswith(_COMMAND):
            self._actions.run(key.removeprefix(_COMMAND))
        elif key.startswith(_SEARCH):
            self.search_chosen.emit(key.removeprefix(_SEARCH))
        else:
            self.tool_chosen.emit(key.removeprefix(_TOOL))

    def _fall_back(self, mode: str, text: str) -> None:
        if mode == "notes":
            self.note_wanted.emit(text)


def _choices(notes: tuple[NoteRecord, ...]) -> list[Choice]:
    """A line for each note, those changed last first; in a thread, for there may be 100,000."""
    return [
        Choice(note.path.text, note.title, note.path.folder, others=(note.path.name, *note.aliases))
        for note in sorted(notes, key=lambda note: -note.modified)
    ]
