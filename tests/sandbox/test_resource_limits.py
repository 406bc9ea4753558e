"""Limits on memory, processes and files of programs that run for a tool."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.errors import NotFoundError
from app.sandbox import resource_limits
from app.sandbox.bubblewrap import PATH, BindMount, sandbox_arguments
from app.sandbox.process import run_program
from app.sandbox.resource_limits import IN_SANDBOX, ResourceLimits, with_limits
from app.sandbox.sandbox import run_unsandboxed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
ENVIRONMENT = {"PATH": PATH}


async def run(tmp_path: Path, code: str, bounds: ResourceLimits):
    command = with_limits([sys.executable, "-I", "-c", code], bounds)
    return await run_program(command, cwd=str(tmp_path), environment=ENVIRONMENT, timeout=30)


@pytest.fixture(params=["prlimit", "ulimit"])
def method(request, monkeypatch):
    if request.param == "ulimit":
        monkeypatch.setattr(resource_limits.shutil, "which", lambda *_, **__: None)
    elif resource_limits.shutil.which("prlimit") is None:
        pytest.skip("there is no prlimit here")
    return request.param


async def test_a_program_gets_no_more_memory(method, tmp_path):
    bounds = ResourceLimits(memory=400 * 1024**2, processes=None)
    result = await run(tmp_path, "print(len(bytearray(100 << 20)))", bounds)
    assert result.exit_code == 0 and result.output.strip() == str(100 << 20).encode()
    second_result = await run(tmp_path, "bytearray(1 << 30)", bounds)
    assert second_result.exit_code != 0 and b"MemoryError" in second_result.errors


async def test_a_program_writes_no_larger_file(method, tmp_path):
    bounds = ResourceLimits(file_size=1024**2, processes=None)
    code = "open('large', 'wb').write(bytes(4 << 20))"
    assert (await run(tmp_path, code, bounds)).exit_code != 0
    assert (tmp_path / "large").stat().st_size <= 1024**2


@pytest.mark.skipif(resource_limits.shutil.which("prlimit") is None, reason="there is no prlimit here")
async def test_the_number_of_processes_is_limited(tmp_path):
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC)[0])"
    result = await run(tmp_path, code, ResourceLimits(processes=128))
    assert result.output.strip() == b"128"


async def test_a_command_without_a_sandbox_is_limited_and_a_missing_program_is_an_error(tmp_path):
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    result = await run_unsandboxed([sys.executable, "-I", "-c", code], str(tmp_path), str(tmp_path), 30)
    assert int(result.output) == IN_SANDBOX.memory
    with pytest.raises(NotFoundError, match="no-such-program"):
        await run_unsandboxed(["no-such-program"], str(tmp_path), str(tmp_path), 30)


@pytest.mark.skipif(
    resource_limits.shutil.which("prlimit", path=PATH) is None, reason="there is no prlimit here"
)
def test_the_sandbox_sets_its_limits_inside(tmp_path):
    arguments, _ = sandbox_arguments("bwrap", BindMount(str(tmp_path)), ["true"])
    inside = arguments[arguments.index("--") + 1 :]
    assert inside[0].endswith("prlimit") and inside[-2:] == ["--", "true"]
    assert f"--data={IN_SANDBOX.memory}" in inside and f"--nproc={IN_SANDBOX.processes}" in inside
