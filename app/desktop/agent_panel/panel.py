"""The agent panel: shows a conversation, sends what the user writes, and follows the turn by events."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.agent.conversations import Conversation
from app.agent.transcript import (
    ConversationsChanged,
    ItemSettled,
    NoteOpened,
    TextStreamed,
    TurnFinished,
    TurnStarted,
    Usage,
)
from app.agent.turn import Prompt
from app.desktop import dialogs, tasks
from app.desktop.agent_panel.composer import Composer
from app.desktop.agent_panel.conversation_list import ConversationList
from app.desktop.agent_panel.transcript_view import TranscriptView
from app.desktop.bridge import VaultClient
from app.desktop.panel import Panel, ThemedButton
from app.desktop.theme import ThemeSource, icon

_SUGGESTIONS = (
    ("magnifying-glass", "find notes about {name}"),
    ("arrow-bend-up-left", "what links to {name}?"),
    ("tag", "tag {name} with #reviewed"),
    ("pencil-simple", "add a line to {name}: to be checked"),
)


class AgentPanel(Panel):
    """The panel at the right.

    `open_requested` carries a note (path or name) and a fragment, `search_requested` a query,
    `diff_requested` and `undo_requested` an audit entry, `settings_requested` a section of the settings.
    """

    open_requested = Signal(str, str)
    search_requested = Signal(str)
    diff_requested = Signal(int)
    undo_requested = Signal(int)
    settings_requested = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__("Agent", parent)
        self._client = client
        self._theme = theme
        self._conversation: Conversation | None = None
        self._open_note: Callable[[], str | None] = lambda: None
        self._resend_from: int | None = None
        self._used = Usage(cost=0.0)
        self._build()
        client.events.batch.connect(self._receive)
        tasks.start(self._begin(), owner=self, what="load the conversations")

    def _build(self) -> None:
        self._list = ConversationList(self._theme, self)
        self._list.chosen.connect(lambda id_: self._start(self.open_conversation(id_), "open it"))
        self._list.renamed.connect(self._rename)
        self._list.deleted.connect(self._delete)
        self._list.search_changed.connect(lambda text: self._start(self._refresh_list(text), "search"))
        for symbol, words, act in (
            ("clock-counter-clockwise", "Conversations", self._toggle_list),
            ("plus", "New conversation", self.new_conversation),
        ):
            button = ThemedButton(self._theme, symbol, words, self)
            button.clicked.connect(lambda _=False, act=act: act())
            self.title.add(button)
        self.transcript = TranscriptView(self._theme, self)
        self.transcript.link_clicked.connect(self.open_requested)
        self.transcript.tag_clicked.connect(lambda tag: self.search_requested.emit(f"tag:{tag}"))
        self.transcript.reply_chosen.connect(self._send)
        self.transcript.resend_wanted.connect(self._edit_again)
        self.transcript.diff_wanted.connect(self.diff_requested)
        self.transcript.undo_wanted.connect(self.undo_requested)
        self.composer = Composer(self._theme, self)
        self.composer.sent.connect(lambda _: self._send())
        self.composer.stopped.connect(self._stop)
        self.composer.mode_chosen.connect(self._choose_mode)
        self.composer.model_clicked.connect(self._show_models)
        self.composer.names_wanted.connect(lambda word: self._start(self._offer_names(word), "find notes"))
        self._pages = QStackedWidget()
        self._pages.setObjectName("panel")
        self._empty = QWidget()
        for page in (self._empty, self.transcript, self._list):
            self._pages.addWidget(page)
        foot = QWidget()
        inner = QVBoxLayout(foot)
        inner.setContentsMargins(8, 0, 8, 8)
        inner.addWidget(self.composer)
        self.column.addWidget(self._pages, 1)
        self.column.addWidget(foot)

    # What the window calls

    def set_open_note(self, ask: Callable[[], str | None]) -> None:
        """How to learn which note is on the screen: its path, or None."""
        self._open_note = ask

    def focus_prompt(self) -> None:
        """Put the cursor in the field."""
        self.composer.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def insert(self, text: str) -> None:
        """Write `text` into the field, after what is there."""
        self.composer.field.insertPlainText(text)
        self.focus_prompt()

    def add_note(self, path: str) -> None:
        """Give a note along with the next message."""
        self.composer.add_note(path)
        self.focus_prompt()

    def new_conversation(self) -> None:
        """Show an empty conversation; it is saved with its first message."""
        self._conversation = None
        self._resend_from = None
        self.transcript.show_items(())
        self.composer.set_running(False)
        self._pages.setCurrentWidget(self._empty)
        self.focus_prompt()

    async def open_conversation(self, id_: str) -> None:
        """Show a saved conversation."""
        found = await self._client.run(
            lambda ws: (
                next((c for c in ws.agent.store.all() if c.id == id_), None),
                ws.agent.store.items(id_),
                ws.agent.is_running(id_),
            )
        )
        self._conversation, items, running = found
        self._resend_from = None
        self.transcript.show_items(items)
        self.composer.set_running(running)
        self._pages.setCurrentWidget(self.transcript if items else self._empty)

    # Sending and stopping

    def _send(self, reply: str = "") -> None:
        text, notes = (reply, ()) if reply else self.composer.take()
        if text:
            self._start(self._ask(text, notes), "send the message")

    async def _ask(self, text: str, notes: tuple[str, ...]) -> None:
        if self._conversation is None:
            self._conversation = await self._client.run(lambda ws: ws.agent.create())
        id_, since = self._conversation.id, self._resend_from
        self._resend_from = None
        mode = str(self.composer.mode.currentData())
        prompt = Prompt(text, mode=mode, open_note=self._open_note(), notes=notes)
        self._pages.setCurrentWidget(self.transcript)
        self.composer.set_running(True)
        await self._client.run(lambda ws: ws.agent.start(id_, prompt, since))
        if since is not None:
            self.transcript.show_items(await self._client.run(lambda ws: ws.agent.store.items(id_)))

    def _stop(self) -> None:
        if self._conversation is not None:
            id_ = self._conversation.id
            self._start(self._client.run(lambda ws: ws.agent.stop(id_)), "stop the agent")

    def _edit_again(self, position: int, text: str) -> None:
        self._resend_from = position
        self.composer.field.setPlainText(text)
        self.focus_prompt()

    # Following the turn

    def _receive(self, events: tuple[object, ...]) -> None:
        for event in events:
            match event:
                case TextStreamed(thinking=False) if self._shows(event.conversation):
                    self.transcript.stream(event.text)
                case ItemSettled() if self._shows(event.conversation):
                    self.transcript.put(event.position, event.item)
                case TurnStarted() if self._shows(event.conversation):
                    self.composer.set_running(True)
                case TurnFinished():
                    self._finish(event)
                case NoteOpened() if self._shows(event.conversation):
                    self.open_requested.emit(event.path, "")
                case ConversationsChanged() if self._pages.currentWidget() is self._list:
                    self._start(self._refresh_list(self._list.search_text), "list the conversations")

    def _finish(self, event: TurnFinished) -> None:
        self._used = _sum(self._used, event.usage)
        self.composer.set_usage(_usage_text(self._used))
        if self._shows(event.conversation):
            self.transcript.end_stream()
            self.composer.set_running(False)

    def _shows(self, conversation: str) -> bool:
        return self._conversation is not None and self._conversation.id == conversation

    # Conversations

    async def _begin(self) -> None:
        settings = await self._client.run(lambda ws: ws.settings)
        self.composer.set_mode(settings.agent.mode)
        self.composer.set_model(_model_label(settings.model.provider, settings.model.model))
        await self._suggest()

    async def _suggest(self) -> None:
        """Fill the first page with examples about the note with the most links."""
        names = await self._client.run(lambda ws: ws.hub_names(1))
        old, self._empty = self._empty, QWidget()
        self._fill_empty(names[0] if names else "my note")
        self._pages.insertWidget(0, self._empty)
        if self._pages.currentWidget() is old:
            self._pages.setCurrentWidget(self._empty)
        self._pages.removeWidget(old)
        old.deleteLater()

    def refresh_suggestions(self) -> None:
        """The vault has been read: suggest what fits it."""
        self._start(self._suggest(), "make suggestions")

    def _fill_empty(self, name: str) -> None:
        """The first page: what it can do, as examples that are sent with a click."""
        column = QVBoxLayout(self._empty)
        column.setContentsMargins(20, 20, 20, 20)
        column.setSpacing(8)
        column.addStretch(2)
        heading = QLabel("What shall we do?")
        heading.setProperty("textSize", "heading")
        text = QLabel("The agent proposes, you decide: each change is shown to you before it is written.")
        text.setProperty("tone", "muted")
        text.setWordWrap(True)
        column.addWidget(heading)
        column.addWidget(text)
        column.addSpacing(8)
        for symbol, words in _SUGGESTIONS:
            said = words.format(name=name)
            button = QPushButton(said)
            button.setIcon(icon(self._theme.theme, symbol))
            button.setProperty("role", "quiet")
            button.setStyleSheet("text-align: left;")
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            button.setToolTip(said)
            button.clicked.connect(lambda _=False, said=said: self._send(said))
            column.addWidget(button)
        column.addStretch(3)

    def _toggle_list(self) -> None:
        if self._pages.currentWidget() is self._list:
            self._pages.setCurrentWidget(self.transcript if self._conversation else self._empty)
            return
        self._pages.setCurrentWidget(self._list)
        self._start(self._refresh_list(""), "list the conversations")

    async def _refresh_list(self, text: str) -> None:
        self._list.show_conversations(await self._client.run(lambda ws: ws.agent.store.all(text)))

    def _rename(self, id_: str, title: str) -> None:
        async def ask() -> None:
            new = await dialogs.prompt_text(self, "Rename the conversation", "Title", title)
            if new and new.strip():
                await self._client.run(lambda ws: ws.agent.rename(id_, new.strip()))

        self._start(ask(), "rename the conversation")

    def _delete(self, id_: str, title: str) -> None:
        async def ask() -> None:
            text = f"“{title}” is forgotten. What the agent did in your notes stays in the audit log."
            if await dialogs.confirm(self, "Delete this conversation?", text, "Delete", "Keep", danger=True):
                await self._client.run(lambda ws: ws.agent.delete(id_))
                if self._shows(id_):
                    self._conversation = None
                    self.transcript.show_items(())

        self._start(ask(), "delete the conversation")

    # Mode and model

    def _choose_mode(self, mode: str) -> None:
        self._start(
            self._client.run(lambda ws: ws.change_settings("agent", mode=mode)), "keep the agent's mode"
        )

    def _show_models(self) -> None:
        self._start(self._offer_models(), "list the models")

    async def _offer_models(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Built-in agent (no model)", partial(self._choose_model, "built-in", ""))
        for known, names in await self._client.run(lambda ws: ws.local_models()):
            menu.addSection(known.label)
            for name in names:
                menu.addAction(name, partial(self._choose_model, known.id, name))
        menu.addSeparator()
        menu.addAction("Set up a model…", lambda: self.settings_requested.emit("model"))
        menu.popup(self.composer.model.mapToGlobal(self.composer.model.rect().topLeft()))

    def _choose_model(self, provider: str, model: str) -> None:
        async def choose() -> None:
            await self._client.run(
                lambda ws: ws.change_settings("model", provider=provider, model=model, base_url="")
            )
            self.composer.set_model(_model_label(provider, model))

        self._start(choose(), "choose the model")

    def show_settings(self, provider: str, model: str, mode: str) -> None:
        """The settings were changed elsewhere."""
        self.composer.set_model(_model_label(provider, model))
        self.composer.set_mode(mode)

    async def _offer_names(self, word: str) -> None:
        self.composer.set_names(list(await self._client.run(lambda ws: ws.complete_names(word, 8))))

    def _start(self, coro: object, what: str) -> None:
        tasks.start(coro, owner=self, what=what)  # type: ignore[arg-type]


def _model_label(provider: str, model: str) -> str:
    return "Built-in" if provider == "built-in" else model or provider


def _sum(a: Usage, b: Usage) -> Usage:
    cost = None if a.cost is None or b.cost is None else a.cost + b.cost
    if b.requests == 0:
        cost = a.cost
    return Usage(
        requests=a.requests + b.requests,
        input_tokens=a.input_tokens + b.input_tokens,
        output_tokens=a.output_tokens + b.output_tokens,
        cost=cost,
    )


def _usage_text(usage: Usage) -> str:
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return ""
    counted = f"{tokens / 1000:.1f}k tokens" if tokens >= 1000 else f"{tokens} tokens"
    return f"{counted} · ${usage.cost:.3f}" if usage.cost else counted
