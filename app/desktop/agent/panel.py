"""The agent panel: shows a conversation, sends messages, and follows the turn through events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QScrollArea, QStackedWidget, QVBoxLayout, QWidget
from shiboken6 import isValid

from app.agent.conversations import Conversation
from app.agent.transcript import (
    SET_UP_MODEL,
    ConversationsChanged,
    ItemUpdated,
    NoteOpenRequested,
    TextStreamed,
    TurnFinished,
    TurnStarted,
    Usage,
    UserText,
)
from app.agent.turn import UserPrompt
from app.desktop.agent.composer import Composer
from app.desktop.agent.conversation_list import ConversationList
from app.desktop.agent.interpretation_chip import ValueField
from app.desktop.agent.labels import full_usage, short_usage
from app.desktop.agent.model_menu import BUILTIN, ModelChoice, ModelMenu, RecentModels
from app.desktop.agent.start_page import StartPage
from app.desktop.agent.transcript_view import TranscriptView
from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.time_sliced_queue import TimeSlicedQueue
from app.desktop.settings.external.labels import progress_label
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.panel import Panel, ThemedButton
from app.external.states import ExternalProgress
from app.index.records import IndexUpdated
from app.settings import AnswerByBuiltIn, AnswerByModel, AnswerByProgram, AnswerByTeam, Settings
from app.settings.answering import Answering
from app.workspace import SettingsChanged, VaultService

_SUGGEST_DELAY_MS = 700
_MAX_EXAMPLE_CANDIDATES = 8
_MAX_EXAMPLE_NAME_CHARS = 16


class AgentPanel(Panel):
    """The panel with the current conversation.

    `open_requested` carries a note (path or name) and a fragment, `showing_requested` the path of a note to
    open while the focus stays in the prompt field, `search_requested` a query, `diff_requested` and
    `undo_requested` the number of an audit entry, `settings_requested` a section of the settings.
    """

    open_requested = Signal(str, str)
    showing_requested = Signal(str)
    search_requested = Signal(str)
    diff_requested = Signal(int)
    undo_requested = Signal(int)
    settings_requested = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("agent"), parent)
        self._client = client
        self._theme = theme
        self._conversation: Conversation | None = None
        self._get_open_note: Callable[[], str | None] = lambda: None
        self._edited_position: int | None = None
        self._usage = Usage(cost=0.0)
        self._model = ModelChoice(BUILTIN)
        self._settings = Settings()
        self._has_settings = False
        self._recent_models = RecentModels()
        self._suggestion_timer = QTimer(self)
        self._suggestion_timer.setSingleShot(True)
        self._suggestion_timer.setInterval(_SUGGEST_DELAY_MS)
        self._suggestion_timer.timeout.connect(self.refresh_suggestions)
        self._event_queue = TimeSlicedQueue(self._handle_event, self)
        self._build()
        client.events.batch.connect(self._event_queue.add)
        tasks.start(self._load(), owner=self, action=self.tr("load the conversations"))

    def _build(self) -> None:
        # Parents first: adding a populated widget to a parent styles all of its children again.
        self._pages = QStackedWidget(self)
        self._list = ConversationList(self._theme, self._pages)
        self._list.chosen.connect(
            lambda id_: self._start(self.open_conversation(id_), self.tr("open the conversation"))
        )
        self._list.rename_requested.connect(self._rename)
        self._list.delete_requested.connect(self._delete)
        self._list.search_changed.connect(
            lambda text: self._start(self._refresh_list(text), self.tr("search the conversations"))
        )
        for symbol, label, callback in (
            ("clock-counter-clockwise", self.tr("Conversations"), self._toggle_list),
            ("plus", self.tr("New conversation"), self.new_conversation),
        ):
            button = ThemedButton(self._theme, symbol, label, self)
            button.clicked.connect(lambda _=False, callback=callback: callback())
            self.title.add(button)
        self.transcript = TranscriptView(self._theme, self._pages)
        self.transcript.link_clicked.connect(self.open_requested)
        self.transcript.tag_clicked.connect(lambda tag: self.search_requested.emit(f"tag:{tag}"))
        self.transcript.reply_chosen.connect(self._send)
        self.transcript.completions_requested.connect(
            lambda search, field: self._start(self._complete_values(search, field), self.tr("list the names"))
        )
        self.transcript.action_requested.connect(self._run_action)
        self.transcript.resend_requested.connect(lambda position, _: self._edit_message(position))
        self.transcript.diff_requested.connect(self.diff_requested)
        self.transcript.undo_requested.connect(self.undo_requested)
        foot = QWidget(self)
        self.composer = Composer(self._theme, foot)
        self.composer.sent.connect(lambda _: self._send())
        self.composer.stop_requested.connect(self._stop)
        self.composer.mode_chosen.connect(self._choose_mode)
        self.composer.model_clicked.connect(self._show_models)
        self.composer.completions_requested.connect(
            lambda word: self._start(self._complete_names(word), self.tr("complete the name"))
        )
        self.composer.edit_canceled.connect(self._end_editing)
        self._escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        self._escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._escape.activated.connect(self._stop)
        self._escape.setEnabled(False)
        self._pages.setObjectName("panel")
        self._start_area = QScrollArea(self._pages)
        self._start_page = StartPage(self._theme, self._start_area)
        self._start_page.chosen.connect(self._send)
        self._start_area.setWidgetResizable(True)
        self._start_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._start_area.setWidget(self._start_page)
        for page in (self._start_area, self.transcript, self._list):
            self._pages.addWidget(page)
        column = QVBoxLayout(foot)
        column.setContentsMargins(8, 0, 8, 8)
        column.addWidget(self.composer)
        self.column.addWidget(self._pages, 1)
        self.column.addWidget(foot)

    def _run_action(self, action: str) -> None:
        """Run the action of a button in the conversation."""
        if action == SET_UP_MODEL:
            self.settings_requested.emit("model")

    def set_open_note(self, get_path: Callable[[], str | None]) -> None:
        """Set the function that returns the path of the open note, or None."""
        self._get_open_note = get_path

    def focus_prompt(self) -> None:
        """Focus the prompt field."""
        self.composer.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def insert(self, text: str) -> None:
        """Insert `text` at the cursor of the prompt field, and focus the field."""
        self.composer.field.insertPlainText(text)
        self.focus_prompt()

    def add_note(self, path: str) -> None:
        """Attach a note to the next message, and focus the prompt field."""
        self.composer.add_note(path)
        self.focus_prompt()

    def new_conversation(self) -> None:
        """Show an empty conversation; it is saved with its first message."""
        self._conversation = None
        self._end_editing()
        self.transcript.show_items(())
        self._set_running(False)
        self._show_start_page()
        self.focus_prompt()

    async def open_conversation(self, id_: str) -> None:
        """Show a saved conversation."""
        loaded = await self._client.run(
            lambda vault: (
                next((c for c in vault.agent.conversations() if c.id == id_), None),
                vault.agent.items(id_),
                vault.agent.is_running(id_),
            )
        )
        self._event_queue.finish()  # Pending events belong to the previous conversation.
        self._conversation, items, running = loaded
        self._end_editing()
        self.transcript.show_items(items)
        self._set_running(running)
        if items:
            self._pages.setCurrentWidget(self.transcript)
        else:
            self._show_start_page()

    def is_showing(self, conversation: str) -> bool:
        """Return whether this conversation is visible."""
        return self._is_current(conversation) and self.transcript.isVisible()

    def show_conversation(self, id_: str) -> None:
        """Show a saved conversation, without waiting for it to load."""
        self._start(self.open_conversation(id_), self.tr("open the conversation"))

    def _send(self, reply: str = "") -> None:
        if self.composer.is_running:
            return
        if reply:
            # A suggested answer continues the conversation; it does not replace the message being edited.
            self._end_editing()
            # The clicked button is disabled, and the focus would move to the next control of the window.
            self.composer.field.setFocus(Qt.FocusReason.OtherFocusReason)
        text, notes = (reply, ()) if reply else self.composer.take_prompt()
        if text:
            self._start(self._start_turn(text, notes), self.tr("send the message"))

    async def _start_turn(self, text: str, notes: tuple[str, ...]) -> None:
        position = self._edited_position
        self._end_editing()
        self._set_running(True)
        self._pages.setCurrentWidget(self.transcript)
        if not self._has_settings:
            # The settings are not loaded yet, so the mode shown is not the user's choice.
            self._show_settings(await self._client.run(lambda vault: vault.settings.current))
        mode = str(self.composer.mode.currentData())
        prompt = UserPrompt(text, mode=mode, open_note=self._get_open_note(), notes=notes)
        try:
            if self._conversation is None:
                self._conversation = await self._client.run(lambda vault: vault.agent.create())
            id_ = self._conversation.id
            await self._client.run(lambda vault: vault.agent.start(id_, prompt, position))
        except BaseException:
            self._set_running(False)
            self.composer.restore_prompt(text, notes)
            if position is not None:
                self._begin_editing(position)
            raise

    def _set_running(self, running: bool) -> None:
        self.composer.set_running(running)
        self.transcript.set_working(running)
        self._escape.setEnabled(running)

    def _stop(self) -> None:
        if self._conversation is not None:
            id_ = self._conversation.id
            self._start(self._client.run(lambda vault: vault.agent.stop(id_)), self.tr("stop the agent"))

    def _edit_message(self, position: int) -> None:
        """Put an earlier message back into the prompt field; sending it replaces everything after it."""
        item = self.transcript.item(position)
        if isinstance(item, UserText):
            self.composer.restore_prompt(item.text, item.notes)
            self._begin_editing(position)
            self.focus_prompt()

    def _begin_editing(self, position: int) -> None:
        self._edited_position = position
        self.composer.set_editing(True)

    def _end_editing(self) -> None:
        self._edited_position = None
        self.composer.set_editing(False)

    def _handle_event(self, event: object) -> None:
        match event:
            case TextStreamed() if self._is_current(event.conversation):
                self.transcript.stream(event.text)
            case ItemUpdated() if self._is_current(event.conversation):
                self.transcript.put(event.position, event.item)
            case ExternalProgress():
                self.transcript.show_progress(event.tool, progress_label(event))
            case TurnStarted() if self._is_current(event.conversation):
                self._set_running(True)
            case TurnFinished():
                self._finish(event)
            case NoteOpenRequested() if self._is_current(event.conversation):
                # The user may already be typing the next request.
                self.showing_requested.emit(event.path)
            case ConversationsChanged() if self._pages.currentWidget() is self._list:
                self._start(self._refresh_list(self._list.search_text), self.tr("list the conversations"))
            case IndexUpdated() if self._conversation is None:
                self._suggestion_timer.start()
            case SettingsChanged(settings):
                self._show_settings(settings)

    def _finish(self, event: TurnFinished) -> None:
        self._usage = self._usage.plus(event.usage)
        self.composer.set_usage(short_usage(self._usage), full_usage(self._usage))
        if self._is_current(event.conversation):
            self.transcript.end_stream()
            self._set_running(False)

    def _is_current(self, conversation: str) -> bool:
        return self._conversation is not None and self._conversation.id == conversation

    async def _load(self) -> None:
        self._show_settings(await self._client.run(lambda vault: vault.settings.current))
        await self._load_suggestions()

    async def _load_suggestions(self) -> None:
        """Fill the start page with examples about a well-linked note, one with a short name if possible."""
        notes = await self._client.run(
            lambda vault: asyncio.to_thread(vault.notes.most_linked, _MAX_EXAMPLE_CANDIDATES)
        )
        names = [note.name for note in notes]
        short_names = [name for name in names if len(name) <= _MAX_EXAMPLE_NAME_CHARS and name[0].isalpha()]
        self._start_page.suggest(next(iter(short_names or names), ""))

    def _show_start_page(self) -> None:
        self._pages.setCurrentWidget(self._start_area)
        # The examples are not updated while a conversation is shown.
        self.refresh_suggestions()

    def refresh_suggestions(self) -> None:
        """Start updating the examples on the start page."""
        self._start(self._load_suggestions(), self.tr("load the examples"))

    def _toggle_list(self) -> None:
        if self._pages.currentWidget() is self._list:
            if self._conversation is not None:
                self._pages.setCurrentWidget(self.transcript)
            else:
                self._show_start_page()
            return
        self._pages.setCurrentWidget(self._list)
        self._start(self._refresh_list(""), self.tr("list the conversations"))

    async def _refresh_list(self, text: str) -> None:
        self._list.show_conversations(await self._client.run(lambda vault: vault.agent.conversations(text)))

    def _rename(self, id_: str, title: str) -> None:
        async def ask() -> None:
            heading, rename = self.tr("Rename conversation"), self.tr("Rename")
            new_title = await dialogs.prompt_text(
                self, heading, self.tr("Title:"), title, accept_label=rename
            )
            if new_title and new_title.strip():
                await self._client.run(lambda vault: vault.agent.rename(id_, new_title.strip()))

        self._start(ask(), self.tr("rename the conversation"))

    def _delete(self, id_: str, title: str) -> None:
        async def ask() -> None:
            text = self.tr("Changes that the agent made to your notes stay in the audit log.")
            if await dialogs.confirm(
                self,
                self.tr("Delete “{0}”?").format(title or self.tr("Untitled")),
                text,
                self.tr("Delete"),
                self.tr("Cancel"),
                is_destructive=True,
            ):
                await self._client.run(lambda vault: vault.agent.delete(id_))
                if self._is_current(id_):
                    self._conversation = None
                    self._end_editing()
                    self.transcript.show_items(())
                    self._set_running(False)

        self._start(ask(), self.tr("delete the conversation"))

    def _choose_mode(self, mode: str) -> None:
        self._start(
            self._client.run(lambda vault: vault.settings.change("agent", mode=mode)),
            self.tr("save the agent's mode"),
        )

    def _show_models(self) -> None:
        menu = ModelMenu(self._settings, self._recent_models.list_models(), self)
        menu.chosen.connect(self._choose_model)
        menu.team_chosen.connect(lambda name: self._choose_agent(AnswerByTeam(name=name)))
        menu.program_chosen.connect(lambda name: self._choose_agent(AnswerByProgram(name=name)))
        menu.option_chosen.connect(self._choose_option)
        menu.setup_requested.connect(self.settings_requested)
        menu.show_above(self.composer.model)
        tasks.start(self._find_local(menu), owner=menu, action=self.tr("look for local models"))
        if program := self._settings.answering_program:
            tasks.start(
                self._find_options(menu, program.name), owner=menu, action=self.tr("load the agent's options")
            )

    async def _find_options(self, menu: ModelMenu, program: str) -> None:
        menu.show_options(await self._client.run(lambda vault: vault.agent.program_options(program)))

    def _choose_option(self, option: str, value: str) -> None:
        if program := self._settings.answering_program:
            name = program.name
            change = self._client.run(lambda vault: vault.agent.set_program_option(name, option, value))
            self._start(change, self.tr("change an option of {0}").format(name))

    async def _find_local(self, menu: ModelMenu) -> None:
        menu.show_local(await self._client.run(lambda vault: vault.settings.local_models()))

    def _choose_model(self, choice: ModelChoice) -> None:
        if choice.provider == BUILTIN:
            self._choose_agent(AnswerByBuiltIn())
            return

        def change(vault: VaultService) -> None:
            fields = {"base_url": choice.address, "model": choice.model} if choice.model else {}
            vault.settings.change("model", provider=choice.provider, **fields)
            vault.settings.change("agent", answering=AnswerByModel())

        self._start(self._client.run(change), self.tr("change the model"))

    def _choose_agent(self, answering: Answering) -> None:
        """Let the built-in agent, the team or an external agent answer."""
        change = self._client.run(lambda vault: vault.settings.change("agent", answering=answering))
        self._start(change, self.tr("change the agent"))

    def _show_settings(self, settings: Settings) -> None:
        self._settings = settings
        self._model = ModelChoice.from_settings(settings)
        self._recent_models.add(self._model)
        self._has_settings = True
        program, agent = settings.answering_program, settings.answering_agent
        self._start_page.show_program(program.name if program else "")
        answering = program or agent
        self.composer.set_model(answering.name if answering else self._model.label)
        self.composer.set_mode(settings.agent.mode)

    async def _complete_names(self, word: str) -> None:
        names = await self._client.run(lambda vault: vault.notes.complete_names(word, 8))
        self.composer.set_names(list(names))

    async def _complete_values(self, search: str, field: ValueField) -> None:
        completions = await self._client.run(lambda vault: vault.search.suggest(search, len(search)))
        if isValid(field):
            typed = field.text()
            names = [completion.shown for completion in completions[1]] if completions else []
            field.show_completions(typed if search.endswith(typed) else "", names)


def connect(panel: AgentPanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)
    panel.showing_requested.connect(context.open_without_focus)
    panel.set_open_note(lambda: context.note_path or None)
    panel.diff_requested.connect(context.diff_requested)
    panel.undo_requested.connect(context.undo_requested)
    panel.settings_requested.connect(lambda section: context.command_requested.emit(f"settings:{section}"))
    context.prompt_requested.connect(panel.insert)
    context.attachment_requested.connect(panel.add_note)
