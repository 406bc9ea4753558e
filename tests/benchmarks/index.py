"""Measure the index and its peers: `python -m tests.benchmarks.index` prints times, sizes and ratios.

    --sizes 10000        generated vaults (default: 10000); --full adds 100000
    --vaults FOLDER      real vaults: every folder in it (or the environment's SCRIPTORIUM_VAULTS)
    --peers FOLDER       where obsidiantools and markdowndb are kept between runs; --no-peers skips them
    --longest SECONDS    time limit for a peer
    --check              exit with status 1 if a target was missed

Vaults are only read; the index goes to a separate folder, and single changes are made in a copy. Cold: from
nothing to the whole graph (names and links), and until every word can be searched. Warm: from an up-to-date
index to names, links and counts in memory. Peers read a vault after the index did, so that the files are as
warm for them. Each scan starts new processes that read, so compiled Python modules are cached in a folder of
the run, as in an installed app, whatever the environment says. While other programs are busy, cold scans are
judged by their processor time divided by the number of cores.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.index_peers import Peers
from tests.benchmarks.vaults import write_vault

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex

_MAX_NOTES_FOR_CHANGES = 50_000
_MAX_CALM_LOAD = 0.7
_WORDS = ("note", "graph", "system", "learn", "the", "because", "book", "science", "habit", "idea")
_MEMORY = """
import asyncio, sys
from pathlib import Path
from app.events import EventBus
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
async def main():
    index = VaultIndex(Path(sys.argv[1]), Path(sys.argv[2]), IndexSettings(), EventBus())
    await index.open()
    await index.scan()
    kept = index.graph(), index.notes()
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    await index.close()
if __name__ == "__main__":
    asyncio.run(main())
"""


@dataclass(slots=True)
class IndexReport:
    """Prints each measurement and records the missed targets."""

    vault: str
    missed: list[str] = field(default_factory=list)

    def line(self, label: str, value: float, unit: str, most: float | None = None, note: str = "") -> None:
        """Print a value, and its target if it has a maximum."""
        verdict = "" if most is None else f"target ≤ {most:g} {unit}: {'met' if value <= most else 'MISSED'}"
        print(f"  {label:<38} {value:>10.2f} {unit:<3} {verdict} {note}".rstrip(), flush=True)
        if most is not None and value > most:
            self.missed.append(f"{self.vault}: {label} {value:.2f} {unit} (target {most:g} {unit})")

    def ratio(self, label: str, ratio: float, least: float | None = None) -> None:
        """Print a ratio, and its target if it has a minimum."""
        verdict = "" if least is None else f"target ≥ {least:g}×: {'met' if ratio >= least else 'MISSED'}"
        print(f"  {label:<38} {ratio:>10.1f} ×   {verdict}".rstrip(), flush=True)
        if least is not None and ratio < least:
            self.missed.append(f"{self.vault}: {label} {ratio:.1f}× (target {least:g}×)")


def timed(act: Callable[[], object], times: int) -> list[float]:
    """Return the seconds of each call, ascending."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)


def processor_seconds() -> float:
    """Return the processor time of this process and its child processes."""
    import psutil

    own_process = psutil.Process()
    seconds = 0.0
    for process in (own_process, *own_process.children()):
        with suppress(psutil.Error):
            spent = process.cpu_times()
            seconds += spent.user + spent.system
    return seconds


