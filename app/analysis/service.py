"""Network analysis of the vault for the rest of the app.

`GraphAnalysisService` belongs to the service thread. Expensive work runs in a separate process, which starts
with the first request, ends after an idle period, and is killed when a request is canceled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.analysis.articulation import CutPoints, find_cut_points
from app.analysis.centrality import Centrality, Measure, compute_centrality
from app.analysis.communities import Communities, find_communities
from app.analysis.layout_requests import Kind, layout_request, node_vectors
from app.analysis.link_prediction import CandidateFeatures, PredictedLink, ReasonKind, predict_links
from app.analysis.network import AdjacencyArrays, EncodedLabels
from app.analysis.orphans import Orphans, find_orphans
from app.analysis.rejections import Rejections
from app.analysis.shortest_path import shortest_path
from app.errors import StorageError
from app.events import EventBus
from app.graph.model import PLAIN_LINK, Graph
from app.graph.static_layout import Report, StaticLayout, no_progress
from app.processes.function_process import FunctionProcess
from app.vault.path import NotePath
from app.vault.store import NotesChanged

if TYPE_CHECKING:
    from app.embeddings.vector_table import NoteVectors
    from app.embeddings.vectors import VectorStore
    from app.index.vault_index import VaultIndex

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PathResult:
    """A shortest path.

    Args:
        rows: The rows along the path, source first.
        relations: The link type of each step; a typed link takes precedence over a plain one.
    """

    rows: tuple[int, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuggestionReason:
    """The reason for a suggestion; `names` are paths of common neighbors, or tags, else empty."""

    kind: ReasonKind
    score: float
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkSuggestion:
    """A possibly missing link between two notes, by their paths; the scores are 0 to 1."""

    source: str
    target: str
    score: float
    reasons: tuple[SuggestionReason, ...]


class GraphAnalysisService:
    """Analyzes a `Graph`; rows are those of the graph that is passed in.

    A request raises `ScriptoriumError` if the process for it can't be started.

    Args:
        index: Knows which notes are private.
        vectors: Returns the embeddings of the notes; None if semantic search is off.
        folder: The vault's data folder, for rejected suggestions.
        events: The source of rename events.
        is_hidden: Whether a rule hides a note from all callers but the user.
    """

    def __init__(
        self,
        index: VaultIndex,
        vectors: Callable[[], VectorStore | None],
        folder: Path,
        events: EventBus,
        is_hidden: Callable[[NotePath], bool],
    ) -> None:
        self._index = index
        self._vectors = vectors
        self._is_hidden = is_hidden
        self._rejections = Rejections(folder)
        self._worker = FunctionProcess()
        self._unsubscribe = events.subscribe(NotesChanged, self._on_notes_changed)

    @property
    def problem(self) -> str:
        """The message about a damaged list of rejected links; empty if there was no damage."""
        return self._rejections.problem

    async def close(self) -> None:
        """Stop following renamed notes and end the process; pending requests fail."""
        self._unsubscribe()
        await self._worker.close()

    # Measures

    async def communities(self, graph: Graph, progress: Report = no_progress) -> Communities:
        """Return groups of notes that link to each other more often than expected by chance.

        Raises:
            ComputationError: The groups could not be computed.
        """
        return await self._worker.call(progress, find_communities, AdjacencyArrays.from_graph(graph))

    async def centrality(self, graph: Graph, measure: Measure, progress: Report = no_progress) -> Centrality:
        """Return each node's centrality: "pagerank", "betweenness" or "degree".

        Raises:
            ComputationError: It could not be computed.
        """
        return await self._worker.call(
            progress, compute_centrality, AdjacencyArrays.from_graph(graph), measure
        )

    async def path(
        self, graph: Graph, source: int, target: int, types: Collection[str] | None = None
    ) -> PathResult | None:
        """Return a path with the fewest links; None if there is none.

        Args:
            graph: The vault.
            source: The row where the path starts.
            target: The row where it ends.
            types: The link types to follow; all if None. Links are followed in both directions.

        Raises:
            ComputationError: The path could not be computed.
        """
        network = AdjacencyArrays.from_graph(graph, types)
        rows = await self._worker.call(no_progress, shortest_path, network, source, target)
        return _path_result(graph, rows.tolist(), types) if len(rows) else None

    async def cut_points(self, graph: Graph, progress: Report = no_progress) -> CutPoints:
        """Return the links and notes whose removal would split the graph. Raises `ComputationError`."""
        return await self._worker.call(progress, find_cut_points, AdjacencyArrays.from_graph(graph))

    async def orphans(self, graph: Graph) -> Orphans:
        """Return the notes and attachments without links, and the unresolved names."""
        return await asyncio.to_thread(find_orphans, graph)

    # Layouts

    async def layout(
        self,
        graph: Graph,
        kind: Kind,
        progress: Report = no_progress,
        *,
        by: str = "modified",
        aspect: float = 1.6,
    ) -> StaticLayout:
        """Arrange all nodes by "folder", "tag", "type", "time" or "meaning".

        Args:
            graph: The vault.
            kind: The kind of layout.
            progress: Receives the progress.
            by: The time to arrange by: "modified" or "created".
            aspect: The ratio of width to height.

        Raises:
            NotFoundError: The layout is by meaning and no note has a vector.
            ComputationError: The layout could not be computed.
        """
        vectors = await self._note_vectors() if kind == "meaning" else None
        work, arguments = await asyncio.to_thread(layout_request, graph, kind, by, vectors)
        return await self._worker.call(progress, work, *arguments, aspect)

    # Suggested links

    async def suggestions(
        self,
        graph: Graph,
        *,
        for_path: str | None = None,
        limit: int = 200,
        private: bool = True,
        progress: Report = no_progress,
    ) -> tuple[LinkSuggestion, ...]:
        """Return links that are probably missing, best first, excluding existing and rejected ones.

        Args:
            graph: The vault.
            for_path: Return only this note's links; none if the note is hidden or not in the graph.
            limit: The maximum number.
            private: Whether to include hidden notes; False for every caller but the user.
            progress: Receives the progress.

        Raises:
            ComputationError: The suggestions could not be computed.
        """
        around = -1 if for_path is None else graph.rows.get(for_path, -1)
        hidden = np.zeros(len(graph), dtype=bool) if private else await asyncio.to_thread(self._hidden, graph)
        if for_path is not None and (around < 0 or hidden[around] or not graph.is_note[around]):
            return ()
        vectors = await self._note_vectors()
        rejected = self._rejected_rows(graph)
        features = await asyncio.to_thread(_candidate_features, graph, hidden, vectors)
        predicted = await self._worker.call(
            progress,
            _predict_missing_links,
            features.network,
            features.allowed,
            features.tags,
            features.vectors,
            features.vector_rows,
            rejected,
            limit,
            around,
        )
        return tuple(_to_suggestion(graph, link) for link in predicted)

    def reject(self, source: str, target: str) -> None:
        """Stop suggesting a link, in either direction. Raises `StorageError`."""
        self._rejections.add(source, target)

    def restore_suggestion(self, source: str, target: str) -> None:
        """Allow a rejected link to be suggested again. Raises `StorageError`."""
        self._rejections.remove(source, target)

    def rejected(self) -> tuple[tuple[str, str], ...]:
        """Return the rejected pairs of paths, each pair sorted."""
        return self._rejections.pairs

    def _on_notes_changed(self, event: NotesChanged) -> None:
        try:
            self._rejections.follow((old.text, new.text) for old, new in event.moved)
        except StorageError as error:
            log.warning("%s", error.message)

    def _rejected_rows(self, graph: Graph) -> NDArray[np.int64]:
        rows = graph.rows
        pairs = [(rows[a], rows[b]) for a, b in self._rejections.pairs if a in rows and b in rows]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _hidden(self, graph: Graph) -> NDArray[np.bool_]:
        """Return which notes only the user may see, bool (n,)."""
        private = {path.text for path in self._index.private_notes()}
        return np.array(
            [
                is_note and (path in private or self._is_hidden(NotePath(path)))
                for path, is_note in zip(graph.paths, graph.is_note.tolist(), strict=True)
            ],
            dtype=bool,
        )

    @property
    def embedded_note_count(self) -> int | None:
        """The number of notes that have a vector; None if semantic search is off."""
        store = self._vectors()
        return None if store is None else store.notes

    async def _note_vectors(self) -> NoteVectors | None:
        store = self._vectors()
        if store is None:
            return None
        await store.load()
        return store.note_matrix()


def _path_result(graph: Graph, rows: list[int], types: Collection[str] | None) -> PathResult:
    relations: list[str] = []
    links = graph.links
    for source, target in pairwise(rows):
        ahead = (links[:, 0] == source) & (links[:, 1] == target)
        backward = (links[:, 0] == target) & (links[:, 1] == source)
        steps = [
            (graph.edge_types[graph.edge_codes[link]], bool(ahead[link]))
            for link in np.flatnonzero(ahead | backward).tolist()
        ]
        steps = [step for step in steps if types is None or step[0] in types]
        name, _ = min(steps, key=lambda step: (step[0] == PLAIN_LINK, not step[1], step[0]))
        relations.append(name)
    return PathResult(tuple(rows), tuple(relations))


def _candidate_features(
    graph: Graph, hidden: NDArray[np.bool_], vectors: NoteVectors | None
) -> CandidateFeatures:
    """Return the input for link prediction, without any data from hidden notes."""
    allowed = graph.is_note & ~hidden
    tags = EncodedLabels.from_strings(
        tags if ok else () for tags, ok in zip(graph.tags, allowed.tolist(), strict=True)
    )
    rows, matrix = node_vectors(graph, vectors)
    is_allowed = allowed[rows]
    return CandidateFeatures(
        AdjacencyArrays.from_graph(graph).without_hidden(hidden),
        allowed,
        tags,
        matrix[is_allowed],
        rows[is_allowed],
    )


def _predict_missing_links(
    network: AdjacencyArrays,
    allowed: NDArray[np.bool_],
    tags: EncodedLabels,
    vectors: NDArray[np.float16],
    rows: NDArray[np.int64],
    rejected: NDArray[np.int64],
    limit: int,
    around: int,
    report: Report,
) -> tuple[PredictedLink, ...]:
    """Call `predict_links`; its arrays are separate arguments so that large ones can be sent in chunks."""
    return predict_links(
        CandidateFeatures(network, allowed, tags, vectors, rows), rejected, limit, around, report
    )


def _to_suggestion(graph: Graph, predicted: PredictedLink) -> LinkSuggestion:
    return LinkSuggestion(
        graph.paths[predicted.source],
        graph.paths[predicted.target],
        predicted.score,
        tuple(
            SuggestionReason(
                reason.kind, reason.score, reason.tags or tuple(graph.paths[row] for row in reason.rows)
            )
            for reason in predicted.evidence
        ),
    )
