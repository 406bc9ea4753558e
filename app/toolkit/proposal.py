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

    `undoes` are the ids of the journal's commits that the change takes back. `otherwise` is the result of a
    call that has come to something even where the changes are refused.
    """

    change_set: ChangeSet
    result: R
    undoes: tuple[int, ...] = ()
    otherwise: R | None = None


@dataclass(frozen=True, slots=True)
class EffectProposal(Generic[R]):
    """An effect outside the notes; `run` brings it about and is called by the gate, once, if it may.

    What comes of it may be a proposal again: changes to notes, a second question of the same call, which is
    decided on and logged by itself; what rests on a page of the web is always asked about. A message is never
    followed by one: a call that waits over a restart is made anew, and must not send it twice.
    """

    effect: Effect
    run: Callable[[], Awaitable[R | Proposal[R]]]
