from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from app.settings import Settings
from app.workspace import Workspace, open_workspace
from tests.support.approver import ScriptedApprover

OpenWorkspace = Callable[[Path], Awaitable[Workspace]]


@pytest.fixture
async def open_ws(approver: ScriptedApprover) -> AsyncIterator[OpenWorkspace]:
    """`await open_ws(folder)`: the workspace of a folder, scanned; the folder is made if it is missing."""
    settings = Settings()
    settings.embeddings.enabled = False
    async with AsyncExitStack() as stack:

        @asynccontextmanager
        async def opened(root: Path) -> AsyncIterator[Workspace]:
            root.mkdir(exist_ok=True)
            workspace = await open_workspace(root, settings=settings, approver=approver)
            try:
                await workspace.index.scan()
                yield workspace
            finally:
                await workspace.close()

        async def make(root: Path) -> Workspace:
            return await stack.enter_async_context(opened(root))

        yield make