async def cold(vault: Path, cache: Path, report: IndexReport) -> tuple[float, int]:
    """Measure the first scan of a vault, and searches; return the scan's seconds and the number of notes."""
    # As in the app's own start: the parser processes load the main module, but must not load these.
    from app.events import EventBus
    from app.index.records import ScanProgress
    from app.index.vault_index import VaultIndex
    from app.settings import IndexSettings

    graph: list[tuple[float, float]] = []

    def observe(progress: ScanProgress) -> None:
        nonlocal used
        whole = progress.phase == "words" or (progress.phase == "read" and progress.done == progress.total)
        used = max(used, processor_seconds() - before)
        if whole and not graph:
            graph.append((time.perf_counter() - start, used))

    index = VaultIndex(vault, cache, IndexSettings(), EventBus())
    used, before, start = 0.0, processor_seconds(), time.perf_counter()
    is_disturbed = os.getloadavg()[0] > _MAX_CALM_LOAD
    await index.open()
    done = await index.scan(observe)
    whole = time.perf_counter() - start
    has_targets = done.indexed <= 11_000
    counted = f"{done.indexed} indexed, {len(done.skipped)} skipped, {len(done.failed)} failed"
    cores = os.cpu_count() or 1
    for label, seconds, computed, target in (
        ("cold, to the whole graph", *graph[0], 2.0),
        ("cold, to all words", whole, used, 5.0),
    ):
        judged = target if has_targets else None
        report.line(label, seconds, "s", None if is_disturbed else judged)
        most = judged if is_disturbed else None
        report.line("  by processor time over all cores", computed / cores, "s", most)
    print(f"  {counted}")
    start = time.perf_counter()
    for word in _WORDS:
        await index.search(word, limit=20)
    report.line("search, mean of common words", (time.perf_counter() - start) / len(_WORDS) * 1000, "ms")
    await index.close()
    return whole, done.indexed


async def warm(vault: Path, cache: Path, notes: int, report: IndexReport) -> None:
    """Measure the start with an up-to-date index, and lookups in it."""
    from app.events import EventBus
    from app.index.vault_index import VaultIndex
    from app.settings import IndexSettings

    # The workspace has loaded numpy, which this uses, before it opens an index.
    importlib.import_module("app.index.graph_data")
    most = 0.3 if notes <= 11_000 else 1.5
    index = VaultIndex(vault, cache, IndexSettings(), EventBus())
    start = time.perf_counter()
    await index.open()
    report.line("warm, to all names", time.perf_counter() - start, "s", most)
    await asyncio.to_thread(index.graph)
    report.line("warm, to names and links as arrays", time.perf_counter() - start, "s", most)
    start = time.perf_counter()
    await index.scan()
    report.line("warm, all files checked (in background)", time.perf_counter() - start, "s")
    lookups(index, report)
    await index.close()


