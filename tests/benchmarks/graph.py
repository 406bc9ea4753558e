"""Compare the graph's layout with d3-force, in the same run: `python -m tests.benchmarks.graph [--check]`.

d3-force lays out many graph views on the web. Prints times, ratios and the quality of both layouts, for
generated vaults, scale-free graphs and real vaults, and each missed target. With `--check` the exit status is
1 if a target is missed.

    --full                      d3's whole run at 100,000 nodes too (a quarter of an hour), and more graphs
    --sizes 1000 10000 100000   generated vaults (default: these)
    --vaults FOLDER …           real vaults (default: the public ones in tests/data)

Ticks are compared on the same finished layout: ours with one thread or all, whichever is faster, d3's with
its only one. Neither separates overlapping nodes in them. Each value is the lower quartile of several ticks,
since other programs run too. Without `--full`, d3's time from scratch for 30,000 nodes and more is estimated
from its first ticks, which are cheap because its nodes start in order, and from ticks on a finished layout.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from app.graph.builder import build
from app.graph.coarsen import adjacency
from app.graph.engine import Engine
from app.graph.force_params import ForceParams
from app.graph.incremental_update import compute_update
from app.graph.layouts.force_directed import Layout
from app.graph.model import Graph, GraphDelta, GraphEdge, GraphNode, node_radii
from app.graph.position_transfer import transfer_positions
from app.graph.simulation import Simulation
from tests.benchmarks import peer_d3
from tests.benchmarks.graphs import quality, scale_free, vault
from tests.support.public_vaults import unpack_vaults

TICKS = 300
FIRST_TICKS = 12
FULL_RUN_BELOW = 30_000
# Smaller graphs leave room for every name, so their neighbors are farther apart on purpose.
UNFOLDED_BELOW = 420


@dataclass
class GraphReport:
    """Prints the lines of the table and records the missed targets."""

    missed: list[str] = field(default_factory=list)

    def line(self, label: str, ours: str, peer: str = "", ratio: str = "", wanted: str = "") -> None:
        """Print one line of the table."""
        print(f"  {label:<34}{ours:>12}{peer:>14}{ratio:>10}   {wanted}", flush=True)

    def times(self, name: str, label: str, ours: float, peer: float, at_least: float | None) -> None:
        """Print our time and the peer's, given in seconds, and their ratio."""
        ratio = peer / ours
        wanted = "" if at_least is None else f"≥ {at_least:g}×"
        met = at_least is None or ratio >= at_least
        self.line(label, milliseconds(ours), milliseconds(peer), f"{ratio:.1f}×", wanted + self._mark(met))
        self._note(f"{name}: {label} {ratio:.1f}×, wanted {wanted}", met)

    def limit(self, name: str, label: str, ours: float, at_most: float | None) -> None:
        """Print our time, given in seconds, next to its limit, if any."""
        wanted = "" if at_most is None else f"≤ {milliseconds(at_most)}"
        met = at_most is None or ours <= at_most
        self.line(label, milliseconds(ours), wanted=wanted + self._mark(met))
        self._note(f"{name}: {label} {milliseconds(ours)}, wanted {wanted}", met)

    def value(
        self,
        name: str,
        label: str,
        ours: float,
        peer: float | None,
        *,
        at_least: float = 0.0,
        at_most: float = np.inf,
    ) -> None:
        """Print a quality measure, and its ratio to the peer's if that is known."""
        if peer is None:
            self.line(label, f"{ours:.3f}")
            return
        ratio = ours / peer if peer else (1.0 if ours == 0 else np.inf)
        wanted = f"≥ {at_least:g}×" if at_least else f"≤ {at_most:g}×"
        met = at_least <= ratio <= at_most
        self.line(label, f"{ours:.3f}", f"{peer:.3f}", f"{ratio:.2f}×", wanted + self._mark(met))
        self._note(f"{name}: {label} {ratio:.2f}×, wanted {wanted}", met)

    def _mark(self, met: bool) -> str:
        return "" if met else "   MISSED"

    def _note(self, label: str, met: bool) -> None:
        if not met:
            self.missed.append(label)


@dataclass(frozen=True)
class GraphTargets:
    """The targets: ratios to d3, but seconds for `one_note`, `drag` and `live`; None without a target.

    A drag and live physics share a frame with the picture, so they get half of it.
    """

    tick: float | None = None
    scratch: float | None = None
    kept: float = 5.0
    crossings: float = 1.0
    stress: float = 1.15
    one_note: float | None = None
    drag: float | None = None
    live: float | None = None


def targets_for(size: int) -> GraphTargets:
    """Return the targets for a generated vault."""
    if size >= 100_000:
        return GraphTargets(tick=60, scratch=150, drag=0.5 / 50)
    if size >= 10_000:
        return GraphTargets(tick=30, scratch=60, one_note=0.010, live=0.5 / 55)
    return GraphTargets()


def milliseconds(seconds: float) -> str:
    """Return seconds as milliseconds with their unit."""
    return f"{seconds * 1000:,.1f} ms"


def timed(act: Callable[[], object]) -> float:
    """Return the seconds that `act` takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def quartile(seconds: list[float]) -> float:
    """Return the lower quartile: the time without disturbance by other programs."""
    return statistics.quantiles(seconds, n=4, method="inclusive")[0]


def from_scratch(graph: Graph) -> tuple[np.ndarray, float]:
    """Return our layout and its time in seconds, the best of three."""
    layout = Layout()

    def arrange() -> None:
        layout.start(graph)
        while not layout.is_settled:
            layout.tick()

    seconds = min(timed(arrange) for _ in range(3))
    return layout.positions, seconds


def forces_tick(graph: Graph, at: np.ndarray) -> float:
    """Return the seconds of a tick comparable to d3's, by one core or all, without separation of nodes."""
    return min(live_tick(graph, at, threads, apart=False) for threads in (1, None))


