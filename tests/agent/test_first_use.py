"""Libraries of models are imported in a thread, since an import in the loop would block every caller."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.program import environment

TURN = "workspace = await opened(); imports.clear(); await talk(workspace, 1); found = list(imports)"
CHECK = """
with ModelServer(TextAnswer("ready")) as server:
    address = server.address
    imports.clear()
    chosen = ModelSettings(provider="openai-compatible", base_url=address, model="m", request_timeout=60)
    assert (await models.check(chosen, None)).ok
    found = list(imports)
"""
LOCAL = "imports.clear(); await models.find_local(); found = list(imports)"

PROGRAM = """
import asyncio, sys, tempfile, threading
from pathlib import Path
from app.agent import models
from app.settings import ModelSettings, Settings
from app.workspace.opening import open_workspace
from tests.benchmarks.loop_latency import talk
from tests.support.approver import ScriptedApprover
from tests.support.model_server import ModelServer, TextAnswer

imports = []

class Watch:
    def find_spec(self, name, path=None, target=None):
        # anyio imports the few small modules for asyncio when the loop first asks it for something.
        if threading.current_thread() is threading.main_thread() and not name.startswith("anyio."):
            imports.append(name)

async def opened():
    global workspace
    root = Path(tempfile.mkdtemp(dir=sys.argv[1])) / "vault"
    root.mkdir()
    (root / "Spoke 0.md").write_text("A note.")
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(root, settings, ScriptedApprover())
    await workspace.start_scan(lambda progress: None)
    return workspace

async def main():
    global workspace
    workspace = None
    sys.meta_path.insert(0, Watch())
    try:
{body}
    finally:
        if workspace is not None:
            await workspace.close()
    print("in the loop:", *found)

asyncio.run(main())
"""


@pytest.mark.parametrize("use", [TURN, CHECK, LOCAL], ids=["turn", "check", "local"])
def test_first_use_of_a_model_imports_nothing_in_the_loop(use, tmp_path, tmp_path_factory):
    body = "\n".join(" " * 8 + line for line in use.strip().splitlines())
    program = PROGRAM.replace("{body}", body)
    folders = {f"SCRIPTORIUM_{name}": str(tmp_path / name) for name in ("CONFIG", "DATA", "CACHE", "LOGS")}
    result = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env=environment(tmp_path_factory, **folders),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "in the loop:"
