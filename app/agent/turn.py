"""A turn under way: what is said and called in it becomes saved items and events.

Both agents, the built-in one and a model, speak only through a `Turn`: it is the one place that streams,
saves and calls tools.
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
    NoteOpened,
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
    """What the user sends: the text, the mode, the note on the screen and notes given along (paths)."""

    text: str
    mode: str = "propose"
    open_note: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Keep the text encodable: it is saved, and sent to models and programs."""
        object.__setattr__(self, "text", encodable(self.text))


@dataclass(frozen=True, slots=True)
class Role:
    """An agent of the team, as which a turn is answered.

    `instructions` go into the prompt beside the user's own, `model` is used instead of the one of the
    settings (empty: that one), `most_tokens` bounds the turn (None: as the settings say).
    """

    name: str
    instructions: str = ""
    model: str = ""
    most_tokens: int | None = None


@dataclass
class Turn:
    """One turn of one conversation; several may run in one, each an agent's of the team.

    Args:
        conversation: Its id in the store.
        prompt: What was asked.
        caller: Who calls the tools in this turn; `caller.turn` is the turn's id.
        role: Who answers, when it is an agent of the team or a program.
        program: The program that answers, when one does.
        usage: What the model that answers has used.
        usage_inside: What tools have used of a model by themselves.
        is_over: No tool may be called any more; what is left is to say so.
        said: What the agent said so far, piece by piece.
        problem: Why it failed, empty when it did not.
        news: What the agent is given of the streams, as a block of data; empty for nothing.
        review: Checks what a model said before it is shown for good: the text, and whether it ends the turn.
        cites: Whether the answer has to cite the notes.
        refused_calls: Calls of the last response that are too many or too large, by their ids, and why.
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
    usage_inside: Usage = field(default_factory=Usage)
    is_over: bool = False
    said: list[str] = field(default_factory=list)
    problem: str = ""
    news: str = ""
    review: Callable[[str, bool], str] | None = None
    cites: bool = False
    refused_calls: dict[str, LimitError] = field(default_factory=dict)
    _text: str = ""
    _thinking: str = ""

    @property
    def total_usage(self) -> Usage:
        """What the turn has used, inside tools too."""
        return self.usage.plus(self.usage_inside)

    @property
    def agent(self) -> str:
        """The agent of the team or the program that answers, empty for the conversation's own."""
        return self.role.name if self.role else ""

    def stream(self, text: str) -> None:
        """The next piece of what the agent says."""
        self._flush_reasoning()
        self._text += text
        self.events.publish(TextStreamed(self.conversation, self.caller.turn, text))

    def stream_reasoning(self, text: str) -> None:
        """The next piece of a model's reasoning."""
        self._thinking += text
        self.events.publish(TextStreamed(self.conversation, self.caller.turn, text, thinking=True))

    def say(self, text: str) -> None:
        """A whole answer at once."""
        self.stream(text)
        self.flush()

    def open_note(self, path: str) -> None:
        """Have front ends that show notes bring up the one at `path`."""
        self.events.publish(NoteOpened(self.conversation, self.caller.turn, path))

    def ask(self, text: str, choices: tuple[AnswerChoice, ...]) -> None:
        """Ask back. Who asks on behalf of the person reads the question alone, as what was said."""
        self.flush()
        self.said.append(text)
        self.put(
            Question(turn=self.caller.turn, at=time.time(), agent=self.agent, text=text, choices=choices)
        )

    def show_reading(self, chips: tuple[ReadingChip, ...]) -> None:
        """Show how the request was understood."""
        self.flush()
        self.put(RequestReading(turn=self.caller.turn, at=time.time(), agent=self.agent, chips=chips))

    def notice(self, level: str, text: str, hint: str = "") -> None:
        """Say something about the turn itself."""
        self.flush()
        if level != "info":
            self.problem = text
        said = {"level": level, "text": text, "hint": hint, "agent": self.agent}
        self.put(Notice.model_validate({"turn": self.caller.turn, "at": time.time(), **said}))

    def add_context(self, text: str, *, untrusted: bool) -> None:
        """Say what the agent was given beside the prompt; untrusted words taint all that follows."""
        self.flush()
        turn, now = self.caller.turn, time.time()
        self.put(Notice(turn=turn, at=now, level="info", text=text, untrusted=untrusted, agent=self.agent))
        if untrusted:
            self.caller = replace(self.caller, tainted=True)

    def flush(self, *, is_answer: bool = False) -> str:
        """Make an item of the text streamed so far, and return that text; `is_answer`: it ends the turn."""
        self._flush_reasoning()
        text, self._text = encodable(self._text), ""
        if self.review is not None and text.strip():
            text = self.review(text, is_answer)
        if text.strip():
            self.said.append(text.strip())
            said = {"turn": self.caller.turn, "at": time.time(), "agent": self.agent, "text": text}
            # A program may have read by itself what no model of ours may see.
            by_model = self.caller.uses_model and self.program is None
            self.put(AgentText.model_validate({**said, "by_model": by_model}))
        return text

    async def call(
        self,
        tool: str | Tool,
        arguments: Mapping[str, object],
        claim: str = "",
        spent: ModelUsage = NO_USAGE,
    ) -> ToolOutcome:
        """Call a tool, shown as a card. `claim` is what the agent says of it, shown apart in the dialog.

        A `Tool` is called as the app's own, which nobody is offered; other tools by their names.
        """
        said = self.flush()
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
        position = self.put(card)
        try:
            caller = replace(self.caller, claim=claim or said.strip())
            if isinstance(tool, str):
                call = Call.of(tool, arguments, caller, usage=spent)
            else:
                call = Call.internal(tool, arguments, caller)
            outcome = await self.runner.run(call)
        except asyncio.CancelledError:
            self.replace(position, card.model_copy(update={"state": "cancelled", "message": "Stopped."}))
            raise
        self.replace(position, complete_card(card, outcome))
        self.is_over = self.is_over or outcome.ends_turn
        self.usage_inside = self.usage_inside.plus(_usage_of(outcome.inside))
        if outcome.untrusted:
            self.caller = replace(self.caller, tainted=True)
        return outcome

    async def reject(self, tool: str, given: str, error: ScriptoriumError) -> ToolOutcome:
        """Show and log a call that can't be made.

        Args:
            tool: The tool that was named.
            given: The arguments as they came.
            error: Why it can't be made.
        """
        self.flush()
        shown = json.dumps({"arguments": given[:_MAX_SHOWN_ARGUMENT_CHARS]}, ensure_ascii=False)
        card = ToolCard(
            turn=self.caller.turn,
            at=time.time(),
            agent=self.agent,
            call=uuid.uuid4().hex,
            tool=tool[:_MAX_SHOWN_NAME_CHARS],
            arguments=shown,
        )
        position = self.put(card)
        call = Call.invalid(card.tool, given[:_MAX_SHOWN_ARGUMENT_CHARS], self.caller, error)
        outcome = await self.runner.run(call)
        self.replace(position, complete_card(card, outcome))
        return outcome

    def record_usage(self, usage: Usage) -> ModelUsage:
        """Take down what the turn has used so far; what came since the last time."""
        before, self.usage = self.usage, usage
        tokens = usage.tokens - before.tokens
        cost = (usage.cost or 0.0) - (before.cost or 0.0) if usage.cost is not None else 0.0
        return ModelUsage(max(0, tokens), max(0.0, cost))

    def _flush_reasoning(self) -> None:
        text, self._thinking = self._thinking, ""
        if text.strip():
            self.put(Reasoning(turn=self.caller.turn, at=time.time(), agent=self.agent, text=text))

    def put(self, item: AnyItem) -> int:
        """Add an item to the conversation; its position."""
        position = self.store.append(self.conversation, item)
        self.events.publish(ItemUpdated(self.conversation, position, item))
        return position

    def replace(self, position: int, item: AnyItem) -> None:
        """Put an item in the place of the one at `position`."""
        self.store.put(self.conversation, position, item)
        self.events.publish(ItemUpdated(self.conversation, position, item))


def _usage_of(spent: ModelUsage) -> Usage:
    if spent is NO_USAGE:
        return Usage()
    return Usage(requests=1, input_tokens=spent.tokens, cost=spent.cost or None)


def complete_card(card: ToolCard, outcome: ToolOutcome) -> ToolCard:
    """The card with its result."""
    state: CardState = "denied" if outcome.denied else "done" if outcome.success else "failed"
    error = outcome.error or {}
    message = outcome.words or outcome.message or str(error.get("message", ""))
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
