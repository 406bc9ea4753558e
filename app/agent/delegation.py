"""Limits on delegation between agents: depth, number of turns, tokens, and no cycles."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from app.agent.transcript import Usage
from app.errors import ConflictError, LimitError
from app.permissions.pluralize import pluralize
from app.settings import TeamSettings


@dataclass
class DelegationBudget:
    """The remaining budget for one user request, shared by all chains of delegation that it starts.

    `used` is the usage of the delegated turns so far.
    """

    turns: int
    tokens: int
    used: Usage = field(default_factory=lambda: Usage(cost=0.0))

    @classmethod
    def from_settings(cls, team: TeamSettings) -> DelegationBudget:
        """Return the full budget that the settings allow."""
        return cls(team.max_turns, team.max_tokens)

    def reserve_turn(self) -> None:
        """Reserve a turn from the budget.

        Raises:
            LimitError: No turns or no tokens are left.
        """
        if self.turns <= 0:
            raise LimitError("The team reached its answer limit for one request.")
        if self.tokens <= 0:
            raise LimitError("The team reached its token limit for one request.")
        self.turns -= 1

    def record_usage(self, usage: Usage) -> None:
        """Add the usage of a turn and subtract its tokens from the budget."""
        self.used = self.used.plus(usage)
        self.tokens -= usage.tokens


@dataclass
class DelegationFrame:
    """A turn in progress within a chain of delegation.

    `agents` are the agents in the chain, from the first to this one. `delegates` are the only agents to
    which this one may delegate (None: all). `mode` is the mode of the user's request. An agent delegates
    one task at a time (`busy`), so that the messages of a conversation stay in order.
    """

    agents: tuple[str, ...]
    conversation: str
    budget: DelegationBudget
    mode: str = "propose"
    delegates: tuple[str, ...] | None = None
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    def check(self, name: str, team: TeamSettings) -> None:
        """Check that this agent may delegate to the agent `name`.

        Raises:
            ConflictError: The agent is already in the chain, so this would be a cycle.
            LimitError: The chain is at its maximum depth, or this agent may not delegate to that one.
        """
        path = " → ".join((*self.agents, name))
        if name.casefold() in {agent.casefold() for agent in self.agents}:
            raise ConflictError(f"Delegation would form a cycle: {path}.", chain=[*self.agents, name])
        if self.delegates is not None and name.casefold() not in map(str.casefold, self.delegates):
            message = (
                f"In this group, you can delegate only to {', '.join(self.delegates)}."
                if self.delegates
                else "In this group, you have no agent to delegate to."
            )
            raise LimitError(message, allowed=list(self.delegates))
        if len(self.agents) > team.max_depth:
            raise LimitError(
                f"A request can be delegated at most {pluralize(team.max_depth, 'time')}: {path}.",
                limit=team.max_depth,
            )
