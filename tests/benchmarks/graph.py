"""The graph's layout against d3-force, in the same run: `python -m tests.benchmarks.graph [--check]`.

d3-force is the layout of most graph views on the web, Obsidian's relatives among them. It is fetched from
npm into a folder for temporary files and runs in Node with its defaults. Prints the table of
performance.md: times, ratios, and how good both layouts are, on generated vaults and on real ones. With
`--check` the exit status is 1 when a target is missed, and each one missed is named.

    --sizes 1000 10000 100000   generated vaults (default: 1000 10000)
    --vaults FOLDER …           real ones (default: those beside the project)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from app.graph import native
from app.graph.builder import apply, build, carry
from app.graph.coarsen import adjacency
from app.graph.layout import NativeLayout
from app.graph.live import LivePhysics
from app.graph.model import Edge, Graph, GraphDelta, Node
from app.graph.native_engine import NativeEngine
from app.graph.physics import Forces
from tests.benchmarks.graphs import quality, scale_free, vault

VAULTS = Path(__file__).resolve().parents[3] / "shared" / "vaults"
D3 = Path(tempfile.gettempdir()) / "scriptorium-d3-force"
TICKS = 300
FEW_TICKS = 8
FULL_RUN_BELOW = 30_000


@dataclass
class Report:
    """Lines of the table, and the targets that were missed."""

    missed: list[str] = field(default_factory=list)

    def line(self, what: str, ours: str, peer: str = "", ratio: str = "") -> None:
        print(f"  {what:<34}{ours:>14}{peer:>16}{ratio:>12}", flush=True)

    def target(self, what: str, met: bool) -> None:
        if not met:
            self.missed.append(what)


@dataclass(frozen=True)
class Targets:
    """What performance.md asks for: ratios to d3, or None where it asks for nothing."""

    tick: float | None = None
    scratch: float | None = None
    kept: float = 5.0
    crossings: float = 1.0
    stress: float = 1.15
    one_note_ms: float | None = None


def targets_for(size: int) -> Targets:
    """The targets for a generated vault."""
    if size >= 100_000:
        return Targets(tick=60, scratch=150)
    if size >= 10_000:
        return Targets(tick=30, scratch=60, one_note_ms=10)
    return Targets()


def ready() -> None:
    """Have d3-force at hand."""
    D3.mkdir(parents=True, exist_ok=True)
    if not (D3 / "node_modules" / "d3-force").is_dir():
        command = ["npm", "install", "--no-audit", "--no-fund", "--silent", "d3-force@3.0.0"]
        subprocess.run(command, cwd=D3, check=True)
    script = Path(__file__).with_name("d3.mjs")
    (D3 / script.name).write_bytes(script.read_bytes())


def d3(graph: Graph, ticks: int) -> tuple[np.ndarray, list[float]]:
    """d3's positions after `ticks`, and the seconds of each tick."""
    (D3 / "edges").write_bytes(graph.edges.astype("<i4").tobytes())
    command = ["node", "--max-old-space-size=4096", "d3.mjs", "edges", "positions"]
    done = subprocess.run(
        [*command, str(len(graph)), str(ticks)], cwd=D3, check=True, capture_output=True, text=True
    )
    at = np.fromfile(D3 / "positions", dtype="<f4").reshape(-1, 2)
    return at, [each / 1000 for each in json.loads(done.stdout)]


def from_scratch(graph: Graph) -> tuple[np.ndarray, float]:
    """Our layout, and how long it took."""
    start = time.perf_counter()
    layout = NativeLayout()
    layout.start(graph)
    while not layout.settled:
        layout.tick()
    return layout.positions, time.perf_counter() - start


def live_tick(graph: Graph, at: np.ndarray) -> float:
    """Seconds of one tick in which every node moves, the median of thirty, by one thread as d3 has one."""
    physics = LivePhysics(adjacency(graph.edges, len(graph)), at, NativeEngine(threads=1), Forces())
    physics.stir(Forces(repulsion=2.0, gravity=0.2))
    physics.tick()
    return statistics.median(timed(physics.tick) for _ in range(30))


