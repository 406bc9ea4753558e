"""Open a vault in its own process, as a window does, with a user who approves everything.

`python -m tests.support.window_process VAULT` prints `open`, then the tool and the caller of each
request; it ends with its standard input.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from app.permissions.approval import ApprovalRequest, Approved, Decision
from app.settings import Settings
from app.workspace.opening import open_workspace


class ApproveAll:
    """Approves every request, and prints its tool and caller."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Approve."""
        print(f"asked {request.tool} by {request.caller.name}", flush=True)
        return Approved(request.proposal)


async def _main(root: Path) -> None:
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(root, settings, ApproveAll(), take_over=True)
    try:
        await workspace.start_scan(lambda progress: None)
        await workspace.endpoints.open()
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.read)
    finally:
        await workspace.close()


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1])))
