"""A team of agents, each with its own instructions and tools, asked individually or as a group.

An agent's answer is a turn like any other, in the same conversation, under the agent's own name: its calls go
through the gate and into the audit log as its own. Its answer reaches other agents with its taint, and
without anything that is hidden from models.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from rapidfuzz import process

from app.agent.builtin import Responder
from app.agent.conversations import ConversationStore
from app.agent.delegation import DelegationBudget, DelegationFrame
from app.agent.local_messages import Mailbox
from app.agent.orchestration import GroupResult, run_group
from app.agent.transcript import TurnFinished, TurnStarted, TurnState, contains_untrusted
from app.agent.turn import Role, Turn, UserPrompt
from app.errors import NotFoundError, ScriptoriumError
from app.events import EventBus
from app.permissions.caller import Caller, CallerKind
from app.settings import AgentGroup, AgentProfile, CallerProfile, Settings, TeamSettings
from app.toolkit.runner import ToolRunner
from app.toolkit.team import Delivery, Metadata, TeamAnswer, TeamReply

BUILTIN = "built-in"
_EXTERNAL_CALLERS = (CallerKind.MCP, CallerKind.HTTP, CallerKind.PLUGIN, CallerKind.CLI)


@dataclass(frozen=True, slots=True)
class Responders:
    """The responders that answer turns: the built-in agent and a model."""

    builtin: Responder
    model: Responder


class Team:
    """The agents and groups in the settings, and the chains of delegation in progress.

    Args:
        store: The conversations.
        events: Publishes the progress of turns.
        runner: Runs the agents' tool calls.
        responders: The responders that answer turns.
        settings: Returns the current settings.
        running: The running task of each conversation, so that it can be stopped.
    """

    def __init__(
        self,
        store: ConversationStore,
        events: EventBus,
        runner: ToolRunner,
        responders: Responders,
        settings: Callable[[], Settings],
        running: dict[str, asyncio.Future[Any]],
    ) -> None:
        self._store = store
        self._events = events
        self._runner = runner
        self._responders = responders
        self._settings = settings
        self._running = running
        self._frames: dict[str, DelegationFrame] = {}
        self.mailbox = Mailbox(store, events)

    # Members

    @property
    def settings(self) -> TeamSettings:
        """The team's settings."""
        return self._settings().team

    def default_responder(self) -> AgentProfile | AgentGroup | None:
        """Return the agent or group that answers the user; None for the built-in agent or the model."""
        return self._settings().answering_agent

    def has_model(self, name: str) -> bool:
        """Return whether the agent `name` uses a model."""
        profile = self.settings.agent(name)
        if profile is not None and profile.model:
            return profile.model.casefold() != BUILTIN
        return profile is not None and self._settings().uses_model

    def role(self, profile: AgentProfile, max_tokens: int | None = None) -> Role:
        """Return the agent's role in a turn, limited to `max_tokens` if given."""
        others = [agent.name for agent in self.settings.agents if agent.name != profile.name]
        introduction = f"You are {profile.name}, an agent of a team"
        introduction += f"; the others are {', '.join(others)}." if others else "."
        model = "" if profile.model.casefold() == BUILTIN else profile.model
        return Role(profile.name, f"{introduction}\n{profile.instructions}".strip(), model, max_tokens)

    def responder(self, name: str) -> Responder:
        """Return the responder of the agent `name`."""
        return self._responders.model if self.has_model(name) else self._responders.builtin

    # Interface for tools

    def notify_user(self, caller: Caller, text: str, metadata: Metadata | None = None) -> Delivery:
        """Send the user a message; see `TeamService.notify_user`."""
        return self.mailbox.notify_user(caller, text, metadata)

    async def ask_agent(
        self, caller: Caller, name: str, text: str, metadata: Metadata | None = None
    ) -> TeamReply:
        """Ask an agent; see `TeamService.ask_agent`."""
        name = self._find_name(name)

        async def ask(frame: DelegationFrame) -> TeamReply:
            frame.check(name, self.settings)
            self.mailbox.put(frame.conversation, caller, name, text, metadata)
            answer, turn = await self._answer(frame, caller, name, _with_metadata(text, metadata))
            return TeamReply(name, answer.text, (answer,), untrusted=turn.caller.tainted)

        return await self._in_chain(caller, name, ask)

    async def ask_group(
        self, caller: Caller, name: str, text: str, metadata: Metadata | None = None
    ) -> TeamReply:
        """Ask a group; see `TeamService.ask_group`."""
        group = self.settings.group(name)
        if group is None:
            names = [known_group.name for known_group in self.settings.groups]
            raise NotFoundError(f"There is no group called {name!r}.", suggestions=names)

        async def ask(frame: DelegationFrame) -> TeamReply:
            for member in group.members:
                frame.check(self._find_name(member), self.settings)
            self.mailbox.put(frame.conversation, caller, group.name, text, metadata)
            members = _Members(self, frame, caller)
            result = await run_group(group, _with_metadata(text, metadata), members)
            return TeamReply(group.name, result.text, result.answers, result.explanation, members.tainted)

        return await self._in_chain(caller, group.name, ask)

    # Interface for the session

    @contextmanager
    def delegation_chain(self, turn: Turn) -> Iterator[DelegationFrame]:
        """Register the user's `turn` as the start of its delegation chains while the context is open."""
        frame = DelegationFrame(
            (turn.caller.name,),
            turn.conversation,
            DelegationBudget.from_settings(self.settings),
            turn.prompt.mode,
        )
        self._frames[turn.caller.turn] = frame
        try:
            yield frame
        finally:
            del self._frames[turn.caller.turn]

    async def answer_as_group(self, group: AgentGroup, turn: Turn, frame: DelegationFrame) -> GroupResult:
        """Answer the user with a group; each member's answer is a separate item."""
        members = _Members(self, frame, turn.caller, turn.prompt)
        return await run_group(group, turn.prompt.text, members)

    # Single answers

    async def _answer(
        self,
        frame: DelegationFrame,
        asker: Caller,
        name: str,
        text: str,
        delegates: tuple[str, ...] | None = None,
        prompt: UserPrompt | None = None,
    ) -> tuple[TeamAnswer, Turn]:
        """Run a turn of the agent `name` for `asker`; return its answer and the turn.

        Raises:
            LimitError: The request has reached a limit.
            ScriptoriumError: The agent failed.
        """
        profile = self.settings.agent(name)
        assert profile is not None
        frame.budget.reserve_turn()
        role = self.role(profile, frame.budget.tokens)
        prompt = replace(prompt, text=text) if prompt else UserPrompt(text, mode=frame.mode)
        caller = self._caller(asker, profile.name, frame.conversation)
        turn = Turn(frame.conversation, prompt, caller, self._store, self._events, self._runner, role)
        child_frame = replace(
            frame, agents=(*frame.agents, profile.name), delegates=delegates, busy=asyncio.Lock()
        )
        self._frames[caller.turn] = child_frame
        try:
            await self.responder(profile.name).respond(turn)
        finally:
            turn.flush()
            frame.budget.record_usage(turn.total_usage)
            del self._frames[caller.turn]
        if turn.problem:
            raise ScriptoriumError(f"{profile.name} could not answer: {turn.problem}", agent=profile.name)
        if not turn.texts:
            raise ScriptoriumError(f"{profile.name} ended without an answer.", agent=profile.name)
        return TeamAnswer(profile.name, turn.texts[-1]), turn

    def _caller(self, asker: Caller, name: str, conversation: str) -> Caller:
        """Return the agent as a caller, with the taint and the restrictions of the asker."""
        untrusted = contains_untrusted(self._store.items(conversation))
        external_name = asker.name if asker.kind in _EXTERNAL_CALLERS and not asker.agent else ""
        return Caller(
            CallerKind.DESKTOP_AGENT if asker.kind is CallerKind.USER else asker.kind,
            name,
            turn=uuid.uuid4().hex,
            conversation=conversation,
            uses_model=self.has_model(name) or asker.uses_model,
            tainted=asker.tainted or untrusted,
            agent=name,
            acting_for=asker.acting_for or external_name,
        )

    def _find_name(self, name: str) -> str:
        profile = self.settings.agent(name)
        if profile is not None:
            return profile.name
        names = [agent.name for agent in self.settings.agents]
        suggestions = [match[0] for match in process.extract(name, names, limit=5)]
        hint = "" if names else " The team has no agents yet. Add one in the settings under Team."
        raise NotFoundError(f"There is no agent called {name!r}.{hint}", suggestions=suggestions)

    async def _in_chain(
        self, caller: Caller, to: str, work: Callable[[DelegationFrame], Awaitable[TeamReply]]
    ) -> TeamReply:
        """Run `work` in the caller's chain, or in a new chain if the caller is not in one.

        Raises:
            ScriptoriumError: The user stopped the agents.
        """
        if frame := self._frames.get(caller.turn):
            async with frame.busy:
                return await work(frame)
        conversation = caller.conversation
        if not conversation or not self._store.exists(conversation) or conversation in self._running:
            conversation = self.mailbox.new_conversation(f"{caller.name} asks {to}")
        frame = DelegationFrame((caller.name,), conversation, DelegationBudget.from_settings(self.settings))
        turn = caller.turn or uuid.uuid4().hex
        # In a separate task: stopping it in the panel must not cancel the caller.
        task = asyncio.ensure_future(work(frame))
        self._running[conversation] = task
        self._events.publish(TurnStarted(conversation, turn))
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await asyncio.wait({task})
            del self._running[conversation]
            state: TurnState = "stopped" if task.cancelled() else "failed" if task.exception() else "done"
            self._events.publish(TurnFinished(conversation, turn, state, frame.budget.used))
        if task.cancelled():
            raise ScriptoriumError("The user stopped the agents.")
        return task.result()


