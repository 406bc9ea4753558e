"""Changes of tags, which have the name that the request gives them."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import say, talk, text

__all__ = ["talk"]


@pytest.fixture
async def journal(talk):
    """Return the text of a note with the tag `journal`, which a synonym of “diary” names."""
    await say(talk, "tag H4 with journal")
    return text(talk, "Instruments/H4.md")


@pytest.mark.parametrize("request_", ["rename the tag diary to log", "remove the tag diary from H4"])
async def test_a_synonym_of_a_tag_is_not_changed(talk, journal, request_) -> None:
    done = await say(talk, request_)
    assert len(done.changes) == 1  # only that of the fixture
    assert text(talk, "Instruments/H4.md") == journal


async def test_a_new_tag_has_the_name_that_the_request_gives_it(talk, journal) -> None:
    await say(talk, "tag K1 with diary")
    assert "diary" in text(talk, "Instruments/K1.md")


@pytest.mark.parametrize(
    "request_", ["the H4 is repaired, take the to-fix tag off", "H4's been cleaned, take the to-fix tag off"]
)
async def test_a_tag_has_no_comma_in_its_name(talk, request_) -> None:
    await say(talk, "tag H4 with to-fix", request_)
    question = talk.items[-1]
    if isinstance(question, Question):
        assert question.choices[0].reply.endswith("remove_tag [@Instruments/H4] tag=to-fix")
    else:
        assert "to-fix" not in text(talk, "Instruments/H4.md")


@pytest.mark.parametrize("before", ["list my tags", "open K1"])
async def test_a_tag_is_removed_without_the_word_for_it(talk, journal, before) -> None:
    await say(talk, before, "get rid of journal")
    question = talk.items[-1]
    assert isinstance(question, Question)
    await say(talk, question.choices[0].reply)
    assert "journal" not in text(talk, "Instruments/H4.md")


async def test_a_note_with_the_name_of_a_tag_is_meant(talk) -> None:
    await say(talk, "tag K1 with h4", "list my tags", "get rid of h4")
    assert "h4" in text(talk, "Instruments/K1.md")
