"""The core's tests with a core that stops at the first error in memory or arithmetic."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = tuple(f"tests/graph/test_{each}.py" for each in ("core_bindings", "core_drawing", "raster"))

# The sanitized core replaces the one in the source tree before anything imports it. The tests need neither
# plug-ins nor fixtures, and to import the rest of the app takes as long as they do.
RUN = """
import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("app.graph._graphcore", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.modules["app.graph._graphcore"] = module
import hypothesis, pytest
hypothesis.settings.register_profile("sanitized", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("sanitized")
from app.graph import core_bindings as native
assert native.core is module
sys.exit(pytest.main(["-q", "-s", "--noconftest", "-p", "no:cacheprovider", *sys.argv[2:]]))
"""


def runtime_of(compiler: str) -> str | None:
    """Return the AddressSanitizer library that must be loaded first, or None if there is none."""
    done = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=False
    )
    found = Path(done.stdout.strip())
    return str(found.resolve()) if done.returncode == 0 and found.is_absolute() and found.exists() else None


@pytest.mark.timeout(600)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="preloads a library as Linux does")
def test_the_core_does_nothing_undefined(tmp_path):
    compiler = shutil.which("gcc")
    runtime = runtime_of(compiler) if compiler else None
    if compiler is None or runtime is None:
        pytest.skip("no gcc with AddressSanitizer here")
    target = tmp_path / "_graphcore.abi3.so"
    build = [sys.executable, "packaging/build_core.py", "--sanitize", "--compiler", compiler]
    made = subprocess.run(
        [*build, "--target", str(target)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    environment = os.environ | {
        "LD_PRELOAD": runtime,
        # Python and numpy keep memory until the process ends.
        "ASAN_OPTIONS": "detect_leaks=0,allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(target), *TESTS],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:6000] + done.stdout[-3000:]
