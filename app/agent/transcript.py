"""What a conversation looks like: its items, and the events of a turn that is under way. All frozen.

A conversation is a list of items in the order in which they began. A turn is everything from one prompt
to the answer's end; its id is also the `turn` of each tool call, so that it can be undone as one.
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
    """One thing in a conversation; `at` is a Unix time in seconds.

    `agent` is the agent of the team or the program that it comes from, empty for the conversation's own.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    turn: str
    at: float
    agent: str = ""

    @model_validator(mode="before")
    @classmethod
    def _encodable(cls, given: object) -> object:
        """Take the text of models and programs so that it can be kept and sent."""
        return encodable_value(given)


class UserText(Item):
    """What the user said; `notes` are the notes that were given along, by path."""

    kind: Literal["user"] = "user"
    text: str
    notes: tuple[str, ...] = ()


class AgentText(Item):
    """What the agent said, as Markdown with wikilinks; `by_model`: from what a model may be shown."""

    kind: Literal["agent"] = "agent"
    text: str
    by_model: bool = False


class Reasoning(Item):
    """What a model says of its own reasoning."""

    kind: Literal["thinking"] = "thinking"
    text: str


class ToolCard(Item):
    """A tool call: arguments and result as JSON text, the audit entry and the commit it made.

    `tokens` and `cost` are what the model used to come to the call (`app.toolkit.call.ModelUsage`).
    `untrusted`: the result holds text from outside, so all that follows in the conversation is tainted.
    `decision` is the audit entry's; `changed_by_user`: a part or another text was approved. `undone_by` is
    the audit entry that took the change back.
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
"""The action of a choice that opens the settings of the model."""


class AnswerChoice(BaseModel):
    """An answer that the agent offers to its own question.

    `reply` is what is sent when it is picked; `action` names what the window does instead (`SET_UP_MODEL`).
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    label: str
    reply: str
    action: str = ""


class ReadingChip(BaseModel):
    """One piece of what the built-in agent understood, as `app.agent.language.chips` describes it."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    label: str
    without: str = ""
    value: str = ""
    change: str = ""
    value_kind: Literal["", "text", "note", "value", "condition"] = ""
    lead: str = ""


class RequestReading(Item):
    """How the built-in agent understood a request, piece by piece."""

    kind: Literal["reading"] = "reading"
    chips: tuple[ReadingChip, ...] = ()


class Question(Item):
    """The agent asks back."""

    kind: Literal["question"] = "question"
    text: str
    choices: tuple[AnswerChoice, ...] = ()


class Message(Item):
    """What an agent wrote to another one or to the person ("You"); `metadata` is the sender's own data."""

    kind: Literal["message"] = "message"
    sender: str
    to: str
    text: str
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class Notice(Item):
    """Something about the turn itself: an error of the model's server, a stop, a limit.

    `untrusted`: the turn was given text from outside by it, so all that follows is tainted.
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
    """What an agent from outside is going to do, and how far it has come; it changes during the turn."""

    kind: Literal["plan"] = "plan"
    steps: tuple[PlanStep, ...] = ()


AnyItem = (
    UserText | AgentText | Reasoning | ToolCard | RequestReading | Question | Message | Notice | AgentPlan
)
ITEM_ADAPTER: TypeAdapter[AnyItem] = TypeAdapter(AnyItem, config=ConfigDict(defer_build=True))


def contains_untrusted(items: Iterable[AnyItem]) -> bool:
    """Whether text from outside stands in a conversation, so that all that follows is tainted."""
    return any(isinstance(item, ToolCard | Notice) and item.untrusted for item in items)


YOU = "You"
"""The person, as the receiver of a message."""


class Usage(BaseModel):
    """What a turn used: requests, tokens in and out, cost in US dollars where the price is known."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = Field(None)

    def plus(self, other: Usage) -> Usage:
        """Both together; the cost is known when that of each one is that asked a model anything."""
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
        """In and out."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """A turn began."""

    conversation: str
    turn: str


@dataclass(frozen=True, slots=True)
class TextStreamed(Event):
    """The next piece of the agent's text (or thinking); the whole item follows as `ItemUpdated`."""

    conversation: str
    turn: str
    text: str
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class ItemUpdated(Event):
    """An item is new, or stands for the one of the same `position` now (a card that has its result)."""

    conversation: str
    position: int
    item: AnyItem


@dataclass(frozen=True, slots=True)
class TurnFinished(Event):
    """A turn is over."""

    conversation: str
    turn: str
    state: TurnState
    usage: Usage


@dataclass(frozen=True, slots=True)
class NoteOpened(Event):
    """The user asked the agent to open a note: a front end that shows notes brings it up."""

    conversation: str
    turn: str
    path: str


@dataclass(frozen=True, slots=True)
class UserMessaged(Event):
    """Somebody wrote to the person; the message stands in the conversation at `position`."""

    conversation: str
    position: int
    sender: str
    text: str


@dataclass(frozen=True, slots=True)
class ConversationsChanged(Event):
    """A conversation was made, renamed or deleted."""
