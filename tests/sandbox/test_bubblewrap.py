"""The sandbox: its command line on every system, and its isolation where it runs."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.sandbox.bubblewrap import MAX_HIDDEN_PATHS, PATH, VAULT_MOUNT, BindMount, sandbox_arguments
from app.sandbox.process import ProcessResult
from app.sandbox.resource_limits import IN_SANDBOX, with_limits
from app.sandbox.sandbox import Sandbox

PATIENCE = 60.0


def options(bound: BindMount, cwd: str = "") -> list[str]:
    _, given = sandbox_arguments("bwrap", bound, ["ls"], cwd)
    return given.decode().split("\0")[:-1]


def has(options: list[str], *words: str) -> bool:
    return any(tuple(options[at : at + len(words)]) == words for at in range(len(options)))


# The command line


def test_the_command_follows_all_options_unchanged() -> None:
    line, given = sandbox_arguments("/usr/bin/bwrap", BindMount("/v"), ["--bind", "/", "a b"])
    assert line == [
        "/usr/bin/bwrap",
        "--args",
        "0",
        "--",
        *with_limits(["--bind", "/", "a b"], IN_SANDBOX, PATH),
    ]
    assert given.endswith(b"\0")


def test_everything_is_unshared_and_nothing_of_the_environment_is_kept() -> None:
    words = options(BindMount("/v"))
    for one in ("--unshare-all", "--die-with-parent", "--new-session", "--clearenv"):
        assert one in words
    assert "--share-net" not in words
    assert has(words, "--cap-drop", "ALL")
    assert has(words, "--setenv", "HOME", "/tmp")
    assert has(words, "--tmpfs", "/tmp")


def test_only_the_vault_and_the_systems_programs_are_bound() -> None:
    words = options(BindMount("/home/somebody/Vault"))
    bound = [
        words[at + 1] for at, word in enumerate(words) if word in ("--bind", "--ro-bind", "--ro-bind-try")
    ]
    system = ("/usr", "/nix/store", "/bin", "/sbin", "/lib")
    allowed = (*system, "/etc/alternatives", "/etc/ld.so", "/etc/localtime")
    assert [path for path in bound if not path.startswith(allowed)] == ["/home/somebody/Vault"]
    assert "--bind" not in words


def test_a_writable_copy_is_bound_for_writing_and_the_folder_entered() -> None:
    words = options(BindMount("/copy", writable=True), "Some folder")
    assert has(words, "--bind", "/copy", VAULT_MOUNT)
    assert has(words, "--chdir", f"{VAULT_MOUNT}/Some folder")


def test_hidden_files_and_folders_are_covered_after_the_vault_is_bound() -> None:
    words = options(BindMount("/v", hidden_files=("a\nb.md",), hidden_folders=(".git",)))
    vault = words.index(VAULT_MOUNT)
    assert words.index(f"{VAULT_MOUNT}/a\nb.md") > vault and words.index(f"{VAULT_MOUNT}/.git") > vault
    assert has(words, "--ro-bind", "/dev/null", f"{VAULT_MOUNT}/a\nb.md")
    assert has(words, "--tmpfs", f"{VAULT_MOUNT}/.git")


async def test_a_system_without_bubblewrap_is_reported() -> None:
    assert await Sandbox("").problem()
    assert "no-such-bwrap" in await Sandbox("/no-such-bwrap").problem()


async def test_a_failing_bubblewrap_is_reported_with_its_own_message(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    problem = await Sandbox(str(program)).problem()
    assert "does not work here" in problem or "can't be started" in problem


# Isolation


@pytest.fixture
async def sandbox() -> Sandbox:
    tested_sandbox = Sandbox()
    if problem := await tested_sandbox.problem():
        pytest.skip(f"no sandbox on this system: {problem}")
    return tested_sandbox


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "Vault"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "old.md").write_text("old secret")
    (folder / "Note.md").write_text("shown\n")
    (folder / "Secret.md").write_text("treasure\n")
    return folder


async def in_sandbox(
    sandbox: Sandbox, bound: BindMount, *command: str, timeout: float = PATIENCE
) -> ProcessResult:
    return await sandbox.run(bound, command, "", timeout)


async def test_the_vault_can_be_read(sandbox: Sandbox, vault: Path) -> None:
    result = await in_sandbox(sandbox, BindMount(str(vault)), "cat", "Note.md", f"{VAULT_MOUNT}/Note.md")
    assert (result.exit_code, result.output) == (0, b"shown\nshown\n")


async def test_hidden_notes_and_folders_cannot_be_read(sandbox: Sandbox, vault: Path) -> None:
    bound = BindMount(str(vault), hidden_files=("Secret.md",), hidden_folders=(".git",))
    result = await in_sandbox(sandbox, bound, "grep", "-rE", "secret|treasure|shown", VAULT_MOUNT)
    assert b"shown" in result.output
    assert b"treasure" not in result.output and b"old secret" not in result.output


async def test_as_many_hidden_files_as_promised_fit(sandbox: Sandbox, vault: Path) -> None:
    names = tuple(f"Hidden {number}.md" for number in range(MAX_HIDDEN_PATHS))
    for name in names:
        (vault / name).write_text("treasure")
    result = await in_sandbox(sandbox, BindMount(str(vault), hidden_files=names), "cat", "Note.md", names[-1])
    assert result.output == b"shown\n"


async def test_nothing_is_written_outside(sandbox: Sandbox, vault: Path, tmp_path: Path) -> None:
    target = tmp_path / "outside.txt"
    script = 'for f in "$@"; do echo x > "$f" && echo "wrote $f"; done; echo y > /tmp/own; cat /tmp/own'
    paths = (str(target), "/usr/x", "/vault/x")
    result = await in_sandbox(sandbox, BindMount(str(vault)), "sh", "-c", script, "sh", *paths)
    assert result.output == b"y\n"
    assert not target.exists() and not (vault / "x").exists()


async def test_a_copy_can_be_written(sandbox: Sandbox, vault: Path) -> None:
    await in_sandbox(sandbox, BindMount(str(vault), writable=True), "sh", "-c", "echo more >> Note.md")
    assert (vault / "Note.md").read_text() == "shown\nmore\n"


async def test_the_home_folder_and_its_neighbors_cannot_be_read(
    sandbox: Sandbox, vault: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("treasure")
    home = str(Path.home())
    script = 'cat "$1"; ls -A "$2" "$HOME"; cat /etc/passwd'
    result = await in_sandbox(sandbox, BindMount(str(vault)), "sh", "-c", script, "sh", str(secret), home)
    assert b"treasure" not in result.output and b"root:" not in result.output
    assert f"'{home}'".encode() in result.errors or home == "/"


async def test_there_is_no_network(sandbox: Sandbox, vault: Path, listener: int) -> None:
    script = f"(exec 3<>/dev/tcp/127.0.0.1/{listener}) 2>&1 && echo reached; cat /proc/net/dev"
    result = await in_sandbox(sandbox, BindMount(str(vault)), "bash", "-c", script)
    assert b"reached" not in result.output
    interfaces = {line.split(":")[0].strip() for line in result.output.decode().splitlines() if ":" in line}
    assert not {name for name in interfaces if name.startswith(("eth", "en", "wl"))}


async def test_other_processes_cannot_be_seen_and_no_right_is_left(sandbox: Sandbox, vault: Path) -> None:
    script = "ls -d /proc/[0-9]*; grep CapEff /proc/self/status"
    result = await in_sandbox(sandbox, BindMount(str(vault)), "sh", "-c", script)
    lines = result.output.decode().split()
    assert len([line for line in lines if line.startswith("/proc/")]) <= 4
    assert lines[-1] == "0000000000000000"


async def test_a_time_out_ends_all_of_it(sandbox: Sandbox, vault: Path) -> None:
    result = await in_sandbox(sandbox, BindMount(str(vault)), "sh", "-c", "sleep 600 & sleep 600", timeout=1)
    assert result.timed_out


@pytest.fixture
def listener() -> Iterator[int]:
    """A reachable port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()):
            pass
        yield server.getsockname()[1]
