"""The command line in its own process, for tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def command(*words: str) -> list[str]:
    """Return the command line that runs the app with these words."""
    return [sys.executable, "-m", "app", *words]


def environment(factory: pytest.TempPathFactory, **variables: str) -> dict[str, str]:
    """Return the current environment with `variables`; the programs of a test run share their bytecode."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    bytecode = factory.getbasetemp() / "bytecode"
    return {**inherited, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(bytecode), **variables}
