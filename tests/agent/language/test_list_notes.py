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
        ("Diary", "- bread\n", "add honey to Diary", "- honey\n"),
        ("Diary", "# Diary\n\nFor Saturday:\n\n* [x] bread\n", "add to Diary: honey", "* [ ] honey\n"),
        ("Diary", "1. bread\n2. oil\n", 'add "honey" to Diary', "3. honey\n"),
        ("Diary", "Rain.\n\n- bread\n", "add honey to Diary", "\nhoney\n"),
        ("Diary", "Rain.\n\n- bread\n", "add honey to the list in Diary", "- honey\n"),
        ("Diary", "- bread\n", "add to Diary: We went home late today.", "\nWe went home late today.\n"),
        ("Diary", "- bread\n- oil\n", "add to Diary: honey, salt", "- honey\n- salt\n"),
        ("Diary", "- bread\n\nRain.\n", "add to Diary: honey", "honey\n"),
        ("Cellist", "Plays.\n\n- Bach\n", "add the line born in Leeds to Cellist", "\nborn in Leeds\n"),
        ("Spezialist", "Kocht.\n\n- Brot\n", "füge Honig zu Spezialist hinzu", "\nHonig\n"),
        ("Shopping run", "- [ ] bread\n", "add oil and salt to the shopping run", "- [ ] oil\n- [ ] salt\n"),
        ("Playlist", "- Kashmir\n", "add Black Dog to Playlist", "- Black Dog\n"),
        ("Playlist", "- Kashmir\n", 'add the line "Black Dog" to Playlist', "- Black Dog\n"),
        ("Shopping list", "- bread\n", 'append "## Later" to the shopping list', "## Later\n"),
        ("Shopping list", "- bread\n", 'append "- honey" to the shopping list', "- honey\n"),
    ],
)
async def test_a_line_for_a_list_is_an_item(talk, name, before, request_text, added) -> None:
    await fill(talk, **{name: before})
    await order(talk, request_text)
    assert text(talk, f"{name}.md") == f"{before}{added}"


async def test_an_item_stands_below_the_only_list(talk) -> None:
    await fill(talk, Plan="To find:\n- a map\n- a rope\n\nAnn helps.\n")
    await order(talk, "add a lamp to the list in Plan")
    assert text(talk, "Plan.md") == "To find:\n- a map\n- a rope\n- a lamp\n\nAnn helps.\n"


@pytest.mark.parametrize(
    "request_text",
    [
        "add under April: radishes",
        "füge unter April hinzu: radishes",
        "one more bullet under April: radishes",
    ],
)
async def test_a_text_below_a_heading_goes_on_with_its_list(talk, request_text) -> None:
    await fill(talk, Beds="Rain.\n\n## April\n- peas\n\n## May\n- beans\n")
    await say(talk, "open Beds", request_text)
    assert text(talk, "Beds.md") == "Rain.\n\n## April\n- peas\n- radishes\n\n## May\n- beans\n"


async def test_a_winter_is_no_month(talk) -> None:
    await fill(talk, Pond="A pond.\n")
    await say(talk, "rename Pond to Pond survey 2025-26")
    assert text(talk, "Pond survey 2025-26.md") == "A pond.\n"
