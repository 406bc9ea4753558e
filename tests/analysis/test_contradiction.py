"""Contradicting sentences are found precisely and symmetrically; agreement is never a contradiction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.analysis.contradiction import Contradiction, find_contradiction
from app.analysis.relation_classifier import NoteFeatures, Structure, suggest_relation
from app.analysis.sentences import split_sentences
from tests.benchmarks.contradictions import Pair, read_pairs, score

PAIRS = read_pairs()


def test_the_set_is_balanced() -> None:
    assert len(PAIRS) == 100 == len({(pair.first, pair.second) for pair in PAIRS})
    for half in ("tuned", "unseen"):
        labels = [pair.label for pair in PAIRS if pair.half == half]
        assert (len(labels), labels.count("contradicts"), labels.count("agrees")) == (50, 25, 10)


@pytest.mark.parametrize("half", ["tuned", "unseen"])
def test_nine_in_ten_suggested_contradictions_are_correct(half: str) -> None:
    made = score(tuple(pair for pair in PAIRS if pair.half == half))
    assert made.precision >= 0.9 and made.recall >= 0.8


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.label == "agrees"], ids=lambda p: p.second)
def test_agreement_by_a_negation_is_never_called_a_contradiction(pair: Pair) -> None:
    ends = (
        NoteFeatures("A", "note", split_sentences(pair.first)),
        NoteFeatures("B", "note", split_sentences(pair.second)),
    )
    for one, other in (ends, ends[::-1]):
        made = suggest_relation(one, other, Structure(0.87))
        assert made.type != "CONTRADICTS" and not made.evidence


def test_the_evidence_is_the_two_sentences() -> None:
    first = ("Tea is a drink.", "Green tea contains caffeine.")
    second = ("Green tea does not contain caffeine.", "Water is wet.")
    assert find_contradiction(first, second) == Contradiction(first[1], second[0])
    assert find_contradiction(first, (*second, first[1])) is None, "the other note says both"


def test_chinese_and_german() -> None:
    assert find_contradiction(["岛上有淡水。"], ["岛上没有淡水。"]) is not None
    assert find_contradiction(["岛上有淡水。"], ["岛上有淡水吗？"]) is None
    assert find_contradiction(["Der Kaffee ist gesund."], ["Der Kaffee ist nicht gesund."]) is not None
    assert find_contradiction(["Manche Vögel fliegen."], ["Manche Vögel fliegen nicht."]) is None


@pytest.mark.parametrize("word", ["neither ", "a not ", "不", "not\n", ";"])
def test_a_sentence_without_an_end_is_passed_over(word: str) -> None:
    endless = [word * 200_000] * 40
    assert find_contradiction(endless, [*endless, "Sharks sleep."]) is None


_SAID = st.lists(st.sampled_from([text for pair in PAIRS for text in (pair.first, pair.second)]), max_size=4)


@given(_SAID, _SAID)
def test_it_does_not_matter_which_note_comes_first(first: list[str], second: list[str]) -> None:
    found, back = find_contradiction(first, second), find_contradiction(second, first)
    assert (found is None) == (back is None)
    assert find_contradiction(first, first) is None
    if found:
        assert found.first in first and found.second in second


@given(st.lists(st.text(max_size=60), max_size=5), st.lists(st.text(max_size=60), max_size=5))
def test_any_text_can_be_compared(first: list[str], second: list[str]) -> None:
    assert find_contradiction(first, first) is None
    find_contradiction(first, second)
