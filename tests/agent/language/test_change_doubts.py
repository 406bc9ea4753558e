"""The agent asks before a change that may mean other notes than those it has found."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.test_dialog import OPEN, answers, fill, names, say, talk, text

__all__ = ["talk"]


def choices(talk) -> list[str]:
    """Return the notation of the choices of the last question."""
    assert isinstance(talk.items[-1], Question), talk.items[-1]
    return [choice.reply.removeprefix("= ") for choice in talk.items[-1].choices]


async def test_a_person_comes_first_if_the_request_says_him(talk) -> None:
    await say(talk, "link H3 to George Graham", "tag him with london")
    offered = choices(talk)
    assert offered[0].startswith("add_tag [@People/George Graham]")
    assert any("@Instruments/H3]" in choice for choice in offered)
    assert "london" not in text(talk, "Instruments/H3.md")
    await talk.say(f"= {offered[0]}", open_note=OPEN)
    assert "london" in text(talk, "People/George Graham.md")


async def test_him_is_the_only_person_that_was_mentioned(talk) -> None:
    await say(talk, "open James Cook", "tag him with pacific")
    assert "pacific" in text(talk, "People/James Cook.md")


async def test_a_note_is_not_linked_to_itself(talk) -> None:
    await say(talk, "open K1", "open Larcum Kendall", "link him to that")
    before = text(talk, "People/Larcum Kendall.md")
    offered = choices(talk)
    assert "K1" in offered[0] and "Larcum Kendall" in offered[0]
    assert text(talk, "People/Larcum Kendall.md") == before


@pytest.mark.parametrize("request_text", ["tag both with pair", "tag the two with pair"])
async def test_a_number_that_differs_from_the_listed_notes_is_a_question(talk, request_text) -> None:
    await say(talk, "show H1, H2 and H3")
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question)
    assert not any("pair" in text(talk, f"Instruments/{name}.md") for name in ("H1", "H2", "H3"))


async def test_a_pronoun_is_no_value(talk) -> None:
    before = text(talk, "Instruments/H4.md")
    await say(talk, "open H4", "add a field motto to it")
    assert isinstance(talk.items[-1], Question)
    assert text(talk, "Instruments/H4.md") == before


@pytest.mark.parametrize("request_text", ["remove it", "tag late?"])
async def test_an_unclear_order_is_a_question(talk, request_text) -> None:
    before = text(talk, "Instruments/H4.md")
    await say(talk, "open H4", request_text)
    assert choices(talk)
    assert text(talk, "Instruments/H4.md") == before


async def test_a_polite_order_is_carried_out(talk) -> None:
    await say(talk, "open H4", "could you tag it brass?")
    assert "brass" in text(talk, "Instruments/H4.md")


async def test_a_template_is_changed_only_if_the_request_says_so(talk) -> None:
    await fill(talk, Templates__Person="A template.\n")
    await say(talk, "tag the person note with brass")
    assert "brass" not in text(talk, "Templates/Person.md")
    await say(talk, "tag the template Person with brass")
    if isinstance(talk.items[-1], Question):
        await talk.say(f"= {choices(talk)[0]}", open_note=OPEN)
    assert "brass" in text(talk, "Templates/Person.md")


async def test_a_property_that_only_other_notes_have_is_a_question(talk) -> None:
    await say(talk, "open Gimbal", "set born to 1545")
    assert isinstance(talk.items[-1], Question)
    assert "1545" not in text(talk, "Concepts/Gimbal.md")


async def test_after_a_renaming_the_listed_notes_have_their_new_names(talk) -> None:
    await say(talk, "show H1 and H2", "rename H2 to H2 of 1741")
    state = await say(talk, "= list_tags")
    assert names(state.results) == ["H1", "H2 of 1741"]


async def test_tasks_that_are_due_are_listed_by_day(talk) -> None:
    await say(
        talk,
        'create a note called Later with the text "- [ ] call Ann 📅 2031-04-20"',
        'create a note called Sooner with the text "- [ ] call Bob 📅 2031-04-02"',
        "= list_tasks state=open due=2031-04-01..2031-04-30",
    )
    listed = answers(talk)[-1]
    assert listed.index("call Bob") < listed.index("call Ann")
