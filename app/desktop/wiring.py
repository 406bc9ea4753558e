"""How the panels of a vault speak to one another: signals of one to slots of another, nothing else.

Panels know nothing of each other. Those that the window does not have are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget

from app.desktop import tasks
from app.desktop.files_panel import FilesPanel
from app.desktop.graph_panel import GraphPanel
from app.desktop.navigation import Navigation
from app.desktop.note_area import NoteArea
from app.desktop.note_commands import NoteCommands
from app.desktop.note_view.view import WRITE
from app.desktop.search_panel import SearchPanel
from app.desktop.tags_panel import TagsPanel
from app.desktop.vault_page import VaultPage

if TYPE_CHECKING:
    from app.desktop.agent_panel.panel import AgentPanel


class Wiring:
    """Connects the panels of `page`; lives as long as it does."""

    def __init__(self, page: VaultPage, navigation: Navigation, commands: NoteCommands) -> None:
        self._page = page
        self._navigation = navigation
        self._commands = commands
        names = "files", "search", "tags", "problems", "duplicates", "graph", "notes", "agent", "audit"
        for panel_id in names:
            if (panel := page.panel(panel_id)) is not None:
                self._connect(panel)
        commands.open_requested.connect(navigation.open)
        commands.made.connect(lambda path: self._show_note(path, WRITE))
        commands.ask_requested.connect(self.ask_agent)
        self._connect_files()
        self._connect_notes()
        self._connect_graph()
        self._connect_agent()

    def search(self, query: str) -> None:
        """Search for `query` in the side panel."""
        if isinstance(panel := self._page.panel("search"), SearchPanel):
            self._page.show_side("search")
            panel.search(query)

    def focus_search(self) -> None:
        """Give the search field the focus."""
        if isinstance(panel := self._page.panel("search"), SearchPanel):
            panel.focus_field()

    def ask_agent(self, text: str) -> None:
        """Show the agent with the focus in its prompt, and `text` in it."""
        agent = cast("AgentPanel | None", self._page.panel("agent"))
        if agent is not None:
            self._page.show_area("agent")
            if text:
                agent.insert(text)
            agent.focus_prompt()

    def on_screen(self, prefer: Callable[[Iterable[str]], None]) -> None:
        """Tell `prefer` the paths of the notes that come to the screen: opened ones and search hits."""
        if isinstance(search := self._page.panel("search"), SearchPanel):
            search.found.connect(prefer)
        if self._page.notes is not None:
            self._page.notes.shown.connect(lambda path: prefer((path,) if path else ()))

    def _connect(self, panel: QWidget) -> None:
        opened = getattr(panel, "open_requested", None)
        if isinstance(opened, SignalInstance):
            opened.connect(self._open)
        searched = getattr(panel, "search_requested", None)
        if isinstance(searched, SignalInstance):
            searched.connect(self.search)

    def _open(self, path: str, fragment: str = "") -> None:
        self._navigation.open(path, fragment)

    def _connect_files(self) -> None:
        if isinstance(files := self._page.panel("files"), FilesPanel):
            files.act_requested.connect(self._commands.act)
            self._commands.travel_requested.connect(self._travel)
            self._commands.give_requested.connect(self._give)
        if isinstance(tags := self._page.panel("tags"), TagsPanel):
            tags.rename_requested.connect(self._rename_tag)

    def _rename_tag(self, tag: str) -> None:
        tasks.start(self._commands.rename_tag(tag), owner=self._page, what=self._page.tr("rename the tag"))

    def _connect_notes(self) -> None:
        notes, files = self._page.notes, self._page.panel("files")
        if notes is None:
            return
        self._navigation.go.connect(self._show_note)
        notes.shown.connect(self._visited)
        notes.act_requested.connect(self._commands.act)
        notes.create_requested.connect(lambda name: self._commands.make(name))
        if isinstance(files, FilesPanel):
            notes.shown.connect(lambda path: files.select(path) if path else None)

    def _connect_graph(self) -> None:
        graph, search, notes = self._page.panel("graph"), self._page.panel("search"), self._page.notes
        if not isinstance(graph, GraphPanel):
            return
        graph.act_requested.connect(self._commands.act)
        if isinstance(search, SearchPanel):
            search.found.connect(graph.set_found)
        if notes is not None:
            notes.shown.connect(graph.show_note)

    def _connect_agent(self) -> None:
        agent, notes = cast("AgentPanel | None", self._page.panel("agent")), self._page.notes
        if agent is None:
            return
        if notes is not None:
            agent.set_open_note(lambda: (notes.current.path or None) if notes.current is not None else None)
        agent.diff_requested.connect(lambda number: self._show_entry(number, undo_it=False))
        agent.undo_requested.connect(lambda number: self._show_entry(number, undo_it=True))
        agent.settings_requested.connect(lambda section: self._page.command.emit(f"settings:{section}"))

    def _show_entry(self, number: int, *, undo_it: bool) -> None:
        what = self._page.tr("take it back") if undo_it else self._page.tr("show what was changed")
        tasks.start(self._commands.show_entry(number, undo_it=undo_it), owner=self._page, what=what)

    def _give(self, path: str) -> None:
        agent = cast("AgentPanel | None", self._page.panel("agent"))
        if agent is not None:
            self._page.show_area("agent")
            agent.add_note(path)

    def _travel(self, path: str) -> None:
        graph = self._page.panel("graph")
        if isinstance(graph, GraphPanel):
            self._page.show_area("graph")
            graph.travel_to(path)

    def _show_note(self, path: str, fragment: str) -> None:
        async def show(notes: NoteArea) -> None:
            found = await self._commands.find(path)
            if found is not None:
                await notes.open(found, fragment)

        if (notes := self._page.notes) is not None:
            tasks.start(show(notes), owner=notes, what=self._page.tr("open the note"))

    def _visited(self, path: str) -> None:
        if path:
            self._navigation.visited(path)
