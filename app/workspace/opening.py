"""Opens a vault."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.errors import VaultLostError
from app.permissions.approval import Approver
from app.settings import Settings
from app.workspace.workspace import Workspace


async def open_workspace(
    root: Path,
    settings: Settings,
    approver: Approver | None,
    *,
    read_only: bool = False,
    ask_pending: bool = True,
) -> Workspace:
    """Open the vault at `root`.

    Args:
        root: The vault's folder.
        settings: Of the user.
        approver: Who decides on changes; None denies what needs a yes.
        read_only: Look, but never write: for a vault that another app has open.
        ask_pending: Ask the approver about what still waits from earlier, once the vault is read. A
            process without a window leaves that to the next window.

    Raises:
        VaultLostError: there is no such folder.
        VaultBusyError: another app has the vault open; `owner` describes it.
        StorageError: the data or cache folder can't be used.
    """
    real = await asyncio.to_thread(Path(root).resolve)
    if not await asyncio.to_thread(real.is_dir):
        raise VaultLostError(f"There is no folder {root}.", path=str(root))
    workspace = Workspace(real, settings, approver, read_only, ask_pending)
    try:
        await workspace.begin()
    except BaseException:
        await workspace.close()
        raise
    return workspace
