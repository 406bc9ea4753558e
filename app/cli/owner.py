"""Opens a vault to change how it is set up, which its user confirms first.

A running window keeps its settings, sources and tokens in memory, so it has to change them itself; a program
without a window makes way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.approval_kinds import ApprovalKind
from app.cli.approvers import DenyAll
from app.cli.console import CliConsole, escape_controls
from app.cli.options import Options
from app.cli.session import OPEN_TIMEOUT_S, open_session
from app.cli.terminal_input import Terminal
from app.errors import PermissionDeniedError, VaultBusyError

if TYPE_CHECKING:
    from app.workspace import Workspace


_OPEN_TIMEOUT_S = OPEN_TIMEOUT_S


@asynccontextmanager
async def open_owned(root: Path, screen: CliConsole, where: str) -> AsyncIterator[Workspace]:
    """The vault at `root`, opened by this process.

    Args:
        root: The vault's folder.
        screen: Told how far it is.
        where: The place in the window where the same can be done.

    Raises:
        VaultBusyError: a window has the vault open.
    """
    async with open_session(root, DenyAll(), screen, takes_over=True, patience=_OPEN_TIMEOUT_S) as session:
        if session.workspace is None:
            raise VaultBusyError(
                "Scriptorium has the vault open, so nothing was changed. Change it there "
                f"({where}), or close the vault first.",
                path=str(root),
            )
        yield session.workspace


async def confirm(question: str, options: Options, screen: CliConsole) -> None:
    """Return once the user has said yes, by `--approve admin` or at the terminal.

    Raises:
        PermissionDeniedError: the user said no, or nobody can be asked.
    """
    if ApprovalKind.ADMIN in options.approve:
        return
    tty = Terminal.find()
    if tty is None:
        message = "No terminal is here to ask at. --approve admin would allow it."
        raise PermissionDeniedError(message, approve=ApprovalKind.ADMIN.value)
    screen.print_message(escape_controls(question))
    answer = await tty.read_line("Do this? [y,n] (no) ")
    if answer is None or answer.lower() not in ("y", "yes"):
        raise PermissionDeniedError("You said no; nothing was changed.")
