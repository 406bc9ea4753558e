"""A possessive word of a request may be a part of the name of its note."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.notation import PREFIX
from app.agent.transcript import Question
from app.vault.markdown.frontmatter import read_frontmatter
from tests.agent.language.meaning.test_dialog import say, talk, text
from tests.agent.test_session import SessionConversation

__all__ = ["talk"]
ADA, CALL = "People/Ada Marlow.md", "Journal/Call with Marlow.md"


async def new_conversation(talk) -> SessionConversation:
    """Return a conversation in a vault with two notes that have "Marlow" in their names."""
    await say(
        talk,
        f'{PREFIX} create_note name="Ada Marlow" folder=People',
        f"{PREFIX} set_property [@Ada Marlow] key=rate value=40",
        f'{PREFIX} create_note name="Call with Marlow" folder=Journal',
        f"{PREFIX} set_property [@Call with Marlow] key=minutes value=20",
    )
    return SessionConversation(talk.workspace)


def choices(talk) -> list[str]:
    return [choice.label for choice in talk.items[-1].choices] if isinstance(talk.items[-1], Question) else []


@pytest.mark.parametrize(
    ("request_text", "labels"),
    [
        ("show marlow's note", ["open · Ada Marlow", "open · Call with Marlow"]),
        ("set marlow's rate to 50", ["set property · Ada Marlow · key: rate · value: 50"]),
        ("change marlow's minutes to 30", ["set property · Call with Marlow · key: minutes · value: 30"]),
        ("setze marlow's rate auf 50", ["Eigenschaft setzen · Ada Marlow · Eigenschaft: rate · Wert: 50"]),
    ],
)
async def test_the_notes_with_the_word_and_the_property_are_offered(talk, request_text, labels) -> None:
    talk = await new_conversation(talk)
    await talk.say(request_text)
    assert sorted(choices(talk)) == labels


async def test_a_listed_note_with_the_word_is_meant(talk) -> None:
    talk = await new_conversation(talk)
    await talk.say("list the people")
    await talk.say("set marlow's rate to 50")
    assert read_frontmatter(text(talk, ADA)).properties["rate"] == 50


async def test_a_question_shows_the_value_of_the_only_note_that_has_it(talk) -> None:
    talk = await new_conversation(talk)
    await talk.say("what's marlow's rate?")
    assert "rate: 40" in talk.items[-1].text


@pytest.mark.parametrize(
    "request_text", ["open today's note", "set the note's rate to 50", "list today's notes"]
)
async def test_other_possessive_words_name_no_note(talk, request_text) -> None:
    talk = await new_conversation(talk)
    await talk.say(request_text)
    assert not any("Marlow" in label for label in choices(talk)[:1])
    assert not any("did not understand" in getattr(item, "text", "") for item in talk.items)
    assert read_frontmatter(text(talk, ADA)).properties["rate"] == 40


async def test_a_change_of_the_only_note_with_the_word_is_offered(talk) -> None:
    talk = await new_conversation(talk)
    await say(talk, f'{PREFIX} create_note name="Weekly call with the Tanner band" folder=People')
    await say(talk, f"{PREFIX} set_property [@Weekly call with the Tanner band] key=rate value=30")
    talk = SessionConversation(talk.workspace)
    await talk.say("set tanner's rate to 35")
    assert choices(talk)[0] == "set property · Weekly call with the Tanner band · key: rate · value: 35"
    assert read_frontmatter(text(talk, "People/Weekly call with the Tanner band.md")).properties["rate"] == 30


@pytest.mark.parametrize(
    ("request_text", "count"),
    [
        ("set marlow's rate to 50", 1),
        ("compare marlow's rate with tanner's rate", 1),
        ("open today's note", 0),
    ],
)
async def test_a_request_is_interpreted_once_more_at_most(talk, monkeypatch, request_text, count) -> None:
    talk = await new_conversation(talk)
    await say(talk, f'{PREFIX} create_note name="Weekly call with the Tanner band" folder=People')
    owned = talk.workspace.agent._builtin._comparison._owned
    texts = []
    interpret = owned._interpret

    async def counted(text, request):
        texts.append(text)
        return await interpret(text, request)

    monkeypatch.setattr(owned, "_interpret", counted)
    await talk.say(request_text)
    assert len(texts) == count


async def test_a_calculated_value_is_offered_for_its_note_only(talk) -> None:
    talk = await new_conversation(talk)
    await say(talk, f"{PREFIX} set_property [@Call with Marlow] key=rate value=20")
    talk = SessionConversation(talk.workspace)
    await talk.say("raise marlow's rate by 5")
    assert choices(talk) == ["set property · Call with Marlow · key: rate · value: 25"]
