"""The context of a tool call: views for reading, and methods that propose changes. It can't write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from app.permissions.approval import Effect
from app.permissions.caller import Caller
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.result import ToolResult
from app.vault.changes import ChangeSet
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.analysis.language_model import LanguageModel
    from app.toolkit.history_view import HistoryView
    from app.toolkit.index_view import IndexView
    from app.toolkit.semantic_search import SemanticSearch
    from app.toolkit.vault_view import VaultView

R = TypeVar("R", bound=ToolResult)
S_co = TypeVar("S_co", covariant=True)
CanRead = Callable[[str, NotePath], bool]
"""Returns whether the call may read a document, by its store and path."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context of one call; every view shows only what the caller may see.

    `vault` reads notes and finds them by name, `index` provides links, tags and searches, `history` the
    journal and the commits of a call or a turn. `semantic_search` and `language_model` are None while they
    are turned off; `language_model` counts the tokens that the call uses. `can_read` decides which
    documents in other stores the caller may see.
    """

    caller: Caller
    vault: VaultView
    index: IndexView
    history: HistoryView
    semantic_search: SemanticSearch | None
    language_model: LanguageModel | None
    can_read: CanRead

    def propose(
        self,
        change_set: ChangeSet,
        result: R | Callable[[ChangeSet], R],
        *,
        undoes: tuple[int, ...] = (),
        result_if_denied: R | None = None,
    ) -> Proposal[R]:
        """Propose `change_set` to the gate, with the result to report once it is written.

        A result that names files, counts them or repeats their text must be a function of the committed
        change set, which may be a part of `change_set` or contain text that the user edited.

        An empty change set is valid: the user is not asked, nothing is written, and the result is reported.
        `result_if_denied` is reported if the change is denied and the call still has a result.
        """
        return Proposal(change_set, result, undoes, result_if_denied)

    def propose_effect(
        self, effect: Effect, run: Callable[[], Awaitable[R | Proposal[R]]]
    ) -> EffectProposal[R]:
        """Propose an effect outside the notes to the gate, which calls `run` after approval.

        `run` returns the result, or changes to notes that are then proposed: see `EffectProposal`.
        """
        return EffectProposal(effect, run)


@dataclass(frozen=True, slots=True)
class ServiceContext(ToolContext, Generic[S_co]):
    """The context of a call to a tool whose category has services: see `services.py`."""

    services: S_co
