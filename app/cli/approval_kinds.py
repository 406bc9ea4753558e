"""The kinds of change that `--approve` may name, and which of them a question is about.

Naming a kind answers the gate's questions of this kind with yes; it asks them all the same, and what the
policy denies stays denied. What can't be taken back, or breaks links, has a word of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from app.errors import InvalidParametersError
from app.permissions.approval import ApprovalRequest, Effect
from app.permissions.impact import ADMINISTRATIVE, MESSAGE, OUTSIDE_READ, PAGE
from app.vault.changes import Create, Delete


class ApprovalKind(StrEnum):
    """A word for `--approve`."""

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
    ApprovalKind.CREATE: "new notes",
    ApprovalKind.UPDATE: "changes and moves of notes",
    ApprovalKind.DELETE: "deleting notes that nothing links to",
    ApprovalKind.DELETE_LINKED: "deleting notes that others link to",
    ApprovalKind.READ: "reading outside the vault",
    ApprovalKind.FETCH: "fetching pages of the web",
    ApprovalKind.SEND: "messages that leave this machine",
    ApprovalKind.EXECUTE: "running programs, and tools of other programs",
    ApprovalKind.ADMIN: "changes to how the vault is set up",
}
_OF_EFFECTS = {
    OUTSIDE_READ: ApprovalKind.READ,
    PAGE: ApprovalKind.FETCH,
    MESSAGE: ApprovalKind.SEND,
    ADMINISTRATIVE: ApprovalKind.ADMIN,
}


def parse_kinds(words: Iterable[str]) -> frozenset[ApprovalKind]:
    """The kinds that `--approve` names, separated by commas.

    Raises:
        InvalidParametersError: one is no kind.
    """
    found = [one.strip() for word in words for one in word.split(",") if one.strip()]
    for one in found:
        if one not in set(ApprovalKind):
            raise InvalidParametersError(f"--approve: {one!r} is none of {', '.join(ApprovalKind)}.")
    return frozenset(map(ApprovalKind, found))


def kinds_for_request(request: ApprovalRequest) -> frozenset[ApprovalKind]:
    """All kinds that a yes to `request` says yes to, from the proposal itself."""
    proposal = request.proposal
    if isinstance(proposal, Effect):
        # What is not known counts as a program, as it does for the gate.
        return frozenset({_OF_EFFECTS.get(proposal.kind, ApprovalKind.EXECUTE)})
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


def missing_kinds(request: ApprovalRequest, named: frozenset[ApprovalKind]) -> str:
    """What `--approve` would have to name beside `named`; empty where nothing is missing."""
    return ",".join(kind for kind in ApprovalKind if kind in kinds_for_request(request) - named)


def help_table() -> str:
    """The kinds as lines for the help."""
    return "\n".join(f"  {kind:<14} {words}" for kind, words in MEANINGS.items())
