#!/usr/bin/env python3
"""Install what is needed and run the checks: `python3 packaging/check.py [--only NAMES] [pytest arguments]`.

`--only` runs only the named checks (ruff, format, mypy, imports, tests), for example `--only ruff,mypy`.

Needs no display: Qt tests draw offscreen unless QT_QPA_PLATFORM is set. Prints each check's name and time;
the exit status is 0 only if all selected checks pass.

The tests write about 200,000 small files, sync many of them, and start hundreds of programs. Their folder is
therefore in memory if possible, and compiled Python files are cached: to compile them again takes half a
minute of each run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import environment

_CHECKS = frozenset({"ruff", "format", "mypy", "imports", "tests"})
_MIN_MEMORY_BYTES = 8 * 1024**3
_IN_MEMORY = ("unshare", "--mount", "--propagation", "private", "sh", "-c")
_MOUNT_AND_RUN = 'mount -t tmpfs -o mode=0700 tmpfs "$0" && exec "$@"'


def main() -> int:
    """Run the selected checks in order, even if one fails, and return the exit status."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--only", type=lambda names: frozenset(names.split(",")), default=_CHECKS)
    options, pytest_arguments = parser.parse_known_args()
    if unknown := options.only - _CHECKS:
        parser.error(
            f"unknown checks: {', '.join(sorted(unknown))}; choose from {', '.join(sorted(_CHECKS))}"
        )
    environment.ensure(("dev",))
    if "tests" in options.only and (missing := environment.missing_libraries()):
        print(f"System libraries that Qt needs are missing: {' '.join(missing)}", file=sys.stderr)
        return 1
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="checks-", ignore_cleanup_errors=True) as folder:
        return _run(Path(folder), options.only, pytest_arguments)


def _run(folder: Path, only: frozenset[str], pytest_arguments: list[str]) -> int:
    """Run the checks of `only` with `folder` for temporary files, and pytest with `pytest_arguments`."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(environment.BYTECODE)
    scratch = folder / "tests"
    scratch.mkdir()
    binaries = environment.BINARIES
    tests = [
        *_in_memory(scratch),
        str(environment.PYTHON),
        "-m",
        "pytest",
        "-q",
        "-rs",
        "-n",
        str(min(4, os.cpu_count() or 1)),
        # After the crash of a second worker, pytest-xdist waits forever.
        "--max-worker-restart=0",
        f"--basetemp={scratch / 'all'}",
    ]
    checks = {
        "ruff": ("ruff check", [str(binaries / "ruff"), "check", "."]),
        "format": ("ruff format", [str(binaries / "ruff"), "format", "--check", "."]),
        "mypy": ("mypy", [str(binaries / "mypy")]),
        "imports": ("import-linter", [str(binaries / "lint-imports")]),
        # In the order of their names, files with few long tests are not left for the end.
        "tests": ("tests", [*tests, "--dist", "loadfile", "--no-loadscope-reorder", *pytest_arguments]),
    }
    failed = [name for key, (name, command) in checks.items() if key in only and not _passes(name, command)]
    # Bytecode of modules that tests wrote: each run has another folder.
    shutil.rmtree(environment.BYTECODE.joinpath(*folder.resolve().parts[1:]), ignore_errors=True)
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed", flush=True)
    return 1 if failed else 0


def _in_memory(folder: Path) -> list[str]:
    """Return a command prefix that mounts `folder` in memory; empty if that is not possible.

    The mount is visible to that command only and ends with it. It requires superuser rights, which machines
    for continuous integration grant.
    """
    if not (shutil.which("unshare") and shutil.which("mount")):
        return []
    if os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") < _MIN_MEMORY_BYTES:
        return []
    prefix = [*_IN_MEMORY, _MOUNT_AND_RUN, str(folder)]
    attempt = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    return prefix if attempt.returncode == 0 else []


def _passes(name: str, command: list[str]) -> bool:
    print(f"== {name}", flush=True)
    start = time.monotonic()
    status = subprocess.call(command, cwd=environment.ROOT)
    print(f"== {name}: {'ok' if status == 0 else 'FAILED'} in {time.monotonic() - start:.0f} s", flush=True)
    return status == 0


if __name__ == "__main__":
    sys.exit(main())
