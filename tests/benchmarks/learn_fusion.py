"""Learn the weights that fuse words and meaning, on the seen halves of the retrieval benchmark's sets.

Run: python -m tests.benchmarks.learn_fusion [--validate]

The reciprocal rank of the answer depends on the weight of meaning in steps, so it is computed for a range of
weights and smoothed; the smoothed curves of all questions are the objective, which L-BFGS maximizes over the
weights of the signals. A set on which the fusion is below the better of the two lists is penalized. Each set
with enough notes or topics counts by the square root of their number. The weights are printed, ready for
`app/embeddings/rank_fusion.py`.

With --validate the weights are judged on corpora that they were not learned on: each half of each corpus is
ranked with weights learned on the other half of all other corpora. As every question is judged, the sets are
twice as large as in the retrieval benchmark.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import mean

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import minimize

from app.embeddings.rank_fusion import (
    MEANING_ONLY,
    FusionSignals,
    combined_score,
    compute_signals,
    scaled_by_meaning,
    scaled_by_words,
)
from tests.benchmarks.retrieval import (
    LABELS,
    MIN_CHECKED,
    TOP,
    QueryResult,
    interval,
    query_every_model,
    score,
)

# The logits of the weight of meaning, and the standard deviation of the smoothing, in logits.
LOGITS, SMOOTHING = np.linspace(-8.0, 8.0, 65), 0.7
# The weight of a shortfall, the target lead over the better list, and the width of the smooth transition.
SHORTFALL, LEAD, BEND = 5.0, 0.01, 0.01
L2_PENALTY = 0.001
# Smaller sets do not show reliably which list is better.
MIN_SOURCES = 8
Array = npt.NDArray[np.float64]


def curve(result: QueryResult, logits: Array) -> Array:
    """Return the reciprocal rank of the answer for each logit of the weight of meaning."""
    words, meant = scaled_by_words(result.words), scaled_by_meaning(result.meant, result.similarities)
    keys = list(dict.fromkeys([*words, *meant]))
    if result.question.answer not in keys:
        return np.zeros(len(logits))
    share = np.minimum(1.0, 1.0 / (1.0 + np.exp(-logits)) / MEANING_ONLY)[:, None]
    if not words or not meant:
        share[:] = 0.0 if words else 1.0
    by_words = np.array([words.get(key, 0.0) for key in keys])
    by_meaning = np.array([meant.get(key, 0.0) for key in keys])
    scores = combined_score(share, by_words, by_meaning)
    at = keys.index(result.question.answer)
    right_scores = scores[:, [at]]
    rank = 1 + (scores > right_scores).sum(axis=1) + (scores[:, :at] == right_scores).sum(axis=1)
    return np.where(rank <= TOP, 1.0 / rank, 0.0)


def set_name(result: QueryResult) -> str:
    """Return the name of a question's set and model."""
    return f"{LABELS[result.model.name]}, {result.corpus}, {result.question.kind}"


def learn(results: Sequence[QueryResult]) -> FusionSignals:
    """Return the weights that fit these questions best."""
    names = [set_name(result) for result in results]
    sets = np.unique(np.array(names), return_inverse=True)[1]
    pairs = {(int(at), result.question.source) for at, result in zip(sets, results, strict=True)}
    sources = np.bincount([at for at, _ in pairs])
    rows = np.array(
        [compute_signals(result.words, result.meant, result.terms, result.model) for result in results]
    )
    curves = gaussian_filter1d(
        np.array([curve(result, LOGITS) for result in results]),
        SMOOTHING / (LOGITS[1] - LOGITS[0]),
        mode="nearest",
    )
    alone = np.array(
        [
            [score(ranking, result.question.answer)[0] for ranking in (result.words, result.meant)]
            for result in results
        ]
    )
    return FusionSignals(*_fit(rows, curves, sets, sources, alone))


