"""The desktop serves other programs while a vault is open, and reports when it can't."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from app.permissions.caller import CallerKind
from app.servers.endpoint_file import find_endpoint
from app.servers.remote_vault import RemoteVaultAccess
from app.servers.vault_access import Client
from app.settings import Settings, save_settings
from tests.flows.pilot import Pilot

TERMINAL = Client(CallerKind.CLI, "Terminal")


def test_an_external_call_is_approved_in_the_window_and_the_endpoint_closes_with_it(
    app_run, garden: Path, settings: Settings
) -> None:
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    settings.servers.port = taken.getsockname()[1]
    save_settings(settings)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.until(lambda: find_endpoint(garden) is not None, "the endpoint is open")
        sign = find_endpoint(garden)
        assert sign is not None and sign.holder == "desktop" and sign.port != settings.servers.port
        link = await RemoteVaultAccess.join(sign)
        call = asyncio.ensure_future(link.call(TERMINAL, "create_note", {"name": "From outside"}))
        question = await pilot.question()
        assert question.current.request.caller.name == "Terminal"
        await pilot.approve()
        assert (await call).success
        late = asyncio.ensure_future(link.call(TERMINAL, "create_note", {"name": "Left behind"}))
        await pilot.question()
        late.cancel()
        await asyncio.wait({late})
        await pilot.until(lambda: pilot.approvals.dialog is None, "the question is withdrawn")
        await link.close()

    app_run(use)
    taken.close()
    assert find_endpoint(garden) is None
    assert (garden / "From outside.md").exists() and not (garden / "Left behind.md").exists()
