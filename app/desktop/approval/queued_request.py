"""A request that waits for the user, with the draft decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import SignalInstance

from app.permissions.approval import ApprovalRequest, Decision
from app.permissions.partial_approval import ApprovalDraft


class ApprovalHandle(Protocol):
    """A pending request, such as `bridge.PendingApproval`; `reason` explains its withdrawal."""

    request: ApprovalRequest
    reason: str

    @property
    def withdrawn(self) -> SignalInstance:
        """Emitted when the caller no longer waits for the answer."""
        ...

    def postpone(self, seconds: float) -> None:
        """Extend the time limit by `seconds`."""
        ...

    def answer(self, decision: Decision) -> None:
        """Return the answer to the caller."""
        ...


@dataclass(eq=False)
class QueuedRequest:
    """A question, its draft decision, and its deadline by the queue's clock."""

    question: ApprovalHandle
    draft: ApprovalDraft
    deadline: float

    @property
    def request(self) -> ApprovalRequest:
        """The approval request."""
        return self.draft.request

    def postpone(self, seconds: float) -> None:
        """Give the user `seconds` more to answer."""
        self.deadline += seconds
        self.question.postpone(seconds)
