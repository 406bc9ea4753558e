"""Score answers with evidence: `python -m tests.evaluation.answers [seen|unseen] [--check]`.

Each question goes to the tool `find_passages` on one of three vaults: the sample vault, and two public ones
from tests/data. Prints for each half how many answerable questions have the gold span among the first three
passages, how many unanswerable ones were recognized, and how many citations dangle: their span is not, byte
for byte, the passage's text. `--calibrate` first fits the weights to the seen half and writes them. README.md
describes the files.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app import paths
from app.answering import ranking as ranking_module
from app.answering.ranking import ANSWER_FEATURES, Candidate, CandidateScorer, RankedPassages
from app.embeddings.model_config import MULTILINGUAL
from app.embeddings.sync_scheduler import EmbeddingProgressed
from app.permissions.approval import ApprovalRequest, Decision, Denied
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.toolkit.call import Call
from app.vault.markdown.scan import scan
from app.vault.path import NotePath
from app.vault.reference import parse_reference
from app.vault.span_reference import find_fragment
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.public_vaults import unpack_vaults

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parents[1] / "resources" / "sample-vault"
FOLDERS = {"kepano": "kepano-obsidian", "logseq": "logseq-docs"}
WEIGHTS = HERE.parents[1] / "resources" / "answers" / "weights.json"
FOUND_TARGET, REFUSED_TARGET = 0.7, 0.8
CALLER = Caller(CallerKind.DESKTOP_AGENT, "Evaluation", turn="t", uses_model=False)
FULL_SPEED = Settings.model_validate(
    {"embeddings": {"when_busy": "full", "on_battery": "full", "threads": 2}}
)
MODES = ("meaning", "words")
# The cost of answering an unanswerable question, relative to refusing an answerable one. By words alone, many
# answerable ones are refused anyway.
WRONG_ANSWER_COST = {"meaning": 2.0, "words": 1.0}


@dataclass(frozen=True)
class AnswerCase:
    """A question about a vault and the words that answer it; empty if the vault has no answer."""

    vault: str
    question: str
    gold: str


@dataclass(frozen=True)
class CapturedCandidates:
    """A question's candidates, kept to rank them again with other weights."""

    scorer: CandidateScorer
    candidates: Sequence[Candidate]
    cosines: Sequence[float] | None

    def ranking(self, mode: str = "meaning") -> RankedPassages:
        """Rank with the current weights."""
        return self.scorer.rank(self.candidates, self.cosines if mode == "meaning" else None)


@dataclass
class Result:
    """The result of one question."""

    asked: AnswerCase
    answered: bool
    hit: bool
    dangling: int
    milliseconds: float
    capture: CapturedCandidates
    gold: set[Candidate]

    @property
    def verdict(self) -> str:
        """`found`, `missed` (wrong passages), `not answered`, `refused` or `invented`."""
        if not self.asked.gold:
            return "invented" if self.answered else "refused"
        return "not answered" if not self.answered else "found" if self.hit else "missed"


class _DenyAll:
    async def decide(self, request: ApprovalRequest) -> Decision:
        """Deny."""
        return Denied("evaluation")


def questions(half: str) -> list[AnswerCase]:
    """Return the questions of a half, `seen` or `unseen`."""
    lines = (HERE / f"answers_{half}.txt").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [AnswerCase(vault, question, gold) for vault, question, gold in rows]


async def results(
    asked: Sequence[AnswerCase], *, with_meaning: bool = True, multilingual: bool = False
) -> list[Result]:
    """Run every question on its vault and return the results, grouped by vault.

    Sets SCRIPTORIUM_CACHE and SCRIPTORIUM_DATA to temporary folders.
    """
    outcomes: list[Result] = []
    models = paths.data_folder() / "models"
    settings = FULL_SPEED.model_copy(deep=True)
    if multilingual:
        settings.embeddings.model = MULTILINGUAL
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["SCRIPTORIUM_CACHE"] = str(Path(scratch, "cache"))
        os.environ["SCRIPTORIUM_DATA"] = str(Path(scratch, "data"))
        if models.is_dir():
            paths.data_folder().joinpath("models").symlink_to(models)
        unpack_vaults(Path(scratch))
        for vault in dict.fromkeys(question.vault for question in asked):
            root = SAMPLE if vault == "sample" else Path(scratch, FOLDERS[vault])
            workspace = await open_workspace(root, settings, _DenyAll())
            try:
                await _index(workspace)
                for question in asked:
                    if question.vault == vault:
                        outcomes.append(await _ask(workspace, question, with_meaning))
            finally:
                await workspace.close()
    return outcomes


