"""Functions that open a vault."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from app.errors import VaultBusyError, VaultLostError
from app.permissions.approval import Approver
from app.servers.handoff import ask_to_yield
from app.settings import Settings
from app.workspace.service import VaultService
from app.workspace.workspace import Workspace

_YIELD_TIMEOUT_S = 15.0
_POLL_INTERVAL_S = 0.05


async def open_vault(
    root: Path,
    settings: Settings,
    approver: Approver | None,
    *,
    read_only: bool = False,
    ask_pending: bool = True,
    brief: bool = False,
    take_over: bool = False,
    watch_later: bool = False,
) -> VaultService:
    """Open the vault at `root` for a front end; arguments and errors are those of `open_workspace`."""
    return VaultService(
        await open_workspace(
            root,
            settings,
            approver,
            read_only=read_only,
            ask_pending=ask_pending,
            brief=brief,
            take_over=take_over,
            watch_later=watch_later,
        )
    )


async def open_workspace(
    root: Path,
    settings: Settings,
    approver: Approver | None,
    *,
    read_only: bool = False,
    ask_pending: bool = True,
    brief: bool = False,
    take_over: bool = False,
    watch_later: bool = False,
) -> Workspace:
    """Open the vault at `root`.

    Args:
        root: The vault's folder.
        settings: The user's settings.
        approver: Decides on changes; None denies every change that needs approval.
        read_only: Write neither notes nor the app's data: for a vault that another app has open.
        ask_pending: Ask the approver about calls that are still pending, once the vault is indexed. A process
            without a window leaves that to the next window.
        brief: For a few calls: the folder is not watched, and no streams or external programs are started.
            Scan the index before a call, so that it includes recent changes.
        take_over: Ask a process without a window that has the vault open to release it.
        watch_later: Start watching the folder only at the first scan, so that a window gets the vault sooner.

    Raises:
        VaultLostError: The folder does not exist.
        VaultBusyError: Another app has the vault open; `owner` describes it.
        StorageError: The data folder can't be used, not even for reading.
        OSError: Neither the cache folder nor a temporary folder can be written.
    """
    real_root = await asyncio.to_thread(Path(root).resolve)
    if not await asyncio.to_thread(real_root.is_dir):
        raise VaultLostError(f"There is no folder {root}.", path=str(root))
    try:
        workspace = Workspace(real_root, settings, approver, read_only, ask_pending)
    except VaultBusyError:
        if not take_over or not await ask_to_yield(real_root):
            raise
        workspace = await _open_when_released(
            lambda: Workspace(real_root, settings, approver, read_only, ask_pending)
        )
    try:
        await workspace.begin(brief, watch_later)
    except BaseException:
        await workspace.close()
        raise
    return workspace


async def _open_when_released(create_workspace: Callable[[], Workspace]) -> Workspace:
    """Open the vault as soon as the process that releases it has closed it.

    Raises:
        VaultBusyError: The process does not close it in time.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _YIELD_TIMEOUT_S
    while True:
        try:
            return create_workspace()
        except VaultBusyError:
            if loop.time() > deadline:
                raise
        await asyncio.sleep(_POLL_INTERVAL_S)
