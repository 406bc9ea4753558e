"""One open vault in the window: its layout, its commands, its approvals and its events.

This module and the panels import the large packages (graph, notes, agent, approvals). The window is shown
before they are loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QDialog, QWidget

from app.agent.transcript import TurnFinished
from app.desktop.activity.model import ActivityModel
from app.desktop.agent.panel import AgentPanel
from app.desktop.agent.usage_total import UsageTotal
from app.desktop.approval.approval_queue import ApprovalQueue
from app.desktop.approval.grants_panel import GrantsPanel
from app.desktop.bridge import VaultClient
from app.desktop.graph.panel import GraphPanel
from app.desktop.help.addresses import is_page_address, page_address
from app.desktop.notes.commands import NoteCommands
from app.desktop.notes.draft_recovery import DraftRecovery
from app.desktop.notes.tabs import NoteTabs
from app.desktop.notes.view import EDIT_ACTION_PREFIX, NoteView
from app.desktop.notes.word_count import WordCount
from app.desktop.notes.writing_commands import WritingCommands
from app.desktop.runtime import tasks
from app.desktop.shell.banners import Banners
from app.desktop.shell.command_registry import PanelSpec, resolve
from app.desktop.shell.language_proposal import LanguageProposal
from app.desktop.shell.navigation import Navigation
from app.desktop.shell.notifications import UserNotifications
from app.desktop.shell.panel_context import PanelContext
from app.desktop.shell.unreadable_rules_banner import UnreadableRulesBanner
from app.desktop.shell.window_state import WindowState
from app.desktop.theme.theme import ThemeSource
from app.desktop.vault_layout import VaultLayout
from app.desktop.widgets import dialogs
from app.embeddings.sync_scheduler import EmbeddingFailed, EmbeddingProgressed
from app.events import Event
from app.index.records import IndexRebuilt, IndexUpdated
from app.permissions.grants import GrantsChanged
from app.task_supervisor import TaskFailed, TaskRecovered
from app.vault.path import NotePath
from app.vault.store import NotesChanged
from app.vault.watcher import VaultFound, VaultLost
from app.workspace import ModelSwitched, StoreReplaced

_INDEX_THROTTLE_MS = 500
_SAVE_STATE_DELAY_MS = 1000


@runtime_checkable
class BackgroundLoading(Protocol):
    """A panel that loads its content in a task."""

    loading_task: asyncio.Task[None]


@runtime_checkable
class ConfirmingClose(Protocol):
    """A panel that asks the user about unsaved text before the vault closes."""

    async def confirm_close(self) -> bool:
        """Return whether the vault may close."""


class VaultController(QObject):
    """Builds the layout, connects its panels and handles the vault's events.

    `command` carries the id of a command, `settings:` or `help:` and a section, or `tool:` and the name of a
    tool. `lost` and `found` report that the vault's folder disappeared or returned. `grants_changed` carries
    the labels of the auto-approve rules, `notice` one sentence for the user. `index_changed` is emitted at
    most every 500 ms while the index changes. `embedding_progressed` carries an `EmbeddingProgressed`,
    `cost_changed` the agent's usage, `note_shown` the path of the active note (empty for none).
    `settings_change_requested` carries a function from settings to settings. `word_count_changed` carries the
    word count of the active note, `done` a message for the status bar.
    """

    command = Signal(str)
    lost = Signal()
    found = Signal()
    grants_changed = Signal(object)
    notice = Signal(str)
    index_changed = Signal()
    embedding_progressed = Signal(object)
    cost_changed = Signal(str)
    note_shown = Signal(str)
    settings_change_requested = Signal(object)
    word_count_changed = Signal(str)
    done = Signal(str)

    def __init__(
        self,
        client: VaultClient,
        theme: ThemeSource,
        specs: Iterable[PanelSpec],
        navigation: Navigation,
        banners: Banners,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._client = client
        self._theme = theme
        self._window = window
        self._navigation = navigation
        self._specs = {spec.id: spec for spec in specs}
        self._cost = UsageTotal()
        self._state = WindowState.of_vault(client.root)
        self.page = VaultLayout(client, theme, self._specs.values())
        self.commands = NoteCommands(client, theme, window)
        self.writing = WritingCommands(client, self._current_note, window)
        self.writing.open_requested.connect(navigation.open)
        self.writing.failed.connect(self.notice)
        self.writing.done.connect(self.done)
        self._word_count = WordCount(self)
        self._word_count.changed.connect(self.word_count_changed)
        self._approvals = ApprovalQueue(window, theme)
        self._approvals.postponed.connect(lambda: self.page.show_bottom("activity"))
        self.feed = ActivityModel(self)
        self._index_timer = QTimer(self, singleShot=True, interval=_INDEX_THROTTLE_MS)
        self._index_timer.timeout.connect(self.index_changed)
        self._save_timer = QTimer(self, singleShot=True, interval=_SAVE_STATE_DELAY_MS)
        self._save_timer.timeout.connect(self._save_state)
        self.context = PanelContext(self.page, navigation, self._state.mapping, self.feed, self)
        self._connect_context()
        client.events.batch.connect(self.feed.handle_events)
        self.page.command.connect(self.command)
        self.commands.failed.connect(self.notice)
        self._approvals.notice.connect(self.notice)
        client.approver.asked.connect(self._approvals.add)
        client.events.batch.connect(self._handle_events)
        self._approvals.pending_paths_changed.connect(self.context.set_pending_paths)
        self._is_built = False
        self._layout_built = asyncio.Event()
        self._notifications = UserNotifications(
            client, theme, banners, window, self._show_conversation, self._is_conversation_visible
        )
        self._banners = banners
        self._unreadable_rules = UnreadableRulesBanner(client, banners, window)
        self._language_proposal = LanguageProposal(client, banners, self._state, window)
        self._language_proposal.settings_change_requested.connect(self.settings_change_requested)
        self._draft_recovery = DraftRecovery(client, banners, window)
        self._draft_recovery.open_requested.connect(navigation.open)

    def _connect_context(self) -> None:
        context, commands = self.context, self.commands
        self.page.panel_created.connect(self._connect_panel)
        commands.open_requested.connect(self._navigation.open)
        commands.created.connect(lambda path: self._show_note(path, EDIT_ACTION_PREFIX))
        commands.ask_requested.connect(context.prompt_agent)
        commands.center_requested.connect(context.center_note)
        commands.attach_requested.connect(context.attach_to_prompt)
        self._navigation.open_requested.connect(self._show_note)
        context.note_action_requested.connect(commands.run_command)
        context.link_followed.connect(commands.follow_link)
        context.tag_rename_requested.connect(self._rename_tag)
        context.diff_requested.connect(self._show_diff)
        context.undo_requested.connect(self._undo)
        context.review_requested.connect(self._approvals.review)
        context.reject_requested.connect(self._approvals.reject)
        context.settings_change_requested.connect(self.settings_change_requested)
        context.command_requested.connect(self.command)
        context.failed.connect(self.notice)
        context.state_changed.connect(self._save_timer.start)
        context.notes_found.connect(self.prioritize_embedding)
        context.note_shown.connect(self._follow_note)
        context.note_shown.connect(self.note_shown)

    @property
    def notes(self) -> NoteTabs | None:
        """The note tabs, created if needed; None if the window has no such panel."""
        return self.page.panel("notes", NoteTabs)

    @property
    def graph(self) -> GraphPanel | None:
        """The graph, once it has been created."""
        return self.page.existing("graph", GraphPanel)

    async def begin(self) -> None:
        """Build the layout, report notices and auto-approve rules, reopen notes, and serve other programs.

        Saved drafts are offered once the notes are open. The window cancels this if the vault is closed
        first.
        """
        try:
            await self.page.build(self._state.mapping("layout"))
        finally:
            self._layout_built.set()
        self._is_built = True
        for notice in self._client.notices:
            self.notice.emit(notice)
        grants = await self._client.run(lambda vault: vault.grants.active_grants())
        self.grants_changed.emit(tuple(grant.label for grant in grants))
        if self.notes is not None:
            await self.notes.restore(self._state.mapping("notes"))
            self.notes.shown.connect(lambda _: self._save_timer.start())
            self._save_timer.start()
        await self._notifications.begin()
        await self._draft_recovery.show_drafts()
        await self.wait_until_loaded()
        await self._start_endpoint()

    async def wait_until_loaded(self) -> None:
        """Wait until the visible panels have loaded from the index or failed."""
        await self._layout_built.wait()
        panels = self.page.existing_panels()
        loading_tasks = {panel.loading_task for panel in panels if isinstance(panel, BackgroundLoading)}
        if loading_tasks:
            await asyncio.wait(loading_tasks)

    async def _start_endpoint(self) -> None:
        """Start serving other programs; report a failure to the user."""
        # Shielded: if the vault closes meanwhile, the endpoint must finish starting before it can be closed.
        work = self._client.run(lambda vault: vault.connections.begin())
        if problem := await asyncio.shield(work):
            self.notice.emit(problem)

    async def confirm_close(self) -> bool:
        """Return whether the vault may be closed; panels with unsaved text ask first."""
        for panel in self.page.existing_panels():
            if isinstance(panel, ConfirmingClose) and not await panel.confirm_close():
                return False
        return True

    def pause_embedding(self) -> None:
        """Pause semantic indexing until `resume_embedding` or the next start."""
        work = self._client.run(lambda vault: vault.semantic.pause())
        tasks.start(work, action=self.tr("pause semantic indexing"))

    def resume_embedding(self) -> None:
        """Resume semantic indexing."""
        work = self._client.run(lambda vault: vault.semantic.resume())
        tasks.start(work, action=self.tr("resume semantic indexing"))

    def prioritize_embedding(self, paths: Iterable[str]) -> None:
        """Index these notes before the others for semantic search."""
        note_paths = tuple(NotePath.on_disk(path) for path in paths)
        if note_paths:
            work = self._client.run(lambda vault: vault.semantic.prioritize(note_paths))
            tasks.start(work, action=self.tr("prioritize the open notes for semantic search"))

    def _current_note(self) -> NoteView | None:
        note = self.context.note
        return note if isinstance(note, NoteView) else None

    def _follow_note(self, path: str) -> None:
        """Count the words of the active note, offer commands in it and index it first; record the visit."""
        note = self._current_note()
        self._word_count.set_note(note)
        if note is not None:
            self.writing.add_to_slash_menu(note)
        if path:
            self.prioritize_embedding((path,))
        if self.page.notes is not None and (address := self.page.notes.address):
            self._navigation.record_visit(address)

    def show_help(self, reference: str) -> None:
        """Show a page of the handbook among the notes.

        If a page is already shown, a request for the page of the notes panel only moves the focus to it.

        Args:
            reference: The id of the page, or `panel:` and the id of a panel; empty for the first page.
        """
        notes = self.page.notes
        if reference == "panel:notes" and notes is not None and is_page_address(notes.address):
            notes.take_focus()
            return

        async def show() -> None:
            from app.desktop.help.pages import referenced_page  # Not needed at startup.

            self._navigation.open(page_address(await asyncio.to_thread(referenced_page, reference)))

        tasks.start(show(), owner=self.page, action=self.tr("show the handbook"))

    def _show_note(self, path: str, fragment: str) -> None:
        """Show a note by its path or name, or a page of the handbook by its address."""
        takes_focus = not self.context.keeps_focus

        async def show(notes: NoteTabs) -> None:
            address = path if is_page_address(path) else await self.commands.find(path)
            if address is not None:
                previous_focus = notes.window().focusWidget()
                await notes.open(address, fragment)
                # The user may have moved the focus while the note was loading. When another tab is shown, Qt
                # moves the focus to its first button.
                focus, tab = notes.window().focusWidget(), notes.current
                is_in_tab = isinstance(tab, QWidget) and focus is not None and tab.isAncestorOf(focus)
                if takes_focus and (focus is previous_focus or is_in_tab):
                    notes.take_focus()

        if (notes := self.notes) is not None:
            tasks.start(show(notes), owner=notes, action=self.tr("open the note"))

    def _rename_tag(self, tag: str) -> None:
        tasks.start(self.commands.rename_tag(tag), owner=self.page, action=self.tr("rename the tag"))

    def _show_diff(self, number: int) -> None:
        tasks.start(self.commands.show_entry(number), owner=self.page, action=self.tr("show the changes"))

    def _undo(self, number: int) -> None:
        work = self.commands.show_entry(number, offer_undo=True)
        tasks.start(work, owner=self.page, action=self.tr("undo the change"))

    async def show_grants(self) -> None:
        """Show the auto-approve rules in a dialog."""
        dialog = dialogs.SheetDialog(self._window, self.tr("Auto-approve rules"))
        dialog.add_body(GrantsPanel(self._client, self._theme, dialog))
        dialog.setMinimumSize(round(480 * self._theme.zoom), round(420 * self._theme.zoom))
        done_button = dialog.add_button(self.tr("Done"), int(QDialog.DialogCode.Accepted), "primary")
        done_button.setDefault(True)
        await dialogs.run_dialog(dialog)

    def close_panels(self) -> None:
        """Save the layout and tabs, stop taking requests, and delete the layout and its helpers."""
        self._save_timer.stop()
        self._save_state()
        self._client.approver.asked.disconnect(self._approvals.add)
        self._approvals.end()
        self.context.closing.emit()
        self.page.deleteLater()
        self.commands.deleteLater()
        self.writing.deleteLater()
        self._approvals.deleteLater()
        self._draft_recovery.clear()
        self._draft_recovery.deleteLater()
        self.deleteLater()

    def _save_state(self) -> None:
        """Save the layout and tabs; also called after each change, so that a crash does not lose them."""
        if not self._is_built:
            return  # Panels that do not exist yet would be saved as hidden.
        self._state.save(layout=self.page.state(), **self.context.states())

    def _connect_panel(self, panel_id: str, panel: QWidget) -> None:
        resolve(self._specs[panel_id].connect)(panel, self.context)

    def _show_conversation(self, conversation: str) -> None:
        self.page.show_area("agent")
        if (panel := self.page.panel("agent", AgentPanel)) is not None:
            panel.show_conversation(conversation)

    def _is_conversation_visible(self, conversation: str) -> bool:
        panel = self.page.existing("agent", AgentPanel)
        return panel is not None and panel.is_showing(conversation) and self._window.isActiveWindow()

    def _failure_message(self, event: TaskFailed) -> str:
        text = self.tr("Could not {0}: {1}. Your notes are safe. Retrying in {2} s.")
        return text.format(event.task, event.reason.rstrip("."), f"{event.retry_delay:g}")

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, VaultLost):
                self.lost.emit()
            elif isinstance(event, VaultFound):
                self.found.emit()
            elif isinstance(event, NotesChanged):
                for old_path, new_path in event.moved:
                    self._navigation.rename_path(old_path.text, new_path.text)
            elif isinstance(event, GrantsChanged):
                self.grants_changed.emit(tuple(grant.label for grant in event.grants))
            elif isinstance(event, StoreReplaced):
                self.notice.emit(event.message)
            elif isinstance(event, TaskFailed):
                self._banners.show_message(f"task:{event.task}", self._failure_message(event), "warning")
            elif isinstance(event, TaskRecovered):
                self._banners.clear(f"task:{event.task}")
            elif isinstance(event, IndexRebuilt):
                self.notice.emit(self.tr("Rebuilding the index: {0}").format(event.reason))
            elif isinstance(event, EmbeddingProgressed):
                self.embedding_progressed.emit(event)
            elif isinstance(event, EmbeddingFailed):
                self.embedding_progressed.emit(EmbeddingProgressed(0, 0))
                text = self.tr("Semantic search is unavailable: {0}")
                if event.switching:
                    text = self.tr(
                        "Could not switch the semantic search model; the previous one stays in use: {0}"
                    )
                self.notice.emit(text.format(event.reason))
            elif isinstance(event, ModelSwitched):
                self.done.emit(self.tr("Semantic search model switched"))
            elif isinstance(event, TurnFinished):
                self._cost.add(event.usage)
                self.cost_changed.emit(self._cost.describe(self._client.settings))
            elif isinstance(event, IndexUpdated) and not self._index_timer.isActive():
                self._index_timer.start()
