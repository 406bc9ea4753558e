#!/usr/bin/env python3
"""Install what is needed and run every check: `python3 packaging/check.py [pytest arguments]`.

Runs without a display: Qt tests draw offscreen. Prints each check's name and time; the exit status is 0
only when all passed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import environment


def main() -> int:
    """Run the checks one after the other; all run, even when one fails."""
    environment.ensure(("dev",))
    if missing := environment.missing_libraries():
        print(f"System libraries that Qt needs are missing: {' '.join(missing)}", file=sys.stderr)
        return 1
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    binaries = environment.BINARIES
    tests = [str(environment.PYTHON), "-m", "pytest", "-q", "-n", str(min(4, os.cpu_count() or 1))]
    checks = [
        ("ruff", [str(binaries / "ruff"), "check", "."]),
        ("mypy", [str(binaries / "mypy")]),
        ("import-linter", [str(binaries / "lint-imports")]),
        ("tests", [*tests, "--dist", "loadfile", *sys.argv[1:]]),
    ]
    failed = [name for name, command in checks if not _passes(name, command)]
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed", flush=True)
    return 1 if failed else 0


def _passes(name: str, command: list[str]) -> bool:
    print(f"== {name}", flush=True)
    start = time.monotonic()
    status = subprocess.call(command, cwd=environment.ROOT)
    print(f"== {name}: {'ok' if status == 0 else 'FAILED'} in {time.monotonic() - start:.0f} s", flush=True)
    return status == 0


if __name__ == "__main__":
    sys.exit(main())
