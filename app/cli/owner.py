"""Open a vault to change its setup, after the user's confirmation.

A running window keeps its settings, sources and tokens in memory, so it has to change them itself; a program
without a window releases the vault.
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
    from app.workspace import VaultService


@asynccontextmanager
async def open_owned(root: Path, console: CliConsole, location: str) -> AsyncIterator[VaultService]:
    """Open the vault at `root` in this process, with an updated index.

    Args:
        root: The vault's folder.
        console: Shows the progress.
        location: The place in the window where the user can make the same change.

    Raises:
        VaultBusyError: A window or another program has the vault open.
        VaultLostError, StorageError: See `open_vault`.
    """
    async with open_session(root, DenyAll(), console, take_over=True, timeout=OPEN_TIMEOUT_S) as session:
        if session.vault is None:
            raise VaultBusyError(
                "Scriptorium has the vault open; nothing was changed. Make the change there "
                f"({location}), or close the vault first.",
                path=str(root),
            )
        yield session.vault


async def confirm(question: str, options: Options, console: CliConsole) -> None:
    """Ask the user to confirm, unless `--approve admin` was given.

    Raises:
        PermissionDeniedError: The user declined, or there is no terminal.
    """
    if ApprovalKind.ADMIN in options.approve:
        return
    tty = Terminal.find()
    if tty is None:
        message = (
            "There is no terminal for the prompt. Nothing was changed. To allow it, use --approve admin."
        )
        raise PermissionDeniedError(message, approve=ApprovalKind.ADMIN.value)
    console.print_message(escape_controls(question))
    answer = await tty.read_line("Continue? [y,n] (no) ")
    if answer is None or answer.lower() not in ("y", "yes"):
        raise PermissionDeniedError("Canceled; nothing was changed.")
