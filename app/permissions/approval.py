"""A question to the user and the answer: values, and the one method an approver has.

The gate asks `await approver.decide(request)`; time-out and cancel are ordinary. The answer carries the
change set that the user approved, which may be a part of what was proposed or edited text; the gate
commits exactly that, and only if every file still holds the bytes it was made for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from app.permissions.caller import Caller
from app.permissions.scope import Operation, Scope
from app.vault.changes import ChangeSet
from app.vault.path import NotePath


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect outside the notes (a command, a message, a page) with its exact arguments, as shown."""

    kind: str
    text: str
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GrantOffer:
    """A narrower "yes from now on" that the user can give with an approval.

    `tool` or every tool (None), `operation`, in `folder` (None: everywhere), until `minutes` from now
    (None: the end of the session) or for good (`always`). `label` is the button's text and says exactly
    what it covers and until when.
    """

    label: str
    operation: Operation
    tool: str | None = None
    folder: str | None = None
    minutes: int | None = None
    always: bool = False


class Postponement:
    """How far the approver has moved a request's time limit while the user works on the answer.

    The approver moves it in its own thread; the gate reads it when the limit is reached.
    """

    def __init__(self) -> None:
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """What is added to the request's time limit; infinite once the user has said *Later*."""
        return self._seconds

    def add(self, seconds: float) -> None:
        """Move the time limit by `seconds` more."""
        self._seconds += seconds


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What is asked: who, which tool with which arguments, and the exact change or effect.

    `timeout` is in seconds from when it is asked, None for a caller that waits as long as the user takes;
    `postponed` is added to it. `offers` is empty where the rules forbid a standing
    yes. `reason` says why it is asked (policy's words). `rewrites` are the notes whose links a move
    rewrites. `call` is the id of the call that asks.
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
    rewrites: tuple[NotePath, ...] = field(default=())
    call: str = ""
    postponed: Postponement = field(default_factory=Postponement, compare=False)


@dataclass(frozen=True, slots=True)
class Approved:
    """Yes, to exactly this; `edited` says that the user changed the text, `grant` that more is allowed.

    `words` say how, for the log, where the user did not answer this very question.
    """

    proposal: ChangeSet | Effect
    edited: bool = False
    grant: GrantOffer | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Denied:
    """No; `words` go to the caller."""

    words: str = ""


Decision = Approved | Denied


class Approver(Protocol):
    """Somebody who decides: the desktop's dialog, the terminal, a test's script."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        """The user's answer. Cancelling the call withdraws the question.

        Raises:
            PermissionDeniedError: nobody is there to be asked.
        """
        ...
