"""Approvers for the command line, other than the user at the terminal."""

from __future__ import annotations

import asyncio

from app.cli.approval_kinds import ApprovalKind, kinds_for_request, missing_kinds
from app.errors import PermissionDeniedError
from app.permissions.approval import ApprovalRequest, Approved, Approver, Decision


class PreapprovedKinds:
    """Approves requests of the kinds that `--approve` names, and forwards all others.

    Args:
        approved_kinds: The kinds; every kind of a request must be among them.
        other: The approver for the rest.
    """

    def __init__(self, approved_kinds: frozenset[ApprovalKind], other: Approver) -> None:
        self._approved_kinds = approved_kinds
        self._other = other

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Approve if all kinds of the request were named, else return the other approver's decision."""
        kinds = kinds_for_request(request)
        if kinds and kinds <= self._approved_kinds:
            explanation = f"approved in advance by --approve {','.join(sorted(kinds))}"
            return Approved(request.proposal, words=explanation)
        return await self._other.decide(request)


class DenyAll:
    """Denies every request for lack of a terminal, and names the option that would approve it.

    Args:
        approved_kinds: The kinds given with `--approve`, which the error does not repeat.
    """

    def __init__(self, approved_kinds: frozenset[ApprovalKind] = frozenset()) -> None:
        self._approved_kinds = approved_kinds

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Deny the request.

        Raises:
            PermissionDeniedError: Always.
        """
        missing = missing_kinds(request, self._approved_kinds)
        raise PermissionDeniedError(
            f"There is no terminal for the approval prompt, and {request.reason}. Nothing was done. "
            f"To allow the call, use --approve {missing}.",
            approve=missing,
        )


class Defer:
    """Leaves each request open: the call stays pending when this process ends."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Wait forever."""
        never: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        return await never
