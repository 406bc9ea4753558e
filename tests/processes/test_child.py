from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from app.errors import NotFoundError, StorageError
from app.processes.child import ChildProcess

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for POSIX systems")

Start = Callable[[], Awaitable[ChildProcess]]
SLEEP = "import time; time.sleep(600)"
# Starts a child in a session of its own, which keeps the pipes open, and prints both ids.
WITH_ESCAPED_CHILD = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {SLEEP!r}], start_new_session=True)
print(child.pid, flush=True)
"""


async def python(code: str, **options: object) -> ChildProcess:
    return await ChildProcess.start((sys.executable, "-c", code), environment=os.environ, **options)


async def test_a_missing_folder_is_not_reported_as_a_missing_program(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no folder"):
        await python("", cwd=tmp_path / "none")


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def gone(pid: int) -> bool:
    async with asyncio.timeout(20):
        while not is_gone(pid):
            await asyncio.sleep(0.01)
    return True


async def test_it_reads_its_input_and_ends_with_it() -> None:
    child = await python("import sys; print(sys.stdin.read())")
    child.stdin.write(b"hello")
    child.stdin.close()
    assert await child.stdout.read() == b"hello\n"
    assert await child.wait() == 0
    await child.stop()


async def test_a_stop_gives_it_time_to_end_by_itself() -> None:
    child = await python("import sys; sys.stdin.read(); sys.exit(7)")
    await child.stop(grace=30)
    assert child.exit_status == 7


async def test_one_that_ignores_the_end_of_its_input_is_terminated_and_then_killed() -> None:
    child = await python(SLEEP)
    await child.stop(grace=0.1, terminate=True)
    assert child.exit_status == -signal.SIGTERM
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True)"
    deaf = await python(f"{ignore}; {SLEEP}")
    await deaf.stdout.readline()
    await deaf.stop(grace=0.1, terminate=True)
    assert deaf.exit_status == -signal.SIGKILL


async def test_children_that_left_the_group_end_with_it() -> None:
    child = await python(WITH_ESCAPED_CHILD + SLEEP)
    grandchild = int(await child.stdout.readline())
    await child.stop()
    assert await gone(grandchild) and await gone(child.pid)


async def test_a_cancelled_stop_still_kills_it() -> None:
    child = await python(WITH_ESCAPED_CHILD + SLEEP)
    grandchild = int(await child.stdout.readline())
    stopping = asyncio.create_task(child.stop(grace=600))
    await asyncio.sleep(0)
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    assert await gone(grandchild) and await gone(child.pid)


@pytest.mark.parametrize(
    ("start", "error"),
    [
        (lambda: ChildProcess.start(("no-such-program",), environment=os.environ), NotFoundError),
        (lambda: ChildProcess.start((sys.executable, "a\0b"), environment=os.environ), StorageError),
    ],
)
async def test_one_that_can_not_be_started_says_so(
    start: Callable[..., object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await start()


def test_nothing_else_in_the_app_starts_programs() -> None:
    starts = re.compile(r"create_subprocess_|subprocess\.(run|Popen|call|check_)|os\.(spawn|exec|system)")
    app = Path(__file__).resolve().parents[2] / "app"
    files = {file.relative_to(app).as_posix(): file.read_text("utf-8") for file in app.rglob("*.py")}
    found = {name for name, text in files.items() if starts.search(text)}
    # The user's editor takes over the terminal, so it stays in the group of this process.
    assert found == {"processes/child.py", "cli/external_editor.py"}
