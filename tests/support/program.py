"""The command line as a program of its own, for tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def command(*words: str) -> list[str]:
    """The words that run it."""
    return [sys.executable, "-m", "app", *words]


def environment(factory: pytest.TempPathFactory, **variables: str) -> dict[str, str]:
    """What it runs in: the folders of the test; bytecode is kept for the other programs of the run."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    bytecode = factory.getbasetemp() / "bytecode"
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(bytecode), **variables}
