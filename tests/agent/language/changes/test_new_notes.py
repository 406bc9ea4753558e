"""Requests for a new note with its details: "create a supplier called Attic in Suppliers, rating 4"."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from app.vault.markdown.frontmatter import read_frontmatter
from tests.agent.language.meaning.test_dialog import fill, say, talk, text

__all__ = ["talk"]


async def with_boats(talk) -> None:
    """Add a folder of notes with a checkbox, a state, a number and a link."""
    note = "---\nmoored: {}\nstate: {}\nbunks: {}\nhome_port: {}\nlaid_up: 2030-01-0{}\n---\n"
    await fill(
        talk,
        Ports__Bristol="A port.\n",
        Ports__Cork="A port.\n",
        Boats__Heron=note.format("true", "afloat", 2, '"[[Bristol]]"', 2),
        Boats__Tern=note.format("false", "in dry dock", 4, '"[[Cork]]"', 3),
        Boats__Plover=note.format("false", "afloat", 6, '"[[Cork]]"', 4),
    )


def properties(talk, path):
    known = dict(read_frontmatter(text(talk, path)).properties)
    return {name: str(value) if hasattr(value, "year") else value for name, value in known.items()}


@pytest.mark.parametrize(
    ("request_", "path", "values"),
    [
        ("create a boat called Gannet", "Boats/Gannet.md", {}),
        ("could you set up a boat called Gannet?", "Boats/Gannet.md", {}),
        ("new boat Gannet, 4 bunks, afloat", "Boats/Gannet.md", {"bunks": 4, "state": "afloat"}),
        ("new boat: Gannet, bunks 3, not moored", "Boats/Gannet.md", {"bunks": 3, "moored": False}),
        (
            "make a new boat called Gannet, tagged club, in dry dock",
            "Boats/Gannet.md",
            {"tags": ["club"], "state": "in dry dock"},
        ),
        ("create a note Gannet in Boats with bunks 2", "Boats/Gannet.md", {"bunks": 2}),
        ("new boat note Gannet, home port Cork", "Boats/Gannet.md", {"home_port": "[[Cork]]"}),
        ("create a new boat note for Gannet, bunks 3", "Boats/Gannet.md", {"bunks": 3}),
        ("lege eine neue Boat Notiz für Gannet an, bunks 3", "Boats/Gannet.md", {"bunks": 3}),
        ("make a note Gannet, type boat, tags club and wood", "Gannet.md", {"tags": ["club", "wood"]}),
        ("please add Gannet as a new boat, bunks 8", "Boats/Gannet.md", {"bunks": 8}),
        ("leg bitte Gannet als neues Boat an, nicht moored", "Boats/Gannet.md", {"moored": False}),
        ("lege ein neues Boat namens Gannet an, bunks 5", "Boats/Gannet.md", {"bunks": 5}),
        (
            "create a boat called Gannet, bunks: 3, state: afloat",
            "Boats/Gannet.md",
            {"bunks": 3, "state": "afloat"},
        ),
        ("create a boat called Ann and Bea, bunks 3", "Boats/Ann and Bea.md", {"bunks": 3}),
        ("new boat: Sea-Mew - bunks 3 - moored", "Boats/Sea-Mew.md", {"bunks": 3, "moored": True}),
        ("new boat: Gannet – the swift", "Boats/Gannet – the swift.md", {}),
        ("new boat Gannet please", "Boats/Gannet.md", {}),
        ("create a boat called Gannet then", "Boats/Gannet.md", {}),
        ("create a note called Now and then", "Now and then.md", {}),
        ("new boat: Gannet (the swift)", "Boats/Gannet (the swift).md", {}),
    ],
)
async def test_a_new_note_gets_its_details_in_one_change(talk, approver, request_, path, values) -> None:
    await with_boats(talk)
    approver.asked.clear()
    await say(talk, request_)
    assert values.items() <= properties(talk, path).items()
    assert len(approver.asked) == 1


@pytest.mark.parametrize(
    ("request_", "path", "content"),
    [
        (
            "create a note Moorings with the text: Move Tern. Tag nothing.",
            "Moorings.md",
            "Move Tern. Tag nothing.",
        ),
        ('make a note "Moorings" in Boats that says "two free"', "Boats/Moorings.md", "two free"),
        ("new boat Gannet: needs a new mast, and paint", "Boats/Gannet.md", "needs a new mast, and paint"),
        ("neue Notiz Moorings mit dem Text: zwei frei", "Moorings.md", "zwei frei"),
        ("create a note Moorings with the text call Ann now", "Moorings.md", "call Ann now"),
    ],
)
async def test_a_text_is_all_that_follows(talk, request_, path, content) -> None:
    await with_boats(talk)
    await say(talk, request_)
    if isinstance(question := talk.items[-1], Question):
        await say(talk, question.choices[0].reply)
    assert content in text(talk, path)


@pytest.mark.parametrize(
    "request_",
    [
        "create a note gannet",  # might be a search or a text
        "create a boat called Gannet in the style of Tern",
        "new boat Gannet, for whoever needs one",
        "new boat Gannet, bunks 2, bunks 3",
        "create a gadget Gannet with bunks 2",  # the vault has no such kind
        "add a boat Gannet to Tern",
        "add an entry for today: painted Gannet",
        "add an entry: painted Gannet",
        "add a new one: Gannet",
        "new boat for today: Gannet",
        "no new boat called Gannet please",
        "don't add Gannet as a new boat",
        "did we add Gannet as a new boat?",
    ],
)
async def test_what_may_mean_something_else_is_asked_about(talk, request_) -> None:
    await with_boats(talk)
    done = await say(talk, request_)
    assert not done.changes
    assert not any(str(path).endswith("Gannet.md") for path in talk.workspace.index.note_paths())


async def test_words_without_a_known_meaning_are_offered_as_the_text(talk) -> None:
    await with_boats(talk)
    await say(talk, "new boat Gannet, bunks 2, bought from a friend")
    first = talk.items[-1].choices[0].reply
    assert "bunks 2, bought from a friend" in first
    assert "bunks" in talk.items[-1].choices[1].reply


async def test_a_template_keeps_its_text_and_gets_the_properties(talk, approver) -> None:
    await with_boats(talk)
    await fill(talk, Templates__Boat="---\nmoored: false\nbunks:\n---\n## Log\n")
    await say(talk, "new boat Gannet, bunks 7")
    approver.asked.clear()
    await say(talk, talk.items[-1].choices[0].reply)
    assert properties(talk, "Boats/Gannet.md") == {"moored": False, "bunks": 7}
    assert "## Log" in text(talk, "Boats/Gannet.md") and len(approver.asked) == 1


async def test_a_template_is_found_by_the_plural_in_its_name(talk) -> None:
    await fill(talk, Templates__Cities="---\ncountry:\n---\n## Seen\n")
    await say(talk, "new city: Bergen")
    question = talk.items[-1]
    assert isinstance(question, Question)
    assert question.choices[0].label == "create note · name: Bergen · template: Templates/Cities"


async def test_a_template_whose_properties_can_not_be_read_is_not_used(talk, approver) -> None:
    await with_boats(talk)
    await fill(talk, Templates__Boat="---\nbunks: [\n---\n## Log\n")
    await say(talk, "new boat Gannet, bunks 7")
    approver.asked.clear()
    await say(talk, talk.items[-1].choices[0].reply)
    assert "The note was not created." in talk.items[-1].text and not approver.asked


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        (["it's in dry dock, not moored"], {"state": "in dry dock", "moored": False}),
        (["3 bunks", "home port Cork"], {"bunks": 3, "home_port": "[[Cork]]"}),
        (["bunks 3, moored"], {"bunks": 3, "moored": True}),
        (["not moored yet"], {"moored": False}),
    ],
)
async def test_what_is_said_next_completes_the_new_note(talk, lines, values) -> None:
    await with_boats(talk)
    await say(talk, "create a boat called Gannet", *lines)
    assert values.items() <= properties(talk, "Boats/Gannet.md").items()


@pytest.mark.parametrize("line", ["not moored at all I think", "is it moored?", "3 bunks would be nice"])
async def test_a_thought_does_not_complete_it(talk, line) -> None:
    await with_boats(talk)
    await say(talk, "create a boat called Gannet", line)
    assert properties(talk, "Boats/Gannet.md") == {}


@pytest.mark.parametrize(
    "request_",
    [
        "create boats called Ann and Bea, bunks 3",
        "create a boat Gannet - bunks 3 - moored",
    ],
)
async def test_a_name_that_may_be_something_else_is_asked_about(talk, request_) -> None:
    await with_boats(talk)
    await say(talk, request_)
    assert isinstance(talk.items[-1], Question)


@pytest.mark.parametrize(
    "request_",
    [
        "create a boat called Gannet, bunks 3, tagged club, leaks a bit",
        "create a boat called Gannet, bunks 3, tagged club. Leaks a bit.",
    ],
)
async def test_words_beside_the_properties_become_the_text(talk, request_) -> None:
    await with_boats(talk)
    await say(talk, request_)
    await say(talk, talk.items[-1].choices[0].reply)
    assert properties(talk, "Boats/Gannet.md") == {"bunks": 3, "tags": ["club"]}
    assert "eaks a bit" in text(talk, "Boats/Gannet.md")


async def test_a_checkbox_takes_yes(talk) -> None:
    await with_boats(talk)
    await say(talk, "new boat: Gannet, moored yes, bunks 3")
    await say(talk, talk.items[-1].choices[0].reply)
    assert properties(talk, "Boats/Gannet.md") == {"moored": True, "bunks": 3}


async def test_details_in_parentheses_are_offered(talk) -> None:
    await with_boats(talk)
    state = await say(talk, "new boat: Gannet (bunks 3, afloat)")
    step, *lines = state.question.options[0].reading.steps
    assert step.arguments == {"name": "Gannet", "folder": "Boats"}
    assert [line.arguments["value"] for line in lines] == [3, "afloat"]
