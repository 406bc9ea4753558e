"""A vault for one command: served by the process that has it open, or opened here for the command."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app import __version__
from app.cli.console import CliConsole
from app.errors import NetworkError, VaultBusyError
from app.permissions.caller import CallerKind
from app.servers.endpoint_file import Endpoint, find_endpoint
from app.servers.handoff import join_or_open
from app.servers.vault_access import Client

if TYPE_CHECKING:
    from app.index.records import ScanProgress
    from app.permissions.approval import Approver
    from app.servers.remote_vault import RemoteVaultAccess
    from app.servers.vault_access import VaultAccess
    from app.workspace import VaultService

log = logging.getLogger(__name__)
CALLER_NAME = "Terminal"
OPEN_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class CliSession:
    """An open vault; `close` closes it, or the connection to the process that holds it.

    `vault` is None if another process holds the vault and asks its own user; `has_window` is then true if
    that process has a window.
    """

    access: VaultAccess
    client: Client
    close: Callable[[], Awaitable[None]]
    vault: VaultService | None = None
    has_window: bool = False

    @property
    def is_joined(self) -> bool:
        """True if another process holds the vault."""
        return self.vault is None


@asynccontextmanager
async def open_session(
    root: Path,
    approver: Approver,
    console: CliConsole,
    *,
    brief: bool = True,
    take_over: bool = False,
    enable_tools: Collection[str] = (),
    timeout: float = OPEN_TIMEOUT_S,
) -> AsyncIterator[CliSession]:
    """Join the process that has the vault at `root` open, or open it here and update its index.

    Args:
        root: The vault's folder.
        approver: Approves changes if the vault is opened here; a process that holds the vault uses its own.
        console: Shows the progress, and the vault's notices if it is opened here.
        brief: Whether to open the vault without background services, if it is opened here; see `open_vault`.
        take_over: Whether to ask a process without a window to release the vault, because that process
            can't ask the user and this one can.
        enable_tools: Categories of tools to turn on if the vault is opened here.
        timeout: Seconds to wait for a process that has the vault open and can't be joined.

    Raises:
        InvalidParametersError: The vault is opened here, and `enable_tools` names an unknown category.
        VaultBusyError: Another process has the vault open, can't be joined, and did not release it.
        ScriptoriumError: The process that has the vault open rejects the connection.
        VaultLostError, StorageError, OSError: See `open_vault`.
    """
    client = Client(CallerKind.CLI, CALLER_NAME, session=str(os.getpid()), says=f"scriptorium {__version__}")
    session = await _join_or_open(_VaultOpener(root, client, approver, brief, take_over), console, timeout)
    try:
        if session.vault is not None:
            session.vault.settings.enable_categories(enable_tools)
            await session.vault.update_index(lambda progress: show_scan_progress(console, progress))
            console.end_progress()
        elif enable_tools:
            console.print_message("--enable-tools has no effect here: another program has the vault open.")
        yield session
    finally:
        await session.close()


async def join_process(
    root: Path, *, skip_headless: bool = False
) -> tuple[RemoteVaultAccess, Endpoint] | None:
    """Join the process that has the vault at `root` open; return the connection and the process's endpoint.

    Returns None if no process has it open, the process can't be reached, or it has no window and
    `skip_headless` is set.

    Raises:
        ScriptoriumError: The process rejects the connection.
    """
    endpoint = await asyncio.to_thread(find_endpoint, root)
    if endpoint is None or (skip_headless and endpoint.holder == "headless"):
        return None
    from app.servers.remote_vault import RemoteVaultAccess

    try:
        return await RemoteVaultAccess.join(endpoint), endpoint
    except NetworkError as error:
        log.info("the endpoint of process %d does not respond: %s", endpoint.pid, error)
        return None


@dataclass(frozen=True, slots=True)
class _VaultOpener:
    """Joins the process that holds a vault, or opens the vault; see `open_session`."""

    root: Path
    client: Client
    approver: Approver
    brief: bool
    take_over: bool

    async def join(self) -> CliSession | None:
        """Join the process that holds the vault; see `join_process`."""
        joined = await join_process(self.root, skip_headless=self.take_over)
        if joined is None:
            return None
        remote, endpoint = joined
        return CliSession(remote, self.client, remote.close, has_window=endpoint.holder == "desktop")

    async def open(self) -> CliSession:
        """Open the vault in this process. Raises the errors of `open_vault`."""
        from app.settings import load_settings
        from app.workspace import open_vault

        vault = await open_vault(
            self.root,
            load_settings(),
            self.approver,
            ask_pending=False,
            brief=self.brief,
            take_over=self.take_over,
        )
        return CliSession(vault.connections.access, self.client, vault.close, vault)


async def _join_or_open(opener: _VaultOpener, console: CliConsole, timeout: float) -> CliSession:
    """Return the session, and show on the console that a process is waited for.

    Raises:
        VaultBusyError: The vault could neither be joined nor opened within `timeout` seconds.
        ScriptoriumError, OSError: See `open_session`.
    """
    try:
        session = await join_or_open(
            opener.join,
            opener.open,
            timeout,
            lambda error: console.show_progress(f"{error.message} Waiting…"),
        )
    except VaultBusyError as error:
        owner = str(error.data.get("owner", "another program"))
        message = f"{error.message} It can't be joined, and did not close within {timeout:g} s."
        raise VaultBusyError(message, owner=owner) from error
    if session.vault is None:
        console.end_progress()
    else:
        for notice in session.vault.notices:
            console.print_message(notice)
    return session


def show_scan_progress(console: CliConsole, progress: ScanProgress) -> None:
    """Show the progress of a scan, if it has begun and is not complete."""
    if progress.total > progress.done > 0:
        console.show_progress(f"{progress.phase} {progress.done:,} of {progress.total:,}")
