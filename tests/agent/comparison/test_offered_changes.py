"""A question offers a deletion only if the request mentions or continues one."""

from __future__ import annotations

import pytest

from app.agent.comparison.offered_changes import without_asked_changes, without_deletions
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import parse
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
)
from tests.agent.language.meaning.test_dialog import talk

__all__ = ["talk"]
H3 = "Instruments/H3.md"


def offered_actions(talk, request_text: str, state: DialogState) -> list[str]:
    """Return the actions of a question that offers to open, tag and delete H4."""
    request = talk.workspace.agent._builtin._requests.request_of(request_text, state)
    lines = ("open [@H4]", "add_tag [@H4] tag=x", "delete [@H4]")
    readings = [parse(line, request.vocabulary.notes, ACTIONS) for line in lines]
    question = Clarification("", tuple(ClarificationOption("", reading) for reading in readings))
    kept = without_deletions(question, request)
    return [option.reading.last.action for option in kept.options]


@pytest.mark.parametrize("request_text", ["delte it", "throw H4 away", "take it out", "weg damit"])
def test_a_deletion_is_offered_if_the_request_says_so(talk, request_text) -> None:
    assert "delete" in offered_actions(talk, request_text, DialogState())


def test_a_deletion_is_not_offered_for_other_words(talk) -> None:
    for other in ("no, not the export one", "mark it as done", "zeige die Notizen", "sort them"):
        assert offered_actions(talk, other, DialogState()) == ["open", "add_tag"], other
    deletion = Reading((PipelineStep("delete", NoteSet(notes=(H3,))),), 1.0)
    assert "delete" in offered_actions(talk, "and the other one", DialogState(last=deletion))
    question = Clarification("", (), deletion)
    assert "delete" in offered_actions(talk, "the second", DialogState(question=question))


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [
        ("which clocks were tagged early", ["open"]),
        ("who was its maker?", ["open"]),
        ("show both of them", ["open"]),
        ("welche sind davon alt?", ["open"]),
        ("which of them should I tag?", ["open", "add_tag"]),
        ("mark both of them", ["open", "add_tag"]),
    ],
)
def test_a_question_for_notes_offers_no_changes(talk, request_text, wanted) -> None:
    request = talk.workspace.agent._builtin._requests.request_of(request_text, DialogState())
    lines = ("open [@H4]", "add_tag [@H4] tag=x")
    readings = [parse(line, request.vocabulary.notes, ACTIONS) for line in lines]
    question = Clarification("", tuple(ClarificationOption("", reading) for reading in readings))
    kept = without_asked_changes(question, request)
    assert [option.reading.last.action for option in kept.options] == wanted
