"""Who answers the gate's questions on the command line, besides a person at the terminal."""

from __future__ import annotations

import asyncio

from app.cli.approval_kinds import ApprovalKind, kinds_for_request, missing_kinds
from app.errors import PermissionDeniedError
from app.permissions.approval import ApprovalRequest, Approved, Approver, Decision


class PreapprovedKinds:
    """Says yes to the kinds of change that `--approve` names, and hands on every other question.

    Args:
        named: The kinds; all that a request does must be among them.
        other: Who is asked about the rest.
    """

    def __init__(self, named: frozenset[ApprovalKind], other: Approver) -> None:
        self._named = named
        self._other = other

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Yes where everything was named, else the other's answer."""
        kinds = kinds_for_request(request)
        if kinds and kinds <= self._named:
            words = f"named in advance by --approve {','.join(sorted(kinds))}"
            return Approved(request.proposal, words=words)
        return await self._other.decide(request)


class DenyAll:
    """Stands where no terminal is: what needs a yes is refused, and told how it could have been had."""

    def __init__(self, named: frozenset[ApprovalKind] = frozenset()) -> None:
        self._named = named

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Refuse.

        Raises:
            PermissionDeniedError: always.
        """
        words = missing_kinds(request, self._named)
        raise PermissionDeniedError(
            f"No terminal is here to ask at, and {request.reason}. --approve {words} would allow it.",
            approve=words,
        )


class Defer:
    """Leaves each question open: the call stays pending when this process ends."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Never."""
        never: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        return await never
