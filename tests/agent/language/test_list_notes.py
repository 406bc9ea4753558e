"""Lines that requests add to notes that are lists by their names, and names with numbers like a month."""

from __future__ import annotations

import pytest

from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import fill, order, say, talk, text

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
        ("Diary", "- bread\n\nRain.\n", "add to Diary: honey", "honey\n"),
        ("Cellist", "Plays.\n\n- Bach\n", "add the line born in Leeds to Cellist", "\nborn in Leeds\n"),
        ("Spezialist", "Kocht.\n\n- Brot\n", "füge Honig zu Spezialist hinzu", "\nHonig\n"),
        ("Shopping run", "- [ ] bread\n", "add oil and salt to the shopping run", "- [ ] oil\n- [ ] salt\n"),
        ("Playlist", "- Kashmir\n", "add Black Dog to Playlist", "- Black Dog\n"),
        ("Playlist", "- Kashmir\n", 'add the line "Black Dog" to Playlist', "- Black Dog\n"),
        ("Shopping list", "- bread\n", 'append "## Later" to the shopping list', "## Later\n"),
        ("Diary", "Rain.\n\n- [ ] bread\n- [ ] oil\n- [ ] tea\n", "add to Diary: honey", "- [ ] honey\n"),
        ("Diary", "Rain.\n\n- [ ] bread\n", "add to Diary: honey", "\nhoney\n"),
        ("Diary", "Rain.\n\n- [ ] bread\n", "add to Diary: He stayed at home.", "\nHe stayed at home.\n"),
        ("Diary", "Rain.\n\nSun.\n\n- [ ] bread\n", "add to Diary: honey", "\nhoney\n"),
        ("Diary", "- bread\n", "add to Diary: wax it by 2031-12-04", "- wax it by 2031-12-04\n"),
        (
            "Winter checklist",
            "- [ ] sweep\n",
            "add a line to Winter checklist: Ann called about the roof on Friday",
            "\nAnn called about the roof on Friday\n",
        ),
        ("Shopping list", "- bread\n", 'append "- honey" to the shopping list', "- honey\n"),
    ],
)
async def test_a_line_for_a_list_is_an_item(talk, name, before, request_text, added) -> None:
    await fill(talk, **{name: before})
    await order(talk, request_text)
    assert text(talk, f"{name}.md") == f"{before}{added}"


DUE = "- [ ] bake bread 📅 2031-03-03\n"


@pytest.mark.parametrize(
    ("before", "request_text", "added"),
    [
        (DUE, "add wax it by 2031-12-04 to Diary", "- [ ] wax it 📅 2031-12-04"),
        (DUE, "füge Wachs bis 4.12.2031 zu Diary hinzu", "- [ ] Wachs 📅 2031-12-04"),
        # Only a deadline is a due date, and only in a list with due dates.
        (DUE, "add wax tomorrow to Diary", "- [ ] wax tomorrow"),
        ("- [ ] bread\n", "add wax it by 2031-12-04 to Diary", "- [ ] wax it by 2031-12-04"),
        (f"{DUE}- oil\n", "add wax it by 2031-12-04 to Diary", "- wax it by 2031-12-04"),
        # Dictated words stay.
        (DUE, "add to Diary: pump failed on March 12", "- [ ] pump failed on March 12"),
        (DUE, "add to Diary: wax it, by 2031-12-04", "- [ ] wax it 📅 2031-12-04"),
        (DUE, "schreib in Diary: Wachs, bis 4.12.2031", "\nWachs, bis 4.12.2031"),
    ],
)
async def test_only_a_deadline_among_due_tasks_is_a_due_date(talk, before, request_text, added) -> None:
    await fill(talk, Diary=before)
    await order(talk, request_text)
    assert text(talk, "Diary.md") == f"{before}{added}\n"


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


@pytest.mark.parametrize(
    ("request_text", "added"),
    [
        ("add oil, salt and rye", "- oil\n- salt\n- rye\n"),
        ("put two lemons on the list", "- two lemons\n"),
        ("füge Öl und Salz hinzu", "- Öl\n- Salz\n"),
    ],
)
async def test_items_are_added_to_the_list_in_focus(talk, request_text, added) -> None:
    await fill(talk, **{"Shopping list": "- bread\n", "Einkaufsliste": "- bread\n"})
    is_german = "füge" in request_text
    name = "Einkaufsliste" if is_german else "Shopping list"
    await order(talk, f"{'öffne' if is_german else 'open'} {name}", request_text)
    assert text(talk, f"{name}.md") == f"- bread\n{added}"


@pytest.mark.parametrize(
    "request_text", ["add tag food", "add oil to H1", "add it to H1", "add a note about oil"]
)
async def test_other_additions_are_no_items(talk, request_text) -> None:
    await fill(talk, **{"Shopping list": "- bread\n"})
    await say(talk, "open Shopping list", request_text)
    assert text(talk, "Shopping list.md").endswith("- bread\n")


async def test_the_list_of_another_note_is_asked_about(talk) -> None:
    await fill(talk, Pantry="We need:\n- bread\n")
    await say(talk, "open Pantry", "add rye flour to the list")
    assert text(talk, "Pantry.md") == "We need:\n- bread\n"
    assert "append [@Pantry]" in choices(talk)[0] and "rye flour" in choices(talk)[0]


async def test_a_winter_is_no_month(talk) -> None:
    await fill(talk, Pond="A pond.\n")
    await say(talk, "rename Pond to Pond survey 2025-26")
    assert text(talk, "Pond survey 2025-26.md") == "A pond.\n"