def _fit(
    rows: Array,
    curves: Array,
    sets: npt.NDArray[np.intp],
    sources: npt.NDArray[np.intp],
    alone: Array,
) -> list[float]:
    means, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    means[0], deviation[0] = 0.0, 1.0
    unit = (rows - means) / deviation
    sizes = np.bincount(sets)
    better = np.max([np.bincount(sets, column) / sizes for column in alone.T], axis=0)
    weight = np.where(sources >= MIN_SOURCES, np.sqrt(sources), 0.0)
    weight /= weight.sum()
    every, step = np.arange(len(unit)), LOGITS[1] - LOGITS[0]

    def loss(theta: Array) -> tuple[float, Array]:
        logit = unit @ theta
        place = (np.clip(logit, LOGITS[0], LOGITS[-1]) - LOGITS[0]) / step
        low = np.minimum(place.astype(int), len(LOGITS) - 2)
        rise = curves[every, low + 1] - curves[every, low]
        gained = curves[every, low] + rise * (place - low)
        slope = rise / step * (np.abs(logit) < LOGITS[-1])
        means = np.bincount(sets, gained) / sizes
        short = (better + LEAD - means) / BEND
        value = weight @ (SHORTFALL * BEND * np.logaddexp(0.0, short) - means)
        pull = -weight * (1.0 + SHORTFALL / (1.0 + np.exp(-short))) / sizes
        size = theta.copy()
        size[0] = 0.0
        gradient = unit.T @ (pull[sets] * slope) + 2.0 * L2_PENALTY * size
        return float(value + L2_PENALTY * size @ size), gradient

    best = minimize(loss, np.zeros(unit.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 600}).x
    weights = best / deviation
    weights[0] -= (weights[1:] * means[1:]).sum()
    return [float(weight) for weight in weights]


def validate(results: Sequence[QueryResult]) -> None:
    """Print the difference from the better list on each set, with weights learned on other corpora."""
    judged: dict[str, list[tuple[float, float, float]]] = {}
    sources: dict[str, list[str]] = {}
    for corpus in dict.fromkeys(result.corpus for result in results):
        for seen in (False, True):
            weights = np.array(
                learn(
                    [
                        result
                        for result in results
                        if result.corpus != corpus and result.question.is_seen != seen
                    ]
                )
            )
            for result in results:
                if result.corpus != corpus or result.question.is_seen != seen:
                    continue
                signals = np.array(compute_signals(result.words, result.meant, result.terms, result.model))
                answer = result.question.answer
                ours = float(curve(result, np.array([signals @ weights]))[0])
                judged.setdefault(set_name(result), []).append(
                    (score(result.words, answer)[0], score(result.meant, answer)[0], ours)
                )
                sources.setdefault(set_name(result), []).append(result.question.source)
    print(f"{'weights learned on other corpora: MRR@10':<52}{'n':>5}{'ours':>8}{'- better':>10}{'95 %':>18}")
    checked = []
    for name, rows in judged.items():
        words, meaning, ours = (list(column) for column in zip(*rows, strict=True))
        differences = [a - b for a, b in zip(ours, max(words, meaning, key=mean), strict=True)]
        low, high = interval(differences, sources[name])
        print(
            f"{name:<52}{len(rows):>5}{mean(ours):>8.3f}{mean(differences):>+10.3f}{low:>+10.3f} {high:+.3f}"
        )
        if len(set(sources[name])) >= MIN_CHECKED:
            checked.append(mean(differences))
    print(f"mean {mean(checked):+.3f}, worst {min(checked):+.3f}")


def main() -> None:
    """Print the weights, or with --validate how well such weights do on other corpora."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--validate", action="store_true", help="judge weights on corpora left out")
    given = parser.parse_args()
    results = query_every_model()
    if given.validate:
        validate(results)
        return
    weights = learn([result for result in results if result.question.is_seen])
    for name, weight in zip(FusionSignals._fields, weights, strict=True):
        print(f"    {name}={weight:.2f},")


if __name__ == "__main__":
    main()
