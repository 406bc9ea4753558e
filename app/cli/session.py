"""A vault for one command: through the program that holds it, else opened here for as long as it takes."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app import __version__
from app.cli.screen import Screen
from app.errors import NetworkError, VaultBusyError
from app.permissions.caller import CallerKind
from app.servers.discovery import find_door
from app.servers.served import Client

if TYPE_CHECKING:
    from app.index.records import ScanProgress
    from app.permissions.approval import Approver
    from app.servers.link import Link
    from app.servers.served import ServedVault
    from app.workspace import Workspace

NAME = "command line"
PATIENCE_S = 5.0
_PAUSE_S = 0.1


@dataclass(frozen=True)
class Session:
    """An open vault. `workspace` is None where another program holds it and asks its own user."""

    served: ServedVault
    client: Client
    workspace: Workspace | None = None

    @property
    def is_joined(self) -> bool:
        """Whether another program holds the vault."""
        return self.workspace is None


@asynccontextmanager
async def open_session(
    root: Path, approver: Approver, screen: Screen, *, brief: bool = True, patience: float = PATIENCE_S
) -> AsyncIterator[Session]:
    """The vault at `root`, its index up to date.

    Args:
        root: The vault's folder.
        approver: Who is asked where the vault is opened here; a program that holds it asks by itself.
        screen: Told how far it is.
        brief: Whether the vault is opened without other programs' tools, where it is opened here.
        patience: Seconds to wait for a program that has the vault and can't be joined.

    Raises:
        VaultBusyError: another program has the vault open, can't be joined, and did not let go of it.
        VaultLostError, StorageError: as `open_workspace` says.
    """
    client = Client(CallerKind.CLI, NAME, session=str(os.getpid()), says=f"scriptorium {__version__}")
    link, workspace = await _joined_or_opened(root, approver, screen, brief, patience)
    try:
        if workspace is None:
            assert link is not None
            yield Session(link, client)
            return
        await workspace.index.scan(lambda progress: show_scan(screen, progress), lambda: False)
        screen.end_progress()
        yield Session(workspace.hub, client, workspace)
    finally:
        if link is not None:
            await link.close()
        if workspace is not None:
            await workspace.close()


async def _joined_or_opened(
    root: Path, approver: Approver, screen: Screen, brief: bool, patience: float
) -> tuple[Link | None, Workspace | None]:
    """One of both."""
    deadline = time.monotonic() + patience
    while True:
        if (link := await _joined(root)) is not None:
            return link, None
        try:
            return None, await _opened(root, approver, brief)
        except VaultBusyError as error:
            if time.monotonic() >= deadline:
                owner = str(error.data.get("owner", "another program"))
                message = f"{error.message} It can't be joined, and did not end within {patience:g} s."
                raise VaultBusyError(message, owner=owner) from error
            screen.progress(f"{error.message} Waiting…")
        await asyncio.sleep(_PAUSE_S)


async def _joined(root: Path) -> Link | None:
    """The vault through the program that holds it; None where none does, or it can't be reached."""
    sign = find_door(root)
    if sign is None:
        return None
    from app.servers.link import Link

    try:
        return await Link.join(sign)
    except NetworkError:
        return None


async def _opened(root: Path, approver: Approver, brief: bool) -> Workspace:
    from app.settings import load_settings
    from app.workspace import open_workspace

    return await open_workspace(root, load_settings(), approver, ask_pending=False, brief=brief)


def show_scan(screen: Screen, progress: ScanProgress) -> None:
    """Reading a vault for the first time takes a while; a look at what changed does not."""
    if progress.total > progress.done > 0:
        screen.progress(f"{progress.phase} {progress.done:,} of {progress.total:,}")
