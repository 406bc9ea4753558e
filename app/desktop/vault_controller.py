"""One open vault in the window: its page, its commands, its questions, and what its events mean.

Everything heavy (graph, notes, agent, approvals) is imported by this module and the panels it makes, so the
window can be on the screen before any of it is loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QDialog, QWidget

from app.agent.transcript import TurnFinished
from app.desktop.activity.model import ActivityModel
from app.desktop.activity.panel import ActivityPanel
from app.desktop.agent.panel import AgentPanel
from app.desktop.agent.usage_total import UsageTotal
from app.desktop.approval.approval_queue import ApprovalQueue
from app.desktop.approval.grants_panel import GrantsPanel
from app.desktop.bookmarks.panel import BookmarksPanel
from app.desktop.bridge import VaultClient
from app.desktop.connections.panel import ConnectionsPanel
from app.desktop.files.panel import FilesPanel
from app.desktop.graph.panel import GraphPanel
from app.desktop.notes.commands import NoteCommands
from app.desktop.notes.draft_recovery import DraftRecovery
from app.desktop.notes.tabs import NoteTabs
from app.desktop.notes.view import NoteView
from app.desktop.notes.word_count import WordCount
from app.desktop.notes.writing_commands import WritingCommands
from app.desktop.panel_connections import PanelConnections
from app.desktop.panel_registry import PanelSpec
from app.desktop.runtime import tasks
from app.desktop.shell.banners import Banners
from app.desktop.shell.language_proposal import LanguageProposal
from app.desktop.shell.navigation import Navigation
from app.desktop.shell.notifications import UserNotifications
from app.desktop.shell.unreadable_rules_banner import UnreadableRulesBanner
from app.desktop.shell.window_state import WindowState
from app.desktop.tasks.panel import TasksPanel
from app.desktop.theme.theme import ThemeSource
from app.desktop.vault_layout import VaultLayout
from app.desktop.widgets import dialogs
from app.embeddings.sync_scheduler import EmbeddingFailed, EmbeddingProgressed
from app.events import Event
from app.index.records import IndexRebuilt, IndexUpdated
from app.permissions.grants import GrantsChanged
from app.processes.supervisor import TaskFailed, TaskRecovered
from app.vault.path import NotePath
from app.vault.store import NotesChanged
from app.vault.watcher import VaultFound, VaultLost
from app.workspace.embedding_service import ModelSwitched
from app.workspace.vault_storage import StoreReplaced

_DEBOUNCE_MS = 500
_SAVE_STATE_DELAY_MS = 1000


class VaultController(QObject):
    """Builds the page and listens to the vault.

    `command` carries a command's id, perhaps with ":" and a section of the settings. `lost` and `found`: the
    vault's folder went and came back. `granted` carries the labels of what is auto-approved, `told` one
    sentence for the user. `index_changed` comes after a burst of changes has settled. `embedding` carries
    an `EmbeddingProgressed`, `cost_changed` what the agent has used, `note_shown` the path of the note in
    front (empty for none). `settings_wanted` carries a function from the settings to those wanted.
    `words_changed` carries how many words the note in front has, `done` what was done, for the status bar.
    """

    command = Signal(str)
    lost = Signal()
    found = Signal()
    granted = Signal(object)
    told = Signal(str)
    index_changed = Signal()
    embedding = Signal(object)
    cost_changed = Signal(str)
    note_shown = Signal(str)
    settings_wanted = Signal(object)
    words_changed = Signal(str)
    done = Signal(str)

    def __init__(
        self,
        client: VaultClient,
        theme: ThemeSource,
        kinds: Iterable[PanelSpec],
        navigation: Navigation,
        banners: Banners,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._client = client
        self._theme = theme
        self._window = window
        self._navigation = navigation
        self._cost = UsageTotal()
        self._kept = WindowState.of_vault(client.workspace.root)
        self.page = VaultLayout(client, theme, kinds)
        self.commands = NoteCommands(client, theme, window)
        self.page.made.connect(self._follow)
        self.writing = WritingCommands(client, self._current_note, window)
        self.writing.open_requested.connect(navigation.open)
        self.writing.failed.connect(self.told)
        self.writing.done.connect(self.done)
        self._words = WordCount(self)
        self._words.changed.connect(self.words_changed)
        self._wiring = PanelConnections(self.page, navigation, self.commands)
        self._approvals = ApprovalQueue(window, theme)
        self._approvals.put_aside.connect(lambda: self.page.show_bottom("activity"))
        self.feed = ActivityModel(self)
        client.events.batch.connect(self.feed.handle_events)
        self._settle = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self._settle.timeout.connect(self.index_changed)
        self._keep_soon = QTimer(self, singleShot=True, interval=_SAVE_STATE_DELAY_MS)
        self._keep_soon.timeout.connect(self._save_state)
        self.page.command.connect(self.command)
        self.commands.failed.connect(self.told)
        self._approvals.noted.connect(self.told)
        client.approver.asked.connect(self._approvals.add)
        client.events.batch.connect(self._handle_events)
        self._approvals.pending_paths_changed.connect(self._mark_pending)
        self._wiring.on_screen(self.prefer_embedding)
        self._reading = False
        self._built = False
        self._begun = asyncio.Event()
        self._messages = UserNotifications(
            client, theme, banners, window, self._show_conversation, self._conversation_is_seen
        )
        self._banners = banners
        self._unreadable_rules = UnreadableRulesBanner(client, banners, window)
        self._language_proposal = LanguageProposal(client, banners, self._kept, window)
        self._language_proposal.settings_wanted.connect(self.settings_wanted)
        self._lost_drafts = DraftRecovery(client, banners, window)
        self._lost_drafts.open_requested.connect(navigation.open)

    @property
    def notes(self) -> NoteTabs | None:
        """The tabs of the notes."""
        panel = self.page.panel("notes")
        return panel if isinstance(panel, NoteTabs) else None

    @property
    def graph(self) -> GraphPanel | None:
        """The graph, once it is made."""
        panel = self.page.existing("graph")
        return panel if isinstance(panel, GraphPanel) else None

    async def begin(self) -> None:
        """Build the page, tell what opening found and what is auto-approved, and open last time's notes.

        Whoever takes the page down before this has ended cancels it.
        """
        try:
            await self.page.build(self._kept.mapping("layout"))
        finally:
            self._begun.set()
        self._built = True
        for notice in self._client.workspace.notices:
            self.told.emit(notice)
        grants = await self._client.run(lambda workspace: workspace.grants.active_grants())
        self.granted.emit(tuple(grant.label for grant in grants))
        if self.notes is not None:
            await self.notes.restore(self._kept.mapping("notes"))
            self.notes.shown.connect(lambda _: self._keep_soon.start())
            self._keep_soon.start()
        await self._messages.begin()
        await self._lost_drafts.offer_drafts()
        await self.filled()
        await self._let_programs_in()

    async def filled(self) -> None:
        """Wait until the panels in sight show the vault as it was in the index, or have failed to."""
        await self._begun.wait()
        filling = {panel.filling for panel in self._panels_that_fill()}
        if filling:
            await asyncio.wait(filling)

    def _panels_that_fill(self) -> list[FilesPanel | GraphPanel]:
        made = (self.page.existing(panel_id) for panel_id in ("files", "graph"))
        return [panel for panel in made if isinstance(panel, FilesPanel | GraphPanel)]

    async def _let_programs_in(self) -> None:
        """Begin to serve other programs; the user is told where that can't be."""
        # A door that opens while the vault is closed is opened first and then closed, not left half open.
        opening = self._client.run(lambda workspace: workspace.endpoints.begin())
        if problem := await asyncio.shield(opening):
            self.told.emit(problem)

    async def ready_to_leave(self) -> bool:
        """Whether the vault may be closed: a note with unsaved text asks."""
        return self.notes is None or await self.notes.ready_to_leave()

    def set_reading(self, reading: bool) -> None:
        """Whether the vault is being read just now."""
        self._reading = reading
        if (graph := self.graph) is not None:
            graph.set_reading(reading)

    def ask_agent(self) -> None:
        """Show the agent, with the focus in its prompt."""
        self._wiring.ask_agent("")

    def show_search(self) -> None:
        """Show the search, with the focus in its field."""
        self.page.show_side("search")
        self._wiring.focus_search()

    def search_saved(self, name: str) -> None:
        """Do the saved search of this name."""
        self._wiring.search_saved(name)

    def search(self, query: str) -> None:
        """Search for `query`."""
        self._wiring.search(query)

    def pause_embedding(self) -> None:
        """Compute no more vectors until `resume_embedding` or the next start."""
        pause = self._client.run(lambda workspace: workspace.embedding_scheduler.pause())
        tasks.start(pause, what=self.tr("pause search by meaning"))

    def resume_embedding(self) -> None:
        """Go on computing vectors."""
        resume = self._client.run(lambda workspace: workspace.embedding_scheduler.resume())
        tasks.start(resume, what=self.tr("go on with search by meaning"))

    def prefer_embedding(self, paths: Iterable[str]) -> None:
        """Let the notes that are on the screen be computed first."""
        shown = tuple(NotePath.on_disk(path) for path in paths)
        if shown:
            prefer = self._client.run(lambda workspace: workspace.embedding_scheduler.prioritize(shown))
            tasks.start(prefer, what=self.tr("prepare search by meaning"))

    def bookmark_note(self) -> None:
        """Bookmark the note in front, or remove its bookmark."""
        panel, note = self.page.panel("bookmarks"), self._current_note()
        if isinstance(panel, BookmarksPanel) and note is not None:
            added = panel.toggle(note.path)
            self.done.emit(self.tr("Bookmarked") if added else self.tr("Bookmark removed"))

    def _current_note(self) -> NoteView | None:
        notes = self.page.notes
        note = notes.current if notes is not None else None
        return note if isinstance(note, NoteView) else None

    def _follow_front(self, _: str) -> None:
        """Another note is in front: its words are counted, and commands can be typed in it."""
        note = self._current_note()
        self._words.follow(note)
        if note is not None:
            self.writing.offer_in(note)

    async def show_grants(self) -> None:
        """Show what is auto-approved until the sheet is closed."""
        sheet = dialogs.SheetDialog(self._window, self.tr("What is auto-approved"))
        sheet.add_body(GrantsPanel(self._client, self._theme, sheet))
        sheet.setMinimumSize(round(480 * self._theme.zoom), round(420 * self._theme.zoom))
        done = sheet.add_button(self.tr("Done"), int(QDialog.DialogCode.Accepted), "primary")
        done.setDefault(True)
        await dialogs.run_dialog(sheet)

    def take_down(self) -> None:
        """Remember the layout and the tabs, and end what the page runs beside the window."""
        self._keep_soon.stop()
        self._save_state()
        self._client.approver.asked.disconnect(self._approvals.add)
        self._approvals.end()
        if (graph := self.graph) is not None:
            graph.shut_down()
        self.page.deleteLater()
        self.commands.deleteLater()
        self.writing.deleteLater()
        self._approvals.deleteLater()
        self._lost_drafts.clear()
        self._lost_drafts.deleteLater()
        self.deleteLater()

    def _save_state(self) -> None:
        """Remember the layout and the tabs; also while it is open, lest a crash forgets them."""
        if not self._built:
            return  # What is not there yet would be remembered as hidden.
        notes = self.notes.state() if self.notes is not None else {}
        graph = self.graph.state() if self.graph is not None else {}
        self._kept.save(layout=self.page.state(), notes=notes, graph=graph)

    def _follow(self, _: str, panel: QWidget) -> None:
        """A panel was made: what it missed is told to it."""
        if isinstance(panel, GraphPanel):
            panel.restore(self._kept.mapping("graph"))
            panel.kept.connect(self._keep_soon.start)
            panel.set_reading(self._reading)
            panel.set_pending(self._approvals.pending_paths)
        elif isinstance(panel, NoteTabs):
            panel.shown.connect(self.note_shown)
            panel.shown.connect(self._follow_front)
        elif isinstance(panel, TasksPanel | BookmarksPanel):
            panel.failed.connect(self.told)
        elif isinstance(panel, ActivityPanel):
            panel.set_feed(self.feed)
            panel.review_requested.connect(self._approvals.review)
            panel.reject_requested.connect(self._approvals.reject)
        elif isinstance(panel, ConnectionsPanel):
            panel.set_feed(self.feed)
            panel.review_requested.connect(self._approvals.review)
            panel.settings_wanted.connect(self.settings_wanted)

    def _mark_pending(self, paths: frozenset[str]) -> None:
        if (graph := self.graph) is not None:
            graph.set_pending(paths)

    def _show_conversation(self, conversation: str) -> None:
        self.page.show_area("agent")
        panel = self.page.panel("agent")
        if isinstance(panel, AgentPanel):
            panel.show_conversation(conversation)

    def _conversation_is_seen(self, conversation: str) -> bool:
        panel = self.page.existing("agent")
        return isinstance(panel, AgentPanel) and panel.shows(conversation) and self._window.isActiveWindow()

    def _failure(self, event: TaskFailed) -> str:
        words = self.tr("Could not {0}: {1}. Your notes are safe. It is tried again in {2} s.")
        return words.format(event.task, event.reason.rstrip("."), f"{event.again_in:g}")

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, VaultLost):
                self.lost.emit()
            elif isinstance(event, VaultFound):
                self.found.emit()
            elif isinstance(event, NotesChanged):
                for old, new in event.moved:
                    self._navigation.rename_path(old.text, new.text)
            elif isinstance(event, GrantsChanged):
                self.granted.emit(tuple(grant.label for grant in event.grants))
            elif isinstance(event, StoreReplaced):
                self.told.emit(event.message)
            elif isinstance(event, TaskFailed):
                self._banners.show_message(f"task:{event.task}", self._failure(event), "warning")
            elif isinstance(event, TaskRecovered):
                self._banners.clear(f"task:{event.task}")
            elif isinstance(event, IndexRebuilt):
                self.told.emit(self.tr("The index is being made anew: {0}").format(event.reason))
            elif isinstance(event, EmbeddingProgressed):
                self.embedding.emit(event)
            elif isinstance(event, EmbeddingFailed):
                self.embedding.emit(EmbeddingProgressed(0, 0))
                words = self.tr("Search by meaning is off for now: {0}")
                if event.switching:
                    words = self.tr("The language model was not switched, the earlier one still answers: {0}")
                self.told.emit(words.format(event.reason))
            elif isinstance(event, ModelSwitched):
                self.done.emit(self.tr("Language model switched"))
            elif isinstance(event, TurnFinished):
                self._cost.add(event.usage)
                self.cost_changed.emit(self._cost.words(self._client.workspace.settings.model))
            elif isinstance(event, IndexUpdated) and not self._settle.isActive():
                self._settle.start()
