"""Coarse graphs for the layout, and communities by label propagation with a mass limit per label.

The limit makes a level shrink evenly and keeps hubs from absorbing it. Rounds are synchronous; about half
of the bodies, chosen at random, may move in each, so that pairs do not keep swapping labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

_PROPAGATION_ROUNDS = 8
_MAX_LINK_WEIGHT = 3
_MAX_HUB_DEGREE = 400


@dataclass(frozen=True, eq=False)
class CoarseLevel:
    """One level of the hierarchy; `parent` maps its bodies to those of the next coarser level."""

    weights: scipy.sparse.csr_matrix
    mass: NDArray[np.float32]
    parent: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.mass)

    @property
    def unit(self) -> float:
        """The width of a body of mean mass, in node widths."""
        return float(np.sqrt(self.mass.mean()))

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the edges (m, 2) with source < target, and their weights."""
        upper = scipy.sparse.triu(self.weights, 1).tocoo()
        ends = np.stack([upper.row, upper.col], axis=1).astype(np.int32)
        return ends, upper.data.astype(np.float32)


def adjacency(edges: NDArray[np.int32], size: int) -> scipy.sparse.csr_matrix:
    """Return the symmetric adjacency matrix of `edges`: the number of links between each pair."""
    pairs = np.concatenate([edges, edges[:, ::-1]])
    ones = np.ones(len(pairs), dtype=np.float32)
    return scipy.sparse.coo_matrix((ones, (pairs[:, 0], pairs[:, 1])), shape=(size, size)).tocsr()


