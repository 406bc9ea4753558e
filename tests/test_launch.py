"""Command lines of the program, from source and frozen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app import launch
from app.agent.acp.mcp_endpoint import McpEndpoint


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The executable of a frozen program, with its resources."""
    folder = tmp_path / "Scriptorium"
    (folder / "_internal" / "resources").mkdir(parents=True)
    made = folder / "scriptorium"
    made.touch()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(folder / "_internal"), raising=False)
    monkeypatch.setattr(sys, "executable", str(made))
    for name in ("APPIMAGE", "APPDIR", "FLATPAK_ID"):
        monkeypatch.delenv(name, raising=False)
    return made


def test_from_source_a_child_runs_this_code_in_any_folder(tmp_path: Path) -> None:
    own = launch.own_program()
    done = subprocess.run(
        [*own.words, "--version"],
        cwd=tmp_path,
        env={**own.variables, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "scriptorium" in done.stdout.lower()
    worker = launch.embedding_worker()
    asked = subprocess.run([*worker.words, "--help"], cwd=worker.folder, capture_output=True, check=False)
    assert asked.returncode == 0


def test_from_source_the_installed_command_is_the_script(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(launch.shutil, "which", lambda _: None)
    python = tmp_path / "python"
    monkeypatch.setattr(sys, "executable", str(python))
    assert launch.installed_command() == (str(python), "-m", "app")
    script = tmp_path / ("scriptorium.exe" if sys.platform == "win32" else "scriptorium")
    script.touch()
    monkeypatch.setenv("APPIMAGE", "/apps/Terminal.AppImage")
    assert launch.installed_command() == (str(script),), "the image of a terminal is not ours"


def test_the_frozen_program_starts_itself_without_python(program: Path) -> None:
    assert launch.own_program() == launch.LaunchCommand((str(program),))
    assert launch.embedding_worker().words == (str(program), launch.EMBEDDING_WORKER)
    assert launch.function_worker().words == (str(program), launch.FUNCTION_WORKER)
    assert McpEndpoint(Path("/v")).command("Claude", read_only=True) == (
        str(program),
        ("mcp", str(Path("/v")), "--name", "Claude", "--read-only"),
    )
    assert "PYTHONPATH" not in McpEndpoint(Path("/v")).variables()
    assert launch.installed_command() == (str(program),)


def test_another_python_runs_the_sources_that_the_frozen_program_brings(program: Path) -> None:
    command = launch.embedding_worker("/usr/bin/python3")
    assert command.words == ("/usr/bin/python3", "-m", "app.embeddings.worker")
    assert command.folder == program.parent / "_internal" / "worker-source"


def test_on_windows_the_program_with_a_console_is_named(program: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert launch.console_program() == str(program), "without a second program there is only this one"
    console = program.with_name("scriptorium-cli.exe")
    console.touch()
    assert launch.own_program().words == (str(console),)
    assert launch.embedding_worker().words == (str(console), launch.EMBEDDING_WORKER)
    assert launch.installed_command() == (str(console),)


def test_an_image_and_a_flatpak_are_named_from_outside(program: Path, monkeypatch) -> None:
    monkeypatch.setenv("APPIMAGE", "/apps/Scriptorium.AppImage")
    monkeypatch.setenv("APPDIR", "/tmp/.mount_other")
    assert launch.installed_command() == (str(program),), "the image of a terminal is not ours"
    monkeypatch.setenv("APPDIR", str(program.parent))
    assert launch.installed_command() == ("/apps/Scriptorium.AppImage",)
    monkeypatch.setenv("FLATPAK_ID", launch.APP_ID)
    assert launch.installed_command() == ("flatpak", "run", launch.APP_ID)
