"""Measure how long one caller waits while another keeps the service loop busy. Target: 50 ms.

Run: python -m tests.benchmarks.loop_latency [--check]

While each load runs, another task yields to the loop continuously; the wait is the longest time between two
of its turns. Loads: the first turn of a model, 1,000 tool calls in one response of a model, 200,000 unknown
arguments by HTTP and in the process, a body of 10 MB with three million values, and a move of a note with
60,000 links to it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import httpx2

from app.agent.transcript import TurnFinished
from app.agent.turn import UserPrompt
from app.permissions.caller import Caller
from app.servers.endpoint_file import find_endpoint
from app.settings import AnswerByModel, ModelSettings, Settings
from app.toolkit.call import Call
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.approver import ScriptedApprover
from tests.support.model_server import ModelServer, RawCalls, TextAnswer

TARGET_MS = 50.0
NOTES, LINKS_PER_NOTE = 600, 100
CALLS, KEYS = 1000, 200_000


def make_vault(root: Path) -> None:
    """Create a vault of notes with many links to one note."""
    root.mkdir()
    (root / "Hub.md").write_text("The note that all others link to.\n", "utf-8")
    line = "See [[Hub]] for more.\n"
    for number in range(NOTES):
        (root / f"Spoke {number}.md").write_text(line * LINKS_PER_NOTE, "utf-8")


async def longest_wait(load: Awaitable[object]) -> tuple[float, float]:
    """Run `load`; return the longest time without a turn of the loop, and the duration, in ms."""
    waits = [0.0]

    async def watch() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            waits.append(1000 * (now - last) - 1)
            last = now

    watcher = asyncio.create_task(watch())
    await asyncio.sleep(0.05)
    waits.clear()
    began = time.perf_counter()
    try:
        await load
    finally:
        took = 1000 * (time.perf_counter() - began)
        await asyncio.sleep(0.05)
        watcher.cancel()
    return max(waits), took


async def talk(workspace: Workspace, count: int) -> None:
    """Run a turn of a model that requests `count` tool calls in one response."""
    calls = RawCalls(tuple(("read_note", json.dumps({"name": f"Spoke {n % NOTES}"})) for n in range(count)))
    finished = asyncio.get_running_loop().create_future()
    unsubscribe = workspace.events.subscribe(TurnFinished, finished.set_result)
    server = await asyncio.to_thread(ModelServer, calls, TextAnswer("Done."))
    await asyncio.to_thread(server.__enter__)
    try:
        workspace.settings.agent.answering = AnswerByModel()
        workspace.settings.model = ModelSettings(
            provider="openai-compatible", base_url=server.address, model="scripted", request_timeout=60
        )
        workspace.agent.start(workspace.agent.create().id, UserPrompt("Read them"))
        await finished
    finally:
        await asyncio.to_thread(server.__exit__)
    unsubscribe()


async def move(workspace: Workspace) -> None:
    """Rename the note that all others link to."""
    outcome = await workspace.runner.run(
        Call.of("move_note", {"name": "Hub", "new_name": "Nave"}, Caller.user())
    )
    assert outcome.success and len(outcome.result["rewritten"]) == NOTES, outcome.message  # type: ignore[arg-type]


async def unknown_arguments(workspace: Workspace, arguments: Mapping[str, object]) -> None:
    """Call a tool with arguments that it rejects."""
    outcome = await workspace.runner.run(Call.of("read_note", arguments, Caller.user()))
    assert not outcome.success


def posting(address: str, token: str, body: bytes) -> Callable[[], Awaitable[None]]:
    """Return a function that sends a call that is too large."""

    async def post() -> None:
        headers = {"authorization": f"Bearer {token}"}
        client = httpx2.AsyncClient(
            base_url=address, headers=headers, trust_env=False, timeout=60, verify=False
        )
        async with client as http:
            answer = await http.post("/api/v1/tools/read_note", content=body)
        assert answer.status_code == 413, answer.status_code

    return post


async def measure(folder: Path) -> list[tuple[str, float, float]]:
    """Return each load's name, longest wait and duration, in ms."""
    for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
        os.environ[f"SCRIPTORIUM_{name}"] = str(folder / name.lower())
    root = folder / "vault"
    make_vault(root)
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(root, settings, ScriptedApprover())
    waits = []
    try:
        await workspace.start_scan(lambda progress: None)
        workspace.settings.servers.http_api = True
        await workspace.endpoints.open()
        sign = find_endpoint(root)
        assert sign is not None and workspace.endpoints.tokens is not None
        token, address = workspace.endpoints.tokens.create("Benchmark"), sign.address
        arguments = {f"k{n}": n for n in range(KEYS)}
        keys = json.dumps(arguments).encode()
        values = json.dumps({"name": [1] * 3_300_000}).encode()[: 10 * 1024 * 1024 - 2] + b"]}"
        loads: list[tuple[str, Callable[[], Awaitable[object]]]] = [
            ("the first turn of a model, which loads it", lambda: talk(workspace, 1)),
            (f"{CALLS:,} calls in one response", lambda: talk(workspace, CALLS)),
            (f"{KEYS:,} unknown arguments by HTTP", posting(address, token, keys)),
            ("10 MB of values by HTTP", posting(address, token, values)),
            (f"{KEYS:,} unknown arguments in the process", lambda: unknown_arguments(workspace, arguments)),
            (f"a move with {NOTES * LINKS_PER_NOTE:,} links", lambda: move(workspace)),
        ]
        for name, load in loads:
            waits.append((name, *await longest_wait(load())))
    finally:
        await workspace.close()
    return waits


def keep_bytecode(folder: Path) -> None:
    """Compile the imports of the first turn in another process, as an installation does."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", "from app.agent import models; models.load()"]
    root = str(Path(__file__).resolve().parents[2])
    subprocess.run(
        command, check=True, env={**variables, "PYTHONPATH": root, "PYTHONPYCACHEPREFIX": str(folder)}
    )
    sys.pycache_prefix = str(folder)


def main() -> int:
    """Print the waits; with --check, the exit status is 1 if one exceeds the target."""
    # As in the app, which never runs a full collection while it is busy.
    gc.disable()
    with tempfile.TemporaryDirectory() as folder:
        keep_bytecode(Path(folder) / "bytecode")
        waits = asyncio.run(measure(Path(folder)))
    for name, wait, took in waits:
        mark = "" if wait <= TARGET_MS else "  over the target"
        print(f"{name:45} longest wait {wait:7.1f} ms, took {took:8.0f} ms{mark}")
    slow = any(wait > TARGET_MS for _, wait, _ in waits)
    return 1 if slow and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
