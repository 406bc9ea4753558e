"""Questions about the contents of notes are distinguished from requests for notes and for actions."""

from __future__ import annotations

import pytest

from app.agent.language.content_questions import as_content_question
from app.agent.language.lexicon import languages
from app.agent.language.readings import (
    Clarification,
    ClarificationOption,
    ContentQuestion,
    ModelRequired,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)

FOUND = Reading((PipelineStep("find", NoteSet("latitude sailing")),), 0.8)
TAGGED = Reading((PipelineStep("find", NoteSet("tag:core")),), 0.8)
COUNTED = Reading((PipelineStep("count", NoteSet("men died")),), 0.8)
WRITES = Reading((PipelineStep("add_tag", NoteSet(notes=("A.md",)), {"tag": "x"}),), 0.8)
MODEL = ModelRequired("Explaining")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what is latitude sailing?", FOUND),
        ("was ist Latitude sailing?", FOUND),
        ("how many men died at Scilly?", COUNTED),
        ("until when did France keep Paris?", Reply("", understood=False)),
        ("what do my notes say about latitude sailing?", FOUND),
        ("what are evergreen notes?", FOUND),
    ],
)
def test_a_search_for_words_that_asks_is_a_question(text: str, found: Reading | Reply) -> None:
    assert as_content_question(found, text, languages(), {}) == ContentQuestion(text)


def test_a_question_back_about_a_search_for_words_is_not_asked() -> None:
    back = Clarification(
        "Is this what you mean?", (ClarificationOption("", FOUND), ClarificationOption("", COUNTED))
    )
    text = "how heavy was the first sea clock?"
    assert as_content_question(back, text, languages(), {}) == ContentQuestion(text)
    asked = Clarification(
        "Is this what you mean?", (ClarificationOption("", FOUND), ClarificationOption("", TAGGED))
    )
    assert as_content_question(asked, text, languages(), {}) is asked


def test_what_a_model_could_do_is_kept() -> None:
    text = "why was longitude hard to find?"
    assert as_content_question(MODEL, text, languages(), {}) == ContentQuestion(text, needs_model=MODEL)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("how many notes say men died?", COUNTED),
        ("which notes mention latitude sailing?", FOUND),
        ("what is tagged core?", TAGGED),
        ("can you find latitude sailing?", FOUND),
        ("latitude sailing", FOUND),
        ("have latitude sailing", FOUND),
        ("could A be tagged x?", WRITES),
        ("explain latitude sailing", MODEL),
        ("blurb the gnarx quickly", Reply("", understood=False)),
    ],
)
def test_requests_stay_requests(text: str, found: Reading | ModelRequired | Reply) -> None:
    assert as_content_question(found, text, languages(), {}) is found
