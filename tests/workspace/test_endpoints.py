"""The endpoint of an open vault follows the settings, and reports when it can't be opened."""

from __future__ import annotations

import asyncio
import socket

import httpx2

from app import paths
from app.permissions.caller import CallerKind
from app.servers.endpoint_file import find_endpoint
from app.servers.remote_vault import RemoteVaultAccess
from app.servers.server_state import LocalServerStateChanged
from app.servers.vault_access import Client
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace


async def test_the_user_is_told_if_other_processes_cannot_find_the_endpoint(workspace: Workspace) -> None:
    heard: list[LocalServerStateChanged] = []
    workspace.events.subscribe(LocalServerStateChanged, heard.append)
    in_the_way = paths.vault_data_folder(workspace.root) / "door.json"
    (in_the_way / "a folder").mkdir(parents=True)
    problem = await workspace.endpoints.begin()
    assert problem.startswith("Other programs can't use this vault. The app's data folder")
    state = workspace.endpoints.state()
    assert (state.address, state.port, state.problem) == ("", 0, problem)
    assert [event.state for event in heard] == [state]
    (in_the_way / "a folder").rmdir()
    in_the_way.rmdir()
    assert await workspace.endpoints.begin() == ""
    assert workspace.endpoints.state().address.startswith("http://127.0.0.1:")


async def test_another_port_moves_the_endpoint_and_other_processes_find_it(workspace: Workspace) -> None:
    await workspace.endpoints.open()
    moved = asyncio.Event()
    workspace.events.subscribe(
        LocalServerStateChanged, lambda event: moved.set() if event.state.port else None
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    workspace.change_settings("servers", port=port)
    await moved.wait()
    sign = find_endpoint(workspace.root)
    assert sign is not None and sign.port == port == workspace.endpoints.state().wanted_port
    link = await RemoteVaultAccess.join(sign)
    assert await link.tools(Client(CallerKind.CLI, "Terminal"))
    await link.close()


async def test_disabled_endpoints_close_and_the_others_continue(workspace: Workspace) -> None:
    workspace.change_settings("servers", http_api=True)
    port = await workspace.endpoints.open()
    assert workspace.endpoints.tokens is not None
    token, sign = workspace.endpoints.tokens.create("Robot"), find_endpoint(workspace.root)
    assert sign is not None
    address = f"http://127.0.0.1:{port}/api/v1/news"
    async with httpx2.AsyncClient(timeout=30.0) as http:
        of_robot = http.stream("GET", address, headers={"authorization": f"Bearer {token}"})
        of_user = http.stream("GET", address, headers={"authorization": f"Bearer {sign.token}"})
        async with of_robot as robot, of_user as user:
            assert robot.status_code == user.status_code == 200
            workspace.change_settings("servers", http_api=False)
            assert all(not line.startswith("data") for line in [line async for line in robot.aiter_lines()])
            workspace.endpoints.local_vault.notify_tools_changed()
            async for line in user.aiter_lines():
                if line.startswith("data"):
                    break


async def test_a_read_only_vault_has_no_endpoint(workspace: Workspace) -> None:
    await workspace.endpoints.open()
    reader = await open_workspace(workspace.root, workspace.settings, None, read_only=True)
    try:
        assert await reader.endpoints.begin() == "" and reader.endpoints.server is None
        assert reader.endpoints.tokens is None
        assert await reader.endpoints.local_vault.tools(Client(CallerKind.CLI, "Terminal"))
    finally:
        await reader.close()
    assert find_endpoint(workspace.root) is not None, "the first endpoint is unchanged"
