"""Opens a vault to change how it is set up, which its user confirms first.

A running window keeps its settings, sources and tokens in memory, so it has to change them itself; a program
without a window makes way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.approvers import NobodyThere
from app.cli.kinds import Kind
from app.cli.options import Options
from app.cli.screen import Screen, safe
from app.cli.session import PATIENCE_S, open_session
from app.cli.tty import Tty
from app.errors import PermissionDeniedError, VaultBusyError

if TYPE_CHECKING:
    from app.workspace import Workspace


_PATIENCE_S = PATIENCE_S


@asynccontextmanager
async def owned(root: Path, screen: Screen, where: str) -> AsyncIterator[Workspace]:
    """The vault at `root`, opened by this process.

    Args:
        root: The vault's folder.
        screen: Told how far it is.
        where: The place in the window where the same can be done.

    Raises:
        VaultBusyError: a window has the vault open.
    """
    async with open_session(root, NobodyThere(), screen, takes_over=True, patience=_PATIENCE_S) as session:
        if session.workspace is None:
            raise VaultBusyError(
                "Scriptorium has the vault open, so nothing was changed. Change it there "
                f"({where}), or close the vault first.",
                path=str(root),
            )
        yield session.workspace


async def confirm(question: str, options: Options, screen: Screen) -> None:
    """Return once the user has said yes, by `--approve admin` or at the terminal.

    Raises:
        PermissionDeniedError: the user said no, or nobody can be asked.
    """
    if Kind.ADMIN in options.approve:
        return
    tty = Tty.find()
    if tty is None:
        message = "No terminal is here to ask at. --approve admin would allow it."
        raise PermissionDeniedError(message, approve=Kind.ADMIN.value)
    screen.tell(safe(question))
    answer = await tty.line("Do this? [y,n] (no) ")
    if answer is None or answer.lower() not in ("y", "yes"):
        raise PermissionDeniedError("You said no; nothing was changed.")
