"""Measure the window's memory: `python -m tests.benchmarks.memory`.

Starts the real app on a generated vault of 8,000 notes, warm and then cold, without an index, each in its own
process. Prints its resident memory once the vault is read and nothing moves, an upper bound of its
proportional set size. `--check` prints each missed target, and the exit status is 1 if there is one. Linux
only.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.vaults import write_vault
from tests.benchmarks.window import home_for, run_window

NOTE_COUNT = 8_000
COLD_MB, WARM_MB = 280, 230


def main(arguments: list[str]) -> int:
    """Print the table and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.memory")
    parser.add_argument("--check", action="store_true", help="end with status 1 if a target is missed")
    parser.add_argument("--notes", type=int, default=NOTE_COUNT, help="number of notes")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as work:
        vault = write_vault(Path(work) / str(options.notes), options.notes)
        home = home_for(Path(work))
        runs = {name: run_window(vault, home, act=False) for name in ("compiling", "warm")}
        # The first start compiles bytecode, which an installed app has: the cold start is a later one.
        for file in Path(home["SCRIPTORIUM_CACHE"]).rglob("index*"):
            if file.is_file():
                file.unlink()
        runs["cold"] = run_window(vault, home, act=False)
    missed = []
    print(f"{'MB of ' + format(options.notes, ',') + ' notes':<20}{'cold':>8}{'warm':>8}")
    kinds = sorted({kind for run in runs.values() for kind in run["memory"]})
    for kind in kinds:
        print(
            f"{kind:<20}" + "".join(f"{runs[run]['memory'].get(kind, 0):>8.0f}" for run in ("cold", "warm"))
        )
    for run, target in (("cold", COLD_MB), ("warm", WARM_MB)):
        total = sum(runs[run]["memory"].values())
        print(f"{run:<20}{total:>8.0f}")
        if total > target:
            missed.append(f"{run}: {total:.0f} MB of {target}")
    if options.check:
        print("\n".join(f"missed: {each}" for each in missed) or "every target is met")
    return int(options.check and bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
