"""Undo the last change that a call made, or a call or turn in the audit log; later changes are kept.

The undo needs approval like any other change. Except with --turn, the command first shows the entry. Changes
that you typed in the window are skipped; to undo one, give its number (see `scriptorium audit show`).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from app.cli.approval_kinds import ApprovalKind
from app.cli.console import CliConsole, escape_controls
from app.cli.exit_status import ExitStatus
from app.cli.invoke import resolve_vault, run_call
from app.cli.options import Options, add_call_options
from app.errors import NotFoundError
from app.permissions.audit_reading import AuditLogReader
from app.permissions.pluralize import pluralize

if TYPE_CHECKING:
    from pathlib import Path

    from app.permissions.audit_entry import AuditEntry

_APPROVED_KINDS = frozenset({ApprovalKind.CREATE, ApprovalKind.UPDATE, ApprovalKind.DELETE})
_SAVE_TOOL = "save"
_PAGE_SIZE = 100
_MAX_SHOWN_PATHS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name the change, and the options of a call."""
    target_group = parser.add_mutually_exclusive_group()
    target_group.add_argument(
        "entry", nargs="?", type=int, help="the number of an audit entry (default: the last change)"
    )
    target_group.add_argument("--turn", help="the id of an agent's turn")
    target_group.add_argument("--commit", type=int, help="the number of a commit in the journal")
    parser.add_argument(
        "--yes", action="store_true", help=f"same as --approve {','.join(sorted(_APPROVED_KINDS))}"
    )
    add_call_options(parser)


async def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """Show the entry to undo, unless a turn is given, and call the `undo` tool."""
    options = Options.from_namespace(args)
    location = resolve_vault(options, console)
    options = replace(options, vault=str(location.root))
    if args.yes:
        options = replace(options, approve=options.approve | _APPROVED_KINDS)
    if args.turn:
        return await run_call("undo", {"turn": args.turn}, options, console)
    entry = _find_entry(location.root, args.entry, args.commit)
    _show_entry(entry, console)
    return await run_call("undo", {"entry": entry.id}, options, console)


def _find_entry(root: Path, number: int | None, commit: int | None) -> AuditEntry:
    """Return the audit entry to undo.

    Raises:
        NotFoundError: There is no such entry or commit, or no change to undo.
    """
    with AuditLogReader.of_vault(root) as log:
        if number is not None:
            return log.entry(number)
        if commit is not None:
            entry = log.entry_of_commit(commit)
            if entry is None:
                raise NotFoundError(f"No call in the audit log made commit {commit}.", commit=commit)
            return entry
        before: int | None = None
        while page := log.entries(limit=_PAGE_SIZE, before_id=before):
            for entry in page:
                if _is_change(entry):
                    return entry
            before = page[-1].id
    raise NotFoundError(
        "There is nothing to undo: no call changed anything, or every change has been undone."
    )


def _is_change(entry: AuditEntry) -> bool:
    is_in_effect = entry.commit is not None and entry.undone_by is None
    return is_in_effect and not entry.undoes and entry.tool != _SAVE_TOOL


def _show_entry(entry: AuditEntry, console: CliConsole) -> None:
    from app.cli.rendering import format_cell

    time_text = format_cell("time", entry.time)
    caller = escape_controls(entry.caller)
    console.print_message(
        f"Undoing entry {entry.id}: {entry.tool} by {caller}, {time_text}. {escape_controls(entry.result)}"
    )
    for path in entry.paths[:_MAX_SHOWN_PATHS]:
        console.print_message(f"  {escape_controls(path)}")
    if len(entry.paths) > _MAX_SHOWN_PATHS:
        console.print_message(f"  and {pluralize(len(entry.paths) - _MAX_SHOWN_PATHS, 'other file')}")
