"""Chains of messages between agents: what keeps them short, without circles, and within their bounds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from app.agent.transcript import Usage
from app.errors import ConflictError, LimitError
from app.permissions.pluralize import pluralize
from app.settings import TeamSettings


@dataclass
class DelegationBudget:
    """What is left to the team for one request of the person; all chains that begin there share it."""

    turns: int
    tokens: int
    used: Usage = field(default_factory=lambda: Usage(cost=0.0))

    @classmethod
    def from_settings(cls, team: TeamSettings) -> DelegationBudget:
        """All that the settings give."""
        return cls(team.max_turns, team.max_tokens)

    def count_turn(self) -> None:
        """Count a turn that is about to begin.

        Raises:
            LimitError: there is none left, or there are no tokens left.
        """
        if self.turns <= 0:
            raise LimitError("The agents have answered as often as they may for one request.", limit=0)
        if self.tokens <= 0:
            raise LimitError("The team has used the tokens that it may for one request.", limit=0)
        self.turns -= 1

    def record_usage(self, usage: Usage) -> None:
        """Count what a turn used."""
        self.used = self.used.plus(usage)
        self.tokens -= usage.tokens


@dataclass
class DelegationFrame:
    """A turn that is under way as part of a chain.

    `agents` are those at work from the first to this one. `hands_to` are the only ones to whom this one
    may hand on (None: all). `mode` is the mode of the person's request. One thing at a time is handed on
    by one agent (`busy`), so that what is said in a conversation stays in order.
    """

    agents: tuple[str, ...]
    conversation: str
    budget: DelegationBudget
    mode: str = "propose"
    hands_to: tuple[str, ...] | None = None
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    def check(self, name: str, team: TeamSettings) -> None:
        """See that the message may be handed on to the agent `name`.

        Raises:
            ConflictError: it is at work in this chain; the message would come back to it.
            LimitError: the chain is as long as it may be, or this one may not hand on to it.
        """
        way = " → ".join((*self.agents, name))
        if name.casefold() in {one.casefold() for one in self.agents}:
            raise ConflictError(f"That would go round in circles: {way}.", chain=[*self.agents, name])
        if self.hands_to is not None and name.casefold() not in map(str.casefold, self.hands_to):
            allowed = ", ".join(self.hands_to) or "nobody"
            raise LimitError(f"In this group work is handed to {allowed}.", allowed=list(self.hands_to))
        if len(self.agents) > team.max_depth:
            raise LimitError(
                f"A request may be handed on {pluralize(team.max_depth, 'time')}: {way}.",
                limit=team.max_depth,
            )