def live_tick(graph: Graph, at: np.ndarray, threads: int | None, *, apart: bool = True) -> float:
    """Return the seconds of one tick in which every node moves."""
    weights, radii = adjacency(graph.links, len(graph)), node_radii(graph) if apart else None
    physics = Simulation(weights, at, Engine(threads), ForceParams(), radii)
    physics.set_forces(ForceParams(repulsion=2.0, gravity=0.2))
    physics.tick()
    return quartile([timed(physics.tick) for _ in range(30)])


def drag_tick(graph: Graph, at: np.ndarray) -> float:
    """Return the seconds of one tick while the node with the most links is dragged."""
    layout = Layout()
    layout.start(graph, at)
    row = int(graph.degree.argmax())
    x, y = at[row].tolist()
    ticks = []
    for step in range(31):
        layout.pin(row, x + step, y)
        ticks.append(timed(layout.tick))
    return quartile(ticks[1:])


def one_note(graph: Graph, at: np.ndarray) -> float:
    """Return the seconds from a delta with a new note to its position."""
    edges = tuple(GraphEdge("new.md", graph.paths[row]) for row in (3, 50, 700))
    delta = GraphDelta(nodes=(GraphNode("new.md", "New"),), edges=edges)

    def add() -> None:
        after = compute_update(graph, delta).graph
        places, fresh = transfer_positions(graph, at, after)
        assert fresh.sum() == 1
        assert (places[: len(graph)] == at).all()

    return quartile([timed(add) for _ in range(9)])


def compare(
    name: str, graph: Graph, targets: GraphTargets, report: GraphReport, *, full: bool = False
) -> None:
    """Print all measurements of one graph."""
    print(f"\n{name}: {len(graph):,} nodes, {len(graph.links):,} links")
    report.line("", "ours", "d3-force", "ratio", "wanted")
    at, seconds = from_scratch(graph)
    tick = forces_tick(graph, at)
    whole = full or len(graph) < FULL_RUN_BELOW
    late = quartile(peer_d3.run(graph, max(10, min(60, 400_000 // len(graph))), at)[1])
    peer_at, peer_ticks = peer_d3.run(graph, TICKS if whole else FIRST_TICKS)
    report.times(name, "one tick, forces on all nodes", tick, late, targets.tick)
    peer_seconds = sum(peer_ticks) + late * (TICKS - len(peer_ticks))
    label = "from scratch, d3: 300 ticks" + ("" if whole else " (est.)")
    report.times(name, label, seconds, peer_seconds, targets.scratch)
    report.limit(name, "all nodes live, a tick", live_tick(graph, at, threads=None), targets.live)
    report.limit(name, "drag, a tick", drag_tick(graph, at), targets.drag)
    if len(graph) > 700:
        report.limit(name, "one note added", one_note(graph, at), targets.one_note)
    compare_quality(name, graph, at, peer_at if whole else None, targets, report)


def compare_quality(
    name: str,
    graph: Graph,
    at: np.ndarray,
    peer_at: np.ndarray | None,
    targets: GraphTargets,
    report: GraphReport,
) -> None:
    """Print the quality of both layouts, or of ours alone."""
    ours = quality(graph, at)
    theirs = quality(graph, peer_at) if peer_at is not None else {}
    report.value(name, "neighborhoods kept", ours["kept"], theirs.get("kept"), at_least=targets.kept)
    report.value(name, "crossings, %", ours["crossings"], theirs.get("crossings"), at_most=targets.crossings)
    report.value(name, "stress", ours["stress"], theirs.get("stress"), at_most=targets.stress)
    label = "nodes that touch another, %"
    report.value(name, label, ours["overlaps"], theirs.get("overlaps"), at_most=1.0)


async def real_graph(folder: Path, work: Path) -> Graph:
    """Return the graph of a vault on disk."""
    from app.events import EventBus
    from app.index.vault_index import VaultIndex
    from app.settings import IndexSettings

    index = VaultIndex(folder, work / folder.name, IndexSettings(), EventBus())
    await index.open()
    await index.scan()
    graph = build(index.graph())
    await index.close()
    return graph


def compare_real(folders: Sequence[Path], report: GraphReport) -> None:
    """Print all measurements of vaults on disk."""
    with tempfile.TemporaryDirectory() as work:
        for folder in folders:
            graph = asyncio.run(real_graph(folder, Path(work)))
            linked = int((graph.degree > 0).sum())
            targets = GraphTargets(kept=1.0) if linked <= UNFOLDED_BELOW else GraphTargets()
            compare(folder.name, graph, targets, report)


def main() -> int:
    """Print the table and return the exit status."""
    parser = argparse.ArgumentParser(description="The graph's layout against d3-force.")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 10_000, 100_000])
    parser.add_argument("--vaults", type=Path, nargs="*")
    parser.add_argument("--full", action="store_true", help="also make runs that take a quarter of an hour")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if a target is missed")
    arguments = parser.parse_args()
    peer_d3.install()
    report = GraphReport()
    for size in arguments.sizes:
        compare(f"vault {size}", vault(size), targets_for(size), report, full=arguments.full)
    for size in (1000, 3000, 10_000) if arguments.full else (3000,):
        compare(f"scale-free {size}", scale_free(size), GraphTargets(), report)
    with tempfile.TemporaryDirectory() as folder:
        compare_real(arguments.vaults or unpack_vaults(Path(folder)), report)
    print("\nMissed: " + "; ".join(report.missed) if report.missed else "\nEvery target is met.")
    return int(arguments.check and bool(report.missed))


if __name__ == "__main__":
    sys.exit(main())
