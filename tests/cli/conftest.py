"""Fixtures for tests of the command line: a known vault, and commands on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.cli import commands
from app.settings.recent import RecentVaults


@dataclass(frozen=True)
class Ran:
    """A command that has ended."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The output of `--json`."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small vault that was opened before; the working directory is elsewhere."""
    root = tmp_path / "Notes"
    (root / "Ideas").mkdir(parents=True)
    (root / "Tea.md").write_text("# Tea\n\nGreen tea and black tea. See [[Water]].\n", "utf-8")
    (root / "Water.md").write_text("Water boils. #liquid\n", "utf-8")
    (root / "Ideas" / "Water.md").write_text("Another note called water.\n", "utf-8")
    (root / "Secret.md").write_text("---\nai: private\n---\nNobody sees tea here.\n", "utf-8")
    RecentVaults().add(root)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.delenv("SCRIPTORIUM_VAULT", raising=False)
    return root


@pytest.fixture
def run(vault: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command in this process, without a terminal."""

    def ran(*arguments: str) -> Ran:
        capsys.readouterr()
        status = commands.main(list(arguments))
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return ran
