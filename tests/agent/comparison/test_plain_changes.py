"""A plain change runs if the request model is sure of it, even if the grammar can't parse the request."""

from __future__ import annotations

import pytest

from app.agent.comparison.plain_changes import is_plain_change
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.transcript import Question
from tests.agent.language.test_dialog import fill, say, talk, text

__all__ = ["talk"]
NOTES = NoteSet(notes=("H4.md",))


@pytest.mark.parametrize(
    ("step", "is_plain"),
    [
        (PipelineStep("set_property", NOTES, {"key": "Year", "value": 1759}), True),
        (PipelineStep("set_property", NOTES, {"key": "maker", "value": "Harrison"}), False),
        (PipelineStep("set_property", NoteSet(notes=()), {"key": "year", "value": 1759}), False),
        (PipelineStep("remove_tag", NOTES, {"tag": "clock"}), True),
        (PipelineStep("delete", NOTES), False),
        (PipelineStep("rename", NOTES, {"new_name": "H5"}), False),
        (PipelineStep("undo", None, {"scope": "last"}), False),
    ],
)
def test_only_changes_of_what_a_note_has_are_plain(step, is_plain) -> None:
    assert is_plain_change(Reading((step,), 1.0), lambda path: {"year": 1760}) is is_plain


def test_two_changes_are_not_plain() -> None:
    steps = (PipelineStep("remove_tag", NOTES, {"tag": "a"}), PipelineStep("remove_tag", NOTES, {"tag": "b"}))
    assert not is_plain_change(Reading(steps, 1.0), lambda path: {})


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
