"""A turn in progress: its messages and tool calls become saved items and events.

Agents stream text, save items and call tools through a `Turn`.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from app.agent.conversations import ConversationStore
from app.agent.transcript import (
    AgentText,
    AnswerChoice,
    AnyItem,
    CardState,
    ItemUpdated,
    NoteOpenRequested,
    Notice,
    Question,
    ReadingChip,
    Reasoning,
    RequestReading,
    TextStreamed,
    ToolCard,
    Usage,
)
from app.encoding import encodable
from app.errors import LimitError, ScriptoriumError
from app.events import EventBus
from app.permissions.caller import Caller
from app.settings import AgentProgram
from app.toolkit.call import NO_USAGE, Call, ModelUsage
from app.toolkit.outcome import ToolOutcome
from app.toolkit.runner import ToolRunner
from app.toolkit.tool import Tool

_MAX_SHOWN_NAME_CHARS = 200
_MAX_SHOWN_ARGUMENT_CHARS = 2000


@dataclass(frozen=True, slots=True)
class UserPrompt:
    """A user's prompt: the text, the mode, and the paths of the open note and the attached notes."""

    text: str
    mode: str = "propose"
    open_note: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Make the text encodable, because it is saved and sent to models and programs."""
        object.__setattr__(self, "text", encodable(self.text))


@dataclass(frozen=True, slots=True)
class Role:
    """The role of the team agent or program that answers a turn.

    `instructions` are added to the user's own in the prompt. `model` replaces the model in the settings
    (empty: no replacement). `max_tokens` limits the turn (None: the limit in the settings).
    """

    name: str
    instructions: str = ""
    model: str = ""
    max_tokens: int | None = None


@dataclass
class Turn:
    """A turn of a conversation. Several may run in one conversation, each by a different team agent.

    Args:
        conversation: The conversation's id in the store.
        prompt: The user's prompt.
        caller: The caller of the tools in this turn; `caller.turn` is the turn's id.
        store: Saves the items.
        events: Publishes the turn's progress.
        runner: Runs the tool calls.
        role: The role of the team agent or program that answers, if any.
        program: The program that answers, if any.
        usage: The usage of the answering model.
        tool_usage: The model usage inside tools.
        is_over: Whether a tool has ended the turn; the model agent then refuses further calls.
        texts: The agent's messages so far.
        problem: The reason for a failure; empty if there is none.
        notifications: The unread notifications for the agent, as a block of data; empty if there is none.
        review: Checks a model's text before it is saved; takes the text and whether it ends the turn.
        cites: Whether the answer must cite the notes.
        refused_calls: Reasons for refusing calls of the last response (too many or too large), by call id.
    """

    conversation: str
    prompt: UserPrompt
    caller: Caller
    store: ConversationStore
    events: EventBus
    runner: ToolRunner
    role: Role | None = None
    program: AgentProgram | None = None
    usage: Usage = field(default_factory=Usage)
    tool_usage: Usage = field(default_factory=Usage)
    is_over: bool = False
    texts: list[str] = field(default_factory=list)
    problem: str = ""
    notifications: str = ""
    review: Callable[[str, bool], str] | None = None
    cites: bool = False
    refused_calls: dict[str, LimitError] = field(default_factory=dict)
    _text: str = ""
    _reasoning: str = ""
    _last_card: int | None = None

    @property
    def total_usage(self) -> Usage:
        """The usage of the turn, including usage inside tools."""
        return self.usage.plus(self.tool_usage)

    @property
    def agent(self) -> str:
        """The name of the team agent or program that answers; empty for the conversation's own agent."""
        return self.role.name if self.role else ""

    def stream(self, text: str) -> None:
        """Stream the next part of the agent's text."""
        self._flush_reasoning()
        self._text += text
        self.events.publish(TextStreamed(self.conversation, self.caller.turn, text))

    def stream_reasoning(self, text: str) -> None:
        """Add the next part of a model's reasoning, which the user sees when it is complete."""
        self._reasoning += text

    def say(self, text: str) -> None:
        """Add a complete answer."""
        self.stream(text)
        self.flush()

    def open_note(self, path: str) -> None:
        """Ask front ends to show the note at `path`."""
        self.events.publish(NoteOpenRequested(self.conversation, self.caller.turn, path))

    def ask(self, text: str, choices: tuple[AnswerChoice, ...]) -> None:
        """Ask the user a question; an agent that called this one gets the question's text as its answer."""
        self.flush()
        self.texts.append(text)
        self.put(
            Question(turn=self.caller.turn, at=time.time(), agent=self.agent, text=text, choices=choices)
        )

    def show_reading(self, chips: tuple[ReadingChip, ...]) -> None:
        """Show the interpretation of the request as chips."""
        self.flush()
        self.put(RequestReading(turn=self.caller.turn, at=time.time(), agent=self.agent, chips=chips))

    def notice(self, level: str, text: str, hint: str = "") -> None:
        """Add a notice about the turn; the text of a warning or error is also the turn's `problem`."""
        self.flush()
        if level != "info":
            self.problem = text
        fields = {"level": level, "text": text, "hint": hint, "agent": self.agent}
        self.put(Notice.model_validate({"turn": self.caller.turn, "at": time.time(), **fields}))

    def add_context(self, text: str, *, untrusted: bool) -> None:
        """Record context that the agent received; untrusted text taints the conversation."""
        self.flush()
        turn, now = self.caller.turn, time.time()
        self.put(Notice(turn=turn, at=now, level="info", text=text, untrusted=untrusted, agent=self.agent))
        if untrusted:
            self.caller = replace(self.caller, tainted=True)

    def flush(self, *, is_answer: bool = False) -> str:
        """Save the reasoning and the text streamed so far as items, and return the text as reviewed.

        Blank reasoning and text are not saved. `is_answer` means that the text ends the turn; `review` may
        check it differently.
        """
        self._flush_reasoning()
        text, self._text = encodable(self._text), ""
        if self.review is not None and text.strip():
            text = self.review(text, is_answer)
        if text.strip():
            self.texts.append(text.strip())
            fields = {"turn": self.caller.turn, "at": time.time(), "agent": self.agent, "text": text}
            # A program may have read text that is hidden from models.
            by_model = self.caller.uses_model and self.program is None
            self.put(AgentText.model_validate({**fields, "by_model": by_model}))
        return text

    async def call(
        self,
        tool: str | Tool,
        arguments: Mapping[str, object],
        claim: str = "",
        spent: ModelUsage = NO_USAGE,
        summarize: Callable[[ToolOutcome], str] | None = None,
        *,
        repeats: bool = False,
    ) -> ToolOutcome:
        """Call a tool, show it as a card and return the outcome; an untrusted result taints the conversation.

        Args:
            tool: The tool's name, or the tool itself if it is internal and not offered to agents.
            arguments: The tool's arguments.
            claim: The agent's description for the approval dialog; by default, the text before the call.
            spent: The model usage that led to the call; an internal call is logged without it.
            summarize: Returns the card's message for a successful outcome; by default, the tool's own.
            repeats: Whether the card replaces that of the turn's last call.
        """
        preface = self.flush()
        card = ToolCard(
            turn=self.caller.turn,
            at=time.time(),
            agent=self.agent,
            call=uuid.uuid4().hex,
            tool=tool if isinstance(tool, str) else tool.name,
            arguments=json.dumps(arguments, ensure_ascii=False, default=str),
            tokens=spent.tokens,
            cost=spent.cost,
        )
        if repeats and self._last_card is not None:
            position = self._last_card
            self.replace(position, card)
        else:
            position = self._last_card = self.put(card)
        try:
            caller = replace(self.caller, claim=claim or preface.strip())
            if isinstance(tool, str):
                call = Call.of(tool, arguments, caller, usage=spent)
            else:
                call = Call.internal(tool, arguments, caller)
            outcome = await self.runner.run(call)
        except asyncio.CancelledError:
            self.replace(position, card.model_copy(update={"state": "cancelled", "message": "Stopped."}))
            raise
        card = complete_card(card, outcome)
        if outcome.success and summarize is not None:
            card = card.model_copy(update={"message": summarize(outcome)})
        self.replace(position, card)
        self.is_over = self.is_over or outcome.ends_turn
        self.tool_usage = self.tool_usage.plus(_usage_of(outcome.model_usage))
        if outcome.untrusted:
            self.caller = replace(self.caller, tainted=True)
        return outcome

    async def reject(self, tool: str, arguments: str, error: ScriptoriumError) -> ToolOutcome:
        """Show and log a call that can't be made, and return its failed outcome.

        Args:
            tool: The requested tool.
            arguments: The arguments as received.
            error: The reason.
        """
        self.flush()
        shown = json.dumps({"arguments": arguments[:_MAX_SHOWN_ARGUMENT_CHARS]}, ensure_ascii=False)
        card = ToolCard(
            turn=self.caller.turn,
            at=time.time(),
            agent=self.agent,
            call=uuid.uuid4().hex,
            tool=tool[:_MAX_SHOWN_NAME_CHARS],
            arguments=shown,
        )
        position = self.put(card)
        call = Call.invalid(card.tool, arguments[:_MAX_SHOWN_ARGUMENT_CHARS], self.caller, error)
        outcome = await self.runner.run(call)
        self.replace(position, complete_card(card, outcome))
        return outcome

    def record_usage(self, usage: Usage) -> ModelUsage:
        """Record the turn's usage so far; return the increase since the last call."""
        before, self.usage = self.usage, usage
        tokens = usage.tokens - before.tokens
        cost = (usage.cost or 0.0) - (before.cost or 0.0) if usage.cost is not None else 0.0
        return ModelUsage(max(0, tokens), max(0.0, cost))

    def _flush_reasoning(self) -> None:
        text, self._reasoning = self._reasoning, ""
        if text.strip():
            self.put(Reasoning(turn=self.caller.turn, at=time.time(), agent=self.agent, text=text))

    def put(self, item: AnyItem) -> int:
        """Add an item to the conversation and return its position."""
        position = self.store.append(self.conversation, item)
        self.events.publish(ItemUpdated(self.conversation, position, item))
        return position

    def replace(self, position: int, item: AnyItem) -> None:
        """Replace the item at `position`."""
        self.store.put(self.conversation, position, item)
        self.events.publish(ItemUpdated(self.conversation, position, item))


def _usage_of(spent: ModelUsage) -> Usage:
    if spent is NO_USAGE:
        return Usage()
    return Usage(requests=1, input_tokens=spent.tokens, cost=spent.cost or None)


def complete_card(card: ToolCard, outcome: ToolOutcome) -> ToolCard:
    """Return a copy of the card, completed with the outcome of its call."""
    state: CardState = "denied" if outcome.denied else "done" if outcome.success else "failed"
    error = outcome.error or {}
    message = outcome.message or str(error.get("message", ""))
    return card.model_copy(
        update={
            "state": state,
            "message": message,
            "result": json.dumps(outcome.error or outcome.result, ensure_ascii=False, default=str),
            "duration_ms": outcome.duration_ms,
            "entry": outcome.entry,
            "commit": outcome.commit,
            "untrusted": outcome.untrusted,
            "decision": outcome.decision,
            "changed_by_user": bool(outcome.result.get("changed_by_user")),
        }
    )
