"""An open vault with its endpoint, a token for an external program, and clients that connect to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest

from app.permissions.caller import CallerKind
from app.servers.endpoint_file import Endpoint, find_endpoint
from app.servers.remote_vault import RemoteVaultAccess
from app.servers.vault_access import Client
from app.workspace.workspace import Workspace

TERMINAL = Client(CallerKind.CLI, "Terminal")


@dataclass
class ServedEndpoint:
    """The endpoint of `workspace`, and the token of the program `Robot`."""

    workspace: Workspace
    endpoint: Endpoint
    token: str

    def http(self, token: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """Return a client of the HTTP API with a token, by default Robot's."""
        arguments = {"authorization": f"Bearer {self.token if token is None else token}", **headers}
        return httpx2.AsyncClient(
            base_url=self.endpoint.address, headers=arguments, timeout=30.0, trust_env=False
        )


@pytest.fixture
async def served(workspace: Workspace) -> ServedEndpoint:
    """The open endpoint on a free port, with the HTTP API enabled."""
    workspace.settings.servers.http_api = True
    await workspace.endpoints.open()
    endpoint = find_endpoint(workspace.root)
    assert endpoint is not None and workspace.endpoints.tokens is not None
    return ServedEndpoint(workspace, endpoint, workspace.endpoints.tokens.create("Robot"))


@pytest.fixture
async def link(served: ServedEndpoint) -> AsyncIterator[RemoteVaultAccess]:
    """A remote vault connected to it, like the command line's."""
    link = await RemoteVaultAccess.join(served.endpoint)
    try:
        yield link
    finally:
        await link.close()
