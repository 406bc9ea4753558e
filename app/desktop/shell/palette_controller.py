"""Fill the command palette with notes, commands and tools, and run the choice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.desktop.bridge import VaultClient
from app.desktop.shell.actions import Actions
from app.desktop.shell.command_palette import CommandPalette, PaletteItem
from app.desktop.shell.command_registry import translate_title
from app.events import Event
from app.index.records import IndexUpdated
from app.permissions.caller import Caller
from app.permissions.tool_label import tool_label

if TYPE_CHECKING:
    from app.index.records import NoteRecord

_COMMAND_PREFIX, _TOOL_PREFIX, _SEARCH_PREFIX = "command:", "tool:", "search:"


class PaletteController(QObject):
    """Fills `palette` and handles its choices.

    Signals:
        note_chosen: A path and an empty fragment.
        note_requested: The name of a note to create.
        tool_chosen: The name of a tool.
        search_chosen: The name of a saved search.
    """

    note_chosen = Signal(str, str)
    note_requested = Signal(str)
    tool_chosen = Signal(str)
    search_chosen = Signal(str)

    def __init__(self, palette: CommandPalette, actions: Actions, parent: QObject) -> None:
        super().__init__(parent)
        self._palette = palette
        self._actions = actions
        self._client: VaultClient | None = None
        palette.chosen.connect(self._choose)
        palette.fallback.connect(self._request_note)

    def set_client(self, client: VaultClient | None) -> None:
        """Offer the notes, tools and saved searches of `client`; None for no open vault."""
        if self._client is not None:
            self._client.events.batch.disconnect(self._handle_events)
        self._client = client
        if client is not None:
            client.events.batch.connect(self._handle_events)

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        # The first scan of a vault adds notes while the user types.
        if self._palette.mode == "notes" and any(isinstance(event, IndexUpdated) for event in events):
            self._palette.reload()

    def show_notes(self) -> None:
        """Show the notes by name, most recently changed first."""
        self._palette.open("notes", self.tr("Go to note by name, title or alias"), self._notes)

    def show_commands(self) -> None:
        """Show the commands, saved searches and tools by title."""
        self._palette.open("commands", self.tr("Run a command or tool"), self._commands)

    async def _notes(self) -> Sequence[PaletteItem]:
        if self._client is None:
            return ()
        notes = await self._client.run(lambda vault: vault.notes.records())
        return await asyncio.to_thread(_note_items, notes)

    async def _commands(self) -> Sequence[PaletteItem]:
        commands = [
            PaletteItem(
                _COMMAND_PREFIX + command.id,
                translate_title(command.title),
                translate_title(command.menu),
                self._actions.keymap.text(command.id),
                command.icon,
            )
            for command in self._actions.available()
            if command.id != "commands"
        ]
        client = self._client  # The vault may be closed in the meantime.
        if client is None:
            return commands
        tools = await client.run(
            lambda vault: [(tool.name, tool.summary) for tool in vault.tools.tools(Caller.user())]
        )
        searches = await client.run(lambda vault: vault.searches.list_searches())
        search_items = [
            PaletteItem(
                _SEARCH_PREFIX + search.name,
                search.name,
                self.tr("Saved search"),
                symbol="star",
                aliases=(search.query,),
            )
            for search in searches
        ]
        return commands + search_items + [_tool_item(name, summary) for name, summary in tools]

    def _choose(self, mode: str, key: str) -> None:
        if mode == "notes":
            self.note_chosen.emit(key, "")
        elif key.startswith(_COMMAND_PREFIX):
            self._actions.run(key.removeprefix(_COMMAND_PREFIX))
        elif key.startswith(_SEARCH_PREFIX):
            self.search_chosen.emit(key.removeprefix(_SEARCH_PREFIX))
        else:
            self.tool_chosen.emit(key.removeprefix(_TOOL_PREFIX))

    def _request_note(self, mode: str, text: str) -> None:
        if mode == "notes":
            self.note_requested.emit(text)


def _note_items(notes: tuple[NoteRecord, ...]) -> list[PaletteItem]:
    """Return a row for each note, most recently changed first; call it in a thread for large vaults."""
    return [
        PaletteItem(note.path.text, note.title, note.path.folder, aliases=(note.path.name, *note.aliases))
        for note in sorted(notes, key=lambda note: -note.modified)
    ]


def _tool_item(name: str, summary: str) -> PaletteItem:
    """Return the item of a tool, which is also found by the words of its name."""
    label, words = tool_label(name), name.replace("_", " ")
    aliases = () if words == label.lower() else (words,)
    return PaletteItem(_TOOL_PREFIX + name, label, summary, symbol="wrench", aliases=aliases)