def damp_hubs(weights: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Return the strength of each link: the number of links, at most three, reduced between hubs.

    This leaves the mean unchanged. Links at full strength would pull a hub's notes into one clump. The links
    of a very large hub are reduced further, because it is too wide for them to hold together.
    """
    degree = np.maximum(np.diff(weights.indptr), 1)
    source_degree, target_degree = np.repeat(degree, np.diff(weights.indptr)), degree[weights.indices]
    pull = np.minimum(weights.data, _MAX_LINK_WEIGHT) / np.sqrt(np.minimum(source_degree, target_degree))
    pull *= weights.data.sum() / max(float(pull.sum()), 1e-9)
    pull *= np.sqrt(np.minimum(1.0, _MAX_HUB_DEGREE / np.maximum(source_degree, target_degree)))
    entries = (pull.astype(np.float32), weights.indices, weights.indptr)
    return scipy.sparse.csr_matrix(entries, shape=weights.shape)


def coarsen_level(fine: CoarseLevel, parent: NDArray[np.int64], size: int) -> CoarseLevel:
    """Return the coarser level of `size` bodies, each merged from the bodies whose `parent` it is."""
    ones = np.ones(len(fine), dtype=np.float32)
    members = scipy.sparse.csr_matrix((ones, (np.arange(len(fine)), parent)), shape=(len(fine), size))
    coarse = (members.T @ fine.weights @ members).tocoo()
    is_between = coarse.row != coarse.col
    ends = (coarse.row[is_between], coarse.col[is_between])
    weights = scipy.sparse.coo_matrix((coarse.data[is_between], ends), shape=(size, size)).tocsr()
    return CoarseLevel(weights, np.bincount(parent, fine.mass, size).astype(np.float32))


def propagate(
    weights: scipy.sparse.csr_matrix, mass: NDArray[np.float32], cap: float, seed: int
) -> NDArray[np.int64]:
    """Return a label per body; no label's mass exceeds `cap` (a heavier body stays alone)."""
    size = weights.shape[0]
    rng = np.random.default_rng(seed)
    strength = np.sqrt(np.asarray(weights.sum(axis=1)).ravel() + 1e-9)
    rows = np.repeat(np.arange(size), np.diff(weights.indptr))
    scaled = weights.data / (strength[rows] * strength[weights.indices])
    scaled = scaled * (1 + 1e-3 * rng.random(len(scaled)))
    labels = np.arange(size, dtype=np.int64)
    load = mass.astype(np.float64).copy()
    for _ in range(_PROPAGATION_ROUNDS):
        movers = rng.random(size) < 0.5
        _move(rows, weights.indices, scaled, labels, load, mass, cap, movers)
    _join_leftovers(rows, weights.indices, scaled, labels, load, mass, cap)
    return labels


def _move(
    rows: NDArray[np.int64],
    columns: NDArray[np.int32],
    scaled: NDArray[np.float64],
    labels: NDArray[np.int64],
    load: NDArray[np.float64],
    mass: NDArray[np.float32],
    cap: float,
    movers: NDArray[np.bool_],
) -> None:
    """Move each mover to the label with its strongest ties among those that have room."""
    size = len(labels)
    picked = movers[rows]
    keys = rows[picked] * size + labels[columns[picked]]
    pairs, inverse = np.unique(keys, return_inverse=True)
    ties = np.bincount(inverse, scaled[picked], len(pairs))
    body, label = pairs // size, pairs % size
    fits = (load[label] + mass[body] <= cap) | (label == labels[body])
    body, label, ties = body[fits], label[fits], ties[fits]
    order = np.lexsort((-ties, body))
    body, label, ties = body[order], label[order], ties[order]
    first = np.ones(len(body), dtype=bool)
    first[1:] = body[1:] != body[:-1]
    body, label, ties = body[first], label[first], ties[first]
    moving = label != labels[body]
    _admit(body[moving], label[moving], ties[moving], labels, load, mass, cap)


def _admit(
    body: NDArray[np.int64],
    label: NDArray[np.int64],
    ties: NDArray[np.float64],
    labels: NDArray[np.int64],
    load: NDArray[np.float64],
    mass: NDArray[np.float32],
    cap: float,
) -> None:
    """Admit the strongest ties first, until each label is full."""
    if not len(body):
        return
    order = np.lexsort((-ties, label))
    body, label = body[order], label[order]
    running = np.cumsum(mass[body], dtype=np.float64)
    starts = np.flatnonzero(np.concatenate([[True], label[1:] != label[:-1]]))
    start_loads = np.repeat(running[starts] - mass[body[starts]], np.diff(np.append(starts, len(body))))
    admitted = load[label] + running - start_loads <= cap
    body, label = body[admitted], label[admitted]
    np.subtract.at(load, labels[body], mass[body])
    np.add.at(load, label, mass[body])
    labels[body] = label


def _join_leftovers(
    rows: NDArray[np.int64],
    columns: NDArray[np.int32],
    scaled: NDArray[np.float64],
    labels: NDArray[np.int64],
    load: NDArray[np.float64],
    mass: NDArray[np.float32],
    cap: float,
) -> None:
    """Merge bodies that a full label left alone with others whose strongest neighbor has the same label."""
    if not len(rows):
        return
    alone = np.bincount(labels, minlength=len(labels))[labels] == 1
    order = np.lexsort((-scaled, rows))
    first = np.concatenate([[True], rows[order][1:] != rows[order][:-1]])
    body, neighbor = rows[order][first], columns[order][first]
    chosen = alone[body]
    body, neighbor = body[chosen], labels[neighbor[chosen]]
    order = np.argsort(neighbor, kind="stable")
    body, neighbor = body[order], neighbor[order]
    host, capacity, last = -1, 0.0, -1
    for row, label in zip(body.tolist(), neighbor.tolist(), strict=True):
        if label != last or capacity < mass[row]:
            host, capacity, last = int(labels[row]), cap - float(load[labels[row]]), label
            continue
        load[labels[row]] -= mass[row]
        labels[row] = host
        load[host] += mass[row]
        capacity -= float(mass[row])


def communities(edges: NDArray[np.int32], size: int, seed: int = 0) -> NDArray[np.int64]:
    """Return a community per node, 0 for the largest, -1 for nodes without links.

    Propagation limits a community to an eighth of the graph, or to eight nodes in a small one: communities
    color the graph, and a single color would convey nothing.
    """
    if not len(edges):
        return np.full(size, -1, dtype=np.int64)
    weights = adjacency(edges, size)
    fine = CoarseLevel(weights, np.ones(size, dtype=np.float32))
    labels: NDArray[np.int64] = np.arange(size, dtype=np.int64)
    cap = max(8.0, size / 8)
    for _ in range(6):
        distinct_labels, parent = np.unique(
            propagate(fine.weights, fine.mass, cap, seed), return_inverse=True
        )
        if len(distinct_labels) == len(fine):
            break
        labels = parent[labels]
        fine = coarsen_level(fine, parent, len(distinct_labels))
    for _ in range(3):
        labels = _majority(weights, labels)
    counts = np.bincount(labels, minlength=1)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    result = rank[labels]
    result[np.diff(weights.indptr) == 0] = -1
    return result


def _majority(weights: scipy.sparse.csr_matrix, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each node the strongest label among its neighbors and itself.

    A node with a single neighbor gets that neighbor's label if the neighbor has others.
    """
    size = len(labels)
    degree = np.diff(weights.indptr)
    names, index = np.unique(labels, return_inverse=True)
    rows = np.repeat(np.arange(size), degree)
    shape = (size, len(names))
    ties = scipy.sparse.csr_matrix((weights.data, (rows, index[weights.indices])), shape=shape)
    own_ties = scipy.sparse.csr_matrix((np.full(size, 0.5), (np.arange(size), index)), shape=shape)
    chosen: NDArray[np.int64] = names[np.asarray((ties + own_ties).argmax(axis=1)).ravel()]
    leaves = np.flatnonzero(degree == 1)
    hubs = weights.indices[weights.indptr[leaves]]
    has_hub = degree[hubs] > 1
    chosen[leaves[has_hub]] = chosen[hubs[has_hub]]
    return chosen
