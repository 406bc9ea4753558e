"""The probabilities of what a request may mean."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.notation import parse
from app.agent.language.meaning.readings import Reading
from app.agent.language.model.candidates import MeaningCandidate
from app.agent.language.model.decision import Option, options_of, weigh_options


def reading(line: str, score: float = 1.0) -> Reading:
    found = parse(line, lambda name: (f"{name}.md",), ACTIONS)
    assert found is not None
    return Reading(found.steps, score)


def shares(written: list[MeaningCandidate], found: list[Reading], *, asks: bool = False) -> list[Option]:
    return weigh_options(options_of(written, found, asks=asks))


def test_probabilities_sum_to_one() -> None:
    found = shares([MeaningCandidate(0.7, reading("read [@H4]")), MeaningCandidate(0.1, outcome="none")], [])
    assert sum(option.share for option in found) == pytest.approx(1)
    assert found[0].reading == reading("read [@H4]")


def test_what_grammar_and_model_read_is_likelier_than_what_one_of_them_reads() -> None:
    other = MeaningCandidate(0.3, reading("open [@H4]"))
    both = shares([MeaningCandidate(0.3, reading("read [@H4]")), other], [reading("read [@H4]")])
    one = shares([MeaningCandidate(0.3, reading("read [@H4]")), other], [])
    assert both[0].reading == reading("read [@H4]") and both[0].is_agreed
    assert both[0].share > one[0].share
    assert not one[0].is_agreed


def test_a_search_with_more_conditions_counts_as_written_but_a_change_does_not() -> None:
    for action, written in (("find", True), ("delete", False)):
        broader = MeaningCandidate(0.9, reading(f"{action} [tag:core]"))
        found = shares([broader], [reading(f"{action} [tag:core path:People/]")])
        mine = next(option for option in found if option.features.get("first"))
        assert mine.is_agreed is written


def test_a_reading_without_a_value_is_no_answer() -> None:
    partial = Reading(reading("delete [@H4]").steps, 0.9, missing="target")
    found = shares([MeaningCandidate(0.2, outcome="ask")], [partial])
    assert not any(option.reading for option in found)
