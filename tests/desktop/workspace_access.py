"""The parts of an open vault behind its service, for the tests of the window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.desktop.bridge import VaultClient
from app.workspace.workspace import Workspace


def workspace_of(client: VaultClient) -> Workspace:
    """Return the workspace behind the client's service."""
    return client._vault._workspace


async def in_workspace(client: VaultClient, fn: Callable[[Workspace], Any]) -> Any:
    """Return the result of `fn(workspace)`, computed in the service thread; a coroutine is awaited there."""
    return await client.run(lambda vault: fn(vault._workspace))