def timed(act: Callable[[], object]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def one_note(graph: Graph, at: np.ndarray) -> float:
    """Milliseconds from a delta with a new note to its place, the median of five."""
    edges = tuple(Edge("new.md", graph.paths[row]) for row in (3, 50, 700))
    delta = GraphDelta(nodes=(Node("new.md", "New"),), edges=edges)

    def add() -> None:
        after = apply(graph, delta)
        places, fresh = carry(graph, at, after)
        assert fresh.sum() == 1
        assert (places[: len(graph)] == at).all()

    return 1000 * statistics.median(timed(add) for _ in range(5))


def compare(name: str, graph: Graph, targets: Targets, report: Report) -> None:
    """Print everything about one graph."""
    print(f"\n{name}: {len(graph):,} nodes, {len(graph.edges):,} links")
    report.line("", "ours", "d3-force", "ratio")
    at, seconds = from_scratch(graph)
    tick = live_tick(graph, at)
    whole = len(graph) < FULL_RUN_BELOW
    peer_at, peer_ticks = d3(graph, TICKS if whole else FEW_TICKS)
    peer_tick = statistics.median(peer_ticks)
    peer_seconds = sum(peer_ticks) if whole else peer_tick * TICKS
    times(report, name, "one tick", tick, peer_tick, targets.tick)
    scratch = "from scratch, d3: 300 ticks" + ("" if whole else " (est.)")
    times(report, name, scratch, seconds, peer_seconds, targets.scratch)
    ours = quality(graph, at)
    theirs = quality(graph, peer_at) if whole else {}
    values(report, name, "neighbourhoods kept", ours["kept"], theirs.get("kept"), at_least=targets.kept)
    crossings = theirs.get("crossings")
    values(report, name, "crossings, %", ours["crossings"], crossings, at_most=targets.crossings)
    values(report, name, "stress", ours["stress"], theirs.get("stress"), at_most=targets.stress)
    values(report, name, "nodes that touch another, %", ours["overlaps"], theirs.get("overlaps"), at_most=1.0)
    if targets.one_note_ms is not None:
        added = one_note(graph, at)
        report.line("one note added", f"{added:.1f} ms", f"≤ {targets.one_note_ms:.0f} ms")
        report.target(f"{name}: one note added in {added:.1f} ms", added <= targets.one_note_ms)


def times(
    report: Report, name: str, what: str, ours: float, peer: float, at_least: float | None
) -> None:
    """One line about time."""
    ratio = peer / ours
    report.line(what, f"{ours * 1000:.1f} ms", f"{peer * 1000:.1f} ms", f"{ratio:.1f}×")
    report.target(f"{name}: {what} {ratio:.1f}×, wanted {at_least}×", at_least is None or ratio >= at_least)


def values(
    report: Report,
    name: str,
    what: str,
    ours: float,
    peer: float | None,
    *,
    at_least: float = 0.0,
    at_most: float = np.inf,
) -> None:
    """One line about quality."""
    if peer is None:
        report.line(what, f"{ours:.3f}")
        return
    ratio = ours / peer if peer else (1.0 if ours == 0 else np.inf)
    report.line(what, f"{ours:.3f}", f"{peer:.3f}", f"{ratio:.2f}×")
    report.target(f"{name}: {what} {ratio:.2f}×", at_least <= ratio <= at_most)


async def real_graph(folder: Path, work: Path) -> Graph:
    """The graph of a vault on disk."""
    from app.events import EventBus
    from app.index.vault_index import VaultIndex
    from app.settings import IndexSettings

    index = VaultIndex(folder, work / folder.name, IndexSettings(), EventBus())
    await index.open()
    await index.scan()
    graph = build(index.graph())
    await index.close()
    return graph


def main() -> int:
    """Print the table; the process's exit status."""
    parser = argparse.ArgumentParser(description="The graph's layout against d3-force.")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--vaults", type=Path, nargs="*")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    given = parser.parse_args()
    if not native.available():
        print(f"The C core is not there: {native.missing}")
        return 1
    ready()
    report = Report()
    for size in given.sizes:
        compare(f"vault {size}", vault(size), targets_for(size), report)
    if 10_000 in given.sizes:
        compare("scale-free 10000", scale_free(10_000), Targets(kept=1.0), report)
    found = sorted(VAULTS.iterdir()) if VAULTS.is_dir() else []
    with tempfile.TemporaryDirectory() as work:
        for folder in given.vaults if given.vaults is not None else found:
            graph = asyncio.run(real_graph(folder, Path(work)))
            compare(folder.name, graph, Targets(kept=1.0), report)
    print("\nMissed: " + "; ".join(report.missed) if report.missed else "\nEvery target is met.")
    return int(given.check and bool(report.missed))


if __name__ == "__main__":
    sys.exit(main())
