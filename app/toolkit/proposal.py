"""What a tool hands back when it wants something changed: the change itself, for the gate to decide on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.permissions.approval import Effect
from app.toolkit.result import ToolResult
from app.vault.changes import ChangeSet

R = TypeVar("R", bound=ToolResult)


@dataclass(frozen=True, slots=True)
class Proposal(Generic[R]):
    """Changes to the notes, and the result to report once they are written.

    `undoes` are the ids of the journal's commits that the change takes back.
    """

    change_set: ChangeSet
    result: R
    undoes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectProposal(Generic[R]):
    """An effect outside the notes; `run` brings it about and is called by the gate, once, if it may.

    What comes of it may be a proposal again: changes to notes, which are decided on like all others.
    """

    effect: Effect
    run: Callable[[], Awaitable[R | Proposal[R]]]
