"""What tools may ask of the team of agents and of the person; the agent layer does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from app.permissions.caller import Caller


@dataclass(frozen=True, slots=True)
class TeamAnswer:
    """What one agent said; `problem` is why it said nothing, empty when it did."""

    agent: str
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TeamReply:
    """The result of a message to an agent or a group.

    `text` is the answer as a whole, `answers` are those of the single agents in the order in which they
    were given, `how` says how a group came to its answer. `untrusted`: text from outside went into it.
    """

    to: str
    text: str
    answers: tuple[TeamAnswer, ...]
    how: str = ""
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where a message to the person is; `shown` says whether a window is open that shows it now."""

    places: tuple[str, ...]
    shown: bool


Metadata = Mapping[str, JsonValue]
"""What a sender adds to a message as data."""


class TeamService(Protocol):
    """Hands messages to agents, to groups and to the person."""

    async def ask_agent(
        self, caller: Caller, name: str, text: str, metadata: Metadata | None = None
    ) -> TeamReply:
        """Let an agent of the team answer.

        Raises:
            NotFoundError: there is none of that name; `suggestions` are the names that there are.
            ConflictError: it is at work in the same chain of messages, so it would go round in circles.
            LimitError: too deep, too many turns, or too many tokens for one request.
            ScriptoriumError: it failed; the words say why.
        """
        ...

    async def ask_group(
        self, caller: Caller, name: str, text: str, metadata: Metadata | None = None
    ) -> TeamReply:
        """Let a group of the team answer; errors as of `ask_agent`."""
        ...

    def tell_user(self, caller: Caller, text: str, metadata: Metadata | None = None) -> Delivery:
        """Give the person a message, and say where it can be read."""
        ...