def lookups(index: VaultIndex, report: IndexReport) -> None:
    """Measure the resolution of names, and lookups of notes, backlinks and the graph."""
    notes = index.notes()
    names, source = [note.name for note in notes], notes[len(notes) // 2].path
    for label in ("resolve a name, first time", "resolve a name"):
        start = time.perf_counter()
        for name in names:
            index.resolver.resolve(name, source)
        most = 5.0 if label == "resolve a name" else None
        report.line(label, (time.perf_counter() - start) / len(names) * 1e6, "us", most)
    unknown = [f"{name[1:]}x" for name in names[:: max(1, len(names) // 20)]]
    spent = [timed(partial(index.resolver.suggest, name), 1)[0] for name in unknown]
    report.line("near misses of a name, median", statistics.median(spent) * 1000, "ms", 20.0)
    report.line("note()", statistics.median(timed(lambda: index.note(source), 200)) * 1000, "ms")
    report.line("backlinks()", statistics.median(timed(lambda: index.backlinks(source), 50)) * 1000, "ms")
    report.line("graph()", statistics.median(timed(index.graph, 3)) * 1000, "ms")


async def changes(vault: Path, work: Path, report: IndexReport) -> None:
    """Measure changes of one note at a time, in a copy."""
    from app.events import EventBus
    from app.index.vault_index import VaultIndex
    from app.settings import IndexSettings

    copy = work / "copy"
    shutil.copytree(vault, copy, symlinks=True)
    index = VaultIndex(copy, work / "copy-cache", IndexSettings(), EventBus())
    await index.open()
    await index.scan()
    spent: list[float] = []
    for number, note in enumerate(index.notes()[:: max(1, len(index.notes()) // 200)]):
        with (copy / note.path.text).open("ab") as file:
            file.write(f"\nRefreshed {number} [[{note.name}]].\n".encode())
        start = time.perf_counter()
        await index.refresh([note.path])
        spent.append((time.perf_counter() - start) * 1000)
    await index.close()
    spent.sort()
    report.line("one note changed, median", statistics.median(spent), "ms", 10.0)
    report.line("one note changed, p95", spent[int(len(spent) * 0.95)], "ms")


def memory(vault: Path, cache: Path, work: Path, notes: int, report: IndexReport) -> None:
    """Measure the peak memory of a process with the index, the graph and every note's record."""
    script = work / "memory.py"
    script.write_text(_MEMORY, encoding="utf-8")
    command = [sys.executable, str(script), str(vault), str(cache)]
    root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    most = 250.0 if notes <= 11_000 else None
    report.line("memory of the process, peak", float(done.stdout), "MB", most)


def compare(vault: Path, seconds: float, peers: Peers, report: IndexReport) -> None:
    """Measure the peers on the same vault."""
    for name, run_peer, least in (
        ("obsidiantools", peers.obsidiantools, 20.0),
        ("markdowndb", peers.markdowndb, None),
    ):
        spent = run_peer(vault)
        if spent is not None:
            print(f"  {name + ('' if spent.done else ', stopped after'):<38} {spent.seconds:>10.2f} s")
            label = f"faster than {name}" + ("" if spent.done else ", at least")
            report.ratio(label, spent.seconds / seconds, least)
    searched = peers.ripgrep(vault, _WORDS)
    if searched is not None:
        report.line("ripgrep, mean of the same words", searched * 1000, "ms")


def measure(name: str, vault: Path, peers: Peers | None, work: Path) -> list[str]:
    """Print all measurements of one vault and return the missed targets."""
    print(f"{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    report, cache = IndexReport(name), work / "cache"
    gc.disable()  # Like `app.__main__`.
    seconds, notes = asyncio.run(cold(vault, cache, report))
    gc.enable()
    gc.collect()
    size = sum(file.stat().st_size for file in cache.iterdir())
    report.line("index file", size / 2**20, "MiB")
    asyncio.run(warm(vault, cache, notes, report))
    memory(vault, cache, work, notes, report)
    if notes <= _MAX_NOTES_FOR_CHANGES:
        asyncio.run(changes(vault, work, report))
        if peers is not None:
            compare(vault, seconds, peers, report)
    return report.missed


def compile_once(folder: Path) -> None:
    """Let child processes started from now on cache their compiled modules, and fill the cache."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
    root = str(Path(__file__).resolve().parents[2])
    command = [
        sys.executable,
        "-c",
        "import app.index.extract, app.index.fts_indexing, tests.benchmarks.index",
    ]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": root})


def main() -> int:
    """Measure the vaults that the arguments name, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--vaults", type=Path, default=os.environ.get("SCRIPTORIUM_VAULTS"))
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--longest", type=float, default=900.0)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    missed: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        compile_once(root / "compiled")
        peers_folder = (options.peers or root / "peers").resolve()
        peers_folder.mkdir(parents=True, exist_ok=True)
        peers = None if options.no_peers else Peers(peers_folder, options.longest)
        for size in [*options.sizes, *([100_000] if options.full else [])]:
            vault = write_vault(root / f"generated {size}", size)
            with tempfile.TemporaryDirectory() as work:
                missed += measure(f"generated {size}", vault, peers, Path(work))
            shutil.rmtree(vault)
        folder = Path(options.vaults) if options.vaults else None
        for vault in sorted(folder.iterdir()) if folder and folder.is_dir() else ():
            if vault.is_dir():
                with tempfile.TemporaryDirectory() as work:
                    missed += measure(vault.name, vault, peers, Path(work))
    for line in missed:
        print(f"missed: {line}")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
