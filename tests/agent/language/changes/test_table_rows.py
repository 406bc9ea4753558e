"""A row is added to a table, after its last row."""

from __future__ import annotations

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import answers, fill, order, say, talk, text

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


async def test_a_row_is_added_to_the_table(talk) -> None:
    await fill(talk, Bread=BREAD)
    await order(talk, f"append {ROW} to Bread")
    assert text(talk, "Bread.md") == WITH_ROW


async def test_of_several_tables_the_heading_is_asked_for(talk) -> None:
    two = f"{BREAD}\n{BREAD.replace('Bread', 'Cake').replace('Prices', 'Costs')}"
    await fill(talk, Bread=two)
    await say(talk, f"append {ROW} to Bread")
    assert isinstance(talk.items[-1], Question) and talk.items[-1].text == "Which table do you mean?"
    assert [choice.label for choice in talk.items[-1].choices] == ["Prices", "Costs"]
    assert text(talk, "Bread.md") == two
    await say(talk, "the first one")
    assert text(talk, "Bread.md") == two.replace(BREAD, WITH_ROW)


async def test_tables_without_headings_of_their_own_need_another_way(talk) -> None:
    await fill(talk, Bread=f"{BREAD}\n{BREAD.partition('## Prices')[2]}")
    await say(talk, f"append {ROW} to Bread")
    assert answers(talk)[-1].startswith("There are 2 tables.")


async def test_rows_without_a_table_are_text(talk) -> None:
    await fill(talk, Plain="Text.\n")
    await order(talk, f"append {ROW} to Plain")
    assert text(talk, "Plain.md") == f"Text.\n{ROW}\n"
