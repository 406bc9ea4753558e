"""Compare search by words, by meaning and by both fused, on real and translated notes.

Run: python -m tests.benchmarks.retrieval [--check] [--vaults FOLDER …] [--only NAME]

Builds the app's index and vectors of each corpus of `retrieval_sets` and asks its questions, whose answers
are known. Prints, for each set and model, the mean reciprocal rank among the first ten notes and the share of
answers among them: by words, by meaning, by plain reciprocal rank fusion, and by the app's fusion; first for
the half on which the fusion's weights were learned, then for the unseen half. The last column is the 95 %
interval of the difference between the fusion and the better list, by bootstrap over the notes or topics that
the questions are about. With --check the exit status is 1 if the app's fusion is more than `SLACK` below the
better of the two lists on an unseen half that is not too small.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
import numpy.typing as npt

from app.embeddings.client import Embedder
from app.embeddings.model_config import MULTILINGUAL, SHIPPED_MODEL, SentenceModelConfig, model_folder
from app.embeddings.rank_fusion import MAX_FUSED_HITS, fuse
from app.embeddings.vectors import VectorStore
from app.events import EventBus
from app.index.term_statistics import TermStatistics
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.store import NoteStore
from tests.benchmarks.retrieval_sets import RetrievalCorpus, RetrievalQuestion, corpora
from tests.support.vector_sync import sync_vectors

TOP, SLACK = 10, 0.01
RRF_DEPTH = 60
# The mean over fewer notes or topics is too uncertain for a check.
MIN_CHECKED = 20
RESAMPLES = 2000
LABELS = {SHIPPED_MODEL: "MiniLM", MULTILINGUAL: "e5"}
Ranking = list[tuple[str, float]]
Vector = npt.NDArray[np.float32]


@dataclass(frozen=True)
class QueryResult:
    """The notes that a question finds by words, and by meaning with one model."""

    corpus: str
    model: SentenceModelConfig
    question: RetrievalQuestion
    words: Ranking
    meant: Ranking
    similarities: Mapping[str, float]
    terms: TermStatistics


def fuse_ranks(words: Ranking, meant: Ranking) -> Ranking:
    """Return reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), which uses only the ranks."""
    scores: dict[str, float] = {}
    for ranking in (words, meant):
        for place, (key, _) in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (RRF_DEPTH + place)
    return sorted(scores.items(), key=lambda entry: -entry[1])


WAYS: dict[str, Callable[[QueryResult], Ranking]] = {
    "words": lambda result: result.words,
    "meaning": lambda result: result.meant,
    "plain RRF": lambda result: fuse_ranks(result.words, result.meant),
    "ours": lambda result: fuse(result.words, result.meant, result.terms, result.model, result.similarities),
}


def models() -> list[SentenceModelConfig]:
    """Return the app's installed sentence models."""
    every = (SentenceModelConfig(), SentenceModelConfig(MULTILINGUAL))
    return [model for model in every if (model_folder(model.name) / "model.onnx").is_file()]


def query_every_model(vaults: Sequence[Path] = (), only: str = "") -> list[QueryResult]:
    """Run the questions of every corpus, or of those with `only` in their names, with every model."""
    return asyncio.run(_ask_all([corpus for corpus in corpora(vaults) if only in corpus.name]))


async def _ask_all(asked: Sequence[RetrievalCorpus]) -> list[QueryResult]:
    embedders = {model: Embedder(model, threads=os.cpu_count() or 1) for model in models()}
    # Many questions are asked in several corpora.
    texts = list(dict.fromkeys(question.text for corpus in asked for question in corpus.questions))
    results: list[QueryResult] = []
    try:
        questions = {
            model: dict(zip(texts, await embedder.embed(texts, query=True), strict=True))
            for model, embedder in embedders.items()
        }
        for corpus in asked:
            with tempfile.TemporaryDirectory() as work:
                results += await _ask(corpus, embedders, questions, Path(work))
    finally:
        for embedder in embedders.values():
            await embedder.close()
    return results


