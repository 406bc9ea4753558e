"""A line is added to the note in focus; without its text, the agent asks for it."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.test_dialog import OPEN, answers, fill, order, say, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("request_text", "question"),
    [
        ("add a line at the end", "Which text?"),
        ("add another line to the end of this note", "Which text?"),
        ("füge am Ende eine Zeile hinzu", "Welcher Text?"),
    ],
)
async def test_the_text_of_a_line_is_asked_for(talk, request_text, question) -> None:
    known = text(talk, OPEN)
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question) and talk.items[-1].text == question
    await say(talk, "The end of the story")
    assert text(talk, OPEN).startswith(known.rstrip("\n")) and "The end of the story" in text(talk, OPEN)


@pytest.mark.parametrize(
    "request_text",
    [
        "add a line at the end: Needs review before release",
        "add a new line: Needs review before release",
        "füge unten eine Zeile an: Needs review before release",
    ],
)
async def test_the_text_follows_a_colon(talk, request_text) -> None:
    known = text(talk, OPEN)
    await order(talk, request_text)
    added = text(talk, OPEN).removeprefix(known.rstrip("\n"))
    assert "Needs review before release" in added and "end" not in added


async def test_a_line_at_the_top_is_the_first_one(talk) -> None:
    await say(talk, "add a line at the top: Needs review")
    assert text(talk, OPEN).index("Needs review") < text(talk, OPEN).index("# H1")


@pytest.mark.parametrize(
    "request_text", ["add a line at the end of H3", "füge eine Zeile am Ende von H3 hinzu"]
)
async def test_a_line_is_added_to_the_named_note(talk, request_text) -> None:
    known = text(talk, OPEN)
    await say(talk, request_text, "Seventeen years of work")
    assert "Seventeen years of work" in text(talk, "Instruments/H3.md") and text(talk, OPEN) == known


BREAD = """# Bread

## Prices

| Bread | Price |
| --- | --- |
| Wheat | 2 € |

All prices are per loaf.
"""
ROW = "| Rye | 3 € |"
WITH_ROW = BREAD.replace("2 € |\n", f"2 € |\n{ROW}\n")


@pytest.mark.parametrize(
    "request_text",
    [
        f"append {ROW} to Bread",
        f"add a row {ROW} to the table in Bread",
        f'add "{ROW}" to the table in Bread, please',
        f"add {ROW} to the table under Prices in Bread",
        f"add a row to the table in Bread: {ROW}",
        f"add a new table row {ROW} to Bread",
        f"add {ROW} as a row to the Bread table",
        f"füge die Zeile {ROW} zur Tabelle in Bread hinzu",
        f"füge der Tabelle in Bread die Zeile {ROW} hinzu",
    ],
)
async def test_a_row_is_added_to_the_table(talk, request_text) -> None:
    await fill(talk, Bread=BREAD)
    await order(talk, request_text)
    assert text(talk, "Bread.md") == WITH_ROW


async def test_the_table_of_the_note_in_focus_is_meant(talk) -> None:
    known = text(talk, OPEN)
    await order(talk, f"add a row {ROW} to the table")
    assert answers(talk)[-1].endswith("has no table. Nothing was changed.")
    (talk.workspace.root / OPEN).write_text(f"{known}\n{BREAD}")
    await say(talk, f"add a row {ROW} to the table")
    assert text(talk, OPEN) == f"{known}\n{WITH_ROW}"
    await say(talk, "undo")
    assert text(talk, OPEN) == f"{known}\n{BREAD}"


async def test_of_several_tables_the_heading_is_asked_for(talk) -> None:
    two = f"{BREAD}\n{BREAD.replace('Bread', 'Cake').replace('Prices', 'Costs')}"
    await fill(talk, Bread=two)
    await say(talk, f"add a row {ROW} to the table in Bread")
    assert isinstance(talk.items[-1], Question) and talk.items[-1].text == "Which table do you mean?"
    assert [choice.label for choice in talk.items[-1].choices] == ["Prices", "Costs"]
    assert text(talk, "Bread.md") == two
    await say(talk, "the first one")
    assert text(talk, "Bread.md") == two.replace(BREAD, WITH_ROW)


async def test_tables_without_headings_of_their_own_need_another_way(talk) -> None:
    await fill(talk, Bread=f"{BREAD}\n{BREAD.partition('## Prices')[2]}")
    await say(talk, f"add a row {ROW} to the table in Bread")
    assert answers(talk)[-1].startswith("There are 2 tables.")


async def test_rows_without_a_table_are_text(talk) -> None:
    await fill(talk, Plain="Text.\n")
    await order(talk, f"append {ROW} to Plain")
    assert text(talk, "Plain.md") == f"Text.\n{ROW}\n"
