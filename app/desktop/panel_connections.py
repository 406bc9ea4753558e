"""How the panels of a vault speak to one another: signals of one to slots of another, nothing else.

Panels know nothing of each other. Those that the window does not have are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget

from app.desktop.activity.panel import ActivityPanel
from app.desktop.audit.panel import AuditPanel
from app.desktop.bookmarks.panel import BookmarksPanel
from app.desktop.connections.panel import ConnectionsPanel
from app.desktop.files.panel import FilesPanel
from app.desktop.graph.panel import GraphPanel
from app.desktop.notes.commands import NoteCommands
from app.desktop.notes.tabs import NoteTabs
from app.desktop.notes.view import EDIT_ACTION_PREFIX, NoteView
from app.desktop.outline.panel import OutlinePanel
from app.desktop.runtime import tasks
from app.desktop.search.panel import SearchPanel
from app.desktop.shell.navigation import Navigation
from app.desktop.suggestions.panel import SuggestionsPanel
from app.desktop.tags.panel import TagsPanel
from app.desktop.vault_layout import VaultLayout

if TYPE_CHECKING:
    from app.desktop.agent.panel import AgentPanel


class PanelConnections:
    """Connects the panels of `page`; lives as long as it does."""

    def __init__(self, page: VaultLayout, navigation: Navigation, commands: NoteCommands) -> None:
        self._page = page
        self._navigation = navigation
        self._commands = commands
        self._prefer: Callable[[Iterable[str]], None] = lambda paths: None
        self._keeps_focus = False
        page.made.connect(self._connect)
        commands.open_requested.connect(navigation.open)
        commands.made.connect(lambda path: self._show_note(path, EDIT_ACTION_PREFIX))
        commands.ask_requested.connect(self.ask_agent)
        commands.travel_requested.connect(self._travel)
        commands.give_requested.connect(self._attach_note)
        navigation.go.connect(self._show_note)

    def search(self, query: str) -> None:
        """Search for `query` in the side panel."""
        if isinstance(panel := self._page.panel("search"), SearchPanel):
            self._page.show_side("search")
            panel.search(query)

    def search_saved(self, name: str) -> None:
        """Do a saved search in the side panel."""
        if isinstance(panel := self._page.panel("search"), SearchPanel):
            self._page.show_side("search")
            panel.search_saved(name)

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
        self._prefer = prefer

    def _connect(self, panel_id: str, panel: QWidget) -> None:
        """A panel was made: it is told what the others do, and they what it does."""
        opened = getattr(panel, "open_requested", None)
        if isinstance(opened, SignalInstance):
            # The graph has keys of its own: who walks along it does not want to write into a note.
            stays = isinstance(panel, GraphPanel)
            opened.connect(self._open_beside if stays else self._open)
        searched = getattr(panel, "search_requested", None)
        if isinstance(searched, SignalInstance):
            searched.connect(self.search)
        if isinstance(panel, FilesPanel):
            panel.act_requested.connect(self._commands.act)
            if (notes := self._page.notes) is not None and notes.current is not None:
                panel.select(notes.current.path)
        elif isinstance(panel, OutlinePanel):
            panel.follow(self._note_in_front())
        elif isinstance(panel, BookmarksPanel):
            panel.follow(self._open_note() or "")
        elif isinstance(panel, TagsPanel):
            panel.rename_requested.connect(self._rename_tag)
        elif isinstance(panel, SearchPanel):
            panel.found.connect(self._mark_found)
            panel.filter_requested.connect(self._filter_graph)
        elif isinstance(panel, GraphPanel):
            panel.act_requested.connect(self._commands.act)
        elif isinstance(panel, NoteTabs):
            self._connect_notes(panel)
        elif isinstance(panel, ConnectionsPanel):
            panel.entry_requested.connect(self._show_in_log)
            panel.log_requested.connect(self._show_log_of)
        elif isinstance(panel, SuggestionsPanel):
            panel.graph_requested.connect(self._show_together)
            panel.follow(self._open_note() or "")
        elif isinstance(panel, ActivityPanel):
            panel.diff_requested.connect(lambda number: self._show_entry(number, undo_it=False))
            panel.undo_requested.connect(lambda number: self._show_entry(number, undo_it=True))
        elif panel_id == "agent":
            self._connect_agent(cast("AgentPanel", panel))

    def _open(self, path: str, fragment: str = "") -> None:
        self._navigation.open(path, fragment)

    def _open_beside(self, path: str, fragment: str = "") -> None:
        """Open a note and leave the focus where it is."""
        self._keeps_focus = True
        try:
            self._navigation.open(path, fragment)
        finally:
            self._keeps_focus = False

    def _rename_tag(self, tag: str) -> None:
        tasks.start(self._commands.rename_tag(tag), owner=self._page, what=self._page.tr("rename the tag"))

    def _connect_notes(self, notes: NoteTabs) -> None:
        notes.shown.connect(self._visited)
        notes.act_requested.connect(self._commands.act)
        notes.create_requested.connect(self._commands.follow)

    def _connect_agent(self, agent: AgentPanel) -> None:
        agent.set_open_note(self._open_note)
        agent.diff_requested.connect(lambda number: self._show_entry(number, undo_it=False))
        agent.undo_requested.connect(lambda number: self._show_entry(number, undo_it=True))
        agent.settings_requested.connect(lambda section: self._page.command.emit(f"settings:{section}"))

    def _open_note(self) -> str | None:
        notes = self._page.notes
        return (notes.current.path or None) if notes is not None and notes.current is not None else None

    def _note_in_front(self) -> NoteView | None:
        notes = self._page.notes
        note = notes.current if notes is not None else None
        return note if isinstance(note, NoteView) else None

    def _mark_found(self, found: Collection[str]) -> None:
        self._prefer(found)
        if isinstance(graph := self._page.existing("graph"), GraphPanel):
            graph.set_found(found)

    def _show_entry(self, number: int, *, undo_it: bool) -> None:
        what = self._page.tr("take it back") if undo_it else self._page.tr("show what was changed")
        tasks.start(self._commands.show_entry(number, undo_it=undo_it), owner=self._page, what=what)

    def _attach_note(self, path: str) -> None:
        agent = cast("AgentPanel | None", self._page.panel("agent"))
        if agent is not None:
            self._page.show_area("agent")
            agent.add_note(path)

    def _travel(self, path: str) -> None:
        graph = self._page.panel("graph")
        if isinstance(graph, GraphPanel):
            self._page.show_area("graph")
            graph.travel_to(path)

    def _show_in_log(self, number: int) -> None:
        if isinstance(audit := self._page.panel("audit"), AuditPanel):
            self._page.show_bottom("audit")
            audit.show_entry(number)

    def _show_log_of(self, caller: str) -> None:
        if isinstance(audit := self._page.panel("audit"), AuditPanel):
            self._page.show_bottom("audit")
            audit.show_caller(caller)

    def _filter_graph(self, query: str) -> None:
        graph = self._page.panel("graph")
        if isinstance(graph, GraphPanel):
            self._page.show_area("graph")
            graph.filter_by(query)

    def _show_together(self, paths: Collection[str]) -> None:
        graph = self._page.panel("graph")
        if isinstance(graph, GraphPanel):
            self._page.show_area("graph")
            graph.show_together(paths)

    def _show_note(self, path: str, fragment: str) -> None:
        takes_focus = not self._keeps_focus

        async def show(notes: NoteTabs) -> None:
            found = await self._commands.find(path)
            if found is not None:
                before = notes.window().focusWidget()
                await notes.open(found, fragment)
                # Not from where the user has gone while the note was loaded.
                if takes_focus and notes.window().focusWidget() is before:
                    notes.take_focus()

        if isinstance(notes := self._page.panel("notes"), NoteTabs):
            tasks.start(show(notes), owner=notes, what=self._page.tr("open the note"))

    def _visited(self, path: str) -> None:
        """A note came to the front: the others point at it."""
        if isinstance(graph := self._page.existing("graph"), GraphPanel):
            graph.show_note(path)
        if isinstance(suggestions := self._page.existing("suggestions"), SuggestionsPanel):
            suggestions.follow(path)
        if isinstance(outline := self._page.existing("outline"), OutlinePanel):
            outline.follow(self._note_in_front())
        if isinstance(bookmarks := self._page.existing("bookmarks"), BookmarksPanel):
            bookmarks.follow(path)
        self._prefer((path,) if path else ())
        if path:
            if isinstance(files := self._page.existing("files"), FilesPanel):
                files.select(path)
            self._navigation.record_visit(path)
