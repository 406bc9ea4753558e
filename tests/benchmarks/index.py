"""How fast the index is: `python -m tests.benchmarks.index [vault]` prints the numbers.

The vault is only read; the index goes to a folder of its own. Without a vault, the real one beside the
project is taken.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "vaults" / "knowledge-garden"
QUERIES = (
    "note", "graph", "design system", "how to think", '"mental model"', "learn*", "know", "the", "a", "wor",
    "python OR javascript", "note -book", "tag:#evergreen", "path:notes graph", "writing habit",
    "data science", "content:link", "file:index", "c",
    "spaced repetition memory", "笔记", "知识 管理", '"工作流"', "的",
)  # fmt: skip
SLOW_QUERIES = (
    "/gr[ae]ph/", "line:(note link)", "[title]", "orphan:", "match-case:Note", "section:(note idea)",
)  # fmt: skip


class Numbers:
    """Prints one line for each measure."""

    def line(self, what: str, seconds: float, note: str = "") -> None:
        print(f"{what:<44} {seconds * 1000:>10.2f} ms  {note}", flush=True)

    def many(self, what: str, times: list[float], note: str = "") -> None:
        ordered = sorted(times)
        p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
        self.line(f"{what}, median", statistics.median(ordered), note)
        self.line(f"{what}, p95", p95)


def timed(act: Callable[[], object], times: int) -> list[float]:
    """Seconds of each of some calls."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        found.append(time.perf_counter() - start)
    return found


async def measure(vault: Path, work: Path) -> None:
    """Print every number for one vault."""
    # Here, as in the app's own start: the reading processes load the main module, but must not load these.
    from app.events import EventBus
    from app.index.records import IndexUpdated
    from app.index.vault_index import VaultIndex
    from app.settings import IndexSettings

    numbers = Numbers()
    events = EventBus()
    first: list[float] = []
    events.subscribe(IndexUpdated, lambda event: first.append(time.perf_counter()))
    index = VaultIndex(vault, work / "cache", IndexSettings(), events)
    start = time.perf_counter()
    await index.open()
    report = await index.scan()
    cold = time.perf_counter() - start
    numbers.line("cold scan, first batch", first[0] - start)
    counted = f"{report.indexed} indexed, {len(report.skipped)} skipped, {len(report.failed)} failed"
    numbers.line("cold scan, everything", cold, counted)
    size = sum(file.stat().st_size for file in (work / "cache").iterdir())
    print(f"{'index file':<44} {size / 2**20:>10.1f} MiB")
    await index.close()

    index = VaultIndex(vault, work / "cache", IndexSettings(), events)
    start = time.perf_counter()
    await index.open()
    numbers.line("warm open", time.perf_counter() - start)
    start = time.perf_counter()
    report = await index.scan()
    numbers.line("warm scan, nothing changed", time.perf_counter() - start, f"{report.unchanged} unchanged")
    await reads(index, numbers)
    await searches(index, numbers)
    await index.close()
    await refreshes(vault, work, numbers)


async def reads(index: VaultIndex, numbers: Numbers) -> None:
    """Single look-ups."""
    notes = index.notes()
    names = [note.name for note in notes]
    source = notes[len(notes) // 2].path
    start = time.perf_counter()
    for name in names:
        index.resolver.resolve(name, source)
    print(f"{'resolve a name':<44} {(time.perf_counter() - start) / len(names) * 1e6:>10.2f} us")
    numbers.many("note()", timed(lambda: index.note(source), 200))
    busiest = max(notes[:: max(1, len(notes) // 300)], key=lambda note: len(index.backlinks(note.path))).path
    numbers.many("backlinks()", timed(lambda: index.backlinks(busiest), 50), busiest.text)
    numbers.many("tags()", timed(index.tags, 10))
    numbers.many("stats()", timed(index.stats, 10))
    index.graph()
    numbers.many("graph()", timed(index.graph, 5))
    numbers.many("unlinked_mentions()", timed(lambda: index.unlinked_mentions(busiest), 5))


async def searches(index: VaultIndex, numbers: Numbers) -> None:
    """Searches with 20 hits and their snippets."""
    times: list[float] = []
    for _ in range(10):
        for query in QUERIES:
            start = time.perf_counter()
            await index.search(query, limit=20)
            times.append(time.perf_counter() - start)
    numbers.many("search", times, f"{len(QUERIES)} queries")
    for query in (*QUERIES, *SLOW_QUERIES):
        start = time.perf_counter()
        page = await index.search(query, limit=20)
        numbers.line(f"  {query}", time.perf_counter() - start, f"{page.total} hits")


async def refreshes(vault: Path, work: Path, numbers: Numbers) -> None:
    """One note saved at a time, in a copy."""
    from app.events import EventBus
    from app.index.vault_index import VaultIndex
    from app.settings import IndexSettings

    copy = work / "vault"
    shutil.copytree(vault, copy, symlinks=True)
    index = VaultIndex(copy, work / "copy-cache", IndexSettings(), EventBus())
    await index.open()
    await index.scan()
    times: list[float] = []
    for number, note in enumerate(index.notes()[:: max(1, len(index.notes()) // 200)]):
        with (copy / note.path.text).open("ab") as file:
            file.write(f"\nRefreshed {number} [[{note.name}]].\n".encode())
        start = time.perf_counter()
        await index.refresh([note.path])
        times.append(time.perf_counter() - start)
    numbers.many("refresh of one note", times)
    await index.close()


def main(arguments: list[str]) -> int:
    """Measure the vault that the arguments name."""
    vault = Path(arguments[0]) if arguments else DEFAULT
    if not vault.is_dir():
        print(f"no vault at {vault}", file=sys.stderr)
        return 2
    print(f"{vault}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as work:
        asyncio.run(measure(vault, Path(work)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
