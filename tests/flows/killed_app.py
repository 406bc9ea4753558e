"""The whole app in its own process, killed at a disk step of an approved commit.

python -m tests.flows.killed_app VAULT STEP
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from functools import partial
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from app.permissions.caller import Caller, CallerKind
from app.vault.store import NoteStore
from app.workspace import vault_storage
from tests.flows import conftest
from tests.flows.pilot import Pilot


def main(vault: Path, at: int) -> None:
    """Open `vault`, rename a linked note, approve, and die at disk step `at` of the commit."""
    steps: list[str] = []
    armed: list[bool] = []

    def step(name: str) -> None:
        steps.append(name)
        if armed and len(steps) == at:
            os.kill(os.getpid(), signal.SIGKILL)

    async def use(pilot: Pilot) -> None:
        await pilot.open(vault)
        agent = Caller(CallerKind.DESKTOP_AGENT, "agent", uses_model=False)
        call = pilot.start_call("move_note", {"name": "Tea", "new_name": "Chai"}, agent)
        await pilot.question()
        steps.clear()
        armed.append(True)
        await pilot.approve()
        await call

    vault_storage.NoteStore = partial(NoteStore, step=step)  # type: ignore[misc,assignment]
    app = QApplication([])
    app.setQuitOnLastWindowClosed(False)
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        runner.run(conftest.live(use))
    print(f"not killed: {len(steps)} steps")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
