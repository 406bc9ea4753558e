"""A plural leaves out the notes with its singular in their names."""

from __future__ import annotations

import pytest

from tests.agent.language.test_dialog import fill, names, say, talk

__all__ = ["talk"]


@pytest.mark.parametrize("request_text", ["without the ones about drafts", "ohne die drafts"])
async def test_an_excluded_plural_is_also_a_part_of_a_name(talk, request_text) -> None:
    await fill(
        talk,
        Manual__Enable_drafts="Zotero.",
        Manual__Draft_format="Zotero.",
        Manual__Language="Zotero.",
    )
    replies = await say(talk, "notes mentioning Zotero", request_text)
    assert names(replies.results) == ["Language"]


async def test_an_excluded_word_stays_a_word_if_no_listed_note_is_named_so(talk) -> None:
    replies = await say(talk, "claims", "without the ones about drafts")
    assert replies.last.last.target.query == "path:Claims/ -drafts"
