"""Rows are added at the end of a table; all other bytes stay."""

from __future__ import annotations

import pytest

from app.errors import AmbiguousError, NotFoundError
from app.vault.markdown.tables import add_rows, is_row_text, table_ranges

TABLE = "| a | b |\n| - | - |\n| 1 | 2 |\n"
ROW = "| 3 | 4 |"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (f"{TABLE}\nText.\n", f"{TABLE}{ROW}\n\nText.\n"),
        (f"{TABLE}Text.\n", f"{TABLE}{ROW}\nText.\n"),
        (TABLE.rstrip("\n"), f"{TABLE}{ROW}"),
        ("| a | b |\r\n|---|---|\r\n\r\nText.\r\n", f"| a | b |\r\n|---|---|\r\n{ROW}\r\n\r\nText.\r\n"),
        ("a | b\n-- | --\n1 | 2\n\nText.", f"a | b\n-- | --\n1 | 2\n{ROW}\n\nText."),
        (f"---\nkey: x | y\n---\n{TABLE}\nText.\n", f"---\nkey: x | y\n---\n{TABLE}{ROW}\n\nText.\n"),
        (
            "- | a | b |\n  |---|---|\n  | 1 | 2 |\n- Text.",
            f"- | a | b |\n  |---|---|\n  | 1 | 2 |\n  {ROW}\n- Text.",
        ),
        ("> | a | b |\n> |---|---|\n\nText.", f"> | a | b |\n> |---|---|\n> {ROW}\n\nText."),
        (f"```\n{TABLE}```\n\n{TABLE}\nText.\n", f"```\n{TABLE}```\n\n{TABLE}{ROW}\n\nText.\n"),
    ],
)
def test_a_row_becomes_the_last_one_of_the_table(text: str, after: str) -> None:
    assert add_rows(text, ROW) == after
    assert add_rows(text, f"{ROW}\n") == after


def test_several_rows_are_added_in_order() -> None:
    assert add_rows(f"{TABLE}\nText.\n", f" {ROW}\n| 5 |") == f"{TABLE}{ROW}\n| 5 |\n\nText.\n"


@pytest.mark.parametrize("text", ["", "Text.\n", f"```\n{TABLE}```\n", "| a | b |\n"])
def test_a_note_without_a_table_takes_no_row(text: str) -> None:
    assert add_rows(text, ROW) is None


def test_a_table_with_fewer_columns_takes_no_row() -> None:
    narrow = "# One\n\n| a |\n|---|\n"
    assert add_rows(narrow, ROW) is None
    assert add_rows(TABLE, "||spoiler||") is None
    assert add_rows(f"{TABLE}\n{narrow}", ROW) == f"{TABLE}{ROW}\n\n{narrow}"
    assert add_rows(TABLE, r"| 5 \| 6 | 7 |") == f"{TABLE.rstrip()}\n| 5 \\| 6 | 7 |\n"


@pytest.mark.parametrize(
    "rows", ["", "Text", f"{ROW}\nText", TABLE, "| - |", "|", "|x| = 3 for all x", r"| a \|"]
)
def test_other_text_is_no_row(rows: str) -> None:
    assert not is_row_text(rows)
    assert add_rows(TABLE, rows) is None


def test_a_heading_selects_its_table() -> None:
    one, two, three = f"# One\n\n{TABLE}\n", f"# Two\n\n## Part\n\n{TABLE}", "\nText.\n\n# Three\n"
    text = f"{one}{two}{three}"
    assert add_rows(text, ROW, "One") == f"# One\n\n{TABLE}{ROW}\n\n{two}{three}"
    assert add_rows(text, ROW, "Two") == add_rows(text, ROW, "Part") == f"{one}{two}{ROW}\n{three}"
    assert add_rows(text, ROW, "Three") is None
    with pytest.raises(NotFoundError):
        add_rows(text, ROW, "Four")


def test_several_tables_are_ambiguous() -> None:
    with pytest.raises(AmbiguousError) as error:
        add_rows(f"{TABLE}\n# One\n\n{TABLE}\n## Same\n\n{TABLE}\n# Same\n\n{TABLE}", ROW)
    assert error.value.data["tables"] == ["", "One", "", ""]
    with pytest.raises(AmbiguousError, match="There are 2 tables"):
        add_rows(f"# One\n\n{TABLE}\nText.\n\n{TABLE}", ROW, "One")


def test_the_lines_of_tables() -> None:
    assert table_ranges(f"Text\n\n{TABLE}\n{TABLE}") == [(2, 5), (6, 9)]
    assert table_ranges("Text") == []
