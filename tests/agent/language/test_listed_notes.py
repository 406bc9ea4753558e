"""A word of its name describes one of the listed notes."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.test_change_doubts import choices
from tests.agent.language.test_dialog import fill, names, say, state, talk

__all__ = ["talk"]


async def list_settings(talk) -> None:
    await fill(talk, **{f"Manual__{name}": "Text." for name in ("Colors", "Language", "Font size")})
    (talk.workspace.root / "Manual" / "setting___language.md").write_text("Text.")
    (talk.workspace.root / "Manual" / "Language.md").unlink()
    await talk.workspace.index.scan()
    await say(talk, "notes in the folder Manual")


@pytest.mark.parametrize("request_text", ["open the language one", "the one on language, open it please"])
async def test_the_listed_note_with_the_word_in_its_name_is_opened(talk, request_text) -> None:
    await list_settings(talk)
    replies = await say(talk, request_text)
    assert names(replies.focus) == ["setting___language"]


@pytest.mark.parametrize(
    ("request_text", "offered"),
    [
        (
            "open the purple one",
            [
                "open [@Manual/Font size]",
                "open [@Manual/setting___language]",
                "open [@Manual/Colors]",
                "open [@Instruments/H1]",
            ],
        ),
        (
            "tag the purple one x",
            [
                "add_tag [path:Manual/] tag=purple",
                "add_tag [path:Manual/] tag=x",
                "add_tag [@Manual/setting___language] tag=purple",
                "add_tag [@Manual/Font size] tag=purple",
            ],
        ),
    ],
)
async def test_a_word_that_no_listed_name_has_is_a_question(talk, request_text, offered) -> None:
    await list_settings(talk)
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question) and state(talk).changes == ()
    assert sorted(choices(talk)) == sorted(offered)


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        ("open the fifth", "The last list has only 3 notes. Nothing was changed."),
        ("delete the seventh note", "The last list has only 3 notes. Nothing was changed."),
        ("öffne die fünfte", "Die letzte Liste hat nur 3 Notizen. Es wurde nichts geändert."),
    ],
)
async def test_a_position_after_the_end_of_the_list_is_refused(talk, request_text, answer) -> None:
    await list_settings(talk)
    await say(talk, request_text)
    assert talk.items[-1].text == answer and state(talk).changes == ()
