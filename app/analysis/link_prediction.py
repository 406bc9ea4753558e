"""Predict missing links from common neighbors, meaning and shared rare tags.

All three produce candidates, and all three score each candidate. Common neighbors are weighted by the
Adamic-Adar index ("Friends and neighbors on the web", 2003): a neighbor with few links counts more than a
hub.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from app.analysis.network import AdjacencyArrays, EncodedLabels
from app.graph.knn import nearest
from app.graph.static_layout import Report, no_progress

if TYPE_CHECKING:
    import scipy.sparse

ReasonKind = Literal["neighbors", "meaning", "tags"]

_MAX_NEIGHBOR_DEGREE = 150
_BLOCK_ROWS = 4096
_BLOCK_PAIRS = 100_000
_CANDIDATES_PER_NOTE = 10
_MAX_TAG_NOTES = 40
_MAX_NAMED_REASONS = 5
_WEIGHTS = {"neighbors": 0.75, "meaning": 0.85, "tags": 0.5}
_MIN_COSINE, _MAX_COSINE = 0.4, 0.9
_MIN_SCORE = 0.08

Pairs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CandidateFeatures:
    """The input for link prediction.

    Args:
        network: The links.
        allowed: bool (n,), the notes between which links may be suggested.
        tags: The tags of each node.
        vectors: float16 or float32 (k, d), unit embeddings.
        vector_rows: int64 (k,), the rows of the vectors.
    """

    network: AdjacencyArrays
    allowed: NDArray[np.bool_]
    tags: EncodedLabels
    vectors: NDArray[np.floating]
    vector_rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """A reason for a predicted link: its strength (0 to 1), and the common neighbors or shared tags."""

    kind: ReasonKind
    score: float
    rows: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PredictedLink:
    """A link that may be missing: the rows of its ends, its score (0 to 1), and the reasons, best first."""

    source: int
    target: int
    score: float
    evidence: tuple[LinkEvidence, ...]


def predict_links(
    features: CandidateFeatures,
    rejected: NDArray[np.int64],
    limit: int,
    around: int = -1,
    report: Report = no_progress,
) -> tuple[PredictedLink, ...]:
    """Return the links that are most likely missing, best first.

    Args:
        features: The vault.
        rejected: int64 (r, 2), rejected pairs of rows, in either order.
        limit: The maximum number of links.
        around: The row of the only node to predict links for; -1 for all nodes.
        report: Receives the progress.
    """
    return _LinkPredictor(features, around, report).best(rejected, limit)


class _LinkPredictor:
    """Finds and scores candidates for missing links of one node or of all."""

    def __init__(self, features: CandidateFeatures, around: int, report: Report) -> None:
        self._features = features
        self._around = around
        self._report = report
        self._size = features.network.size
        self._matrix = features.network.matrix()
        self._degree = np.diff(self._matrix.indptr)
        self._vectors = np.asarray(features.vectors, dtype=np.float32)
        self._vector_index = np.full(self._size, -1, dtype=np.int64)
        self._vector_index[features.vector_rows] = np.arange(len(features.vector_rows))
        self._tags = self._tag_matrix()

    def best(self, rejected: Pairs, limit: int) -> tuple[PredictedLink, ...]:
        """Return the best links that were not rejected."""
        pairs = self._candidates()
        rejected_keys = self._keys(np.sort(rejected.reshape(-1, 2), axis=1))
        pairs = pairs[~np.isin(self._keys(pairs), rejected_keys)]
        parts = {
            "neighbors": self._neighbor_scores(pairs),
            "meaning": self._semantic_scores(pairs),
            "tags": self._tag_scores(pairs),
        }
        remainder = np.ones(len(pairs))
        for kind, part in parts.items():
            remainder *= 1 - _WEIGHTS[kind] * part
        score = 1 - remainder
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -score))[:limit]
        return tuple(
            self._to_link(pairs[index], float(score[index]), {k: float(p[index]) for k, p in parts.items()})
            for index in order.tolist()
            if score[index] >= _MIN_SCORE
        )

    # Candidates

    def _candidates(self) -> Pairs:
        """Return pairs (low, high) of notes without a link, distinct and sorted."""
        pair_lists = [*self._neighbor_candidates(), self._semantic_candidates(), self._tag_candidates()]
        pairs = np.sort(np.concatenate(pair_lists), axis=1)
        pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & self._features.allowed[pairs].all(axis=1)]
        keys = np.unique(self._keys(pairs))
        links = np.sort(self._features.network.links.astype(np.int64), axis=1)
        keys = keys[~np.isin(keys, self._keys(links))]
        return np.stack([keys // max(self._size, 1), keys % max(self._size, 1)], axis=1)

    def _keys(self, pairs: Pairs) -> NDArray[np.int64]:
        return np.asarray(pairs[:, 0] * max(self._size, 1) + pairs[:, 1])

    def _rows(self) -> NDArray[np.int64]:
        """Return the notes to predict links for."""
        return np.flatnonzero(self._features.allowed) if self._around < 0 else np.array([self._around])

    def _neighbor_weights(self) -> scipy.sparse.csr_array:
        """Return the Adamic-Adar weight of each node as a common neighbor; hubs get a weight of 0."""
        import scipy.sparse

        degree = self._degree
        weight = np.where(
            (degree > 1) & (degree <= _MAX_NEIGHBOR_DEGREE), 1 / np.log(np.maximum(degree, 2)), 0.0
        )
        return scipy.sparse.diags_array(weight).tocsr()

    def _neighbor_candidates(self) -> Iterator[Pairs]:
        """Yield pairs of each note with the notes that share the most neighbors with it, in blocks."""
        rows = self._rows()
        weighted = self._neighbor_weights() @ self._matrix
        links = self._link_keys()
        for start in range(0, len(rows), _BLOCK_ROWS):
            self._report(0.5 * start / len(rows), "Comparing common neighbors")
            batch = rows[start : start + _BLOCK_ROWS]
            shared = (self._matrix[batch] @ weighted).tocoo()
            notes, others = batch[shared.row], shared.col.astype(np.int64)
            linked = _is_in_sorted(links, notes * self._size + others)
            fits = (notes != others) & (shared.data > 0) & self._features.allowed[others] & ~linked
            yield _top_pairs(notes[fits], others[fits], shared.data[fits])

    def _link_keys(self) -> NDArray[np.int64]:
        """Return the keys of all linked pairs, in both directions, ascending."""
        links = self._matrix.tocoo()
        return np.sort(links.row.astype(np.int64) * self._size + links.col)

    def _semantic_candidates(self) -> Pairs:
        owners = self._features.vector_rows
        if len(owners) < 2:
            return np.empty((0, 2), dtype=np.int64)
        if self._around >= 0:
            at = int(self._vector_index[self._around])
            if at < 0:
                return np.empty((0, 2), dtype=np.int64)
            nearest_indexes = np.argsort(-(self._vectors @ self._vectors[at]), kind="stable")[
                : 4 * _CANDIDATES_PER_NOTE
            ]
            return np.stack([np.full(len(nearest_indexes), self._around), owners[nearest_indexes]], axis=1)
        rows, _ = nearest(
            self._vectors, _CANDIDATES_PER_NOTE, lambda share, words: self._report(0.5 + share / 2, words)
        )
        return np.stack([np.repeat(owners, rows.shape[1]), owners[rows.ravel()]], axis=1)

    def _tag_candidates(self) -> Pairs:
        """Return pairs of notes that share a rare tag."""
        columns = self._tags.tocsc()
        pair_lists: list[Pairs] = [np.empty((0, 2), dtype=np.int64)]
        for tag in np.flatnonzero(np.diff(columns.indptr) <= _MAX_TAG_NOTES).tolist():
            rows = columns.indices[columns.indptr[tag] : columns.indptr[tag + 1]].astype(np.int64)
            if self._around < 0:
                low, high = np.triu_indices(len(rows), 1)
                pair_lists.append(np.stack([rows[low], rows[high]], axis=1))
            elif self._around in rows:
                pair_lists.append(np.stack([np.full(len(rows), self._around), rows], axis=1))
        return np.concatenate(pair_lists)

    # Scoring

    def _neighbor_scores(self, pairs: Pairs) -> NDArray[np.float64]:
        weighted = self._neighbor_weights() @ self._matrix
        shared = _pairwise(self._matrix, weighted.T.tocsr(), pairs)
        min_degrees = np.minimum(self._degree[pairs[:, 0]], self._degree[pairs[:, 1]])
        return np.asarray(1 - np.exp(-shared / (1 + np.log1p(min_degrees))))

    def _semantic_scores(self, pairs: Pairs) -> NDArray[np.float64]:
        indexes = self._vector_index[pairs]
        has_vectors = (indexes >= 0).all(axis=1)
        score = np.zeros(len(pairs))
        cosine = np.einsum(
            "ij,ij->i", self._vectors[indexes[has_vectors, 0]], self._vectors[indexes[has_vectors, 1]]
        )
        score[has_vectors] = np.clip((cosine - _MIN_COSINE) / (_MAX_COSINE - _MIN_COSINE), 0, 1)
        return score

    def _tag_scores(self, pairs: Pairs) -> NDArray[np.float64]:
        import scipy.sparse

        if not self._tags.shape[1]:
            return np.zeros(len(pairs))
        count = np.maximum(np.asarray(self._tags.sum(axis=0)).ravel(), 1)
        rarity = np.log(max(2, int(self._features.allowed.sum())) / count).clip(0)
        weighted = (self._tags @ scipy.sparse.diags_array(rarity)).tocsr()
        shared = _pairwise(self._tags, weighted, pairs)
        return np.asarray(1 - np.exp(-shared / np.log(max(3, int(self._features.allowed.sum())))))

    def _tag_matrix(self) -> scipy.sparse.csr_array:
        import scipy.sparse

        tags = self._features.tags
        shape = (self._size, len(tags.names))
        return scipy.sparse.csr_array((np.ones(len(tags.codes)), tags.codes, tags.starts), shape=shape)

    # Reasons

    def _to_link(self, pair: Pairs, score: float, parts: dict[str, float]) -> PredictedLink:
        source, target = pair.tolist()
        if self._around == target:
            source, target = target, source
        evidence: list[LinkEvidence] = []
        if parts["neighbors"] >= _MIN_SCORE:
            evidence.append(
                LinkEvidence("neighbors", parts["neighbors"], rows=self._common_neighbors(source, target))
            )
        if parts["meaning"] >= _MIN_SCORE:
            evidence.append(LinkEvidence("meaning", parts["meaning"]))
        if parts["tags"] >= _MIN_SCORE:
            tags = self._features.tags
            shared_tags = set(tags.row_labels(source)) & set(tags.row_labels(target))
            evidence.append(
                LinkEvidence("tags", parts["tags"], tags=tuple(sorted(shared_tags))[:_MAX_NAMED_REASONS])
            )
        evidence.sort(key=lambda reason: -_WEIGHTS[reason.kind] * reason.score)
        return PredictedLink(source, target, score, tuple(evidence))

    def _common_neighbors(self, source: int, target: int) -> tuple[int, ...]:
        """Return at most `_MAX_NAMED_REASONS` common neighbors, highest weight first."""
        matrix = self._matrix
        neighbor_rows = [
            matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]] for row in (source, target)
        ]
        common = np.intersect1d(*neighbor_rows)
        common = common[(self._degree[common] > 1) & (self._degree[common] <= _MAX_NEIGHBOR_DEGREE)]
        return tuple(common[np.argsort(self._degree[common], kind="stable")][:_MAX_NAMED_REASONS].tolist())


def _is_in_sorted(ascending: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return, for each key, whether it is in an ascending array."""
    positions = np.searchsorted(ascending, keys)
    positions[positions == len(ascending)] = 0
    return np.asarray(ascending[positions] == keys) if len(ascending) else np.zeros(len(keys), dtype=bool)


