"""Tool calls from the command line: choose the approver, show progress, report the outcome."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from app.cli import exit_status, rendering
from app.cli.approvers import Defer, DenyAll, PreapprovedKinds
from app.cli.console import CliConsole, escape_controls
from app.cli.exit_status import ExitStatus
from app.cli.options import Options
from app.cli.session import CliSession, open_session
from app.cli.vault_location import VaultLocation, locate_vault
from app.errors import NotFoundError
from app.permissions.approval import Approver
from app.servers.vault_access import CallProgress
from app.toolkit.outcome import ToolOutcome

Arguments = Mapping[str, object]
_MAX_SHOWN_NAMES = 8


def approver_for(options: Options, console: CliConsole) -> Approver:
    """Return this process's approver: preapproved kinds, then a prompt, deferral or denial."""
    from app.cli.terminal_input import Terminal

    other: Approver
    if not options.waits:
        other = Defer()
    elif (tty := Terminal.find()) is not None:
        from app.cli.terminal_approver import TerminalApprover

        other = TerminalApprover(tty, console)
    else:
        other = DenyAll(options.approve)
    return PreapprovedKinds(options.approve, other)


def can_approve(options: Options) -> bool:
    """Return whether this process waits for approval and has preapproved kinds or a terminal."""
    from app.cli.terminal_input import Terminal

    return options.waits and (bool(options.approve) or Terminal.is_available())


def may_propose(tool: str) -> bool:
    """Return whether `tool` is a built-in tool that can propose changes."""
    from app.tools import CATALOG, FILE_TOOL

    return any(entry.name == tool and entry.proposes for entry in (*CATALOG, FILE_TOOL))


def resolve_vault(options: Options, console: CliConsole) -> VaultLocation:
    """Return the vault to use, and print its location if the options do not name one.

    Raises:
        VaultLostError: No vault was found, or the named folder does not exist.
    """
    location = locate_vault(options.vault)
    if options.vault is None:
        console.print_message(f"Vault: {escape_controls(str(location.root))} ({location.reason})")
    return location


async def run_call(
    tool: str, arguments: Arguments, options: Options, console: CliConsole, terms: Sequence[str] = ()
) -> ExitStatus:
    """Call a tool in the selected vault, show the outcome and return the exit status.

    Raises:
        ScriptoriumError: The vault was not found or can't be opened.
    """
    location = resolve_vault(options, console)
    approver = approver_for(options, console)
    take_over = can_approve(options) and may_propose(tool)
    async with open_session(
        location.root, approver, console, take_over=take_over, enable_tools=options.enable_tools
    ) as session:
        outcome = await call_tool(session, tool, arguments, options, console)
    return report_outcome(outcome, options, console, terms)


async def call_tool(
    session: CliSession, tool: str, arguments: Arguments, options: Options, console: CliConsole
) -> ToolOutcome:
    """Call a tool, show its progress and return its outcome.

    Raises:
        LimitError: Too many calls are waiting or running.
    """
    try:
        return await session.access.call(
            session.client,
            tool,
            arguments,
            wait_mode="wait" if options.waits else "pending",
            claim=options.claim,
            progress=_progress_callback(session, options, console),
        )
    finally:
        console.end_progress()


def report_outcome(
    outcome: ToolOutcome, options: Options, console: CliConsole, terms: Sequence[str] = ()
) -> ExitStatus:
    """Show the outcome of a call and return the exit status."""
    if options.json:
        console.out.write(json.dumps(outcome.as_dict(), ensure_ascii=False) + "\n")
        console.out.flush()
    elif outcome.success:
        rendering.print_result(console, outcome, terms)
    else:
        _show_failure(console, outcome)
    return exit_status.outcome_status(outcome)


def _show_failure(console: CliConsole, outcome: ToolOutcome) -> None:
    if outcome.pending:
        console.print_text(outcome.pending + "\n")
        console.print_message(
            "The call is waiting for approval. `scriptorium pending status ID` shows its status."
        )
        return
    error = outcome.error or {}
    if error.get("type") == NotFoundError.type and error.get("tool") == "file":
        # The tool exists only while an outside folder is open, but `scriptorium tools` always lists it.
        console.print_message(
            "scriptorium: No folder outside the vault has been added. Nothing was done. "
            "Add one with: scriptorium sources add folder FOLDER"
        )
        return
    console.print_message("scriptorium: " + escape_controls(str(error.get("message") or outcome.message)))
    names = error.get("candidates") or error.get("suggestions")
    if isinstance(names, Sequence) and not isinstance(names, str):
        for name in names[:_MAX_SHOWN_NAMES]:
            console.print_message(f"  {escape_controls(str(name))}")


def _progress_callback(
    session: CliSession, options: Options, console: CliConsole
) -> Callable[[CallProgress], None]:
    """Return a callback that shows the progress of a call.

    If another program has the vault open and asks for approval, the callback says so once.
    """
    is_reported = False

    def report(progress: CallProgress) -> None:
        nonlocal is_reported
        if progress.stage != "asking":
            if session.is_joined:
                console.show_progress(progress.message)
            return
        if not session.is_joined or is_reported:
            return
        is_reported = True
        if options.approve:
            console.print_message(
                "--approve has no effect here: the program that has the vault open asks its user."
            )
        if options.waits:
            approver_place = "the window" if session.has_window else "the program"
            console.print_message(
                f"Waiting for approval in {approver_place} that has the vault open (Ctrl-C cancels)."
            )

    return report
