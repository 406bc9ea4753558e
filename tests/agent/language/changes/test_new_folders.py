"""Requests that create a folder for notes, and short requests for a note of some kind."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import fill, order, say, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize(
    "request_",
    [
        "create a folder Old clocks and move H4 into it",
        "make a new folder called Old clocks and put H4 there",
        "create a folder Old clocks, and move H4 into it",
        "erstelle einen Ordner Old clocks und verschiebe H4 hinein",
    ],
)
async def test_a_note_moves_into_a_new_folder(talk, request_) -> None:
    await say(talk, "open K1", request_)
    assert text(talk, "Old clocks/H4.md")


@pytest.mark.parametrize("verb", ["move the drafts into a folder", "put the drafts in a folder"])
async def test_described_notes_move_into_a_folder(talk, verb) -> None:
    await fill(talk, Essays__Tides="---\nstatus: draft\n---\n", Essays__Wind="---\nstatus: done\n---\n")
    await order(talk, f"{verb} called Unfinished")
    assert text(talk, "Unfinished/Tides.md") and text(talk, "Essays/Wind.md")


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ("new instrument: Tide gauge", "Instruments/Tide gauge.md"),
        ("new instrument Tide gauge: measures the tide", "Instruments/Tide gauge.md"),
        ("new person: Inga Solberg, lecturer at the university", "People/Inga Solberg.md"),
    ],
)
async def test_a_note_of_a_kind_is_created_in_its_folder(talk, request_, path) -> None:
    await say(talk, request_)
    question = talk.items[-1]
    if isinstance(question, Question):
        await say(talk, question.choices[0].reply)
    assert text(talk, path)


@pytest.mark.parametrize(
    ("request_", "path", "properties"),
    [
        (
            'new source "Tide tables" in Sources with year 1851 and read false',
            "Sources/Tide tables.md",
            ("year: 1851", "read: false"),
        ),
        (
            "new person Inga Solberg in People, born 1988-04-02",
            "People/Inga Solberg.md",
            ("born: 1988-04-02",),
        ),
        (
            "create an event called Second voyage, date 1772-07-13",
            "Events/Second voyage.md",
            ("date: 1772-07-13",),
        ),
    ],
)
async def test_a_note_of_a_kind_gets_the_properties_after_its_name(talk, request_, path, properties) -> None:
    await say(talk, request_)
    question = talk.items[-1]
    if isinstance(question, Question):
        await say(talk, question.choices[0].reply)
    assert all(line in text(talk, path) for line in properties)


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("new tide table note: Lisbon 2026", "Lisbon 2026"),
        ("make a new tide table from that: Lisbon 2026", "Lisbon 2026"),
        ("create a tide table called Lisbon", "Lisbon"),
        ("neue Tide table anlegen: Lissabon 2026", "Lissabon 2026"),
    ],
)
async def test_the_words_of_a_kind_are_no_part_of_the_name(talk, request_, name) -> None:
    await fill(talk, **{"Templates__Tide table": "# {{title}}", "Templates__Trip": "# {{title}}"})
    await say(talk, request_)
    question = talk.items[-1]
    assert isinstance(question, Question)
    await say(talk, question.choices[0].reply)
    assert text(talk, f"{name}.md").startswith(f"# {name}")


@pytest.mark.parametrize(
    "request_",
    [
        "new instrument Tide gauge, which measures the tide",
        "new instrument Tide gauge for whoever needs one",
    ],
)
async def test_other_words_after_a_name_are_not_dropped(talk, request_) -> None:
    done = await say(talk, request_)
    assert not done.changes


async def test_a_pronoun_is_no_name_of_a_new_note(talk) -> None:
    done = await say(talk, "open H4", "create her in People with the person template")
    assert not done.changes


@pytest.mark.parametrize(
    "request_",
    [
        "create a folder for recipes, and move H4 into it",
        "create a folder with clocks and move H4 into it",
        "erstelle einen Ordner für Rezepte und verschiebe H4 hinein",
    ],
)
async def test_the_purpose_of_a_folder_is_no_name(talk, approver, request_) -> None:
    approver.asked.clear()
    await say(talk, request_)
    assert text(talk, "Instruments/H4.md") and not approver.asked


async def test_the_described_notes_move_into_a_new_folder(talk) -> None:
    await fill(
        talk,
        Food__Curry="---\ntype: recipe\ncourse: main\nvegetarian: true\n---\n",
        Food__Dal="---\ntype: recipe\ncourse: main\nvegetarian: true\n---\n",
        Food__Stew="---\ntype: recipe\ncourse: main\nvegetarian: false\n---\nA vegetarian main? No.\n",
        Food__Salad="---\ntype: recipe\ncourse: side\nvegetarian: true\n---\n",
    )
    await order(talk, "create a folder Old stuff and move all vegetarian mains into it")
    moved = sorted(path.name for path in (talk.workspace.root / "Old stuff").glob("*.md"))
    assert moved == ["Curry.md", "Dal.md"]


async def test_a_known_place_after_the_name_is_no_part_of_it(talk) -> None:
    await say(talk, "new source: Tide tables in Sources, year 1851")
    assert "year: 1851" in text(talk, "Sources/Tide tables.md")
