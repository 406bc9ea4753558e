"""One call of a tool: who is asked, how far it is, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from app.cli import exit_status, rendering
from app.cli.approvers import NamedInAdvance, NobodyThere, NobodyYet
from app.cli.exit_status import Exit
from app.cli.options import Options
from app.cli.screen import Screen, safe
from app.cli.session import Session, open_session
from app.cli.vault_choice import Choice, choose_vault
from app.permissions.approval import Approver
from app.servers.served import Progress
from app.toolkit.outcome import ToolOutcome

Arguments = Mapping[str, object]
_MOST_NAMED = 8


def approver_for(options: Options, screen: Screen) -> Approver:
    """Who answers questions in this process: named kinds, then the person at the terminal, if any."""
    from app.cli.tty import Tty

    other: Approver
    if not options.waits:
        other = NobodyYet()
    elif (tty := Tty.find()) is not None:
        from app.cli.terminal_approver import TerminalApprover

        other = TerminalApprover(tty, screen)
    else:
        other = NobodyThere(options.approve)
    return NamedInAdvance(options.approve, other)


def can_say_yes(options: Options) -> bool:
    """Whether this process has somebody to ask, or was told what to approve."""
    from app.cli.tty import Tty

    return options.waits and (bool(options.approve) or Tty.is_there())


def may_propose(tool: str) -> bool:
    """Whether a shipped tool may come to a question; others are called where their program runs."""
    from app.tools import CATALOG, FILE_TOOL

    return any(one.name == tool and one.proposes for one in (*CATALOG, FILE_TOOL))


def chosen(options: Options, screen: Screen) -> Choice:
    """The vault that is meant; which it is, is told where it was not named.

    Raises:
        VaultLostError: none is.
    """
    choice = choose_vault(options.vault)
    if options.vault is None:
        screen.tell(f"Vault: {safe(str(choice.root))} ({choice.reason})")
    return choice


async def run_call(
    tool: str, arguments: Arguments, options: Options, screen: Screen, marks: Sequence[str] = ()
) -> Exit:
    """Call a tool on the vault that is meant and show what came of it."""
    choice = chosen(options, screen)
    approver = approver_for(options, screen)
    takes_over = can_say_yes(options) and may_propose(tool)
    async with open_session(
        choice.root, approver, screen, takes_over=takes_over, enable_tools=options.enable_tools
    ) as session:
        outcome = await call(session, tool, arguments, options, screen)
    return report(outcome, options, screen, marks)


async def call(
    session: Session, tool: str, arguments: Arguments, options: Options, screen: Screen
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


def report(outcome: ToolOutcome, options: Options, screen: Screen, marks: Sequence[str] = ()) -> Exit:
    """Show what came of a call; the exit status."""
    if options.json:
        screen.out.write(json.dumps(outcome.as_dict(), ensure_ascii=False) + "\n")
        screen.out.flush()
    elif outcome.success:
        rendering.show(screen, outcome, marks)
    else:
        _show_failure(screen, outcome)
    return exit_status.of_outcome(outcome)


def _show_failure(screen: Screen, outcome: ToolOutcome) -> None:
    if outcome.pending:
        screen.text(outcome.pending + "\n")
        screen.tell("It waits for an approval: scriptorium pending status ID tells what became of it.")
        return
    error = outcome.error or {}
    screen.tell("scriptorium: " + safe(str(error.get("message") or outcome.message)))
    named = error.get("candidates") or error.get("suggestions")
    if isinstance(named, Sequence) and not isinstance(named, str):
        for one in named[:_MOST_NAMED]:
            screen.tell(f"  {safe(str(one))}")


def _teller(session: Session, options: Options, screen: Screen) -> Callable[[Progress], None]:
    """Says how far a call is; that somebody else is asked is always said."""
    said = False

    def tell(progress: Progress) -> None:
        nonlocal said
        if progress.stage != "asking":
            if session.is_joined:
                screen.progress(progress.message)
            return
        if not session.is_joined or said:
            return
        said = True
        if options.approve:
            screen.tell("--approve does not count here: the program that has the vault open asks its user.")
        if options.waits:
            where = "the window" if session.has_window else "the program"
            screen.tell(f"Waiting for an answer in {where} that has the vault open (Ctrl-C withdraws).")

    return tell
