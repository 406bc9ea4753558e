"""What the exit status of the command line means; scripts may rely on it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from app.errors import ScriptoriumError, VaultBusyError, VaultLostError
from app.toolkit.outcome import ToolOutcome


class Exit(IntEnum):
    """The statuses; `INTERRUPTED` and `BROKEN_PIPE` are those that a shell gives such an end."""

    DONE = 0
    FAILED = 1
    MISUSE = 2
    DENIED = 3
    NOT_FOUND = 4
    CONFLICT = 5
    NO_VAULT = 6
    PENDING = 7
    INTERRUPTED = 130
    BROKEN_PIPE = 141


_MEANINGS = {
    Exit.DONE: "done",
    Exit.FAILED: "it failed: the disk, the network, a limit, or a check that found something",
    Exit.MISUSE: "it was called wrongly; nothing was done",
    Exit.DENIED: "denied: by you, by a rule, or because nobody was there to be asked",
    Exit.NOT_FOUND: "there is no such note, tag, version or operation, or several have that name",
    Exit.CONFLICT: "a file has changed meanwhile; nothing was written",
    Exit.NO_VAULT: "no vault was named, its folder is gone, or another program holds it",
    Exit.PENDING: "it waits for an approval (with --no-wait)",
    Exit.INTERRUPTED: "interrupted by Ctrl-C",
}
_BY_TYPE = {
    "not_found": Exit.NOT_FOUND,
    "ambiguous": Exit.NOT_FOUND,
    "permission_denied": Exit.DENIED,
    "invalid_parameters": Exit.MISUSE,
    "conflict": Exit.CONFLICT,
    "cancelled": Exit.INTERRUPTED,
}


def of_outcome(outcome: ToolOutcome) -> Exit:
    """The status that tells what came of a call."""
    if outcome.success:
        return Exit.DONE
    if outcome.pending:
        return Exit.PENDING
    if outcome.denied:
        return Exit.DENIED
    return of_type(outcome.error or {})


def of_error(error: ScriptoriumError) -> Exit:
    """The status that tells of an error outside a call."""
    if isinstance(error, VaultBusyError | VaultLostError):
        return Exit.NO_VAULT
    return _BY_TYPE.get(error.type, Exit.FAILED)


def of_type(error: Mapping[str, object]) -> Exit:
    """The status of an error as it goes over the wire."""
    return _BY_TYPE.get(str(error.get("type")), Exit.FAILED)


def table() -> str:
    """The statuses as lines for the help."""
    return "\n".join(f"  {status.value:>3}  {words}" for status, words in _MEANINGS.items())
