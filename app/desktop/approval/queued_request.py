"""A request that waits for the user, with what was chosen on it so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import SignalInstance

from app.permissions.approval import ApprovalRequest, Decision
from app.permissions.partial_approval import ApprovalDraft


class ApprovalHandle(Protocol):
    """A request on its way to the user: `bridge.PendingQuestion`; `why` says why it was withdrawn."""

    request: ApprovalRequest
    why: str

    @property
    def withdrawn(self) -> SignalInstance:
        """Emitted when nobody waits for the answer any more."""
        ...

    def postpone(self, seconds: float) -> None:
        """Move the time limit by `seconds`."""
        ...

    def answer(self, decision: Decision) -> None:
        """Give the answer."""
        ...


@dataclass(eq=False)
class QueuedRequest:
    """A question, the choices made on it so far, and when (by the queue's clock) its time is up."""

    question: ApprovalHandle
    draft: ApprovalDraft
    deadline: float

    @property
    def request(self) -> ApprovalRequest:
        """What is asked."""
        return self.draft.request

    def postpone(self, seconds: float) -> None:
        """Give the user `seconds` more to answer."""
        self.deadline += seconds
        self.question.postpone(seconds)
