"""Learn the weights that fuse words and meaning, on the seen halves of the retrieval benchmark's sets.

Run: python -m tests.benchmarks.learn_fusion

The reciprocal rank of the answer depends on the weight of meaning in steps, so it is computed for a range of
weights and smoothed; the smoothed curves of all questions are the objective, which L-BFGS maximizes over the
weights of the signals. A set on which the fusion is below the better of the two lists is penalized. Each set
with enough questions counts by the square root of its size. The weights are printed, ready for
`app/embeddings/rank_fusion.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import minimize

from app.embeddings.rank_fusion import FusionSignals, compute_signals
from tests.benchmarks.retrieval import TOP, QueryResult, Ranking, query_every_model, score

# The logits of the weight of meaning, and the standard deviation of the smoothing, in logits.
LOGITS, SMOOTHING = np.linspace(-8.0, 8.0, 65), 0.7
# The weight of a shortfall, the target lead over the better list, and the width of the smooth transition.
SHORTFALL, LEAD, BEND = 5.0, 0.01, 0.01
L2_PENALTY = 0.001
# Smaller sets do not show reliably which list is better.
MIN_QUESTIONS = 8
Array = npt.NDArray[np.float64]


def curve(result: QueryResult) -> Array:
    """Return the reciprocal rank of the answer for each of the `LOGITS`."""
    words, meant = (
        rescale(result.words, 0.0),
        rescale(result.meant, min((c for _, c in result.meant), default=0.0)),
    )
    keys = list(dict.fromkeys([*words, *meant]))
    if result.question.answer not in keys:
        return np.zeros(len(LOGITS))
    share = 1.0 / (1.0 + np.exp(-LOGITS))[:, None]
    if not words or not meant:
        share[:] = 0.0 if words else 1.0
    by_words = np.array([words.get(key, 0.0) for key in keys])
    by_meaning = np.array([meant.get(key, 0.0) for key in keys])
    scores = (1.0 - share) * by_words + share * by_meaning
    at = keys.index(result.question.answer)
    right_scores = scores[:, [at]]
    rank = 1 + (scores > right_scores).sum(axis=1) + (scores[:, :at] == right_scores).sum(axis=1)
    return np.where(rank <= TOP, 1.0 / rank, 0.0)


def rescale(ranking: Ranking, low: float) -> dict[str, float]:
    """Return the scores by note, rescaled to 1 for the best and 0 for `low`."""
    high = max((raw_score for _, raw_score in ranking), default=low)
    return {key: (raw_score - low) / (high - low) if high > low else 1.0 for key, raw_score in ranking}


def learn(results: Sequence[QueryResult]) -> FusionSignals:
    """Return the weights that fit these questions best."""
    names = [(result.corpus, result.question.kind, result.model.name) for result in results]
    sets = np.unique(np.array([" / ".join(name) for name in names]), return_inverse=True)[1]
    rows = np.array(
        [compute_signals(result.words, result.meant, result.terms, result.model) for result in results]
    )
    curves = gaussian_filter1d(
        np.array([curve(result) for result in results]), SMOOTHING / (LOGITS[1] - LOGITS[0]), mode="nearest"
    )
    alone = np.array(
        [
            [score(ranking, result.question.answer)[0] for ranking in (result.words, result.meant)]
            for result in results
        ]
    )
    return FusionSignals(*_fit(rows, curves, sets, alone))


def _fit(rows: Array, curves: Array, sets: npt.NDArray[np.intp], alone: Array) -> list[float]:
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    mean[0], deviation[0] = 0.0, 1.0
    unit = (rows - mean) / deviation
    sizes = np.bincount(sets)
    better = np.max([np.bincount(sets, column) / sizes for column in alone.T], axis=0)
    weight = np.where(sizes >= MIN_QUESTIONS, np.sqrt(sizes), 0.0)
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
    weights[0] -= (weights[1:] * mean[1:]).sum()
    return [float(weight) for weight in weights]


def main() -> None:
    """Print the weights."""
    results = [result for result in query_every_model() if result.question.is_seen]
    for name, weight in zip(FusionSignals._fields, learn(results), strict=True):
        print(f"    {name}={weight:.2f},")


if __name__ == "__main__":
    main()
