"""What the exit status of the command line means; scripts may rely on it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from app.errors import ScriptoriumError, VaultBusyError, VaultLostError
from app.toolkit.outcome import ToolOutcome


class ExitStatus(IntEnum):
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
    ExitStatus.DONE: "done",
    ExitStatus.FAILED: "it failed: the disk, the network, a limit, or a check that found something",
    ExitStatus.MISUSE: "it was called wrongly; nothing was done",
    ExitStatus.DENIED: "denied: by you, by a rule, or because nobody was there to be asked",
    ExitStatus.NOT_FOUND: "there is no such note, tag, version or operation, or several have that name",
    ExitStatus.CONFLICT: "a file has changed meanwhile; nothing was written",
    ExitStatus.NO_VAULT: "no vault was named, its folder is gone, or another program holds it",
    ExitStatus.PENDING: "it waits for an approval (with --no-wait)",
    ExitStatus.INTERRUPTED: "interrupted by Ctrl-C",
}
_BY_TYPE = {
    "not_found": ExitStatus.NOT_FOUND,
    "ambiguous": ExitStatus.NOT_FOUND,
    "permission_denied": ExitStatus.DENIED,
    "invalid_parameters": ExitStatus.MISUSE,
    "conflict": ExitStatus.CONFLICT,
    "cancelled": ExitStatus.INTERRUPTED,
}


def outcome_status(outcome: ToolOutcome) -> ExitStatus:
    """The status that tells what came of a call."""
    if outcome.success:
        return ExitStatus.DONE
    if outcome.pending:
        return ExitStatus.PENDING
    if outcome.denied:
        return ExitStatus.DENIED
    return type_status(outcome.error or {})


def error_status(error: ScriptoriumError) -> ExitStatus:
    """The status that tells of an error outside a call."""
    if isinstance(error, VaultBusyError | VaultLostError):
        return ExitStatus.NO_VAULT
    return _BY_TYPE.get(error.type, ExitStatus.FAILED)


def type_status(error: Mapping[str, object]) -> ExitStatus:
    """The status of an error as it goes over the wire."""
    return _BY_TYPE.get(str(error.get("type")), ExitStatus.FAILED)


def help_table() -> str:
    """The statuses as lines for the help."""
    return "\n".join(f"  {status.value:>3}  {words}" for status, words in _MEANINGS.items())
