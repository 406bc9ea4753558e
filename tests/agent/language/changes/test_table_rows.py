"""A row is added to a table, after its last row."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import OPEN, answers, fill, order, say, talk, text

__all__ = ["talk"]
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


async def test_a_row_with_more_cells_than_columns_is_refused(talk) -> None:
    await fill(talk, Bread=BREAD)
    await say(talk, "add a row | a | b | c | d | e | f | to the table in Bread")
    assert answers(talk)[-1].endswith("has no table with so many columns. Nothing was changed.")
    assert text(talk, "Bread.md") == BREAD


async def test_rows_without_a_table_are_text(talk) -> None:
    await fill(talk, Plain="Text.\n")
    await order(talk, f"append {ROW} to Plain")
    assert text(talk, "Plain.md") == f"Text.\n{ROW}\n"
