"""Questions that offer another search that a request may mean."""

from __future__ import annotations

import pytest

from app.agent.language.dialog import DialogState
from app.agent.language.notation import serialize
from app.agent.language.other_readings import with_other_reading
from app.agent.language.readings import Clarification, ContentQuestion, NoteSet, PipelineStep, Reading
from tests.agent.language.test_program import request


def offered(text: str, found: NoteSet, last: str = "") -> list[str]:
    """Return the readings that are offered in place of a search, after the search `last`."""
    before = Reading((PipelineStep("find", NoteSet(query=last)),), 1.0) if last else None
    asked = request(text, DialogState(last=before))
    answer = with_other_reading(asked, Reading((PipelineStep("find", found),), 1.0))
    options = answer.options if isinstance(answer, Clarification) else ()
    return [serialize(option.reading) for option in options]


def test_the_most_linked_notes_may_be_those_with_the_most_backlinks() -> None:
    by_links = NoteSet(order="links", limit=10)
    both = ["find [*] order=backlinks limit=10", "find [*] order=links limit=10"]
    assert offered("ten most linked notes", by_links) == both
    assert offered("ten most connected notes", by_links) == []


def test_a_word_may_be_the_last_part_of_a_tag() -> None:
    assert offered("harbors?", NoteSet(query="harbors"))[0] == "find [tag:place/harbor]"
    found = NoteSet(query="path:Places/ (harbors OR clocks)")
    assert offered("places that are harbors or clocks", found) == []
    found = NoteSet(query="path:Places/ harbors")
    assert offered("harbors in places", found)[0] == "find [path:Places/ tag:place/harbor]"


def test_the_only_word_of_a_request_may_be_a_tag() -> None:
    asked = Reading((PipelineStep("question", None, {"query": "harbors now?"}),), 1.0)
    answer = with_other_reading(request("harbors now?"), asked)
    assert isinstance(answer, Clarification)
    assert serialize(answer.options[0].reading) == "find [tag:place/harbor]"
    by_value = Reading((PipelineStep("find", NoteSet(query="[area:harbor]")),), 1.0)
    assert with_other_reading(request("only harbors"), by_value) == by_value
    question = ContentQuestion("are harbors deep?")
    assert with_other_reading(request("are harbors deep?"), question) == question


@pytest.mark.parametrize(
    ("text", "query", "last", "expected"),
    [
        (
            "and this week",
            "path:Meetings/ modified:>=2026-03-16 modified:<=2026-03-18",
            "path:Meetings [date:>=2026-03-09] [date:<=2026-03-15]",
            "find [path:Meetings [date:>=2026-03-16] [date:<=2026-03-18]]",
        ),
        ("in the last 30 days", "modified:>=2026-02-16", "clocks", "find [clocks modified:>=2026-02-16]"),
    ],
)
def test_a_period_continues_the_last_search(text: str, query: str, last: str, expected: str) -> None:
    assert offered(text, NoteSet(query=query), last)[0] == expected


def test_a_period_of_other_notes_does_not_continue_the_last_search() -> None:
    assert offered("people changed this week", NoteSet(query="path:People/ modified:2026"), "clocks") == []
