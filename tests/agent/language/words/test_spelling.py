"""Tests of the correction of misspelled words."""

from __future__ import annotations

from app.agent.language.words.spelling import correct_spelling, name_similarity


def test_a_missing_letter_is_likelier_than_a_wrong_one() -> None:
    assert correct_spelling("taks", frozenset(("tags", "tasks"))) == "tasks"
    assert correct_spelling("tagz", frozenset(("tags", "tasks"))) == "tags"


def test_words_that_differ_only_in_their_ending_are_not_misspellings() -> None:
    assert correct_spelling("notes", ("note",), endings=("s",)) is None
    assert correct_spelling("nottes", ("notes",), endings=("s",)) == "notes"


def test_long_words_may_differ_in_two_letters() -> None:
    assert correct_spelling("chronomter", ("chronometer",)) == "chronometer"
    assert correct_spelling("cronomter", ("chronometer",)) == "chronometer"
    assert correct_spelling("saxtent", ("sextant",)) is None


def test_each_word_of_a_text_may_resemble_a_part_of_a_name() -> None:
    assert name_similarity("john harison", "john harrison the younger") > name_similarity(
        "john harison", "john hadley"
    )
