"""Lines that requests add to notes that are lists by their names, and names with numbers like a month."""

from __future__ import annotations

import pytest

from tests.agent.language.test_dialog import fill, order, say, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("name", "before", "request_text", "added"),
    [
        ("Shopping list", "- bread\n", "add honey to the shopping list", "- honey\n"),
        ("Einkaufsliste", "* Brot\n", "füge Honig zu Einkaufsliste hinzu", "* Honig\n"),
        ("Shopping list", "- [x] bread\n", "add honey to the shopping list", "- [ ] honey\n"),
        ("Shopping list", "Bread.\n", "add honey to the shopping list", "honey\n"),
        ("Diary", "- bread\n", "add honey to Diary", "honey\n"),
        ("Cellist", "- bread\n", "add the line born in Leeds to Cellist", "born in Leeds\n"),
        ("Spezialist", "- Brot\n", "füge Honig zu Spezialist hinzu", "Honig\n"),
        ("Playlist", "- Kashmir\n", "add Black Dog to Playlist", "- Black Dog\n"),
        ("Playlist", "- Kashmir\n", 'add the line "Black Dog" to Playlist', "Black Dog\n"),
        ("Shopping list", "- bread\n", 'append "## Later" to the shopping list', "## Later\n"),
        ("Shopping list", "- bread\n", 'append "- honey" to the shopping list', "- honey\n"),
    ],
)
async def test_a_line_for_a_list_is_an_item(talk, name, before, request_text, added) -> None:
    await fill(talk, **{name: before})
    await order(talk, request_text)
    # An empty line keeps what is no item from becoming a part of the list.
    gap = "" if added.startswith(("- ", "## ")) or not before.startswith("- ") else "\n"
    assert text(talk, f"{name}.md") == f"{before}{gap}{added}"


async def test_a_winter_is_no_month(talk) -> None:
    await fill(talk, Pond="A pond.\n")
    await say(talk, "rename Pond to Pond survey 2025-26")
    assert text(talk, "Pond survey 2025-26.md") == "A pond.\n"
