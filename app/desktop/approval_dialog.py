"""You see the exact bytes before they land: the queue of requests and the dialog that answers them."""

from __future__ import annotations

from app.desktop.approval.dialog import ApprovalDialog
from app.desktop.approval.queue import ApprovalQueue

__all__ = ["ApprovalDialog", "ApprovalQueue"]
