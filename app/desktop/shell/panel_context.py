"""Connect a vault's panels to one another and to the window.

Panels have no references to one another. For each panel, the registry names a function
`connect(panel, context)`. It connects the panel's signals to the context's methods, and the context's signals
to the panel.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol, runtime_checkable

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from app.desktop.shell.navigation import Navigation


class PanelHost(Protocol):
    """Creates panels when they are first needed, and shows them."""

    def reveal(self, panel_id: str) -> bool:
        """Show the panel, and return whether the window has it."""
        ...


class TabbedNote(Protocol):
    """A note or handbook page in a tab; a page has no path."""

    path: str


class TabbedNotes(Protocol):
    """The tabs of the open notes and handbook pages."""

    @property
    def current(self) -> TabbedNote | None:
        """The active note or handbook page, or None."""
        ...


@runtime_checkable
class OpensNotes(Protocol):
    """A panel that requests opening a note; the signal carries the path and the fragment."""

    open_requested: SignalInstance


@runtime_checkable
class RequestsSearches(Protocol):
    """A panel that requests searches; the signal carries the query."""

    search_requested: SignalInstance


@runtime_checkable
class ReportsFailures(Protocol):
    """A panel that reports failures; the signal carries a sentence for the user."""

    failed: SignalInstance


class PanelContext(QObject):
    """The requests that panels make and the state that they follow.

    A method that needs another panel reveals that panel and, if the window has it, emits the signal that the
    panel is connected to. The other signals are requests to the window.

    Signals:
        note_shown: The path of the active note; empty for none.
        notes_found: The paths of the search hits.
        pending_changed: The paths that pending proposals touch.
        scanning_changed: Whether the vault is being scanned.
        closing: The panels are about to be deleted.
        state_changed: A panel's state should be saved.

    Args:
        host: Shows the panels.
        navigation: Opens notes.
        saved_state: Returns a panel's state when the vault was last closed, given the panel's id.
        feed: The activity panel's model, which lists what agents and other programs do.

    Attributes:
        is_scanning: Whether the vault is being scanned.
        pending_paths: The paths that pending proposals touch.
        keeps_focus: Whether the note that is being opened must not take the focus.
    """

    note_shown = Signal(str)
    notes_found = Signal(object)
    pending_changed = Signal(object)
    scanning_changed = Signal(bool)
    closing = Signal()
    state_changed = Signal()

    query_requested = Signal(str)
    saved_search_requested = Signal(str)
    search_focus_requested = Signal()
    prompt_requested = Signal(str)
    attachment_requested = Signal(str)
    center_requested = Signal(str)
    graph_filter_requested = Signal(str)
    pair_requested = Signal(object)
    audit_entry_requested = Signal(int)
    audit_caller_requested = Signal(str)

    note_action_requested = Signal(str, str, str)
    link_followed = Signal(str)
    tag_rename_requested = Signal(str)
    diff_requested = Signal(int)
    undo_requested = Signal(int)
    review_requested = Signal(str)
    reject_requested = Signal(str)
    settings_change_requested = Signal(object)
    command_requested = Signal(str)
    failed = Signal(str)

    def __init__(
        self,
        host: PanelHost,
        navigation: Navigation,
        saved_state: Callable[[str], dict[str, Any]],
        feed: QObject,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._host = host
        self._navigation = navigation
        self._notes: TabbedNotes | None = None
        self._states: dict[str, Callable[[], dict[str, Any]]] = {}
        self.saved_state = saved_state
        self.feed = feed
        self.is_scanning = False
        self.pending_paths: frozenset[str] = frozenset()
        self.keeps_focus = False

    @property
    def note(self) -> TabbedNote | None:
        """The active note or handbook page, or None."""
        return self._notes.current if self._notes is not None else None

    @property
    def note_path(self) -> str:
        """The path of the active note; empty for none."""
        return self.note.path if self.note is not None else ""

    def follow_notes(self, notes: TabbedNotes) -> None:
        """Use `notes` as the source of the active note."""
        self._notes = notes

    def register_state(self, panel_id: str, state: Callable[[], dict[str, Any]]) -> None:
        """Register the function that returns a panel's state, to be saved under the panel's id."""
        self._states[panel_id] = state

    def states(self) -> dict[str, dict[str, Any]]:
        """Return the state of each panel that registered one."""
        return {panel_id: state() for panel_id, state in self._states.items()}

    def set_scanning(self, scanning: bool) -> None:
        """Set whether the vault is being scanned."""
        self.is_scanning = scanning
        self.scanning_changed.emit(scanning)

    def set_pending_paths(self, paths: frozenset[str]) -> None:
        """Set the paths that pending proposals touch."""
        self.pending_paths = paths
        self.pending_changed.emit(paths)

    def open(self, path: str, fragment: str = "") -> None:
        """Open a note and give it the focus."""
        self._navigation.open(path, fragment)

    def open_without_focus(self, path: str, fragment: str = "") -> None:
        """Open a note and leave the focus where it is."""
        self.keeps_focus = True
        try:
            self._navigation.open(path, fragment)
        finally:
            self.keeps_focus = False

    def search(self, query: str) -> None:
        """Show the search and search for `query`."""
        if self._host.reveal("search"):
            self.query_requested.emit(query)

    def run_saved_search(self, name: str) -> None:
        """Show the search and run the saved search with this name."""
        if self._host.reveal("search"):
            self.saved_search_requested.emit(name)

    def focus_search(self) -> None:
        """Show the search and give its field the focus."""
        if self._host.reveal("search"):
            self.search_focus_requested.emit()

    def prompt_agent(self, text: str) -> None:
        """Show the agent, insert `text` into its prompt and give the prompt the focus."""
        if self._host.reveal("agent"):
            self.prompt_requested.emit(text)

    def attach_to_prompt(self, path: str) -> None:
        """Show the agent and attach a note to its prompt."""
        if self._host.reveal("agent"):
            self.attachment_requested.emit(path)

    def center_note(self, path: str) -> None:
        """Show the graph, centered on a note."""
        if self._host.reveal("graph"):
            self.center_requested.emit(path)

    def filter_graph(self, query: str) -> None:
        """Show the graph, filtered by a query."""
        if self._host.reveal("graph"):
            self.graph_filter_requested.emit(query)

    def show_pair(self, paths: Collection[str]) -> None:
        """Show two notes together in the graph."""
        if self._host.reveal("graph"):
            self.pair_requested.emit(paths)

    def show_audit_entry(self, number: int) -> None:
        """Show the audit log and select an entry."""
        if self._host.reveal("audit"):
            self.audit_entry_requested.emit(number)

    def show_audit_caller(self, caller: str) -> None:
        """Show the audit log, filtered by caller."""
        if self._host.reveal("audit"):
            self.audit_caller_requested.emit(caller)

    def run_note_command(self, action: str, path: str, detail: str = "") -> None:
        """Run a menu command on a note or folder; see `NoteCommands.run_command`."""
        self.note_action_requested.emit(action, path, detail)


def connect_links(panel: QWidget, context: PanelContext) -> None:
    """Connect the panel's signals for opening a note, searching and reporting a failure, if it has them."""
    if isinstance(panel, OpensNotes):
        panel.open_requested.connect(context.open)
    if isinstance(panel, RequestsSearches):
        panel.search_requested.connect(context.search)
    if isinstance(panel, ReportsFailures):
        panel.failed.connect(context.failed)
