"""The kinds of change that `--approve` may name, and which of them a question is about.

Naming a kind answers the gate's questions of this kind with yes; it asks them all the same, and what the
policy denies stays denied. What can't be taken back, or breaks links, has a word of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from app.errors import InvalidParametersError
from app.permissions.approval import ApprovalRequest, Effect
from app.permissions.scoping import ADMINISTRATIVE, MESSAGE, OUTSIDE_READ, PAGE
from app.vault.changes import Create, Delete


class Kind(StrEnum):
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
    Kind.CREATE: "new notes",
    Kind.UPDATE: "changes and moves of notes",
    Kind.DELETE: "deleting notes that nothing links to",
    Kind.DELETE_LINKED: "deleting notes that others link to",
    Kind.READ: "reading outside the vault",
    Kind.FETCH: "fetching pages of the web",
    Kind.SEND: "messages that leave this machine",
    Kind.EXECUTE: "running programs, and tools of other programs",
    Kind.ADMIN: "changes to how the vault is set up",
}
_OF_EFFECTS = {
    OUTSIDE_READ: Kind.READ,
    PAGE: Kind.FETCH,
    MESSAGE: Kind.SEND,
    ADMINISTRATIVE: Kind.ADMIN,
}


def read_kinds(words: Iterable[str]) -> frozenset[Kind]:
    """The kinds that `--approve` names, separated by commas.

    Raises:
        InvalidParametersError: one is no kind.
    """
    found = [one.strip() for word in words for one in word.split(",") if one.strip()]
    for one in found:
        if one not in set(Kind):
            raise InvalidParametersError(f"--approve: {one!r} is none of {', '.join(Kind)}.")
    return frozenset(map(Kind, found))


def kinds_of(request: ApprovalRequest) -> frozenset[Kind]:
    """All kinds that a yes to `request` says yes to, from the proposal itself."""
    proposal = request.proposal
    if isinstance(proposal, Effect):
        # What is not known counts as a program, as it does for the gate.
        return frozenset({_OF_EFFECTS.get(proposal.kind, Kind.EXECUTE)})
    kinds = set()
    for change in proposal.changes:
        match change:
            case Create():
                kinds.add(Kind.CREATE)
            case Delete():
                kinds.add(Kind.DELETE_LINKED if request.scope.backlinks else Kind.DELETE)
            case _:
                kinds.add(Kind.UPDATE)
    return frozenset(kinds)


def missing_words(request: ApprovalRequest, named: frozenset[Kind]) -> str:
    """What `--approve` would have to name beside `named`; empty where nothing is missing."""
    return ",".join(kind for kind in Kind if kind in kinds_of(request) - named)


def table() -> str:
    """The kinds as lines for the help."""
    return "\n".join(f"  {kind:<14} {words}" for kind, words in MEANINGS.items())
