"""Extractive summaries: the most central sentences of a text, in their original order.

LexRank (Erkan and Radev, 2004) finds central sentences by running PageRank on their similarity graph.
Maximal marginal relevance (Carbonell and Goldstein, 1998) then selects sentences that are central and not
redundant, within the length limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.analysis.sentences import join_sentences, split_sentences, with_full_stop
from app.analysis.tfidf import cosine_matrix, tfidf_similarity

MAX_SENTENCES = 160
_RELEVANCE_WEIGHT = 0.6
_MIN_REPEAT_SIMILARITY = 0.75
_MIN_CENTRALITY = 0.3
_MIN_SIMILARITY = 0.1
_LEAD_BONUS = 0.25
_MAX_KEY_POINTS = 5
_FULL_WEIGHT_CHARS = 12


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a text: some of its sentences in their original order, and key points, best first.

    `text` joins the sentences. If no sentence fits, it is the best sentence, cut to fit, and
    `sentences` holds only this text. `method` describes the method for the user.
    """

    text: str
    key_points: tuple[str, ...]
    method: str
    sentences: tuple[str, ...] = ()


def candidate_sentences(text: str) -> tuple[str, ...]:
    """Return the first distinct sentences of a note, at most `MAX_SENTENCES`."""
    return tuple(dict.fromkeys(split_sentences(text)))[:MAX_SENTENCES]


def summarize(
    texts: Sequence[str],
    max_length: int,
    vectors: NDArray[np.floating] | None = None,
    max_sentences: int | None = None,
) -> Summary:
    """Summarize a text; without sentences, the summary is empty.

    Args:
        texts: The sentences, in order.
        max_length: The maximum length of the summary in characters.
        vectors: (n, d) embeddings of the sentences; without them, words are compared.
        max_sentences: The maximum number of sentences; None for as many as fit.
    """
    method = f"The most central sentences, compared by {'meaning' if vectors is not None else 'their words'}"
    if not texts:
        return Summary("", (), method)
    similarity = tfidf_similarity(texts) if vectors is None else cosine_matrix(vectors)
    central = _centrality(texts, similarity)
    order = _order_by_marginal_relevance(central, similarity)
    preferred = [at for at in order if central[at] >= _MIN_CENTRALITY]
    selected = _select_fitting(texts, preferred, order, max_length, max_sentences)
    text = join_sentences(selected) if selected else truncate(with_full_stop(texts[order[0]]), max_length)
    return Summary(text, _key_points(texts, preferred), method, selected or (text,))


def truncate(text: str, max_length: int) -> str:
    """Return `text` on one line; a longer text is cut, preferably after a word, and ends with an ellipsis.

    If `max_length` is less than 2, there is no ellipsis.
    """
    line = " ".join(text.split())
    if len(line) <= max_length:
        return line
    if max_length < 2:
        return line[:max_length]
    cut = line[: max_length - 1]
    at_word = cut.rpartition(" ")[0]
    shortened = at_word if len(at_word) > len(cut) // 2 else cut
    return shortened.rstrip(" ,;:–-") + "…"


def _centrality(texts: Sequence[str], similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weighted PageRank scores, 0 to 1; opening sentences count more, very short ones less."""
    import networkx  # Takes a few tenths of a second to import.

    edges = np.where(similarity >= _MIN_SIMILARITY, similarity, 0.0)
    np.fill_diagonal(edges, 0.0)
    graph = networkx.from_numpy_array(edges)
    ranked = networkx.pagerank(graph, weight="weight")
    rank = np.array([ranked[at] for at in range(len(texts))])
    relative_position = np.arange(len(texts)) / max(1, len(texts) - 1)
    weight = rank / rank.max() * (1 + _LEAD_BONUS * np.exp(-4 * relative_position))
    size = np.array([min(1.0, len(text) / _FULL_WEIGHT_CHARS) for text in texts])
    weight = weight * size
    return np.asarray(weight / weight.max())


def _order_by_marginal_relevance(central: NDArray[np.float64], similarity: NDArray[np.float64]) -> list[int]:
    """Return the indices of all sentences by marginal relevance, best first.

    Central sentences rank high, and those similar to an earlier one rank low.
    """
    remaining = list(range(len(central)))
    order: list[int] = []
    nearest = np.zeros(len(central))
    while remaining:
        repeats = nearest[remaining] >= _MIN_REPEAT_SIMILARITY
        relevance = (
            _RELEVANCE_WEIGHT * central[remaining] - (1 - _RELEVANCE_WEIGHT) * nearest[remaining] - repeats
        )
        best = remaining.pop(int(np.argmax(relevance)))
        order.append(best)
        nearest = np.maximum(nearest, similarity[best])
    return order


def _select_fitting(
    texts: Sequence[str],
    preferred: Sequence[int],
    order: Sequence[int],
    max_length: int,
    max_sentences: int | None,
) -> tuple[str, ...]:
    """Return the best of the `preferred` sentences that fit together, in the order of the text.

    If no preferred sentence fits, return the first one in `order` that does; none if no sentence fits.
    """
    selected: list[int] = []
    remaining = max_length
    sizes = [len(with_full_stop(text)) for text in texts]
    fallback = [at for at in order if sizes[at] <= max_length][:1]
    for at in preferred if any(sizes[at] <= max_length for at in preferred) else fallback:
        need = sizes[at] + (1 if selected else 0)
        if need <= remaining and (max_sentences is None or len(selected) < max_sentences):
            selected.append(at)
            remaining -= need
    return tuple(texts[at] for at in sorted(selected))


def _key_points(texts: Sequence[str], order: Sequence[int]) -> tuple[str, ...]:
    count = max(1, min(_MAX_KEY_POINTS, (len(texts) + 2) // 3))
    return tuple(texts[at] for at in order[:count])
