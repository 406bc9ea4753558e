"""One call of a tool: who is asked, how far it is, and what came of it."""

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
from app.permissions.approval import Approver
from app.servers.vault_service import CallProgress
from app.toolkit.outcome import ToolOutcome

Arguments = Mapping[str, object]
_MAX_NAMED_FILES = 8


def approver_for(options: Options, screen: CliConsole) -> Approver:
    """Who answers questions in this process: named kinds, then the person at the terminal, if any."""
    from app.cli.terminal_input import Terminal

    other: Approver
    if not options.waits:
        other = Defer()
    elif (tty := Terminal.find()) is not None:
        from app.cli.terminal_approver import TerminalApprover

        other = TerminalApprover(tty, screen)
    else:
        other = DenyAll(options.approve)
    return PreapprovedKinds(options.approve, other)


def can_approve(options: Options) -> bool:
    """Whether this process has somebody to ask, or was told what to approve."""
    from app.cli.terminal_input import Terminal

    return options.waits and (bool(options.approve) or Terminal.is_there())


def may_propose(tool: str) -> bool:
    """Whether a shipped tool may come to a question; others are called where their program runs."""
    from app.tools import CATALOG, FILE_TOOL

    return any(one.name == tool and one.proposes for one in (*CATALOG, FILE_TOOL))


def resolve_vault(options: Options, screen: CliConsole) -> VaultLocation:
    """The vault that is meant; which it is, is told where it was not named.

    Raises:
        VaultLostError: none is.
    """
    choice = locate_vault(options.vault)
    if options.vault is None:
        screen.print_message(f"Vault: {escape_controls(str(choice.root))} ({choice.reason})")
    return choice


async def run_call(
    tool: str, arguments: Arguments, options: Options, screen: CliConsole, marks: Sequence[str] = ()
) -> ExitStatus:
    """Call a tool on the vault that is meant and show what came of it."""
    choice = resolve_vault(options, screen)
    approver = approver_for(options, screen)
    takes_over = can_approve(options) and may_propose(tool)
    async with open_session(
        choice.root, approver, screen, takes_over=takes_over, enable_tools=options.enable_tools
    ) as session:
        outcome = await call_tool(session, tool, arguments, options, screen)
    return report_outcome(outcome, options, screen, marks)


async def call_tool(
    session: CliSession, tool: str, arguments: Arguments, options: Options, screen: CliConsole
) -> ToolOutcome:
    """Call a tool; what came of it."""
    try:
        return await session.served.call(
            session.client,
            tool,
            arguments,
            waiting="wait" if options.waits else "pending",
            claim=options.claim,
            progress=_teller(session, options, screen),
        )
    finally:
        screen.end_progress()


def report_outcome(
    outcome: ToolOutcome, options: Options, screen: CliConsole, marks: Sequence[str] = ()
) -> ExitStatus:
    """Show what came of a call; the exit status."""
    if options.json:
        screen.out.write(json.dumps(outcome.as_dict(), ensure_ascii=False) + "\n")
        screen.out.flush()
    elif outcome.success:
        rendering.print_result(screen, outcome, marks)
    else:
        _show_failure(screen, outcome)
    return exit_status.outcome_status(outcome)


def _show_failure(screen: CliConsole, outcome: ToolOutcome) -> None:
    if outcome.pending:
        screen.text(outcome.pending + "\n")
        screen.print_message(
            "It waits for an approval: scriptorium pending status ID tells what became of it."
        )
        return
    error = outcome.error or {}
    screen.print_message("scriptorium: " + escape_controls(str(error.get("message") or outcome.message)))
    named = error.get("candidates") or error.get("suggestions")
    if isinstance(named, Sequence) and not isinstance(named, str):
        for one in named[:_MAX_NAMED_FILES]:
            screen.print_message(f"  {escape_controls(str(one))}")


def _teller(session: CliSession, options: Options, screen: CliConsole) -> Callable[[CallProgress], None]:
    """Says how far a call is; that somebody else is asked is always said."""
    said = False

    def tell(progress: CallProgress) -> None:
        nonlocal said
        if progress.stage != "asking":
            if session.is_joined:
                screen.show_progress(progress.message)
            return
        if not session.is_joined or said:
            return
        said = True
        if options.approve:
            screen.print_message(
                "--approve does not count here: the program that has the vault open asks its user."
            )
        if options.waits:
            where = "the window" if session.has_window else "the program"
            screen.print_message(
                f"Waiting for an answer in {where} that has the vault open (Ctrl-C withdraws)."
            )

    return tell
