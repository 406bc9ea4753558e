"""A turn under way: what is said and called in it becomes saved items and events.

Both agents, the built-in one and a model, speak only through a `Turn`: it is the one place that streams,
saves and calls tools.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.agent.conversations import ConversationStore
from app.agent.transcript import (
    AgentText,
    AnyItem,
    CardState,
    Choice,
    ItemSettled,
    Notice,
    Question,
    TextStreamed,
    Thinking,
    ToolCard,
    Usage,
)
from app.events import EventBus
from app.permissions.caller import Caller
from app.toolkit.call_record import NOTHING_SPENT, Spent
from app.toolkit.runner import ToolOutcome, ToolRunner


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the user sends: the text, the mode, the note on the screen and notes given along (paths)."""

    text: str
    mode: str = "propose"
    open_note: str | None = None
    notes: tuple[str, ...] = ()


@dataclass
class Turn:
    """One turn of one conversation.

    Args:
        conversation: Its id in the store.
        prompt: What was asked.
        caller: Who calls the tools in this turn; `caller.turn` is the turn's id.
        is_over: No tool may be called any more; what is left is to say so.
    """

    conversation: str
    prompt: Prompt
    caller: Caller
    store: ConversationStore
    events: EventBus
    runner: ToolRunner
    position: int
    usage: Usage = field(default_factory=Usage)
    is_over: bool = False
    _text: str = ""
    _thinking: str = ""

    def stream(self, text: str) -> None:
        """The next piece of what the agent says."""
        self._settle_thinking()
        self._text += text
        self.events.publish(TextStreamed(self.conversation, self.caller.turn, text))

    def think(self, text: str) -> None:
        """The next piece of a model's reasoning."""
        self._thinking += text
        self.events.publish(TextStreamed(self.conversation, self.caller.turn, text, thinking=True))

    def say(self, text: str) -> None:
        """A whole answer at once."""
        self.stream(text)
        self.settle()

    def ask(self, text: str, choices: tuple[Choice, ...]) -> None:
        """Ask back."""
        self.settle()
        self._put(Question(turn=self.caller.turn, at=time.time(), text=text, choices=choices))

    def notice(self, level: str, text: str, hint: str = "") -> None:
        """Say something about the turn itself."""
        self.settle()
        self._put(
            Notice.model_validate(
                {"turn": self.caller.turn, "at": time.time(), "level": level, "text": text, "hint": hint}
            )
        )

    def settle(self) -> str:
        """Make an item of the text streamed so far, and return that text."""
        self._settle_thinking()
        text, self._text = self._text, ""
        if text.strip():
            by_model = self.caller.uses_model
            self._put(AgentText(turn=self.caller.turn, at=time.time(), text=text, by_model=by_model))
        return text

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        claim: str = "",
        spent: Spent = NOTHING_SPENT,
    ) -> ToolOutcome:
        """Call a tool, shown as a card. `claim` is what the agent says of it, shown apart in the dialog."""
        said = self.settle()
        position = self.position
        card = ToolCard(
            turn=self.caller.turn,
            at=time.time(),
            call=uuid.uuid4().hex,
            tool=tool,
            arguments=json.dumps(arguments, ensure_ascii=False, default=str),
            tokens=spent.tokens,
            cost=spent.cost,
        )
        self._put(card)
        try:
            caller = replace(self.caller, claim=claim or said.strip())
            outcome = await self.runner.call(tool, arguments, caller, spent)
        except asyncio.CancelledError:
            self._replace(position, card.model_copy(update={"state": "cancelled", "message": "Stopped."}))
            raise
        self._replace(position, _settled(card, outcome))
        self.is_over = self.is_over or outcome.ends_turn
        if outcome.untrusted:
            self.caller = replace(self.caller, tainted=True)
        return outcome

    def use(self, usage: Usage) -> Spent:
        """Take down what the turn has used so far; what came since the last time."""
        before, self.usage = self.usage, usage
        tokens = usage.input_tokens + usage.output_tokens - before.input_tokens - before.output_tokens
        cost = (usage.cost or 0.0) - (before.cost or 0.0) if usage.cost is not None else 0.0
        return Spent(max(0, tokens), max(0.0, cost))

    def _settle_thinking(self) -> None:
        text, self._thinking = self._thinking, ""
        if text.strip():
            self._put(Thinking(turn=self.caller.turn, at=time.time(), text=text))

    def _put(self, item: AnyItem) -> None:
        self._replace(self.position, item)
        self.position += 1

    def _replace(self, position: int, item: AnyItem) -> None:
        self.store.put(self.conversation, position, item)
        self.events.publish(ItemSettled(self.conversation, position, item))


def _settled(card: ToolCard, outcome: ToolOutcome) -> ToolCard:
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
        }
    )
