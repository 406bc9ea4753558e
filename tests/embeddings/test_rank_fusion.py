"""Fusion of rankings by words and by meaning."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.embeddings.model_config import MULTILINGUAL, SentenceModelConfig
from app.embeddings.rank_fusion import SIGNAL_WEIGHTS, compute_signals, fuse, semantic_weight
from app.index.term_statistics import TermStatistics

ENGLISH, OTHER = SentenceModelConfig(), SentenceModelConfig("a/multilingual")
OWN = SentenceModelConfig(MULTILINGUAL)


def rankings(scores):
    return st.dictionaries(st.integers(0, 9), scores, max_size=8).map(
        lambda found: sorted(found.items(), key=lambda one: -one[1])
    )


by_words, by_meaning = rankings(st.floats(0.01, 30)), rankings(st.floats(-1, 1))
statistics = st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=6).map(
    lambda words: TermStatistics(
        30, ("word",) * len(words), tuple(count for count, _ in words), tuple(is_in for _, is_in in words)
    )
)
models = st.sampled_from([ENGLISH, OWN, OTHER])


@given(by_words, by_meaning, statistics, models)
def test_every_note_is_ranked_once_with_a_score_up_to_one(words, meant, terms, model) -> None:
    found = fuse(words, meant, terms, model)
    assert sorted(key for key, _ in found) == sorted({key for key, _ in [*words, *meant]})
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@given(by_words, by_meaning, statistics, models)
def test_what_both_lists_prefer_comes_first(words, meant, terms, model) -> None:
    place = {key: at for at, (key, _) in enumerate(fuse(words, meant, terms, model))}
    said, thought = dict(words), dict(meant)
    for one in place:
        for other in place:
            ahead_by_words = said.get(one, 0.0) > said.get(other, 0.0)
            ahead_by_meaning = thought.get(one, -2.0) > thought.get(other, -2.0)
            if ahead_by_words and ahead_by_meaning:
                assert place[one] < place[other]


@given(by_words, statistics, models)
def test_lists_in_the_same_order_keep_it(words, terms, model) -> None:
    meant = [(key, score / 40) for key, score in words]
    assert [key for key, _ in fuse(words, meant, terms, model)] == [key for key, _ in words]


@given(by_meaning, statistics, models)
def test_one_list_passes_where_the_other_is_empty(ranking, terms, model) -> None:
    order = [key for key, _ in ranking]
    assert [key for key, _ in fuse([], ranking, terms, model)] == order
    words = [(key, score + 2.0) for key, score in ranking]
    assert [key for key, _ in fuse(words, [], terms, model)] == order


@given(by_words, by_meaning, statistics, models)
def test_the_same_query_always_gives_the_same_ranking(words, meant, terms, model) -> None:
    assert fuse(words, meant, terms, model) == fuse(list(words), list(meant), terms, model)


WORDS = [("a", 9.0), ("b", 2.0), ("c", 1.5)]
MEANT = [("c", 0.6), ("b", 0.5), ("d", 0.4)]
ALL_FOUND = TermStatistics(1000, ("sourdough", "bread"), (2, 5), (True, True))


def weight(words, meant, terms=ALL_FOUND, model=ENGLISH) -> float:
    return semantic_weight(compute_signals(words, meant, terms, model))


def test_a_model_of_many_languages_is_trusted_more() -> None:
    assert weight(WORDS, MEANT, model=OWN) > weight(WORDS, MEANT)


def test_the_scale_of_a_foreign_models_cosines_does_not_matter() -> None:
    bunched = [(key, 0.8 + cosine / 10) for key, cosine in MEANT]
    assert weight(WORDS, bunched, model=OTHER) == pytest.approx(weight(WORDS, MEANT, model=OTHER))
    assert weight(WORDS, bunched) < weight(WORDS, MEANT)


def test_unknown_words_leave_the_ranking_to_meaning() -> None:
    none_found = TermStatistics(1000, ALL_FOUND.words, (0, 0), (False, False))
    rare_found = TermStatistics(1000, ALL_FOUND.words, (2, 5), (True, False))
    assert weight(WORDS, MEANT, none_found) > weight(WORDS, MEANT, rare_found) > weight(WORDS, MEANT)


def test_words_that_several_texts_have_together_leave_the_ranking_to_meaning() -> None:
    one, several = (replace(ALL_FOUND, with_all=count) for count in (1, 5))
    assert weight(WORDS, MEANT, several) > weight(WORDS, MEANT, one)
    assert weight(WORDS, MEANT, replace(several, is_named=True)) == weight(WORDS, MEANT, one)


def test_an_english_model_is_trusted_less_with_another_script() -> None:
    """Only the script of the words differs."""
    latin = TermStatistics(1000, ("abc", "de"), (2, 5), (True, False))
    greek = TermStatistics(1000, ("αβγ", "δε"), (2, 5), (True, False))
    assert weight(WORDS, MEANT, greek) < weight(WORDS, MEANT, latin)
    assert weight(WORDS, MEANT, greek, OWN) == weight(WORDS, MEANT, latin, OWN)


def test_a_rare_word_that_occurs_counts_for_the_words() -> None:
    rare = TermStatistics(1000, ALL_FOUND.words, (1, 1), (True, True))
    common = TermStatistics(1000, ALL_FOUND.words, (400, 400), (True, True))
    unknown = TermStatistics(1000, ALL_FOUND.words, (0, 0), (True, True))
    assert weight(WORDS, MEANT, rare) < weight(WORDS, MEANT, common) < weight(WORDS, MEANT, unknown)


def test_a_larger_vault_than_those_learned_from_does_not_shift_the_weight() -> None:
    # Every word has the same weight in both, so that only the number of texts differs.
    large, larger = (TermStatistics(texts, ("a",), (texts,), (True,)) for texts in (400, 40_000))
    assert weight(WORDS, MEANT, large) == pytest.approx(weight(WORDS, MEANT, larger), abs=0.01)


def test_a_clear_first_hit_counts_for_its_list() -> None:
    assert weight(WORDS, MEANT) < weight([("a", 9.0), ("b", 8.9), ("c", 8.8)], MEANT)
    assert weight(WORDS, [("d", 0.6), ("b", 0.31), ("c", 0.3)]) > weight(
        WORDS, [("d", 0.6), ("b", 0.59), ("c", 0.3)]
    )


def test_words_do_not_count_where_meaning_is_surely_better() -> None:
    """As in a vault in several languages, where the answer shares no words with the query."""
    words = [("same language", 2.0), ("other", 1.9)]
    meant = [("answer", 0.60), ("same language", 0.59), *((f"n{at}", 0.2 - at / 100) for at in range(9))]
    terms = TermStatistics(
        40, ("wie", "heilt", "ein", "knochenbruch"), (12, 0, 15, 0), (True, False, True, False)
    )
    assert weight(words, meant, terms, OWN) == 1.0
    assert fuse(words, meant, terms, OWN)[:2] == [
        ("answer", 1.0),
        ("same language", pytest.approx(0.979, abs=0.001)),
    ]


def test_the_similarity_decides_between_hits_that_the_words_rank_alike() -> None:
    words = [("a", 9.0), ("b", 8.9), ("c", 8.9)]
    meant = [("d", 0.6), ("e", 0.5), ("f", 0.4)]
    for closer, other in (("b", "c"), ("c", "b")):
        similarities = {"a": 0.3, closer: 0.39, other: 0.1, "d": 0.5, "e": 0.5, "f": 0.4}
        order = [key for key, _ in fuse(words, meant, ALL_FOUND, ENGLISH, similarities)]
        assert order.index(closer) < order.index(other)


@given(by_words, by_meaning, statistics, models, st.dictionaries(st.integers(0, 9), st.floats(-1, 1)))
def test_similarities_neither_add_a_note_nor_leave_one_out(words, meant, terms, model, known) -> None:
    hits = {key for key, _ in [*words, *meant]}
    similarities = {key: similarity for key, similarity in known.items() if key in hits}
    found = fuse(words, meant, terms, model, similarities)
    assert sorted(key for key, _ in found) == sorted(hits)
    assert all(0 <= score <= 1 for _, score in found)


def test_words_count_where_the_best_hit_has_them() -> None:
    assert 0.0 < weight(WORDS, MEANT) < 1.0
    assert fuse(WORDS, MEANT, ALL_FOUND, ENGLISH)[0][0] == "a"


def test_extreme_signals_do_not_overflow() -> None:
    huge = type(SIGNAL_WEIGHTS)(*[1e6 if weight > 0 else -1e6 for weight in SIGNAL_WEIGHTS])
    assert semantic_weight(huge) == pytest.approx(1.0)
    assert semantic_weight(type(SIGNAL_WEIGHTS)(*[-value for value in huge])) == pytest.approx(0.0)
