"""A vault with scripted external servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.settings import Settings
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.approver import ScriptedApprover
from tests.support.external_servers import QUICK, PlainServer


@pytest.fixture
def plain_server(tmp_path: Path) -> PlainServer:
    return PlainServer(tmp_path, "Weather")


@pytest.fixture
async def opened(tmp_path: Path, approver: ScriptedApprover) -> AsyncIterator[Workspace]:
    """An empty vault, with short timeouts for external servers."""
    vault = tmp_path / "vault"
    vault.mkdir()
    settings = Settings()
    settings.embeddings.enabled = False
    made = await open_workspace(vault, settings, approver)
    made.external.timeouts = QUICK
    try:
        yield made
    finally:
        await made.close()
