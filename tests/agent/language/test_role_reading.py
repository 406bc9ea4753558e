"""Requests whose order of words no frame has are read by the roles of their words, and asked about first."""

from __future__ import annotations

import pytest

from app.agent.builtin import BuiltinAgent
from app.agent.language.notation import serialize
from app.agent.language.readings import Clarification, Reading
from app.agent.language.span_model import RequestItem, span_model
from tests.support.everyday_requests import read, sample_agent


@pytest.fixture(scope="module")
def agent() -> BuiltinAgent:
    return sample_agent()


def readings(agent: BuiltinAgent, text: str) -> list[str]:
    """Return what a text means, or the answers of the question that it leads to."""
    found = read(agent, text)
    if isinstance(found, Clarification):
        return [serialize(option.reading) for option in found.options]
    assert isinstance(found, Reading)
    return [serialize(found)]


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        (
            "this note says brass, should be bell metal. change it",
            'replace [@Instruments/H1] old=brass text="bell metal"',
        ),
        ("this note really ought to carry the tag prototype", "add_tag [@Instruments/H1] tag=prototype"),
        ("Polaris belongs in Instruments", "move [@Concepts/Polaris] folder=Instruments"),
        (
            "Octant should be called Double reflector",
            'rename [@Instruments/Octant] new_name="Double reflector"',
        ),
        ("the year of H4 should be 1760", "set_property [@Instruments/H4] key=year value=1760"),
    ],
)
def test_a_change_in_any_order_of_words_is_offered(agent: BuiltinAgent, text: str, reading: str) -> None:
    assert reading in readings(agent, text)


def test_the_words_of_a_text_are_not_its_note() -> None:
    items = [RequestItem(word, "a") for word in ("add", "{topic}", "{topic}", "to")]
    spans, _ = span_model().spans([*items, RequestItem("{note}", "A")], "append")
    assert [span.role for span in spans] == ["text", "target"]


def test_two_requests_in_one_are_joined_by_their_conjunction() -> None:
    words = ("tag", "{note}", "as", "{tag}", "and", "then", "move", "it", "to", "{kind}")
    odds = span_model().boundaries([RequestItem(word, "a") for word in words])
    assert max(range(len(words)), key=odds.__getitem__) == words.index("and")


def test_a_reading_of_roles_never_changes_anything_without_a_question(agent: BuiltinAgent) -> None:
    assert isinstance(read(agent, "this note says brass, should be bell metal. change it"), Clarification)


def test_a_type_without_a_value_is_asked_for(agent: BuiltinAgent) -> None:
    assert isinstance(read(agent, "change the property type of H4"), Clarification)
