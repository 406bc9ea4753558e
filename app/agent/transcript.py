"""Items of a conversation, and the events of a turn in progress. All are frozen.

A conversation is a list of items in the order in which they began. A turn is everything from one prompt
to the end of the answer; its id is also the `turn` of each tool call, so a turn can be undone as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, model_validator

from app.encoding import encodable_value
from app.events import Event

CardState = Literal["running", "done", "denied", "failed", "cancelled"]
TurnState = Literal["done", "stopped", "failed"]


class Item(BaseModel):
    """Base class of the items of a conversation; `at` is a Unix time in seconds.

    `agent` is the team agent or program that wrote it; empty for the conversation's own agent.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    turn: str
    at: float
    agent: str = ""

    @model_validator(mode="before")
    @classmethod
    def _encodable(cls, value: object) -> object:
        """Make text from models and programs encodable, so that it can be saved and sent."""
        return encodable_value(value)


class UserText(Item):
    """A message from the user; `notes` are the paths of the attached notes."""

    kind: Literal["user"] = "user"
    text: str
    notes: tuple[str, ...] = ()


class AgentText(Item):
    """A message from the agent, in Markdown; `by_model`: it contains only what a model may see."""

    kind: Literal["agent"] = "agent"
    text: str
    by_model: bool = False


class Reasoning(Item):
    """A model's reasoning."""

    kind: Literal["thinking"] = "thinking"
    text: str


class ToolCard(Item):
    """A tool call: arguments and result as JSON text, its audit entry and its commit.

    `tokens` and `cost` are the model usage that led to the call (`app.toolkit.call.ModelUsage`). `untrusted`:
    the result contains untrusted text, which taints the rest of the conversation. `decision` is that of the
    audit entry; `changed_by_user`: the user approved only a part of the change, or edited it. `undone_by` is
    the audit entry that undid the change.
    """

    kind: Literal["tool"] = "tool"
    call: str
    tool: str
    arguments: str
    state: CardState = "running"
    message: str = ""
    result: str = ""
    duration_ms: float = 0.0
    entry: int | None = None
    commit: int | None = None
    untrusted: bool = False
    tokens: int = 0
    cost: float = 0.0
    decision: str = ""
    changed_by_user: bool = False
    undone_by: int | None = None


SET_UP_MODEL = "set-up-model"
"""The action of a choice that opens the model settings."""


class AnswerChoice(BaseModel):
    """An answer that the agent offers to its own question.

    Choosing it sends `reply`, or runs the window's `action` instead (`SET_UP_MODEL`).
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    label: str
    reply: str
    action: str = ""


class ReadingChip(BaseModel):
    """One part of the built-in agent's reading of a request; see `app.agent.language.words.chips`."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    label: str
    without: str = ""
    value: str = ""
    change: str = ""
    value_kind: Literal["", "text", "note", "value", "condition"] = ""
    lead: str = ""


class RequestReading(Item):
    """The built-in agent's reading of a request, as chips."""

    kind: Literal["reading"] = "reading"
    chips: tuple[ReadingChip, ...] = ()


class Question(Item):
    """A question from the agent to the user."""

    kind: Literal["question"] = "question"
    text: str
    choices: tuple[AnswerChoice, ...] = ()


class Message(Item):
    """A message from an agent to another agent or the user ("You"); `metadata` is the sender's data."""

    kind: Literal["message"] = "message"
    sender: str
    to: str
    text: str
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class Notice(Item):
    """A notice about the turn: a server error, a stop, a limit.

    `untrusted`: it added untrusted text to the turn, which taints the rest of the conversation.
    """

    kind: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"]
    text: str
    hint: str = ""
    untrusted: bool = False


class PlanStep(BaseModel):
    """A step of a plan."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    text: str
    state: Literal["pending", "in_progress", "completed"] = "pending"


class AgentPlan(Item):
    """The plan of an external agent and its progress; it changes during the turn."""

    kind: Literal["plan"] = "plan"
    steps: tuple[PlanStep, ...] = ()


AnyItem = (
    UserText | AgentText | Reasoning | ToolCard | RequestReading | Question | Message | Notice | AgentPlan
)
ITEM_ADAPTER: TypeAdapter[AnyItem] = TypeAdapter(AnyItem, config=ConfigDict(defer_build=True))


def contains_untrusted(items: Iterable[AnyItem]) -> bool:
    """Return whether a conversation contains untrusted text, which taints what follows."""
    return any(isinstance(item, ToolCard | Notice) and item.untrusted for item in items)


YOU = "You"
"""The user's name as the receiver of a message."""


class Usage(BaseModel):
    """Model usage of a turn: requests, input and output tokens, cost in US dollars if the price is known."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = Field(None)

    def plus(self, other: Usage) -> Usage:
        """Return the sum. Its cost is known if the cost of every part that made requests is known."""
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        if self.requests == 0:
            cost = other.cost
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=self.cost if other.requests == 0 else cost,
        )

    @property
    def tokens(self) -> int:
        """The number of input and output tokens."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """A turn began."""

    conversation: str
    turn: str


@dataclass(frozen=True, slots=True)
class TextStreamed(Event):
    """The next part of the agent's text; the complete item follows as `ItemUpdated`."""

    conversation: str
    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class ItemUpdated(Event):
    """An item was added, or replaced the one at `position` (for example a card with its result)."""

    conversation: str
    position: int
    item: AnyItem


@dataclass(frozen=True, slots=True)
class TurnFinished(Event):
    """A turn ended."""

    conversation: str
    turn: str
    state: TurnState
    usage: Usage


@dataclass(frozen=True, slots=True)
class NoteOpenRequested(Event):
    """The user asked the agent to open a note; a front end that shows notes opens it."""

    conversation: str
    turn: str
    path: str


@dataclass(frozen=True, slots=True)
class UserMessaged(Event):
    """A message to the user arrived; it is at `position` in the conversation."""

    conversation: str
    position: int
    sender: str
    text: str


@dataclass(frozen=True, slots=True)
class ConversationsChanged(Event):
    """The list of conversations changed: one was created, continued, renamed or deleted."""
