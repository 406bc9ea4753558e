"""Missing links are predicted for good reasons, and never between excluded notes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.analysis.link_prediction import CandidateFeatures, predict_links
from app.analysis.network import AdjacencyArrays, EncodedLabels

NOBODY = np.empty((0, 2), dtype=np.int64)


def material(size: int, pairs, tags=(), vectors=None, may=None) -> CandidateFeatures:
    rows = np.arange(size) if vectors is not None else np.empty(0, dtype=np.int64)
    given_ = np.asarray(vectors if vectors is not None else np.empty((0, 1)), dtype=np.float32)
    lengths = np.linalg.norm(given_, axis=1, keepdims=True)
    return CandidateFeatures(
        AdjacencyArrays(
            size, np.array([pair for pair in pairs if pair[0] != pair[1]], dtype=np.int32).reshape(-1, 2)
        ),
        np.ones(size, dtype=bool) if may is None else np.array(may),
        EncodedLabels.from_strings([*tags, *[()] * (size - len(tags))]),
        (given_ / np.maximum(lengths, 1e-9)).astype(np.float16),
        rows,
    )


def found(*args, **kwargs) -> dict[tuple[int, int], dict[str, float]]:
    given_ = material(*args, **kwargs)
    return {
        (each.source, each.target): {ground.kind: ground.score for ground in each.evidence}
        for each in predict_links(given_, NOBODY, 50)
    }


def test_two_notes_with_common_neighbors_are_joined_for_that_reason():
    all_of_them = predict_links(material(5, [(0, 2), (1, 2), (0, 3), (1, 3), (3, 4)]), NOBODY, 9)
    (first,) = [each for each in all_of_them if (each.source, each.target) == (0, 1)]
    assert [ground.kind for ground in first.evidence] == ["neighbors"]
    # A neighbor with fewer links weighs more.
    assert first.evidence[0].rows == (2, 3)


def test_a_hub_that_everything_links_to_is_no_reason():
    assert found(400, [(row, 0) for row in range(1, 400)]) == {}


def test_alike_notes_and_notes_with_a_rare_tag_are_joined_too():
    vectors = [[1, 0, 0], [1, 0.1, 0], [0, 1, 0], [0, 0, 1]]
    pairs = found(4, [], tags=[(), (), ("rare",), ("rare",)], vectors=vectors)
    assert set(pairs) == {(0, 1), (2, 3)}
    assert set(pairs[0, 1]) == {"meaning"}
    assert set(pairs[2, 3]) == {"tags"}


def test_more_reasons_make_a_better_suggestion():
    base = [(0, 2), (1, 2)]
    one = predict_links(material(3, base), NOBODY, 9)[0]
    two = predict_links(material(3, base, tags=[("t",), ("t",)]), NOBODY, 9)[0]
    assert two.score > one.score
    assert [ground.kind for ground in two.evidence] == ["neighbors", "tags"]
    assert two.evidence[1].tags == ("t",)


rows = st.integers(0, 9)
pairs_of_rows = st.lists(st.tuples(rows, rows), max_size=25)


@given(pairs_of_rows, pairs_of_rows, st.sets(rows), st.integers(-1, 9))
def test_no_existing_rejected_or_forbidden_link_is_suggested(pairs, rejected, forbidden, around):
    rng = np.random.default_rng(1)
    may = [row not in forbidden for row in range(10)]
    tags = [("x",) if row % 2 else ("y", "x") for row in range(10)]
    given_ = material(10, pairs, tags=tags, vectors=rng.standard_normal((10, 3)), may=may)
    if around >= 0 and not may[around]:
        around = -1
    refused = np.array(rejected, dtype=np.int64).reshape(-1, 2)
    links = {frozenset(pair) for pair in pairs} | {frozenset(pair) for pair in rejected}
    seen = set()
    scores = []
    for each in predict_links(given_, refused, 100, around):
        pair = frozenset((each.source, each.target))
        assert len(pair) == 2 and pair not in links and pair not in seen
        assert not pair & forbidden
        assert around < 0 or each.source == around
        assert 0 < each.score <= 1 and each.evidence
        seen.add(pair)
        scores.append(each.score)
    assert scores == sorted(scores, reverse=True)
