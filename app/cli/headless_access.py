"""Access to a vault without a window: join the process that has it open, or open it here.

Opening a vault requires imports that take seconds on a slow machine, so they happen on demand, and not at
all if a window has the vault open.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.session import join_process
from app.servers.failover import Backend, FailoverVaultAccess
from app.servers.handoff import ask_to_yield
from app.servers.mcp_elicitation import ASKER, ClientApprover
from app.settings import load_settings

if TYPE_CHECKING:
    from app.workspace import VaultService


def create_access(root: Path, enable_tools: Collection[str]) -> FailoverVaultAccess:
    """Create access to the vault at `root`, even if another process has it open.

    Args:
        root: The vault's folder.
        enable_tools: Tool categories to turn on if the vault is opened here.
    """
    real_root = root.resolve()

    async def join() -> Backend | None:
        return await _join(real_root)

    async def open_here(on_yield: Callable[[], Awaitable[None]]) -> Backend:
        return await _open(real_root, on_yield, enable_tools)

    async def take_over() -> bool:
        return await ask_to_yield(real_root)

    return FailoverVaultAccess(real_root.name, join, open_here, take_over, lambda: ASKER.get() is not None)


async def _join(root: Path) -> Backend | None:
    joined = await join_process(root)
    if joined is None:
        return None
    remote, endpoint = joined
    return Backend(remote, remote.close, is_local=False, has_window=endpoint.holder == "desktop")


async def _open(
    root: Path, on_yield: Callable[[], Awaitable[None]], enable_tools: Collection[str]
) -> Backend:
    """Open the vault; requests for approval go to the calling client, if it supports them."""
    approver = ClientApprover()
    settings = await asyncio.to_thread(load_settings)
    workspace = await asyncio.to_thread(importlib.import_module, "app.workspace")
    vault: VaultService = await workspace.open_vault(root, settings, approver, ask_pending=False)
    try:
        vault.settings.enable_categories(enable_tools)
        approver.is_pending = vault.is_pending
        await vault.connections.begin_headless(on_yield)
        await vault.start_scan(lambda progress: None)
    except BaseException:
        await vault.close()
        raise
    return Backend(vault.connections.access, vault.close, is_local=True)
