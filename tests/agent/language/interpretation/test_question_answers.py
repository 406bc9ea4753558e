"""A text after a question is its answer, or a new request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.agent.builtin import BuiltinAgent
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from tests.support.everyday_requests import HERE, read, sample_agent

NOWHERE = replace(HERE, open_note=None)


@pytest.fixture(scope="module")
def agent() -> BuiltinAgent:
    return sample_agent()


def test_an_answer_fills_what_was_missing(agent: BuiltinAgent) -> None:
    question = read(agent, "create a note")
    assert isinstance(question, Clarification)
    found = read(agent, "Meeting notes", replace(HERE, question=question))
    assert isinstance(found, Reading) and serialize(found) == 'create_note name="Meeting notes"'


def test_a_chosen_option_that_lacks_a_value_asks_for_it(agent: BuiltinAgent) -> None:
    step = PipelineStep("set_confidence", NoteSet(notes=("Instruments/H1.md",)))
    lacking = Reading((step,), 0.9)
    question = Clarification("Which note?", (ClarificationOption("Instruments/H1.md", lacking),))
    asked = read(agent, "the first one", replace(HERE, question=question))
    assert isinstance(asked, Clarification) and asked.question == "What confidence, from 0 to 1?"
    found = read(agent, "0.4", replace(HERE, question=asked))
    assert (
        isinstance(found, Reading) and serialize(found) == "set_confidence [@Instruments/H1] confidence=0.4"
    )


def test_declining_drops_the_question(agent: BuiltinAgent) -> None:
    question = read(agent, "delete")
    assert isinstance(question, Clarification)
    assert read(agent, "never mind", replace(HERE, question=question)) == Reply("cancelled")


def test_a_new_request_is_no_answer_to_a_question(agent: BuiltinAgent) -> None:
    question = read(agent, "create a note")
    assert isinstance(question, Clarification)
    found = read(agent, "open the note on H4", replace(HERE, question=question))
    assert not (isinstance(found, Reading) and found.last.action == "create_note")


def test_a_new_request_is_not_the_answer_to_which_note(agent: BuiltinAgent) -> None:
    asked = read(agent, "delete it", NOWHERE)
    assert isinstance(asked, Clarification) and asked.question == "Which note?"
    found = read(agent, "which notes are tagged instrument?", replace(NOWHERE, question=asked))
    assert isinstance(found, Reading) and found.last.action == "find"
    answered = read(agent, "H4", replace(NOWHERE, question=asked))
    assert isinstance(answered, Reading) and serialize(answered) == "delete [@Instruments/H4]"


@pytest.mark.parametrize(
    ("text", "is_yes"), [("yes, please", True), ("ja, bitte", True), ("nein, danke", False)]
)
def test_a_question_is_answered_with_courtesy(agent: BuiltinAgent, text: str, is_yes: bool) -> None:
    reading = Reading((PipelineStep("delete", NoteSet(notes=("Instruments/K1.md",))),), 1.0)
    question = Clarification("Is this what you mean?", (ClarificationOption("delete", reading),))
    assert read(agent, text, replace(NOWHERE, question=question)) == (
        reading if is_yes else Reply("cancelled")
    )


RENAMED = PipelineStep("rename", NoteSet(notes=("Instruments/H4.md",)), {"new_name": "Clock"})
CREATED = PipelineStep("create_note", None, {"name": "Clock"})


@pytest.mark.parametrize(
    "text",
    [
        "call it Sea clock instead",
        "name it Sea clock",
        "nenn das Ganze lieber Sea clock",
        "nenn es Sea clock",
    ],
)
@pytest.mark.parametrize(("steps", "is_creation"), [((RENAMED, CREATED), False), ((CREATED, RENAMED), True)])
def test_a_name_is_that_of_a_new_note_only_if_the_question_is_about_one(
    agent: BuiltinAgent, text: str, steps: tuple[PipelineStep, ...], is_creation: bool
) -> None:
    options = tuple(ClarificationOption(step.action, Reading((step,), 1.0)) for step in steps)
    question = Clarification("Which of these do you mean?", options)
    found = read(agent, text, replace(HERE, question=question))
    created = isinstance(found, Reading) and serialize(found) == 'create_note name="Sea clock"'
    assert created == is_creation
    assert is_creation or not isinstance(found, Reading) or found.last.action == "rename"
