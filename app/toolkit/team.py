"""The interface for messages to the team of agents and to the user; the agent layer implements it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from app.permissions.caller import Caller


@dataclass(frozen=True, slots=True)
class TeamAnswer:
    """One agent's answer; `problem` explains why there is none, or is empty."""

    agent: str
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TeamReply:
    """The result of a message to an agent or a group.

    `text` is the whole answer, `answers` are those of the individual agents in the order given, and
    `explanation` says how a group reached its answer. `untrusted` is true if the answer is based on
    text from outside.
    """

    to: str
    text: str
    answers: tuple[TeamAnswer, ...]
    explanation: str = ""
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Delivery:
    """The places where the user can read a message; `is_displayed` is true if an open window shows it."""

    places: tuple[str, ...]
    is_displayed: bool


Metadata = Mapping[str, JsonValue]
"""Data that a sender adds to a message."""


class TeamService(Protocol):
    """Delivers messages to agents, groups and the user."""

    async def ask_agent(
        self, caller: Caller, name: str, text: str, metadata: Metadata | None = None
    ) -> TeamReply:
        """Ask an agent of the team and return its answer.

        Raises:
            NotFoundError: there is no agent with that name; `suggestions` are the existing names.
            ConflictError: the agent is already working in this chain of messages, which would be a cycle.
            LimitError: the request is nested too deeply, or needs too many turns or tokens.
            ScriptoriumError: the agent failed; the message says why.
        """
        ...

    async def ask_group(
        self, caller: Caller, name: str, text: str, metadata: Metadata | None = None
    ) -> TeamReply:
        """Ask a group of the team and return its answer; raises the same errors as `ask_agent`."""
        ...

    def notify_user(self, caller: Caller, text: str, metadata: Metadata | None = None) -> Delivery:
        """Send a message to the user, and return the places where it can be read."""
        ...
