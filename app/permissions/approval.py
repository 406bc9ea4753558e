"""Approval requests and decisions, and the protocol that an approver implements.

The gate awaits `approver.decide(request)`; a timeout or a cancellation is an ordinary outcome. The decision
carries the change set that the user approved, which may be a part of the proposal or contain edited text.
The gate commits exactly that change set, and only if every file still holds the bytes it was made for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from app.permissions.caller import Caller
from app.permissions.scope import Operation, Scope
from app.vault.changes import ChangeSet
from app.vault.path import NotePath

COVERED_REASON = "covered by a new grant"
"""Cancellation message when a grant answers an open request."""
UNANSWERED_REASON = "unanswered"
"""Cancellation message when a request times out."""


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect outside the notes (a command, a message, a web request) with exact arguments, as shown."""

    kind: str
    text: str
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GrantOffer:
    """A narrow standing permission that the user can give together with an approval.

    It covers `tool` (None: every tool) and `operation` in `folder` (None: everywhere), for `minutes` (None:
    until the session ends) or permanently (`always`). `label` is the button's text and states exactly what
    the grant covers and until when.
    """

    label: str
    operation: Operation
    tool: str | None = None
    folder: str | None = None
    minutes: int | None = None
    always: bool = False


class Postponement:
    """An extension of a request's time limit while the user works on the answer.

    The approver extends it, possibly in another thread; the gate reads it when the limit is reached.
    """

    def __init__(self) -> None:
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """The seconds to add to the request's time limit; infinite once the user has chosen *Later*."""
        return self._seconds

    def add(self, seconds: float) -> None:
        """Extend the time limit by `seconds`."""
        self._seconds += seconds


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A request for approval: the caller, the tool with its arguments, and the exact change or effect.

    `timeout` is in seconds, starting at the request; None for a caller that waits as long as the user takes.
    `postponed` is added to it. `offers` is empty where the rules forbid standing permissions. `reason` is the
    policy's reason for asking. `rewrites` are the notes whose links a move rewrites. `call` is the call's id.
    `has_hidden_parts`: it changes, or removes the target of a link in, a note that the caller may not see.
    """

    id: str
    caller: Caller
    tool: str
    arguments: tuple[tuple[str, str], ...]
    operation: Operation
    scope: Scope
    proposal: ChangeSet | Effect
    reason: str
    offers: tuple[GrantOffer, ...] = ()
    timeout: float | None = 300.0
    rewrites: tuple[NotePath, ...] = ()
    call: str = ""
    has_hidden_parts: bool = False
    postponed: Postponement = field(default_factory=Postponement, compare=False)


@dataclass(frozen=True, slots=True)
class Approved:
    """Approval of exactly this proposal.

    `edited` is true if the user changed the text; `grant` is the standing permission given with it. `words`
    explain the approval in the log where the user did not answer this request directly.
    """

    proposal: ChangeSet | Effect
    edited: bool = False
    grant: GrantOffer | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Denied:
    """A denial; `words` are sent to the caller."""

    words: str = ""


Decision = Approved | Denied


class Approver(Protocol):
    """A decision maker: the desktop's dialog, the terminal, or a test's script."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Return the user's decision. Canceling the call withdraws the request.

        Raises:
            PermissionDeniedError: No user is available to ask.
        """
        ...
