"""Agent sessions: start and stop the user's turns, one at a time in each conversation."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.agent.builtin import BUILTIN_NAME, BuiltinAgent, Responder
from app.agent.conversations import Conversation, ConversationStore
from app.agent.delegation import DelegationFrame
from app.agent.model_agent import ModelAgent
from app.agent.team import Responders, Team
from app.agent.transcript import (
    ConversationsChanged,
    ItemUpdated,
    TurnFinished,
    TurnStarted,
    TurnState,
    UserText,
    contains_untrusted,
)
from app.agent.turn import Role, Turn, UserPrompt
from app.errors import ConflictError, ScriptoriumError
from app.events import EventBus
from app.permissions.caller import Caller, CallerKind
from app.settings import AgentGroup, AgentProfile, Settings
from app.toolkit.runner import ToolRunner

log = logging.getLogger(__name__)


class AgentSession:
    """Runs the agent's turns in one vault.

    `start` returns the turn's id immediately; events report the turn's progress. A turn ends when the answer
    is complete or fails, on `stop`, or when the vault is closed. Its conversation is saved continuously.
    """

    def __init__(
        self,
        store: ConversationStore,
        events: EventBus,
        runner: ToolRunner,
        builtin: BuiltinAgent,
        model: ModelAgent,
        settings: Callable[[], Settings],
        programs: Responder,
    ) -> None:
        self.store = store
        self._events = events
        self._runner = runner
        self._builtin = builtin
        self._model = model
        self._programs = programs
        self._settings = settings
        self._running: dict[str, asyncio.Future[Any]] = {}
        self.team = Team(store, events, runner, Responders(builtin, model), settings, self._running)

    def create(self) -> Conversation:
        """Create an empty conversation.

        Raises:
            StorageError: It can't be saved.
        """
        conversation = self.store.create()
        self._events.publish(ConversationsChanged())
        return conversation

    async def delete(self, conversation: str) -> None:
        """Stop the conversation's turn, wait until it ends, and delete the conversation.

        Raises:
            StorageError: The conversation can't be deleted.
        """
        self.stop(conversation)
        await self.wait_idle(conversation)
        self.store.delete(conversation)
        self._events.publish(ConversationsChanged())

    def rename(self, conversation: str, title: str) -> None:
        """Rename a conversation.

        Raises:
            StorageError: The title can't be saved.
        """
        self.store.rename(conversation, title)
        self._events.publish(ConversationsChanged())

    def is_running(self, conversation: str) -> bool:
        """Return whether a turn of this conversation is in progress."""
        return conversation in self._running

    async def wait_idle(self, conversation: str) -> None:
        """Wait until no turn of this conversation is running."""
        while (task := self._running.get(conversation)) is not None:
            await asyncio.wait({task})
            await asyncio.sleep(0)

    def start(self, conversation: str, prompt: UserPrompt, from_position: int | None = None) -> str:
        """Start a turn and return its id.

        Args:
            conversation: The conversation's id.
            prompt: The user's prompt.
            from_position: Replace the items from this position on ("edit and resend").

        Raises:
            ConflictError: A turn of this conversation is still in progress.
            StorageError: The conversation can't be read, or the prompt can't be saved; the conversation is
                unchanged.
        """
        if conversation in self._running:
            raise ConflictError("The agent is still working in this conversation.", conversation=conversation)
        turn = self._new_turn(conversation, prompt, from_position)
        task = asyncio.get_running_loop().create_task(self._run(turn), name=f"turn {turn.caller.turn}")
        self._running[conversation] = task
        task.add_done_callback(lambda _: self._running.pop(conversation, None))
        return turn.caller.turn

    def stop(self, conversation: str) -> None:
        """Cancel the turn in progress, if any, and its question to the user; do not wait until it ends."""
        if task := self._running.get(conversation):
            task.cancel()

    async def close(self) -> None:
        """Stop every turn and close the store."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self.store.close()

    def _new_turn(self, conversation: str, prompt: UserPrompt, from_position: int | None) -> Turn:
        program = self._settings().answering_program
        answering = self.team.default_responder() if program is None else None
        role = Role(program.name) if program is not None else None
        if isinstance(answering, AgentProfile):
            role = self.team.role(answering)
        elif answering is not None:
            role = Role(answering.name)
        caller = self._caller(conversation, answering)
        if program is not None:
            # The app can't know what the program has read.
            caller = replace(caller, name=program.name, uses_model=True, tainted=True)
        if contains_untrusted(self.store.items(conversation)[:from_position]):
            caller = replace(caller, tainted=True)
        user_text = UserText(turn=caller.turn, at=time.time(), text=prompt.text, notes=prompt.notes)
        position = self.store.append(conversation, user_text, from_position=from_position)
        self._events.publish(TurnStarted(conversation, caller.turn))
        self._events.publish(ItemUpdated(conversation, position, user_text))
        self._events.publish(ConversationsChanged())
        return Turn(conversation, prompt, caller, self.store, self._events, self._runner, role, program)

    def _caller(self, conversation: str, answering: AgentProfile | AgentGroup | None) -> Caller:
        """Return the caller for the tool calls of a new turn."""
        uses_model = self._settings().uses_model
        name = (self._settings().model.model or "Model") if uses_model else BUILTIN_NAME
        if answering is not None:
            name = answering.name
            # A group calls no tools; each member declares whether it uses a model.
            uses_model = isinstance(answering, AgentProfile) and self.team.has_model(name)
        return Caller(
            CallerKind.DESKTOP_AGENT,
            name,
            turn=uuid.uuid4().hex,
            conversation=conversation,
            uses_model=uses_model,
            agent=name if answering is not None else "",
        )

    async def _run(self, turn: Turn) -> None:
        """Run the chosen agent; always publish the end of the turn."""
        state: TurnState = "failed"
        with self.team.delegation_chain(turn) as frame:
            try:
                await self._respond(turn, frame)
                state = "done"
            except asyncio.CancelledError:
                state = "stopped"
                turn.notice("info", "Stopped.")
            except ScriptoriumError as error:
                turn.notice("error", error.message, "Messages and approved changes so far are kept.")
            except Exception as error:
                log.exception("a turn failed")
                hint = "Messages and changes so far are kept. Try again."
                turn.notice("error", f"The agent failed: {error}", hint)
            finally:
                turn.flush()
                usage = turn.total_usage.plus(frame.budget.used)
                self._events.publish(TurnFinished(turn.conversation, turn.caller.turn, state, usage))

    async def _respond(self, turn: Turn, frame: DelegationFrame) -> None:
        if turn.program is not None:
            await self._programs.respond(turn)
            return
        group = self.team.settings.group(turn.agent) if turn.agent else None
        if group is not None:
            result = await self.team.answer_as_group(group, turn, frame)
            if group.kind == "voting":
                turn.say(f"{result.explanation}\n\n{result.text}")
            return
        responder: Responder = self._model if turn.caller.uses_model else self._builtin
        await responder.respond(turn)
