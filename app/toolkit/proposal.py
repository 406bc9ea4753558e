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

    The user may approve a part of the changes, or edit them. A result whose fields depend on that is given
    as a function of the committed change set; it is called before the commit, so views still show the files
    as they were when the tool ran.

    `undoes` are the ids of the journal's commits that the change takes back. `otherwise` is the result of a
    call that has come to something even where the changes are refused.
    """

    change_set: ChangeSet
    result: R | Callable[[ChangeSet], R]
    undoes: tuple[int, ...] = ()
    otherwise: R | None = None

    @property
    def is_derived(self) -> bool:
        """Whether the result is computed from what is committed."""
        return not isinstance(self.result, ToolResult)

    def report(self, committed: ChangeSet) -> R:
        """Return the result for `committed`: the change set or the part of it that was approved."""
        return self.result if isinstance(self.result, ToolResult) else self.result(committed)


@dataclass(frozen=True, slots=True)
class EffectProposal(Generic[R]):
    """An effect outside the notes; `run` brings it about and is called by the gate, once, if it may.

    What comes of it may be a proposal again: changes to notes, a second question of the same call, which is
    decided on and logged by itself; what rests on a page of the web is always asked about. A message is never
    followed by one: a call that waits over a restart is made anew, and must not send it twice.
    """

    effect: Effect
    run: Callable[[], Awaitable[R | Proposal[R]]]