class _Members:
    """The members of a running group; untrusted text that one of them read taints the next ones."""

    def __init__(
        self, team: Team, frame: DelegationFrame, asker: Caller, prompt: UserPrompt | None = None
    ) -> None:
        self._team = team
        self._frame = frame
        self._asker = asker
        self._prompt = prompt
        self.tainted = asker.tainted

    def has_model(self, member: str) -> bool:
        return self._team.has_model(member)

    async def ask(
        self, member: str, prompt: str, *, only_reads: bool = False, delegates: tuple[str, ...] | None = None
    ) -> TeamAnswer:
        user_prompt = self._prompt or UserPrompt("", mode=self._frame.mode)
        user_prompt = replace(user_prompt, mode="ask" if only_reads else user_prompt.mode)
        asker = replace(self._asker, tainted=self.tainted)
        answer, turn = await self._team._answer(self._frame, asker, member, prompt, delegates, user_prompt)
        self.tainted = turn.caller.tainted
        return answer


def team_profiles(team: TeamSettings) -> tuple[CallerProfile, ...]:
    """Return the agents' permissions for the policy; the lead of a supervisor group may also delegate."""
    leads = {group.members[0].casefold() for group in team.groups if group.kind == "supervisor"}
    profiles = []
    for agent in team.agents:
        added_tools = ("delegate",) if agent.tools and agent.name.casefold() in leads else ()
        tools = (*agent.tools, *added_tools)
        profiles.append(CallerProfile(caller=agent.name, tools=tools, read_only=agent.read_only))
    return tuple(profiles)


def _with_metadata(text: str, metadata: Metadata | None) -> str:
    """Return a message followed by its metadata, marked as data."""
    if not metadata:
        return text
    return f"{text}\n\n<metadata>\n{json.dumps(dict(metadata), ensure_ascii=False)}\n</metadata>"
