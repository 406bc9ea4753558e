"""The words after "containing" are searched for as one phrase if a note has it."""

from __future__ import annotations

import pytest

from tests.agent.language.test_dialog import fill, names, say, talk

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("find pages containing TODO Fill out this page", ["One"]),
        ("which pages contain fill out this page?", ["One"]),
        ("Seiten, die den Rest der Welt enthalten", ["Three"]),
        ("Notizen mit dem Text den Rest der Welt", ["Three"]),
    ],
)
async def test_the_words_are_one_phrase(talk, request_text, found) -> None:
    await fill(
        talk,
        One="TODO Fill out this page",
        Two="TODO This page: fill it out",
        Three="Er sah den Rest der Welt.",
        Four="Den Rest sah die Welt.",
    )
    replies = await say(talk, request_text)
    assert names(replies.results) == found


async def test_words_that_are_no_phrase_of_a_note_are_searched_for_as_before(talk) -> None:
    replies = await say(talk, "notes containing moon clock longitude")
    assert replies.last.last.target.query == "moon clock longitude"