async def _ask(
    corpus: RetrievalCorpus,
    embedders: Mapping[SentenceModelConfig, Embedder],
    questions: Mapping[SentenceModelConfig, Mapping[str, Vector]],
    work: Path,
) -> list[QueryResult]:
    target = work / "vault"
    for path, text in corpus.notes.items():
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    index = VaultIndex(target, work / "cache", IndexSettings(), EventBus())
    store = NoteStore(target, Journal(work / "data"))
    results: list[QueryResult] = []
    try:
        await index.open()
        await index.scan(lambda progress: None, lambda: False)
        by_words = [await _by_words(index, question.text) for question in corpus.questions]
        for model, embedder in embedders.items():
            folder = work / model.name
            folder.mkdir()
            vectors = VectorStore(folder, model.key)
            try:
                await sync_vectors(vectors, index, store, embedder)
                for question, (words, terms) in zip(corpus.questions, by_words, strict=True):
                    vector = questions[model][question.text]
                    hits = vectors.search(vector, MAX_FUSED_HITS, 0.0, per_note=True)
                    meant = [(str(hit.path), hit.score) for hit in hits]
                    found = {*(path for path, _ in words), *(path for path, _ in meant)}
                    similarities = {
                        str(path): similarity
                        for path, similarity in vectors.similarities(vector, map(NotePath, found)).items()
                    }
                    results.append(
                        QueryResult(corpus.name, model, question, words, meant, similarities, terms)
                    )
            finally:
                vectors.close()
            progress = f"{corpus.name}: {len(corpus.notes)} notes, {len(by_words)} questions, {model.name}"
            print(progress, file=sys.stderr)
    finally:
        await index.close()
    return results


async def _by_words(index: VaultIndex, text: str) -> tuple[Ranking, TermStatistics]:
    hits = await index.searcher.ranked(text, MAX_FUSED_HITS)
    terms = await index.term_statistics(text, hits[0][0] if hits else None)
    return [(str(path), word_score) for path, word_score in hits], terms


def score(ranking: Ranking, answer: str) -> tuple[float, float]:
    """Return the reciprocal rank within the first ten, and whether the answer is among them, as 1 or 0."""
    for place, (path, _) in enumerate(ranking[:TOP], 1):
        if path == answer:
            return 1.0 / place, 1.0
    return 0.0, 0.0


def interval(differences: Sequence[float], sources: Sequence[str]) -> tuple[float, float]:
    """Return the 95 % interval of the mean, by bootstrap over `sources`.

    Questions about the same source depend on each other, so they are drawn together.

    Args:
        differences: The value of each question.
        sources: The note or topic that each question is about.
    """
    at = np.unique(np.array(sources), return_inverse=True)[1]
    sums, counts = np.bincount(at, differences), np.bincount(at)
    rows = np.random.default_rng(0).integers(0, len(sums), (RESAMPLES, len(sums)))
    means = sums[rows].sum(axis=1) / counts[rows].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def print_table(results: Sequence[QueryResult], *, seen: bool) -> list[str]:
    """Print a line for each set and model; return those on which the fusion is too far behind."""
    sets: dict[tuple[str, str, str], list[QueryResult]] = {}
    for result in results:
        if result.question.is_seen == seen:
            sets.setdefault((LABELS[result.model.name], result.corpus, result.question.kind), []).append(
                result
            )
    print(f"\n{'seen' if seen else 'unseen'} half: MRR@10 (recall@10)")
    print(
        f"{'':<52}{'n':>5}" + "".join(f"{name:>16}" for name in WAYS) + f"{'ours - better':>15}{'95 %':>18}"
    )
    missed, checked = [], []
    for key, asked in sets.items():
        ranks = {}
        cells = ""
        for name, way in WAYS.items():
            scores = [score(way(result), result.question.answer) for result in asked]
            ranks[name] = [rank for rank, _ in scores]
            cells += f"{mean(ranks[name]):>8.3f} ({mean([hit for _, hit in scores]):.3f})"
        better = max(ranks["words"], ranks["meaning"], key=mean)
        differences = [ours - other for ours, other in zip(ranks["ours"], better, strict=True)]
        difference = mean(differences)
        sources = [result.question.source for result in asked]
        low, high = interval(differences, sources)
        label = ", ".join(key)
        print(f"{label:<52}{len(asked):>5}{cells}{difference:>+15.3f}{low:>+10.3f} {high:+.3f}")
        if len(set(sources)) >= MIN_CHECKED:
            checked.append(difference)
            if difference < -SLACK:
                missed.append(f"{label}: {difference:+.3f}")
    if checked:
        print(f"mean {mean(checked):+.3f}, worst {min(checked):+.3f}")
    return missed


def main() -> int:
    """Print the tables and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vaults", nargs="+", type=Path, default=[], help="folders of notes; only read")
    parser.add_argument(
        "--check", action="store_true", help="exit with status 1 if the fusion falls behind a list"
    )
    parser.add_argument("--only", default="", help="a part of the names of the corpora to ask, as printed")
    arguments = parser.parse_args()
    results = query_every_model(arguments.vaults, arguments.only)
    print_table(results, seen=True)
    missed = print_table(results, seen=False)
    for line in missed:
        print(f"MISSED: {line} compared with the better list")
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
