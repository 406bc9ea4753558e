"""The reading to run is chosen among those of the grammar and of the request model."""

from __future__ import annotations

import pytest

from app.agent.language.interpretation.interpretation_choice import _rival, _stated_value
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import parse
from app.agent.language.meaning.readings import ContentQuestion
from app.agent.language.model.candidates import MeaningCandidate
from tests.agent.language.model.test_program import request
from tests.support.everyday_requests import HERE, read, sample_agent


@pytest.mark.parametrize(
    ("written", "is_offered"),
    [
        ("vault_info", True),
        ("find [path:Events/ [year]]", True),
        ("find [path:Sources/]", False),
        ("find [path:Events/] order=name limit=1", True),
        ("find [path:Events/] order=words limit=1", False),
        ("add_tag [path:Events/] tag=late", False),
    ],
)
def test_a_confident_reading_of_the_model_is_offered_with_that_of_the_grammar(
    written: str, is_offered: bool
) -> None:
    grammar = parse("find [path:Events/] order=name", lambda _: (), ACTIONS)
    other = parse(written, lambda _: (), ACTIONS)
    assert grammar is not None and other is not None
    for probability, confident in ((0.5, True), (0.2, False)):
        candidates = [MeaningCandidate(probability, other)]
        rival = _rival(request("events"), grammar, candidates)
        assert (rival == other) is (is_offered and confident)
    expected = [MeaningCandidate(0.5, other), MeaningCandidate(0.1, grammar)]
    assert _rival(request("events"), grammar, expected) is None


def test_a_question_may_mean_a_search_for_a_value() -> None:
    by_value = parse("find [[artist:Björk]]", lambda _: (), ACTIONS)
    other = parse("find [path:Sources/ [artist:Björk]]", lambda _: (), ACTIONS)
    assert by_value is not None and other is not None
    assert _stated_value([MeaningCandidate(0.2, other), MeaningCandidate(0.1, by_value)]) == by_value
    assert _stated_value([MeaningCandidate(0.01, by_value)]) is None


ASKED = DialogState(open_note="Instruments/H1.md", asked="how is H1 cleaned?", subject=("Instruments/H1.md",))


@pytest.mark.parametrize("state", [HERE, ASKED])
@pytest.mark.parametrize(
    "text",
    [
        "can I use peaches instead?",
        "could we sail with this in the rain",
        "should I oil the springs?",
        "darf ich das Öl auch warm nehmen?",
    ],
)
def test_whether_something_may_be_done_is_a_question_about_the_notes(text: str, state: DialogState) -> None:
    assert isinstance(read(sample_agent(), text, state), ContentQuestion)


@pytest.mark.parametrize(
    "text",
    ["can I have the notes about lunars", "can I rename it to Foo", "can I see H4?", "can you open H4"],
)
def test_a_polite_order_is_no_question(text: str) -> None:
    assert not isinstance(read(sample_agent(), text), ContentQuestion)