async def _index(workspace: Workspace) -> None:
    ready = asyncio.Event()

    def listen(event: EmbeddingProgressed) -> None:
        if event.done == event.total:
            ready.set()

    workspace.events.subscribe(EmbeddingProgressed, listen)
    await workspace.start_scan(lambda progress: None)
    await ready.wait()


async def _ask(workspace: Workspace, asked: AnswerCase, with_meaning: bool) -> Result:
    runner = workspace.runner
    if not with_meaning:
        workspace.settings.embeddings.enabled = False
    captured: list[CapturedCandidates] = []
    original = CandidateScorer.rank

    def rank(
        self: CandidateScorer, candidates: Sequence[Candidate], cosines: Sequence[float] | None
    ) -> RankedPassages:
        captured.append(CapturedCandidates(self, candidates, cosines))
        return original(self, candidates, cosines)

    CandidateScorer.rank = rank  # type: ignore[method-assign]
    try:
        start = time.perf_counter()
        outcome = await runner.run(Call.of("find_passages", {"question": asked.question, "limit": 3}, CALLER))
        took = (time.perf_counter() - start) * 1000
    finally:
        CandidateScorer.rank = original  # type: ignore[method-assign]
    assert outcome.success, outcome.error
    shown = outcome.result["passages"]
    assert isinstance(shown, list)
    hit = bool(asked.gold) and any(
        asked.gold in passage["source"] for passage in shown if not passage["weak"]
    )
    dangling = sum(_dangles(workspace, passage) for passage in shown)
    (capture,) = captured
    texts: dict[NotePath, str] = {}
    gold: set[Candidate] = set()
    for candidate in capture.candidates:
        if candidate.path not in texts:
            texts[candidate.path] = (
                (workspace.root / str(candidate.path)).read_bytes().decode("utf-8", "replace")
            )
        span = candidate.passage.span
        if asked.gold and asked.gold in texts[candidate.path][span.start : span.end]:
            gold.add(candidate)
    return Result(asked, bool(outcome.result["answered"]), hit, dangling, took, capture, gold)


def _dangles(workspace: Workspace, passage: dict[str, str]) -> bool:
    """Return whether a citation does not lead to exactly the passage's text."""
    link = parse_reference(passage["citation"])
    path = workspace.index.resolver.resolve(link.target, None).path
    if path is None or path != NotePath(passage["path"]):
        return True
    text = (workspace.root / str(path)).read_bytes().decode("utf-8")
    span = find_fragment(text, scan(text), f"^{link.block}" if link.block else link.heading or "")
    return span is None or text[span.start : span.end] != passage["source"]


# Calibration


def _calibrate() -> None:
    """Fit and write the weights that distinguish gold passages and answerable questions from others."""
    outcomes = asyncio.run(results(questions("seen")))
    weights_by_mode = json.loads(WEIGHTS.read_text("utf-8"))
    for mode in MODES:
        weights_by_mode[mode]["rank"] = _rank_weights(outcomes, mode)
        _write(weights_by_mode)
        weights_by_mode[mode]["answer"] = _answer_weights(outcomes, mode)
        _write(weights_by_mode)


def _rank_weights(outcomes: Sequence[Result], mode: str) -> dict[str, float]:
    rows, labels, sizes, names = [], [], [], list[str]()
    for outcome in outcomes:
        if outcome.gold:
            ranked = outcome.capture.ranking(mode).passages
            names = list(ranked[0].features)
            rows += [[each.features[name] for name in names] for each in ranked]
            labels += [float(each.candidate in outcome.gold) for each in ranked]
            sizes.append(len(ranked))
    weights, _ = _fit(np.array(rows), np.array(labels), groups=sizes)
    return dict(zip(names, (round(float(value), 3) for value in weights), strict=True))


def _answer_weights(outcomes: Sequence[Result], mode: str) -> dict[str, float]:
    rankings = [outcome.capture.ranking(mode) for outcome in outcomes]
    rows = np.array([[ranking.features[name] for name in ANSWER_FEATURES] for ranking in rankings])
    labels = np.array([float(bool(outcome.asked.gold)) for outcome in outcomes])
    cost = WRONG_ANSWER_COST[mode]
    refusals = cost / (1 + cost)
    balance = np.where(labels > 0, (1 - refusals) / labels.mean(), refusals / (1 - labels.mean()))
    weights, bias = _fit(rows, labels, balance=balance, penalty=0.02)
    named = dict(zip(ANSWER_FEATURES, (round(float(value), 3) for value in weights), strict=True))
    return {"bias": round(bias, 3), **named}


