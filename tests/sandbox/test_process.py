"""Running a program: its output, its limits, and no leftover processes."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import psutil
import pytest

from app.errors import NotFoundError, StorageError
from app.sandbox.process import ProcessResult, run_program

PATIENCE = 60.0
CHILD = "import os, sys, time; print(os.getpid(), flush=True); time.sleep(600)"
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", sys.argv[1]], stdout=sys.stdout)
time.sleep(600)
"""


def runs(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, ValueError):
        return False


async def wait_until_gone(pid: int) -> None:
    """Wait for the end of a killed process; if it never ends, the test times out."""
    while runs(pid):
        await asyncio.sleep(0.01)


async def python(code: str, *arguments: str, timeout: float = PATIENCE, **more) -> ProcessResult:
    environment = {"PATH": os.environ["PATH"]}
    line = [sys.executable, "-S", "-c", code, *arguments]
    return await run_program(line, cwd=str(Path.cwd()), environment=environment, timeout=timeout, **more)


async def test_outputs_and_exit_status_are_returned() -> None:
    result = await python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (result.exit_code, result.output, result.errors) == (3, b"out\n", b"err\n")
    assert not result.timed_out and not result.cut


async def test_arguments_are_not_interpreted(tmp_path: Path) -> None:
    words = ["$HOME", "; touch x", "a b", "*", "`id`"]
    result = await python("import sys; print(sys.argv[1:])", *words)
    assert result.output.decode().strip() == str(words)


async def test_output_beyond_the_limit_is_dropped_and_the_program_continues() -> None:
    result = await python("import sys; print('x' * 300_000); print('end', file=sys.stderr)", max_output=1000)
    assert result.output == b"x" * 1000 and result.cut
    assert result.exit_code == 0 and result.errors == b"end\n"


async def test_it_reads_what_it_is_given_and_nothing_else() -> None:
    assert (await python("print(input())", input_data=b"given\n")).output == b"given\n"
    assert (await python("import sys; print(repr(sys.stdin.read()))")).output == b"''\n"
    # A program that ends without reading all of its input is no error.
    assert (await python("pass", input_data=b"x" * 1_000_000)).exit_code == 0


async def test_it_sees_only_the_environment_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "hush")
    assert b"hush" not in (await python("import os; print(os.environ)")).output


async def test_a_time_out_ends_the_program_and_what_it_started() -> None:
    result = await python(PARENT, CHILD, timeout=2)
    assert result.timed_out
    # On a machine too busy to have started the child in this time, there is nothing to check.
    await wait_until_gone(int(result.output or -1))


async def test_what_is_left_in_the_background_is_ended() -> None:
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', sys.argv[1]])"
    result = await python(code, CHILD, timeout=2)
    assert result.timed_out
    await wait_until_gone(int(result.output or -1))


async def test_a_withdrawn_run_ends_its_program(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid()) + '\\n'); time.sleep(600)"
    task = asyncio.create_task(python(code, str(mark)))
    while not (mark.exists() and mark.read_text().endswith("\n")):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await wait_until_gone(int(mark.read_text()))


async def test_no_process_of_ours_is_left_as_a_zombie() -> None:
    sleeper = python("import time; time.sleep(600)", timeout=1)
    await asyncio.gather(*(python("pass") for _ in range(3)), sleeper)
    states = [child.status() for child in psutil.Process().children(recursive=True)]
    assert psutil.STATUS_ZOMBIE not in states


async def test_a_missing_program_or_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no-such-program"):
        await run_program(["no-such-program"], cwd=str(tmp_path), environment={}, timeout=PATIENCE)
    with pytest.raises((NotFoundError, StorageError)):
        await run_program([sys.executable], cwd=str(tmp_path / "gone"), environment={}, timeout=PATIENCE)
