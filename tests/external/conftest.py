"""The sample vault with external servers: programs that do what they are told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.settings import Settings
from app.workspace import Workspace, open_workspace
from tests.support.approver import ScriptedApprover
from tests.support.external_servers import QUICK, PlainServer


@pytest.fixture
def plain(tmp_path: Path) -> PlainServer:
    return PlainServer(tmp_path, "Weather")


@pytest.fixture
async def opened(sample_vault: Path, approver: ScriptedApprover) -> AsyncIterator[Workspace]:
    """The sample vault, not scanned, with a quick pace for external servers."""
    settings = Settings()
    settings.embeddings.enabled = False
    made = await open_workspace(sample_vault, settings, approver)
    made.external.pace = QUICK
    try:
        yield made
    finally:
        await made.close()
