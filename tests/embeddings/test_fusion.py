"""Words and meaning in one ranking."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.embeddings.fusion import blended, share_of_meaning
from app.embeddings.model_choice import ModelChoice

rankings = st.dictionaries(st.integers(0, 9), st.floats(0.01, 1), max_size=8).map(
    lambda scores: sorted(scores.items(), key=lambda one: -one[1])
)


def test_what_both_find_comes_before_what_one_finds() -> None:
    found = blended([("a", 9.0), ("both", 8.0)], [("b", 0.75), ("both", 0.7)])
    assert [key for key, _ in found] == ["both", "a", "b"]


@given(rankings, rankings, st.floats(0, 1))
def test_every_key_is_ranked_once_with_a_score_up_to_one(words, meant, share) -> None:
    found = blended(words, meant, share)
    assert {key for key, _ in found} == {key for key, _ in [*words, *meant]}
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1.0001 for score in scores)


@given(rankings, rankings)
def test_without_a_say_meaning_only_adds_at_the_end(words, meant) -> None:
    assert blended(words, meant, 0.0)[: len(words)] == [(key, score / words[0][1]) for key, score in words]


def test_the_shipped_model_says_less_where_it_knows_less() -> None:
    shipped, other = ModelChoice(), ModelChoice("a/multilingual")
    assert share_of_meaning("how to bake bread", shipped) == 0.5
    assert share_of_meaning("日本語のノート", shipped) == 0.0
    assert 0.0 < share_of_meaning("Obsidian 的使用感受", shipped) < 0.5
    assert share_of_meaning("日本語のノート", other) == 0.5
    assert share_of_meaning("42", shipped) == 0.5
