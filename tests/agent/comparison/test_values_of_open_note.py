"""Questions about a value, and stated values, are about the note on the screen if it has the property."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.agent.language.meaning.notation import PREFIX
from app.agent.transcript import Question, RequestReading
from app.vault.markdown.frontmatter import read_frontmatter
from tests.agent.language.meaning.test_dialog import fill, say, talk, text
from tests.agent.test_session import SessionConversation

__all__ = ["talk"]
H4, K1 = "Instruments/H4.md", "Instruments/K1.md"


async def new_conversation(talk) -> SessionConversation:
    """Return a conversation in a vault where H4 and K1 have some properties in common."""
    await say(
        talk,
        f"{PREFIX} set_property [@H4] key=room value=S5",
        f"{PREFIX} set_property [@H4] key=price value=300",
        f"{PREFIX} set_property [@H4] key=bought value=2026-03-02",
        f"{PREFIX} set_property [@H4] key=founded value=1761-11-18",
        f"{PREFIX} set_property [@K1] key=price value=450",
        f"{PREFIX} set_property [@K1] key=lender value=Ann",
        f"{PREFIX} set_property [@K1] key=room value=S7",
    )
    talk.workspace.agent._builtin._requests.now = lambda: datetime(2026, 3, 18, 12)
    return SessionConversation(talk.workspace)


def readings(talk) -> list[str]:
    return [item.chips[0].label for item in talk.items if isinstance(item, RequestReading)]


def choices(talk) -> list[str]:
    return [choice.reply for choice in talk.items[-1].choices] if isinstance(talk.items[-1], Question) else []


def properties(talk, path=H4) -> dict[str, str]:
    return {name: str(value) for name, value in read_frontmatter(text(talk, path)).properties.items()}


@pytest.mark.parametrize(
    "question",
    [
        "what's the price?",
        "price?",
        "how much is the price here",
        "which price does it have",
        "Wie hoch ist der Preis?",
    ],
)
async def test_a_question_is_answered_by_the_note_on_the_screen(talk, question) -> None:
    talk = await new_conversation(talk)
    await talk.say(question, open_note=H4)
    assert "price: 300" in talk.items[-1].text
    assert "K1" not in talk.items[-1].text


@pytest.mark.parametrize(
    "question", ["what has a price?", "which notes have a price", "prices above 200", "list the prices"]
)
async def test_a_question_about_several_notes_is_a_search(talk, question) -> None:
    talk = await new_conversation(talk)
    await talk.say(question, open_note=H4)
    assert not any(reading == "properties" for reading in readings(talk))


async def test_a_question_after_a_list_needs_a_word_for_this_note(talk) -> None:
    talk = await new_conversation(talk)
    await talk.say("list the instruments", open_note=H4)
    await talk.say("what's the room here?", open_note=H4)
    assert "room: S5" in talk.items[-1].text


async def test_the_note_of_a_question_may_lack_the_property(talk) -> None:
    talk = await new_conversation(talk)
    await talk.say("what's the lender of this note?", open_note=H4)
    assert "[[Instruments/H4|H4]] has no property" in talk.items[-1].text


async def test_the_change_after_a_question_is_about_the_same_note(talk) -> None:
    talk = await new_conversation(talk)
    await talk.say("what's the price", open_note=H4)
    await talk.say("raise it to 320", open_note=H4)
    await talk.say("when was it bought", open_note=H4)
    await talk.say("push it to March 9", open_note=H4)
    assert {"price": "320", "bought": "2026-03-09"}.items() <= properties(talk).items()
    assert properties(talk, K1)["price"] == "450"


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("price is 310 now", {"price": "310"}),
        ("room to S7", {"room": "S7"}),
        ("new price 290", {"price": "290"}),
        ("price is 305, not 300", {"price": "305"}),
        ("room ist jetzt S7", {"room": "S7"}),
        ("Preis ist jetzt 280", {"price": "280"}),
        ("the cost is 310", {"price": "310"}),
        ("the lender is Ann", {"lender": "Ann"}),
        ("price 305 today", {"price": "305"}),
        ("make the price 320 please", {"price": "320"}),
        ("Preis auf 330 setzen", {"price": "330"}),
        ("add rating: 5", {"rating": "5"}),
        ("add alias Fourth", {"aliases": "['Fourth']"}),
        ("room here is S7", {"room": "S7"}),
        ("bought moves to 5 March", {"bought": "2026-03-05"}),
    ],
)
async def test_a_stated_value_sets_the_property_of_the_note_on_the_screen(talk, line, values) -> None:
    talk = await new_conversation(talk)
    await talk.say(line, open_note=H4)
    assert values.items() <= properties(talk).items()


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("price was 280", "set_property [@Instruments/H4] key=price value=280"),
        ("bought was March 5 2026", "set_property [@Instruments/H4] key=bought value=2026-03-05"),
        ("price war 290", "set_property [@Instruments/H4] key=price value=290"),
        ("price 450", "set_property [@Instruments/H4] key=price value=450"),
        ("price 315", "set_property [@Instruments/H4] key=price value=315"),
        ("founded is November 19", "set_property [@Instruments/H4] key=founded value=1761-11-19"),
    ],
)
async def test_a_value_that_may_be_searched_for_or_may_be_new_is_asked_about(talk, line, first) -> None:
    talk = await new_conversation(talk)
    before = text(talk, H4)
    await talk.say(line, open_note=H4)
    assert choices(talk)[0] == f"{PREFIX} {first}"
    assert text(talk, H4) == before


async def test_a_former_value_is_not_set(talk) -> None:
    talk = await new_conversation(talk)
    before = text(talk, H4)
    await talk.say("the old price was 280 at Ann's", open_note=H4)
    assert text(talk, H4) == before


@pytest.mark.parametrize(
    "line",
    [
        "prices below 400",
        "price of K1",
        "new room Library",
        "notes with price 300",
        "was the price 300?",
        "price 310 or 320",
        "with price 310",
        "which room was S7",
        "welcher Raum ist S7",
    ],
)
async def test_other_words_set_no_value(talk, line) -> None:
    talk = await new_conversation(talk)
    before = text(talk, H4)
    await talk.say(line, open_note=H4)
    assert text(talk, H4) == before
    assert not any("set_property [@Instruments/H4]" in choice for choice in choices(talk)[:1])


async def test_a_day_without_a_year_is_near_the_present_one(talk) -> None:
    talk = await new_conversation(talk)
    await talk.say("new bought February 27", open_note=H4)
    assert properties(talk)["bought"] == "2026-02-27"


@pytest.mark.parametrize(("name", "mentor"), [("Dora", "[[C1]]"), ("H1", "[[H1]]")])
async def test_a_link_is_set_at_once_only_if_its_note_exists(talk, name, mentor) -> None:
    talk = await new_conversation(talk)
    await say(talk, *(f'{PREFIX} set_property [@{note}] key=mentor value="[[C1]]"' for note in ("K1", "H4")))
    talk = SessionConversation(talk.workspace)
    await talk.say(f"the mentor is {name}", open_note=H4)
    assert properties(talk)["mentor"] == mentor
    if name == "Dora":
        assert choices(talk)[0].startswith(f"{PREFIX} set_property [@Instruments/H4] key=mentor")


@pytest.mark.parametrize(
    ("request_text", "key", "value"),
    [
        ("price climbed up to 340 btw", "price", "340"),
        ("so the price is 2k", "price", "2000"),
        ("Preis geht rauf auf 340", "price", "340"),
    ],
)
async def test_a_line_with_other_verbs_and_numbers_changes_the_note(talk, request_text, key, value) -> None:
    talk = await new_conversation(talk)
    await talk.say(request_text, open_note=H4)
    assert properties(talk)[key] == value


@pytest.mark.parametrize(
    ("line", "day", "mood"),
    [
        ("mood today is 5", "2026-03-18", 5),
        ("my mood today is 4", "2026-03-18", 4),
        ("today's mood: 2", "2026-03-18", 2),
        ("mood was 3 on Monday", "2026-03-16", 3),
        ("yesterday's mood was 1", "2026-03-17", 1),
    ],
)
async def test_a_value_of_a_day_is_that_of_its_daily_note(talk, line, day, mood) -> None:
    talk = await new_conversation(talk)
    await fill(talk, **{f"Journal__2026-03-{day}": "---\nmood: 9\n---\n" for day in (16, 17, 18)})
    await talk.say(line, open_note=H4)
    assert read_frontmatter(text(talk, f"Journal/{day}.md")).properties["mood"] == mood
    assert "mood" not in properties(talk)


@pytest.mark.parametrize("line", ["price today is 290", "mood today was great", "is the mood 5 today?"])
async def test_a_day_in_other_words_changes_no_daily_note(talk, line) -> None:
    talk = await new_conversation(talk)
    await fill(talk, **{"Journal__2026-03-18": "---\nmood: 9\n---\n"})
    await talk.say(line, open_note=H4)
    assert text(talk, "Journal/2026-03-18.md") == "---\nmood: 9\n---\n"
