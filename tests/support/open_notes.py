"""A fixture that opens vaults for tests of the service and of the window."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from app.settings import Settings
from app.workspace import VaultService, open_vault
from tests.support.approver import ScriptedApprover

OpenVault = Callable[[Path], Awaitable[VaultService]]


@pytest.fixture
async def open_notes(approver: ScriptedApprover) -> AsyncIterator[OpenVault]:
    """Yield a function that opens and scans the vault in a folder, created if missing; close the vaults."""
    settings = Settings()
    settings.embeddings.enabled = False
    async with AsyncExitStack() as stack:

        @asynccontextmanager
        async def opened(root: Path) -> AsyncIterator[VaultService]:
            root.mkdir(exist_ok=True)
            vault = await open_vault(root, settings=settings, approver=approver)
            try:
                await vault.update_index(lambda progress: None)
                yield vault
            finally:
                await vault.close()

        async def make(root: Path) -> VaultService:
            return await stack.enter_async_context(opened(root))

        yield make
