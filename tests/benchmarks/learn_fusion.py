"""Learn the weights of the fusion of words and meaning, on the seen halves of the retrieval benchmark's sets.

Run: python -m tests.benchmarks.learn_fusion

For each question the probability of each note is a softmax of two weighted scores; both weights are
exponential functions of the signals. L-BFGS minimizes the cross-entropy of the notes that answer, each set
counting by the square root of its size. Ranks depend only on the ratio of the two weights, whose logarithm is
printed, ready for `app/embeddings/rank_fusion.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from app.embeddings.rank_fusion import FusionSignals, signals
from tests.benchmarks.retrieval import Found, found_by_every_model

# Notes considered for each question, from the top of each list; the strength of the L2 penalty.
CANDIDATES, PENALTY = 20, 0.01
Array = npt.NDArray[np.float64]


def stretched(ranking: Sequence[tuple[str, float]], low: float) -> dict[str, float]:
    """The scores by note, 1 for the best and 0 for `low`."""
    high = max((score for _, score in ranking), default=low)
    return {key: (score - low) / (high - low) if high > low else 1.0 for key, score in ranking}


def learn(found: Sequence[Found]) -> FusionSignals:
    """The weights that fit these questions best."""
    rows, by_words, by_meaning, answers, sets = [], [], [], [], []
    for one in found:
        words = stretched(one.words, 0.0)
        meant = stretched(one.meant, min((cosine for _, cosine in one.meant), default=0.0))
        top = [*list(words)[:CANDIDATES], *list(meant)[:CANDIDATES]]
        keys = list(dict.fromkeys(top))
        if one.question.answer not in keys or not words or not meant:
            continue
        empty = [-np.inf] * (2 * CANDIDATES - len(keys))
        rows.append(signals(one.words, one.meant, one.terms, one.model))
        by_words.append([words.get(key, 0.0) for key in keys] + empty)
        by_meaning.append([meant.get(key, 0.0) for key in keys] + empty)
        answers.append(keys.index(one.question.answer))
        sets.append((one.corpus, one.question.kind, one.model.name))
    sizes = Counter(sets)
    share = np.array([sizes[key] ** -0.5 for key in sets])
    return FusionSignals(
        *_fitted(np.array(rows), _finite(by_words), _finite(by_meaning), np.array(answers), share)
    )


def _finite(scores: list[list[float]]) -> tuple[Array, Array]:
    """The scores with 0 for notes that are not there, and what to subtract from those."""
    table = np.array(scores)
    return np.where(np.isfinite(table), table, 0.0), np.where(np.isfinite(table), 0.0, -1e9)


def _fitted(
    rows: Array,
    words: tuple[Array, Array],
    meant: tuple[Array, Array],
    answers: npt.NDArray[np.intp],
    share: Array,
) -> list[float]:
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    mean[0], deviation[0] = 0.0, 1.0
    unit = (rows - mean) / deviation
    count, every = unit.shape[1], np.arange(len(unit))
    weight = share / share.sum()

    def loss(theta: Array) -> tuple[float, Array]:
        first, second = theta[:count], theta[count:]
        trust, belief = np.exp(np.clip(unit @ first, -8, 8)), np.exp(np.clip(unit @ second, -8, 8))
        score = trust[:, None] * words[0] + belief[:, None] * meant[0] + words[1]
        chance = np.exp(score - score.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        value = -(weight * np.log(chance[every, answers] + 1e-12)).sum()
        slope = chance
        slope[every, answers] -= 1.0
        slope *= weight[:, None]
        slopes = (
            ((slope * words[0]).sum(axis=1) * trust) @ unit,
            ((slope * meant[0]).sum(axis=1) * belief) @ unit,
        )
        penalty = np.concatenate([first, second])
        penalty[[0, count]] = 0.0
        return value + PENALTY / count * penalty @ penalty, np.concatenate(
            slopes
        ) + 2 * PENALTY / count * penalty

    best = minimize(loss, np.full(2 * count, 0.0), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    ratio = (best[count:] - best[:count]) / deviation
    ratio[0] -= (ratio[1:] * mean[1:]).sum()
    return [float(one) for one in ratio]


def main() -> None:
    """Print the weights."""
    found = [one for one in found_by_every_model() if one.question.is_seen]
    for name, weight in zip(FusionSignals._fields, learn(found), strict=True):
        print(f"    {name}={weight:.2f},")


if __name__ == "__main__":
    main()
