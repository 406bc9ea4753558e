"""What a tool is given: views that read, and the words to propose a change. No way to write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from app.permissions.approval import Effect
from app.permissions.caller import Caller
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.result import ToolResult
from app.vault.changes import ChangeSet
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.toolkit.history_view import HistoryView
    from app.toolkit.index_view import IndexView
    from app.toolkit.services import Services
    from app.toolkit.vault_view import VaultView

R = TypeVar("R", bound=ToolResult)
Reads = Callable[[str, NotePath], bool]
"""Whether the call may read a document: its place and its path."""


def _read_anything(place: str, path: NotePath) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ToolContext:
    """One call's surroundings; every view shows only what the caller may see.

    `vault` reads notes and finds them by name, `index` knows links, tags and searches, `history` the
    journal and which commits a call or a turn made. `services` is what some categories need beside that;
    what it gives of documents of other places is for `reads` to decide.
    """

    caller: Caller
    vault: VaultView
    index: IndexView
    history: HistoryView
    services: Services
    reads: Reads = _read_anything

    def propose(
        self,
        change_set: ChangeSet,
        result: R | Callable[[ChangeSet], R],
        *,
        undoes: tuple[int, ...] = (),
        otherwise: R | None = None,
    ) -> Proposal[R]:
        """Hand `change_set` to the gate, with the result to report once it is written.

        A result that names files, counts them or repeats their text is a function of the committed change
        set, which may be a part of `change_set` or hold text that the user edited.

        An empty change set is fine: nothing is asked or written, and the result is reported. `otherwise` is
        reported where the change is refused and the call has come to something without it.
        """
        return Proposal(change_set, result, undoes, otherwise)

    def propose_effect(
        self, effect: Effect, run: Callable[[], Awaitable[R | Proposal[R]]]
    ) -> EffectProposal[R]:
        """Hand an effect outside the notes to the gate, which calls `run` once it may happen.

        What `run` gives is the result, or changes to notes that are then proposed: see `EffectProposal`.
        """
        return EffectProposal(effect, run)
