"""Conversations with an agent: starts turns, stops them, and keeps one turn per conversation at a time."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import replace

from app.agent.builtin import BuiltinAgent, Responder
from app.agent.conversations import Conversation, ConversationStore
from app.agent.model_agent import ModelAgent
from app.agent.transcript import (
    ConversationsChanged,
    ItemSettled,
    Notice,
    ToolCard,
    TurnFinished,
    TurnStarted,
    TurnState,
    UserText,
)
from app.agent.turn import Prompt, Turn
from app.errors import ConflictError
from app.events import EventBus
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.toolkit.runner import ToolRunner

log = logging.getLogger(__name__)

BUILTIN = "built-in"


class AgentSession:
    """The agent of one vault.

    `start` returns at once with the turn's id; what happens in the turn is told by events. A turn ends by
    itself, by `stop`, or when the vault is closed; its conversation is saved all along.
    """

    def __init__(
        self,
        store: ConversationStore,
        events: EventBus,
        runner: ToolRunner,
        builtin: BuiltinAgent,
        model: ModelAgent,
        settings: Callable[[], Settings],
    ) -> None:
        self.store = store
        self._events = events
        self._runner = runner
        self._builtin = builtin
        self._model = model
        self._settings = settings
        self._running: dict[str, asyncio.Task[None]] = {}

    def create(self) -> Conversation:
        """A new, empty conversation."""
        made = self.store.create()
        self._events.publish(ConversationsChanged())
        return made

    def delete(self, conversation: str) -> None:
        """Stop and forget a conversation."""
        self.stop(conversation)
        self.store.delete(conversation)
        self._events.publish(ConversationsChanged())

    def rename(self, conversation: str, title: str) -> None:
        """Give a conversation another title."""
        self.store.rename(conversation, title)
        self._events.publish(ConversationsChanged())

    def is_running(self, conversation: str) -> bool:
        """Whether a turn of this conversation is under way."""
        return conversation in self._running

    def start(self, conversation: str, prompt: Prompt, from_position: int | None = None) -> str:
        """Begin a turn; its id.

        Args:
            conversation: An id that `create` gave.
            prompt: What the user sends.
            from_position: Forget the items from there on first ("edit and resend").

        Raises:
            ConflictError: a turn of this conversation is still under way.
        """
        if conversation in self._running:
            raise ConflictError("The agent is still at work in this conversation.", conversation=conversation)
        if from_position is not None:
            self.store.cut(conversation, from_position)
        turn = self._new_turn(conversation, prompt)
        task = asyncio.get_running_loop().create_task(self._run(turn), name=f"turn {turn.caller.turn}")
        self._running[conversation] = task
        task.add_done_callback(lambda _: self._running.pop(conversation, None))
        return turn.caller.turn

    def stop(self, conversation: str) -> None:
        """Stop the turn that is under way, if any; a question to the user is withdrawn."""
        if task := self._running.get(conversation):
            task.cancel()

    async def close(self) -> None:
        """Stop every turn and close the store."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self.store.close()

    def _new_turn(self, conversation: str, prompt: Prompt) -> Turn:
        builtin = self._settings().model.provider == BUILTIN
        caller = Caller(
            CallerKind.DESKTOP_AGENT,
            "Built-in agent" if builtin else self._settings().model.model or "Model",
            turn=uuid.uuid4().hex,
            conversation=conversation,
            uses_model=not builtin,
        )
        items = self.store.items(conversation)
        if any(isinstance(item, ToolCard | Notice) and item.untrusted for item in items):
            caller = replace(caller, tainted=True)
        position = len(items)
        said = UserText(turn=caller.turn, at=time.time(), text=prompt.text, notes=prompt.notes)
        self.store.put(conversation, position, said)
        self._events.publish(TurnStarted(conversation, caller.turn))
        self._events.publish(ItemSettled(conversation, position, said))
        self._events.publish(ConversationsChanged())
        return Turn(conversation, prompt, caller, self.store, self._events, self._runner, position + 1)

    async def _run(self, turn: Turn) -> None:
        """Let the chosen agent respond; whatever happens, the turn is told to be over."""
        state: TurnState = "failed"
        responder: Responder = self._model if turn.caller.uses_model else self._builtin
        try:
            await responder.respond(turn)
            state = "done"
        except asyncio.CancelledError:
            state = "stopped"
            turn.notice("info", "Stopped.")
        except Exception as error:
            log.exception("a turn failed")
            turn.notice("error", f"The agent failed: {error}", "Nothing was changed without your approval.")
        finally:
            turn.settle()
            self._events.publish(TurnFinished(turn.conversation, turn.caller.turn, state, turn.usage))
