"""An open vault with its door open, a token for a program outside, and clients that come in by it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest

from app.permissions.caller import CallerKind
from app.servers.discovery import DoorSign, find_door
from app.servers.link import Link
from app.servers.served import Client
from app.workspace import Workspace

TERMINAL = Client(CallerKind.CLI, "Terminal")


@dataclass
class OpenDoor:
    """The door of `workspace`, and the token of the program `Robot`."""

    workspace: Workspace
    sign: DoorSign
    token: str

    def http(self, token: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """A client of the HTTP API with a token; that of Robot unless another one is given."""
        given = {"authorization": f"Bearer {self.token if token is None else token}", **headers}
        return httpx2.AsyncClient(base_url=self.sign.address, headers=given, timeout=30.0, trust_env=False)


@pytest.fixture
async def door(workspace: Workspace) -> OpenDoor:
    """The door, open, with the HTTP API switched on; any port that is free."""
    workspace.settings.servers.http_api = True
    await workspace.ways_in.open()
    sign = find_door(workspace.root)
    assert sign is not None and workspace.ways_in.tokens is not None
    return OpenDoor(workspace, sign, workspace.ways_in.tokens.make("Robot"))


@pytest.fixture
async def link(door: OpenDoor) -> AsyncIterator[Link]:
    """A link to it, as the command line has one."""
    link = await Link.join(door.sign)
    try:
        yield link
    finally:
        await link.close()
