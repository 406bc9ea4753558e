"""The exit status of the command line; scripts may rely on it."""

from __future__ import annotations

from enum import IntEnum

from app.errors import ScriptoriumError, VaultBusyError, VaultLostError
from app.toolkit.outcome import ToolOutcome


class ExitStatus(IntEnum):
    """The exit statuses; `INTERRUPTED` and `BROKEN_PIPE` follow the shell's conventions."""

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
    ExitStatus.FAILED: "failed: the disk, the network, a limit, a timeout, or a check that found a problem",
    ExitStatus.MISUSE: "invalid usage; nothing was done",
    ExitStatus.DENIED: "denied: by you, by a rule, or because there was no terminal for the prompt",
    ExitStatus.NOT_FOUND: "no such note, tag, version or operation, or an ambiguous name",
    ExitStatus.CONFLICT: "conflict: for example, a file was changed or already exists; nothing was written",
    ExitStatus.NO_VAULT: "no vault was found, or another program has it open",
    ExitStatus.PENDING: "the call is waiting for approval (with --no-wait)",
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
    """Return the status of a call's outcome."""
    if outcome.success:
        return ExitStatus.DONE
    if outcome.pending:
        return ExitStatus.PENDING
    if outcome.denied:
        return ExitStatus.DENIED
    error_type = (outcome.error or {}).get("type")
    return _BY_TYPE.get(str(error_type), ExitStatus.FAILED)


def error_status(error: ScriptoriumError) -> ExitStatus:
    """Return the status of an error outside a call."""
    if isinstance(error, VaultBusyError | VaultLostError):
        return ExitStatus.NO_VAULT
    return _BY_TYPE.get(error.type, ExitStatus.FAILED)


def help_table() -> str:
    """Return the statuses and their meanings for the help, one per line, without `BROKEN_PIPE`."""
    return "\n".join(f"  {status.value:>3}  {meaning}" for status, meaning in _MEANINGS.items())
