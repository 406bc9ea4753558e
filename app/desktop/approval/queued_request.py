"""A request that awaits the user's decision, with the draft of that decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import SignalInstance

from app.permissions.approval import ApprovalRequest, Decision
from app.permissions.partial_approval import ApprovalDraft


class ApprovalHandle(Protocol):
    """A pending request, for example `bridge.PendingApproval`; `reason` explains its withdrawal."""

    request: ApprovalRequest
    reason: str

    @property
    def withdrawn(self) -> SignalInstance:
        """Emitted when the request no longer needs an answer, or has timed out despite one."""
        ...

    def postpone(self, seconds: float) -> None:
        """Extend the time limit by `seconds`."""
        ...

    def answer(self, decision: Decision) -> None:
        """Pass the answer to the caller."""
        ...


@dataclass(eq=False)
class QueuedRequest:
    """A pending request, its draft decision, and its deadline on the queue's clock."""

    handle: ApprovalHandle
    draft: ApprovalDraft
    deadline: float

    @property
    def request(self) -> ApprovalRequest:
        """The approval request."""
        return self.draft.request

    def postpone(self, seconds: float) -> None:
        """Extend the deadline by `seconds`."""
        self.deadline += seconds
        self.handle.postpone(seconds)
