"""Measure how soon the window is usable, and how long it stalls: `python -m tests.benchmarks.window [vault]`.

Starts the real app on a generated vault of 10,000 notes with some of unusual size (`--full`: also one of
100,000), or on a copy of the named vault: once without an index, then several times warm, each in its own
process. The first start also compiles the modules, and so leaves the bytecode that an installed app has.
Mouse and keys drive the last start. Prints the best start, and for each action the longest hold of the GUI
thread: by the clock, in which other programs on the machine count too, and by the thread's processor time.
`--where` adds what it was doing in the longest ones; `--check` prints each missed target, and the exit status
is 1 if there is one. Holds are judged by processor time. Uses the current display, else Qt's offscreen
platform.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.extreme_notes import add_extreme_notes
from tests.benchmarks.vaults import write_vault

ROOT = Path(__file__).resolve().parents[2]
NOTE_COUNT, FULL_NOTE_COUNT = 10_000, 100_000
WARM_STARTS = 4
MAX_PAINTED_MS, MAX_USABLE_MS, MAX_HOLD_MS = 1000, 1500, 8


def main(arguments: list[str]) -> int:
    """Print the tables for the vault that the arguments name, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.window")
    parser.add_argument("vault", nargs="?", type=Path, help="a vault; a copy of it is opened")
    parser.add_argument("--full", action="store_true", help="also with 100,000 notes")
    parser.add_argument("--check", action="store_true", help="end with status 1 if a target is missed")
    parser.add_argument("--where", action="store_true", help="say what the longest holds were doing")
    parser.add_argument("--starts", type=int, default=WARM_STARTS, help="warm starts; the best counts")
    options = parser.parse_args(arguments)
    if options.vault is not None and not options.vault.is_dir():
        print(f"no vault at {options.vault}", file=sys.stderr)
        return 2
    missed: list[str] = []
    for size in [None] if options.vault else [NOTE_COUNT, FULL_NOTE_COUNT] if options.full else [NOTE_COUNT]:
        with tempfile.TemporaryDirectory() as work:
            vault = _prepare_vault(Path(work), options.vault, size)
            # The targets for starts are not meant for 100,000 notes.
            missed += _measure(vault, Path(work), options, has_start_targets=size != FULL_NOTE_COUNT)
    if options.check:
        print("\n" + ("\n".join(f"missed: {each}" for each in missed) or "every target is met"))
    return int(options.check and bool(missed))


def _prepare_vault(work: Path, real: Path | None, size: int | None) -> Path:
    """Return a copy of the real vault, or a generated one."""
    if real is not None:
        return Path(shutil.copytree(real, work / real.name, symlinks=True))
    vault = write_vault(work / f"{size}", size or NOTE_COUNT)
    add_extreme_notes(vault)
    return vault


def _measure(vault: Path, work: Path, options: argparse.Namespace, *, has_start_targets: bool) -> list[str]:
    """Print the tables of one vault and return the missed targets."""
    home = home_for(work)
    cold = run_window(vault, home, act=False)
    warm = [run_window(vault, home, act=False) for _ in range(options.starts)]
    driven = run_window(vault, home, act=True)
    warm.append(driven)
    print(f"\n{vault.name}, {os.cpu_count()} cores, {driven['nodes']} nodes, Qt on {driven['platform']}")
    actions = [{**cold["actions"][0], "name": "first open"}, *driven["actions"]]
    _print_starts(cold, warm)
    _print_actions(actions, options.where)
    missed = [
        f"{vault.name}: {words} after {min(each[key] for each in warm):.0f} ms, more than {target}"
        for key, words, target in (
            ("painted", "painted", MAX_PAINTED_MS),
            ("usable", "usable", MAX_USABLE_MS),
        )
        if has_start_targets and min(each[key] for each in warm) > target
    ]
    return missed + [
        f"{vault.name}: {each['name']} held the window for {each['computed']:.1f} ms, more than {MAX_HOLD_MS}"
        for each in actions
        if each["computed"] > MAX_HOLD_MS
    ]


def home_for(work: Path) -> dict[str, str]:
    """Return an environment with settings, data, cache, logs and bytecode separate from the user's."""
    settings = {
        "general": {"theme": "light"},
        "embeddings": {"enabled": False},
    }
    home = {f"SCRIPTORIUM_{name}": str(work / name.lower()) for name in ("CONFIG", "DATA", "CACHE", "LOGS")}
    folder = Path(home["SCRIPTORIUM_CONFIG"])
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    home["PYTHONPYCACHEPREFIX"] = str(work / "bytecode")
    home["PYTHONDONTWRITEBYTECODE"] = ""
    if "DISPLAY" not in os.environ and "WAYLAND_DISPLAY" not in os.environ:
        home["QT_QPA_PLATFORM"] = "offscreen"
    return home


def run_window(vault: Path, home: dict[str, str], *, act: bool) -> dict:
    """Start the app once, with user actions if `act`, and return the measurements.

    Raises:
        RuntimeError: The app ended without a report.
    """
    environment = {**os.environ, **home, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "tests.benchmarks.window_run", str(vault), str(report)]
        command += [str(time.time()), "act" if act else "start"]
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
        if not report.exists():
            raise RuntimeError(f"the app ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        if done.stderr.strip():
            print(done.stderr.strip(), file=sys.stderr)
        return json.loads(report.read_text(encoding="utf-8"))


def _print_starts(cold: dict, warm: list[dict]) -> None:
    print(f"\n{'start, ms after the process began':<40} {'first':>8} {'warm':>8} {'computed':>9}")
    for key, words in (
        ("imported", "modules of the window imported"),
        ("painted", "window painted"),
        ("usable", "graph painted and files listed"),
    ):
        best = min(each[key] for each in warm)
        computed = min(each[f"{key}_cpu"] for each in warm)
        print(f"{words:<40} {cold[key]:>8.0f} {best:>8.0f} {computed:>9.0f}")


def _print_actions(actions: list[dict], where: bool) -> None:
    heads = ("longest", "p99", "> 8 ms", "ticks", "computed", "> 8 ms")
    print(f"\n{'holds of the GUI thread, ms':<40}" + "".join(f"{head:>10}" for head in heads))
    for each in actions:
        numbers = (each["longest"], each["p99"], each["over"], each["ticks"], each["computed"])
        row = "".join(
            f"{number:>10.1f}" if isinstance(number, float) else f"{number:>10}" for number in numbers
        )
        print(f"{each['name']:<40}{row}{each['computed_over']:>10}")
        if where:
            print("\n".join(each["worst"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
