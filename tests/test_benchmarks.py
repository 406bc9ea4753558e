"""The benchmarks, which run rarely, follow the code that they measure."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

MODULES = sorted(path.stem for path in (Path(__file__).parent / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_a_benchmark_can_be_imported(name):
    importlib.import_module(f"tests.benchmarks.{name}")
