"""The kinds of changes that `--approve` accepts, and the mapping of requests to kinds.

Naming a kind approves the gate's requests of that kind; the gate still makes them, and a denial by the policy
stands. Changes that can't be undone or that break links have separate kinds.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from app.errors import InvalidParametersError
from app.permissions.approval import ApprovalRequest, Effect
from app.permissions.impact import ADMINISTRATIVE, MESSAGE, OUTSIDE_READ, PAGE
from app.vault.changes import Create, Delete


class ApprovalKind(StrEnum):
    """A value for `--approve`."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    DELETE_LINKED = "delete-linked"
    READ = "read"
    FETCH = "fetch"
    SEND = "send"
    EXECUTE = "execute"
    ADMIN = "admin"


MEANINGS = {
    ApprovalKind.CREATE: "creating notes",
    ApprovalKind.UPDATE: "changing and moving notes",
    ApprovalKind.DELETE: "deleting notes that nothing links to",
    ApprovalKind.DELETE_LINKED: "deleting notes that others link to",
    ApprovalKind.READ: "reading outside the vault",
    ApprovalKind.FETCH: "fetching web pages",
    ApprovalKind.SEND: "sending messages to other machines",
    ApprovalKind.EXECUTE: "running programs and calling other programs' tools",
    ApprovalKind.ADMIN: "changing the vault's setup",
}
_KIND_BY_EFFECT = {
    OUTSIDE_READ: ApprovalKind.READ,
    PAGE: ApprovalKind.FETCH,
    MESSAGE: ApprovalKind.SEND,
    ADMINISTRATIVE: ApprovalKind.ADMIN,
}


def parse_kinds(words: Iterable[str]) -> frozenset[ApprovalKind]:
    """Parse the values of `--approve`, each a comma-separated list of kinds.

    Raises:
        InvalidParametersError: A word is not a kind.
    """
    names = [kind.strip() for word in words for kind in word.split(",") if kind.strip()]
    for name in names:
        if name not in set(ApprovalKind):
            raise InvalidParametersError(f"--approve: {name!r} is not one of {', '.join(ApprovalKind)}.")
    return frozenset(map(ApprovalKind, names))


def kinds_for_request(request: ApprovalRequest) -> frozenset[ApprovalKind]:
    """Return the kinds that must be approved for `request`."""
    proposal = request.proposal
    if isinstance(proposal, Effect):
        # An unknown effect counts as a program, as it does for the gate.
        return frozenset({_KIND_BY_EFFECT.get(proposal.kind, ApprovalKind.EXECUTE)})
    kinds = set()
    for change in proposal.changes:
        match change:
            case Create():
                kinds.add(ApprovalKind.CREATE)
            case Delete():
                kinds.add(ApprovalKind.DELETE_LINKED if request.scope.backlinks else ApprovalKind.DELETE)
            case _:
                kinds.add(ApprovalKind.UPDATE)
    return frozenset(kinds)


def missing_kinds(request: ApprovalRequest, approved: frozenset[ApprovalKind]) -> str:
    """Return the kinds that `--approve` lacks for the request, separated by commas; empty if none."""
    missing = kinds_for_request(request) - approved
    return ",".join(kind for kind in ApprovalKind if kind in missing)


def help_table() -> str:
    """Return the help lines that describe the kinds."""
    return "\n".join(f"  {kind:<14} {meaning}" for kind, meaning in MEANINGS.items())
