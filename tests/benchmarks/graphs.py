"""Generated graphs for the benchmarks, and measures of the quality of a layout."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from app.graph.builder import build
from app.graph.model import Graph, node_radii
from app.index.records import GraphData

LINKS_PER_NOTE = 3
CROSSING_PAIRS = 1_000_000
STRESS_SOURCES = 30
PAGE_PER_DISC_AREA = 12.0


def vault(size: int) -> Graph:
    """Return a graph like a vault: nested communities around hubs, 3 links per note, random node order."""
    rng = np.random.default_rng(1)
    starts = _communities(size, rng)
    count = len(starts) - 1
    group = np.repeat(np.arange(count), np.diff(starts))
    parent = np.array([rng.integers(0, max(1, community)) for community in range(count)])
    fame = rng.pareto(1.6, size) + 1
    pairs = [_community_links(starts, community, parent, fame, rng) for community in range(count)]
    everywhere = np.cumsum(fame**1.5)
    some = int(size * 0.25)
    famous = np.searchsorted(everywhere, rng.random(some) * everywhere[-1])
    pairs.append(np.stack([rng.integers(0, size, some), famous], axis=1))
    edges = _clean(np.concatenate(pairs), size)
    while len(edges) < LINKS_PER_NOTE * size:
        source = rng.integers(0, size, size)
        low, high = starts[group[source]], starts[group[source] + 1]
        target = low + (rng.random(size) * (high - low)).astype(int)
        edges = _clean(np.concatenate([edges, np.stack([source, target], axis=1)]), size)
    edges = edges[np.sort(rng.permutation(len(edges))[: LINKS_PER_NOTE * size])]
    return of_edges(size, rng.permutation(size)[edges])


def scale_free(size: int) -> Graph:
    """Return a Barabási-Albert graph: each node links to three earlier ones, preferably well-linked ones."""
    rng = np.random.default_rng(1)
    ends: list[int] = [0, 1, 2]
    pairs = []
    for node in range(3, size):
        chosen: set[int] = set()
        while len(chosen) < 3:
            chosen.add(ends[int(rng.integers(len(ends)))])
        pairs += [(node, other) for other in sorted(chosen)]
        ends += [node] * 3 + sorted(chosen)
    return of_edges(size, _clean(np.array(pairs), size))


def with_index_note(size: int) -> Graph:
    """Return a sparse graph in which one note links to every third one, like a table of contents."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, max(1, size // 25), size)
    order = np.argsort(group, kind="stable")
    rows = np.arange(1, size)
    back = np.maximum(0, rows - 1 - rng.integers(0, 6, size - 1))
    chains = np.stack([order[rows], order[back]], axis=1)
    listed = rng.permutation(np.arange(1, size))[: size // 3]
    index = np.stack([np.zeros(len(listed), dtype=np.int64), listed], axis=1)
    return of_edges(size, _clean(np.concatenate([chains, index]), size))


def _communities(size: int, rng: np.random.Generator) -> np.ndarray:
    """Return the starts of the communities, whose sizes follow a power law."""
    sizes: list[int] = []
    while (remaining := size - sum(sizes)) > 0:
        community_size = int(min(max(8, (rng.pareto(1.3) + 1) * 15), max(60, size // 12)))
        sizes.append(remaining if remaining < community_size + 8 else community_size)
    return np.concatenate([[0], np.cumsum(sizes)])


def _community_links(
    starts: np.ndarray, community: int, parent: np.ndarray, fame: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return a community's links: to its own hubs, and to those of its parent."""

    def famous(group: int, count: int) -> np.ndarray:
        low = starts[group]
        heap = np.cumsum(fame[low : starts[group + 1]])
        return low + np.searchsorted(heap, rng.random(count) * heap[-1])

    notes = np.arange(starts[community], starts[community + 1])
    source = np.concatenate([notes, notes, notes[rng.random(len(notes)) < 0.35]])
    above = max(1, int(len(notes) * 0.4))
    out = rng.integers(starts[community], starts[community + 1], above)
    inner = np.stack([source, famous(community, len(source))], axis=1)
    return np.concatenate([inner, np.stack([out, famous(int(parent[community]), above)], axis=1)])


def _clean(pairs: np.ndarray, size: int) -> np.ndarray:
    pairs = np.minimum(pairs[pairs[:, 0] != pairs[:, 1]], size - 1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    pairs.sort(axis=1)
    return np.unique(pairs, axis=0)


def of_edges(size: int, edges: np.ndarray) -> Graph:
    """Return a graph of `size` notes with these links."""
    edges = np.asarray(edges, dtype=np.int32)
    return build(
        GraphData(
            paths=tuple(f"n{row}.md" for row in range(size)),
            names=tuple(f"Note {row}" for row in range(size)),
            types=("note",) * size,
            kinds=("note",) * size,
            tags=((),) * size,
            folders=("",) * size,
            modified=np.zeros(size),
            edges=edges,
            edge_types=("LINKS_TO",),
            codes=np.zeros(len(edges), dtype=np.int16),
            confidence=np.full(len(edges), np.nan, dtype=np.float32),
            created=np.zeros(size),
        )
    )


def quality(graph: Graph, at: np.ndarray) -> dict[str, float]:
    """Return the quality of a layout, independent of its scale.

    Returns:
        kept: neighborhood preservation, the mean Jaccard index of the linked and the nearest nodes; more is
            better. crossings: pairs of links that cross, in percent. stress: normalized, at the best scale,
            from 30 sources. overlaps: nodes that touch another, in percent, if the layout (its middle 98 %
            each way) fills a page twelve times as large as all discs together.
    """
    at = np.asarray(at, dtype=np.float64)
    links = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    ones = np.ones(len(links))
    matrix = scipy.sparse.coo_matrix((ones, (links[:, 0], links[:, 1])), shape=(len(graph), len(graph)))
    return {
        "kept": _kept(graph, at),
        "crossings": _crossings(graph, at),
        "stress": _stress(matrix.tocsr(), at),
        "overlaps": _overlaps(graph, at),
    }


def _kept(graph: Graph, at: np.ndarray) -> float:
    tree = cKDTree(at)
    rng = np.random.default_rng(0)
    scores = []
    for row in rng.choice(len(graph), min(len(graph), 2000), replace=False).tolist():
        linked = graph.neighbors(row)
        if len(linked):
            near = np.atleast_1d(tree.query(at[row], len(linked) + 1)[1])
            near = near[near != row][: len(linked)]
            same = len(np.intersect1d(linked, near))
            scores.append(same / (2 * len(linked) - same))
    return float(np.mean(scores))


def _crossings(graph: Graph, at: np.ndarray) -> float:
    rng = np.random.default_rng(0)
    edges = graph.edges
    p = edges[rng.integers(0, len(edges), CROSSING_PAIRS)]
    q = edges[rng.integers(0, len(edges), CROSSING_PAIRS)]
    apart = (p[:, :1] != q).all(axis=1) & (p[:, 1:] != q).all(axis=1)
    a, b, c, d = at[p[:, 0]], at[p[:, 1]], at[q[:, 0]], at[q[:, 1]]
    crossing = (_turn(a, b, c) * _turn(a, b, d) < 0) & (_turn(c, d, a) * _turn(c, d, b) < 0) & apart
    return float(crossing.mean()) * 100


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])


def _stress(matrix: scipy.sparse.csr_matrix, at: np.ndarray) -> float:
    rng = np.random.default_rng(0)
    sources = rng.choice(len(at), min(STRESS_SOURCES, len(at)), replace=False)
    steps = dijkstra(matrix, unweighted=True, indices=sources)
    apart = np.sqrt(((at[sources][:, None] - at[None]) ** 2).sum(-1))
    valid = np.isfinite(steps) & (steps > 0)
    steps, apart = steps[valid], apart[valid]
    weight = steps**-2.0
    scale = (weight * steps * apart).sum() / (weight * apart * apart).sum()
    return float((weight * (scale * apart - steps) ** 2).sum() / (weight * steps * steps).sum())


def _overlaps(graph: Graph, at: np.ndarray) -> float:
    radii = node_radii(graph)
    box = np.ptp(np.quantile(at, (0.01, 0.99), axis=0), axis=0)
    room = PAGE_PER_DISC_AREA * float((np.pi * radii**2).sum())
    scaled = at * np.sqrt(room / max(float(np.prod(box)), 1e-9))
    tree = cKDTree(scaled)
    pairs = tree.query_pairs(2 * float(radii.max()), output_type="ndarray")
    gap = np.linalg.norm(scaled[pairs[:, 0]] - scaled[pairs[:, 1]], axis=1)
    touching = gap < (radii[pairs[:, 0]] + radii[pairs[:, 1]]) * 0.999
    return 100 * len(np.unique(pairs[touching])) / len(graph)
