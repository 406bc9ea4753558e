"""Measure the cost of saving a note, of analyses and of layouts, on generated vaults.

Usage: python -m tests.benchmarks.graph_analysis [--sizes 1000,10000,100000] [--check]

Everything runs in this process, one after the other, so the numbers are those of the work alone; in the app a
separate process does all but the delta. With `--check` the exit status is 1 if a change of one note takes
longer than 10 ms at 10,000 notes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np

from app.analysis.articulation import find_cut_points
from app.analysis.centrality import compute_centrality
from app.analysis.communities import find_communities
from app.analysis.link_prediction import CandidateFeatures, predict_links
from app.analysis.network import AdjacencyArrays, EncodedLabels
from app.analysis.shortest_path import shortest_path
from app.graph.incremental_update import advance
from app.graph.layouts.grouped import grouped_layout
from app.graph.layouts.semantic import semantic_layout
from app.graph.layouts.timeline import timeline_layout
from app.graph.model import Graph, GraphDelta, GraphEdge, GraphNode, node_radii
from tests.benchmarks.graphs import vault

MAX_NOTE_MS = 10.0
REPEATS = 9


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure_deltas(graph: Graph) -> dict[str, float]:
    """Return the milliseconds from each delta to the next graph with positions: the best of nine."""
    at = (np.random.default_rng(0).random((len(graph), 2)) * 1.5 * len(graph) ** 0.5).astype(np.float32)
    note = GraphNode("n5.md", "Note 5", modified=5.0)
    two = tuple(GraphEdge("n5.md", target) for target in ("n77.md", "n78.md"))
    new = tuple(GraphEdge("new.md", target) for target in ("n77.md", "n9.md"))
    deltas = {
        "a note's text saved": GraphDelta(nodes=(note,)),
        "a note's links saved": GraphDelta(nodes=(note,), sources=("n5.md",), edges=two),
        "a note added": GraphDelta(nodes=(GraphNode("new.md", "new"),), sources=("new.md",), edges=new),
        "a note removed": GraphDelta(removed=("n50.md",)),
        "a note renamed": GraphDelta(renamed=(("n50.md", "b/x.md"),)),
    }
    return {
        name: 1e3 * min(seconds(lambda d=delta: advance(graph, at, d)) for _ in range(REPEATS))
        for name, delta in deltas.items()
    }


def measure_analyses(graph: Graph) -> dict[str, float]:
    """Return the seconds of each analysis and layout."""
    size, network, radii = len(graph), AdjacencyArrays.from_graph(graph), node_radii(graph)
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((200, 384))[rng.integers(0, 200, size)] + rng.standard_normal((size, 384))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)
    rows = np.arange(size)
    tags = EncodedLabels.from_strings(
        (f"t{rng.integers(size // 20 + 1)}",) if row % 2 else () for row in range(size)
    )
    groups = np.minimum(rng.pareto(1.0, size) * 3, 60).astype(np.int32)
    names = tuple(f"Area {group % 7}/Part {group}" for group in range(61))
    features = CandidateFeatures(network, np.ones(size, dtype=bool), tags, vectors, rows)
    no_pairs = np.empty((0, 2), dtype=np.int64)
    works: dict[str, Callable[[], object]] = {
        "communities": lambda: find_communities(network),
        "PageRank": lambda: compute_centrality(network, "pagerank"),
        "betweenness": lambda: compute_centrality(network, "betweenness"),
        "shortest path": lambda: shortest_path(network, 3, size - 5),
        "weak points": lambda: find_cut_points(network),
        "suggestions for one note": lambda: predict_links(features, no_pairs, 20, 7),
        "suggestions for all": lambda: predict_links(features, no_pairs, 200),
        "by folder": lambda: grouped_layout("folder", graph.links, radii, groups, names),
        "by time": lambda: timeline_layout(graph.links, radii, rng.uniform(1.4e9, 1.7e9, size)),
        "by meaning": lambda: semantic_layout(vectors, rows, radii),
    }
    return {name: seconds(work) for name, work in works.items()}


def main() -> int:
    """Print the tables; return 1 with `--check` if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    missed: list[str] = []
    for size in map(int, arguments.sizes.split(",")):
        graph = vault(size).precompute()
        print(f"\n{size:,} notes, {len(graph.links):,} links", flush=True)
        for name, taken in measure_deltas(graph).items():
            print(f"  {name:26} {taken:9.2f} ms", flush=True)
            if size == 10_000 and taken > MAX_NOTE_MS:
                missed.append(f"{name}: {taken:.1f} ms instead of {MAX_NOTE_MS:.0f}")
        for name, taken in measure_analyses(graph).items():
            print(f"  {name:26} {taken:9.2f} s", flush=True)
    for miss in missed:
        print(f"missed: {miss}")
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
