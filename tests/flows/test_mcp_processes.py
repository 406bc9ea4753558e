"""`scriptorium mcp` as started by a client: real processes, and a window that opens and closes meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import mcp_types as t
import pytest
from mcp import Client, StdioServerParameters

from app import paths
from app.settings import Settings, save_settings
from tests.support.mcp_clients import YES

ROOT = Path(__file__).parents[2]


class User:
    """The client's user, who answers on command."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[str] = asyncio.Queue()
        self.answer: asyncio.Future[t.ElicitResult] | None = None

    async def __call__(self, context: object, params: t.ElicitRequestFormParams) -> t.ElicitResult:
        self.asked.put_nowait(params.message)
        return YES if self.answer is None else await self.answer


def stdio(vault: Path, *options: str) -> StdioServerParameters:
    """Start the server as in a client's configuration."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    arguments = ["-m", "app", "mcp", str(vault), "--name", "Claude", *options]
    return StdioServerParameters(command=sys.executable, args=arguments, env=environment)


@asynccontextmanager
async def window(vault: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Open the vault in a process like the window's."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.window_process",
        str(vault),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdin is not None
    try:
        yield process
    finally:
        process.stdin.close()
        await process.wait()


async def line_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


@pytest.fixture
def no_embeddings() -> None:
    settings = Settings()
    settings.embeddings.enabled = False
    save_settings(settings)


def appended(text: str) -> dict[str, str]:
    return {"name": "H4", "op": "append", "text": text}


@pytest.mark.timeout(240)
async def test_a_window_opens_and_closes_without_effect_on_the_client(sample_vault, no_embeddings):
    user = User()
    async with Client(stdio(sample_vault), elicitation_callback=user) as client:
        # No process has the vault: this one opens it, and asks the user through the client.
        read = await client.call_tool("read_note", {"name": "H4"})
        assert "H4" in read.structured_content["text"]
        written = await client.call_tool("edit_note", appended("By the client."))
        assert written.structured_content["success"]
        assert "+By the client." in user.asked.get_nowait()
        # A window opens while the client's user sees a question: it is asked there.
        user.answer = asyncio.get_running_loop().create_future()
        waiting = asyncio.create_task(client.call_tool("edit_note", appended("By the window.")))
        await user.asked.get()
        async with window(sample_vault) as process:
            assert await line_of(process) == "open"
            assert await line_of(process) == "asked edit_note by Claude"
            # The answer of the client's user is late: the window has decided.
            user.answer.set_result(t.ElicitResult(action="cancel"))
            assert (await waiting).structured_content["success"]
            await client.call_tool("edit_note", appended("Again by the window."))
            assert await line_of(process) == "asked edit_note by Claude"
        # The window is closed: this process has the vault again.
        user.answer = None
        again = await client.call_tool("edit_note", appended("By the client again."))
        assert again.structured_content["success"] and "+By the client again." in await user.asked.get()
    text = (sample_vault / "Instruments" / "H4.md").read_text("utf-8")
    lines = ["By the client.", "By the window.", "Again by the window.", "By the client again."]
    assert [line for line in text.splitlines() if line in lines] == lines


@pytest.mark.timeout(240)
async def test_two_clients_share_a_vault_and_leave_it_to_the_next_one(sample_vault, no_embeddings):
    user = User()
    async with (
        Client(stdio(sample_vault)) as mute,
        Client(stdio(sample_vault), elicitation_callback=user) as asking,
    ):
        refused = await mute.call_tool("edit_note", appended("No."))
        assert "This client can't ask the user" in refused.structured_content["error"]["message"]
        pending = await mute.call_tool("edit_note", {**appended("Later."), "wait_for_user": False})
        assert pending.structured_content["pending_operation_id"]
        # The process that can ask takes over the vault; the other one continues through it.
        written = await asking.call_tool("edit_note", appended("Asked by the other."))
        assert written.structured_content["success"] and user.asked.qsize() == 1
        read = await mute.call_tool("read_note", {"name": "H4"})
        assert "Asked by the other." in read.structured_content["text"]
    async with window(sample_vault) as process:
        told = [await line_of(process), await line_of(process)]
    assert sorted(told) == ["asked edit_note by Claude", "open"]


@pytest.mark.parametrize("moment", ["the first line", "vault.lock", "audit.sqlite3-wal"])
async def test_a_server_told_to_end_while_it_starts_closes_every_store(
    sample_vault: Path, no_embeddings: None, moment: str
) -> None:
    """Its input is closed and a signal follows, repeatedly, while it opens and closes the vault."""
    data = paths.vault_data_folder(sample_vault)
    server = stdio(sample_vault)
    process = await asyncio.create_subprocess_exec(
        server.command,
        *server.args,
        env=server.env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.close()
    sign = paths.log_folder() / "command-line.log" if moment == "the first line" else data / moment
    while not sign.exists() and process.returncode is None:
        await asyncio.sleep(0.005)
    ended = asyncio.create_task(process.communicate())
    while not ended.done():
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await asyncio.wait({ended}, timeout=0.05)
    _, said = await ended
    assert (process.returncode, said.decode()) == (0, "")
    left = [
        file.name
        for folder in (data, paths.vault_cache_folder(sample_vault))
        for file in folder.glob("*-wal")
    ]
    assert left == [], "a store that is closed has no log beside it"