def _fit(
    rows: npt.NDArray[np.float64],
    labels: npt.NDArray[np.float64],
    *,
    balance: npt.NDArray[np.float64] | None = None,
    groups: Sequence[int] = (),
    penalty: float = 0.002,
) -> tuple[npt.NDArray[np.float64], float]:
    """Fit a logistic regression, or, with groups, a softmax over the rows of each group."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    scaled = (rows - mean) / spread
    weights, bias = np.zeros(rows.shape[1]), 0.0
    ends = np.cumsum(groups)
    for _ in range(3000):
        logits = scaled @ weights + bias
        if len(ends):
            gradient = np.zeros_like(logits)
            for end, size in zip(ends, groups, strict=True):
                part = slice(end - size, end)
                chances = np.exp(logits[part] - logits[part].max())
                gradient[part] = chances / chances.sum() - labels[part] / labels[part].sum()
            weights -= 0.5 * (scaled.T @ gradient / len(ends) + penalty * weights)
        else:
            share = balance if balance is not None else np.ones_like(labels)
            error = (1 / (1 + np.exp(-logits)) - labels) * share
            weights -= 0.5 * (scaled.T @ error / len(labels) + penalty * weights)
            bias -= 0.5 * error.mean()
    return weights / spread, float(bias - (weights * mean / spread).sum())


def _write(weights_by_mode: object) -> None:
    WEIGHTS.write_text(json.dumps(weights_by_mode, indent=1) + "\n", "utf-8")
    ranking_module._load_weights.cache_clear()


# Report


def report(half: str, outcomes: Sequence[Result], *, details: bool) -> bool:
    """Print the scores of a half and return whether it reaches its targets."""
    answerable = [outcome for outcome in outcomes if outcome.asked.gold]
    others = [outcome for outcome in outcomes if not outcome.asked.gold]
    hits = sum(outcome.verdict == "found" for outcome in answerable)
    shown = sum(outcome.hit for outcome in answerable)
    refused = sum(outcome.verdict == "refused" for outcome in others)
    dangling = sum(outcome.dangling for outcome in outcomes)
    times = [outcome.milliseconds for outcome in outcomes]
    print(
        f"{half}: gold span in the first 3: {hits}/{len(answerable)} ({hits / len(answerable):.0%}; "
        f"{shown / len(answerable):.0%} before refusals), unanswerable recognized: {refused}/{len(others)} "
        f"({refused / len(others):.0%}), dangling citations: {dangling}, "
        f"median {statistics.median(times):.0f} ms, slowest {max(times):.0f} ms"
    )
    if details:
        for outcome in outcomes:
            if outcome.verdict not in ("found", "refused"):
                ranking = outcome.capture.ranking()
                order = [each.candidate in outcome.gold for each in ranking.passages]
                rank = order.index(True) + 1 if any(order) else "-"
                print(f"  {outcome.verdict:13}{outcome.asked.vault:8}{outcome.asked.question}", end="  ")
                print(f"[gold at {rank}, answer {ranking.answer_score:.2f}]")
                for each in ranking.passages[:1]:
                    print(f"      {each.candidate.title}: {each.candidate.passage.text[:110]}")
    return (
        hits >= FOUND_TARGET * len(answerable) and refused >= REFUSED_TARGET * len(others) and dangling == 0
    )


def main() -> int:
    """Evaluate one half or both, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("half", nargs="?", choices=("seen", "unseen"))
    parser.add_argument("--check", action="store_true", help="exit with status 1 if a target is missed")
    parser.add_argument(
        "--details", action="store_true", help="list the questions with wrong results (seen half only)"
    )
    parser.add_argument("--words", action="store_true", help="without search by meaning")
    parser.add_argument("--multilingual", action="store_true", help="with the multilingual model")
    parser.add_argument("--calibrate", action="store_true", help="fit the weights to the seen half first")
    arguments = parser.parse_args()
    if arguments.calibrate:
        _calibrate()
    targets_met = True
    for half in (arguments.half,) if arguments.half else ("seen", "unseen"):
        outcomes = asyncio.run(
            results(questions(half), with_meaning=not arguments.words, multilingual=arguments.multilingual)
        )
        targets_met = report(half, outcomes, details=arguments.details and half == "seen") and targets_met
    return 1 if arguments.check and not targets_met else 0


if __name__ == "__main__":
    sys.exit(main())
