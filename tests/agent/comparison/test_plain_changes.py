"""A plain change runs if the request model is sure of it, even if the grammar can't parse the request."""

from __future__ import annotations

import pytest

from app.agent.comparison.plain_changes import is_plain_change
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import OPEN, fill, say, talk, text

__all__ = ["talk"]
NOTES = NoteSet(notes=("H4.md",))


def is_plain(talk, text_of_request: str, *steps: PipelineStep) -> bool:
    """Return whether a change is plain, in a conversation with a note on the screen."""
    request = talk.workspace.agent._builtin._requests.request_of(text_of_request, DialogState(open_note=OPEN))
    return is_plain_change(request, Reading(steps, 1.0), lambda path: {"year": 1760})


@pytest.mark.parametrize(
    ("step", "is_plain_step"),
    [
        (PipelineStep("set_property", NOTES, {"key": "Year", "value": 1759}), True),
        (PipelineStep("set_property", NOTES, {"key": "year", "value": 1761}), False),
        (PipelineStep("set_property", NOTES, {"key": "maker", "value": 1759}), False),
        (PipelineStep("set_property", NoteSet(notes=()), {"key": "year", "value": 1759}), False),
        (PipelineStep("remove_tag", NOTES, {"tag": "year"}), True),
        (PipelineStep("remove_tag", NOTES, {"tag": "clock"}), False),
        (PipelineStep("delete", NOTES), False),
        (PipelineStep("rename", NOTES, {"new_name": "H5"}), False),
        (PipelineStep("undo", None, {"scope": "last"}), False),
    ],
)
def test_only_changes_of_what_a_note_has_are_plain(talk, step, is_plain_step) -> None:
    assert is_plain(talk, "year 1759", step) is is_plain_step


@pytest.mark.parametrize("request_text", ["this one 1759", "that review thing, move it on to 1759"])
def test_a_value_without_its_property_or_note_is_not_plain(talk, request_text) -> None:
    assert not is_plain(
        talk, request_text, PipelineStep("set_property", NOTES, {"key": "year", "value": 1759})
    )


def test_two_changes_are_not_plain(talk) -> None:
    steps = (PipelineStep("remove_tag", NOTES, {"tag": "a"}), PipelineStep("remove_tag", NOTES, {"tag": "b"}))
    assert not is_plain(talk, "drop the tags a and b", *steps)


@pytest.mark.parametrize(
    ("requests", "path", "wanted"),
    [
        (("set born of James Cook to 1728-01-01", "died 1780-01-01"), "People/James Cook.md", "1780-01-01"),
        (("set year of Dava Sobel 1995 to 1996", "read true"), "Sources/Dava Sobel 1995.md", "read: true"),
    ],
)
async def test_a_short_line_sets_another_property_of_the_note(talk, requests, path, wanted) -> None:
    await say(talk, *requests)
    assert wanted in text(talk, path)


async def test_the_tag_that_a_note_has_is_dropped_at_once(talk) -> None:
    await say(talk, "tag H4 brass", "drop the brass tag")
    assert "brass" not in text(talk, "Instruments/H4.md").partition("---\n")[2].partition("---\n")[0]


@pytest.mark.parametrize(
    "request_text", ["set aliases of Dial to Sundial", "change the aliases of Dial to Sundial"]
)
async def test_one_value_does_not_replace_several_at_once(talk, request_text) -> None:
    await fill(talk, Dial="---\naliases: [Plate, Face]\n---\nA dial.\n")
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question) and "[Plate, Face]" in text(talk, "Dial.md")


@pytest.mark.parametrize("request_text", ["year was 1761", "the year was 1761"])
async def test_a_former_value_is_asked_about(talk, request_text) -> None:
    await fill(talk, Instruments__H1="---\nyear: 1735\n---\nA clock.\n")
    await say(talk, request_text)
    assert "year: 1735\n" in text(talk, OPEN)


@pytest.mark.parametrize("request_text", ["actually remove the milk from it", "remove milk from it"])
async def test_a_text_that_was_just_added_is_removed_at_once(talk, request_text) -> None:
    await say(talk, "create a note called Shopping with milk, eggs and bread", request_text)
    assert text(talk, "Shopping.md") == "- eggs\n- bread\n"
