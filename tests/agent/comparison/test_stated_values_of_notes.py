"""A value that a request plainly gives to a property of a note is set at once."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.agent.transcript import Question
from app.vault.markdown.frontmatter import read_frontmatter
from tests.agent.language.meaning.test_dialog import fill, talk, text
from tests.agent.test_session import SessionConversation

__all__ = ["talk"]
AMBER, PORTER, SHED = "Brews/Amber.md", "Brews/Porter.md", "Plans/Shed.md"


def note(*lines: str) -> str:
    return "\n".join(("---", *lines, "---", "Text.\n"))


def people(key: str, *names: str) -> list[str]:
    return [f"{key}:", *(f'  - "[[{name}]]"' for name in names)]


@pytest.fixture
async def brewery(talk) -> SessionConversation:
    """Return a conversation in a vault with brews, their tasters, and plans."""
    tasters = people("tasters", "Ann Reed", "Bo Lund")
    await fill(
        talk,
        Brews__Amber=note(
            "stage: fermenting", "litres: 20", "verdict: 3", "cask: oak", "bottled: 2026-02-01", *tasters
        ),
        Brews__Porter=note(
            "stage: ready", "litres: 15", "verdict: 4", "cask: steel", *people("tasters", "Cy Dale")
        ),
        Brews__Wheat=note("stage: ready", "litres: 12", "verdict: 2", "cask: oak"),
        Tasters__Ann_Reed=note("town: Ulm", "occupation: cooper"),
        Tasters__Bo_Lund=note("town: Aarhus", "occupation: baker"),
        Tasters__Cy_Dale=note("town: Ulm", "occupation: baker"),
        Plans__Shed=note("state: drafted", "agreed: false"),
        Plans__Cellar=note("state: rejected", "agreed: false"),
        Plans__Stall=note("state: shelved", "agreed: true"),
    )
    talk.workspace.agent._builtin._requests.now = lambda: datetime(2026, 3, 18, 12)
    return talk


def value(talk, path: str, key: str) -> object:
    found = read_frontmatter(text(talk, path)).properties[key]
    return [str(item) for item in found] if isinstance(found, list) else str(found)


@pytest.mark.parametrize(
    ("request_text", "key", "wanted"),
    [
        ("litres are 25 now", "litres", "25"),
        ("raise the litres to 25", "litres", "25"),
        ("litres were 18 in the end", "litres", "18"),
        ("verdict down to 2 please", "verdict", "2"),
        ("litres rose to 22", "litres", "22"),
        ("the stage is ready from now on", "stage", "ready"),
        ("make it ready", "stage", "ready"),
        ("Amber is ready again", "stage", "ready"),
        ("set the cask to cherry", "cask", "cherry"),
        ("we racked it, set stage to ready", "stage", "ready"),
        ("bottled moved to the 5th of march", "bottled", "2026-03-05"),
        ("stage ist jetzt ready", "stage", "ready"),
        ("set the verdict to 1 there", "verdict", "1"),
    ],
)
async def test_a_plain_value_is_set_at_once(brewery, request_text, key, wanted) -> None:
    await brewery.say(request_text, open_note=AMBER)
    assert value(brewery, AMBER, key) == wanted


@pytest.mark.parametrize(
    "request_text",
    [
        "is stage ready",
        "it will be ready",
        "litres may go up to 21",
        "verdict will go down to 1",
        "verdict will be 1",
        "verdict should be 1",
        "der verdict soll 1 werden",
        "litres are up 2",
        "litres rose 2",
        "litres down 2",
        "set the stage to ready if Bo agrees",
        "stell stage auf ready, falls Bo zustimmt",
        "it should be ready soon",
        "er soll bald ready sein",
        "not now, set stage to ready",
        "if it works: set stage to ready",
        "Ana asked us: make the stage ready",
        "the other one is better, set stage to ready",
        "stage was ready today",
        "litres were 18",
        "move it to ready",
        "add it to ready",
        "set stage to whatever you like",
        "Porter came back, set stage to rested",
        "set it back to ready and verdict 1",
        "which brews are ready?",
        "the brews are ready",
        "nothing is ready",
    ],
)
async def test_no_other_request_sets_a_value_of_the_note_at_once(brewery, request_text) -> None:
    before = text(brewery, AMBER)
    await brewery.say(request_text, open_note=AMBER)
    assert text(brewery, AMBER) == before


async def test_no_other_order_is_dropped(brewery) -> None:
    await brewery.say("tag it sour, set stage to rested", open_note=AMBER)
    if isinstance(brewery.items[-1], Question):
        await brewery.say(brewery.items[-1].choices[0].reply)
    assert "sour" in text(brewery, AMBER)
    assert "rested" in text(brewery, AMBER)


@pytest.mark.parametrize("asked", ["who drinks at noon?", "which brews are ready?"])
async def test_a_property_that_only_the_note_on_the_screen_has_is_set_after_other_notes(
    brewery, asked
) -> None:
    await brewery.say(asked, open_note=SHED)
    await brewery.say("set the state to approved", open_note=SHED)
    assert value(brewery, SHED, "state") == "approved"


async def test_a_property_of_listed_notes_is_asked_about(brewery) -> None:
    await brewery.say("which brews are ready?", open_note=AMBER)
    await brewery.say("set the stage to lost", open_note=AMBER)
    assert isinstance(brewery.items[-1], Question) and "lost" not in text(brewery, AMBER)


@pytest.mark.parametrize(
    "request_text",
    [
        "remove Bo from the tasters",
        "take Bo Lund off the tasters",
        "Bo Lund was ill, remove him from the tasters",
        "streich Bo aus den tasters",
    ],
)
async def test_a_named_value_is_taken_out_of_the_list_of_the_note(brewery, request_text) -> None:
    await brewery.say(request_text, open_note=AMBER)
    assert value(brewery, AMBER, "tasters") == ["[[Ann Reed]]"]
    assert "tasters" not in text(brewery, "Tasters/Bo Lund.md")


@pytest.mark.parametrize("request_text", ["remove the tasters", "Bo Lund was ill, remove him"])
async def test_a_list_without_a_named_value_stays(brewery, request_text) -> None:
    await brewery.say(request_text, open_note=AMBER)
    assert len(value(brewery, AMBER, "tasters")) == 2


@pytest.mark.parametrize(
    "request_text", ["add Cy Dale as taster", "add Cy as another taster", "füge Cy Dale als taster hinzu"]
)
async def test_a_name_is_added_as_what_a_list_is_called(brewery, request_text) -> None:
    await brewery.say(request_text, open_note=AMBER)
    assert value(brewery, AMBER, "tasters") == ["[[Ann Reed]]", "[[Bo Lund]]", "[[Cy Dale]]"]


@pytest.mark.parametrize(
    ("request_text", "key", "wanted"),
    [
        ("reject it", "state", "rejected"),
        ("please shelve this", "state", "shelved"),
        ("reject Shed", "state", "rejected"),
        ("Shed is rejected now", "state", "rejected"),
    ],
)
async def test_a_verb_stands_for_the_property_that_knows_the_value(
    brewery, request_text, key, wanted
) -> None:
    await brewery.say(request_text, open_note=SHED)
    if isinstance(brewery.items[-1], Question):
        await brewery.say("1", open_note=SHED)
    assert value(brewery, SHED, key) == wanted


async def test_a_value_of_other_notes_is_asked_about(brewery) -> None:
    await brewery.say("reject it", open_note=AMBER)
    assert "reject" not in text(brewery, AMBER)


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [("Setz den Beruf auf Imker", "Imker"), ("Beruf ist jetzt baker", "baker")],
)
async def test_a_german_word_names_a_property(brewery, request_text, wanted) -> None:
    await brewery.say(request_text, open_note="Tasters/Ann Reed.md")
    assert value(brewery, "Tasters/Ann Reed.md", "occupation") == wanted


async def test_a_note_that_has_the_property_comes_first(brewery) -> None:
    await brewery.say("Ann Reed signed today, mark it as agreed", open_note=SHED)
    await brewery.say("1", open_note=SHED)
    assert value(brewery, SHED, "agreed") == "True"
    assert "agreed" not in text(brewery, "Tasters/Ann Reed.md")


@pytest.mark.parametrize("request_text", ["there is no agreed", "there's no agreed", "es gibt kein agreed"])
async def test_a_denial_checks_no_checkbox(brewery, request_text) -> None:
    await brewery.say(request_text, open_note=SHED)
    assert value(brewery, SHED, "agreed") == "False"


async def test_a_checkbox_is_unchecked_only_by_a_word_for_off(brewery) -> None:
    stall = "Plans/Stall.md"
    await brewery.say("remove agreed from Stall", open_note=stall)
    assert "agreed: false" not in text(brewery, stall)
