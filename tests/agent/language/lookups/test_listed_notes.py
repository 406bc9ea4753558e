"""A word of its name describes one of the listed notes."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import fill, names, say, state, talk

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


@pytest.mark.parametrize(
    ("before", "request_text", "changed"),
    [
        (("open H2",), "set status to old on the other ones", ["H1", "H3"]),
        (("open H2",), "tag the rest old", ["H1", "H3"]),
        (("tag the first one x",), "set status to old on the others", ["H2", "H3"]),
        (("which one is the longest?",), "add the tag old to the other ones", None),
        (("öffne H2",), "setz den Status bei den anderen auf alt", ["H1", "H3"]),
        (("öffne H2",), "tagge die anderen mit alt", ["H1", "H3"]),
    ],
)
async def test_the_other_listed_notes_are_changed(talk, before, request_text, changed) -> None:
    await say(talk, "show H1, H2 and H3")
    replies = await say(talk, *before)
    longest = replies.results if changed is None else ()
    expected = changed or [name for name in ("H1", "H2", "H3") if name not in names(longest)]
    replies = await say(talk, request_text)
    assert sorted(names(replies.last.last.target.notes)) == expected
    assert replies.changes and sorted(names(replies.changes[-1].notes)) == expected


@pytest.mark.parametrize("request_text", ["set status to old on the other ones", "tag the others old"])
async def test_without_a_list_there_are_no_other_notes(talk, request_text) -> None:
    replies = await say(talk, "open H2", request_text)
    assert not replies.changes and isinstance(talk.items[-1], Question)


async def test_the_listed_notes_are_the_german_diese(talk) -> None:
    await talk.say("zeig H2 und H3")
    await talk.say("setz den Status bei diesen auf alt")
    assert sorted(names(state(talk).changes[-1].notes)) == ["H2", "H3"]


@pytest.mark.parametrize(
    ("requests", "shown"),
    [
        (["open the first", "next one"], "H2"),
        (["open the first", "the next", "and the previous one"], "H1"),
        (["summarize the second", "next please"], "H3"),
        (["öffne die erste", "die nächste bitte"], "H2"),
    ],
)
async def test_the_next_listed_note_follows_the_one_just_shown(talk, requests, shown) -> None:
    replies = await say(talk, "show H1, H2 and H3", *requests)
    assert names(replies.focus) == [shown]


async def test_after_the_last_listed_note_there_is_no_next_one(talk) -> None:
    replies = await say(talk, "show H1 and H2", "open the second", "next one")
    assert names(replies.focus) == ["H2"] and not replies.changes
    assert talk.items[-1].text == "This is the last note of the list."