def _top_pairs(notes: NDArray[np.int64], others: NDArray[np.int64], weight: NDArray[np.float64]) -> Pairs:
    """Return the `_CANDIDATES_PER_NOTE` heaviest pairs of each row in `notes`."""
    order = np.lexsort((others, -weight, notes))
    notes, others = notes[order], others[order]
    starts = np.flatnonzero(np.concatenate([[True], notes[1:] != notes[:-1]])) if len(notes) else notes
    rank = np.arange(len(notes)) - np.repeat(starts, np.diff(np.append(starts, len(notes))))
    return np.stack([notes, others], axis=1)[rank < _CANDIDATES_PER_NOTE]


def _pairwise(
    first: scipy.sparse.csr_array, second: scipy.sparse.csr_array, pairs: Pairs
) -> NDArray[np.float64]:
    """Return the product of row pairs[i, 0] of `first` with row pairs[i, 1] of `second`, for each i."""
    parts = [
        np.asarray(first[block[:, 0]].multiply(second[block[:, 1]]).sum(axis=1)).ravel()
        for block in _blocks(pairs)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def _blocks(pairs: Pairs) -> Iterable[Pairs]:
    return (pairs[start : start + _BLOCK_PAIRS] for start in range(0, len(pairs), _BLOCK_PAIRS))
