"""The proposals that tools return for the gate to decide on: changes to notes, and outside effects."""

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

    The user may approve only part of the changes, or edit them. A result whose fields depend on the user's
    edits is given as a function of the change set to commit; it is called before the commit, so the views
    still show the old files.

    `undoes` are the ids of the journal's commits that the change undoes. `result_if_denied` is the result if
    the changes are denied and the call still has one.
    """

    change_set: ChangeSet
    result: R | Callable[[ChangeSet], R]
    undoes: tuple[int, ...] = ()
    result_if_denied: R | None = None

    @property
    def is_derived(self) -> bool:
        """True if the result is computed from the committed change set."""
        return not isinstance(self.result, ToolResult)

    def report(self, committed: ChangeSet) -> R:
        """Return the result for `committed`: the approved changes, with the user's edits."""
        return self.result if isinstance(self.result, ToolResult) else self.result(committed)


@dataclass(frozen=True, slots=True)
class EffectProposal(Generic[R]):
    """An effect outside the notes; the gate calls `run` once, after approval.

    `run` may return another proposal: changes to notes, which are decided on and logged separately; changes
    based on a web page always need approval. A message is never followed by a proposal, because a call that
    waits across a restart runs again and must not send the message twice.
    """

    effect: Effect
    run: Callable[[], Awaitable[R | Proposal[R]]]
