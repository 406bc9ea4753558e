"""A line is added to the note in focus; without its text, the agent asks for it."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import OPEN, fill, order, say, talk, text

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
    ("request_text", "added"),
    [
        ("add: best chapter is the one on rotation, pages 210 to 240", "pages 210 to 240"),
        ("jot down here: needs salt. delete half the butter", "needs salt. delete half the butter"),
        ("write in its note: back in May", "back in May"),
        ("add Anna's new opening hours to its note: closed on Mondays", ""),
        ("Schreib: Will Speisekarten auf Recyclingpapier.", "Will Speisekarten auf Recyclingpapier."),
        ("Füge hinzu: neuer Vergaser", "neuer Vergaser"),
        ("add tags: a, b", ""),
    ],
)
async def test_a_text_is_written_at_once(talk, request_text, added) -> None:
    known = text(talk, OPEN)
    await say(talk, request_text)
    lines = [line for line in text(talk, OPEN).splitlines() if line and line not in known.splitlines()]
    assert len(lines) == bool(added) and (not added or lines[0].endswith(added))


@pytest.mark.parametrize(
    ("request_text", "added"),
    [
        ("note that it has three legs", "it has three legs"),
        ("add that it is back in Leeds, and nobody knew", "it is back in Leeds, and nobody knew"),
    ],
)
async def test_a_stated_fact_is_written_after_a_question(talk, request_text, added) -> None:
    known = text(talk, OPEN)
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question) and text(talk, OPEN) == known
    await say(talk, talk.items[-1].choices[0].reply)
    assert added in text(talk, OPEN).splitlines()


async def test_a_note_in_talk_gets_the_text_after_its_noun(talk) -> None:
    added = ["steps down as chair in spring", "Showed the octant to the Royal Society in 1731."]
    await say(talk, "open H1", f"note: {added[0]}", f"write: {added[1]}")
    assert set(added) <= set(text(talk, OPEN).splitlines())


@pytest.mark.parametrize(
    ("request_text", "task"),
    [
        ("add a task in its note: wind it, 12 December", "- [ ] wind it 📅"),
        ("put a task in: compare three offers", "- [ ] compare three offers"),
        ("add a task for it there: wind it", "- [ ] wind it"),
        ("Füge als Aufgabe hinzu: Kühlschrank auswischen", "- [ ] Kühlschrank auswischen"),
        ("Neue Aufgabe: Daten bis 15. Dezember exportieren", "- [ ] Daten exportieren 📅"),
    ],
)
async def test_words_before_the_colon_are_no_part_of_a_task(talk, request_text, task) -> None:
    await say(talk, request_text)
    assert any(line.startswith(task) for line in text(talk, OPEN).splitlines())


PLAN = "1. Mow the meadow\n2. Rake the hay\n\nLater:\n\n- [ ] Sharpen the scythe\n"


@pytest.mark.parametrize(
    "request_text",
    [
        "add a point: 3. Turn the hay",
        "add another bullet: 3) Turn the hay",
        "add: 3. Turn the hay",
        "füge hinzu: 3. Turn the hay",
    ],
)
async def test_a_numbered_text_continues_the_numbered_list(talk, request_text) -> None:
    await fill(talk, Hay=PLAN)
    await order(talk, "open Hay", request_text)
    assert text(talk, "Hay.md") == PLAN.replace("2. Rake the hay\n", "2. Rake the hay\n3. Turn the hay\n")


async def test_a_numbered_text_gets_no_bullet_without_a_numbered_list(talk) -> None:
    await fill(talk, Hay="# Hay\n\nMow early.\n")
    await say(talk, "open Hay", "add a point: 2. Turn the hay")
    assert text(talk, "Hay.md").splitlines()[-1] == "2. Turn the hay"


async def test_a_point_continues_a_list_with_numbers_at_the_end(talk) -> None:
    await fill(talk, Hay="# Hay\n\n1. Mow\n")
    await say(talk, "open Hay", "add a point: Turn the hay")
    assert text(talk, "Hay.md") == "# Hay\n\n1. Mow\n2. Turn the hay\n"


async def test_a_task_with_a_number_stays_a_task(talk) -> None:
    await fill(talk, Hay=PLAN)
    await say(talk, "open Hay", "add a task: 3. turn the hay")
    assert text(talk, "Hay.md") == f"{PLAN}- [ ] 3. turn the hay\n"


CHECKLIST = "# Boat\n\n- [ ] mend the sail\n- [ ] paint the hull\n"


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ('add "oil the oars" under the tasks', "- [ ] oil the oars"),
        ('= append [@Boat] heading=list text="oil the oars"', "- [ ] oil the oars"),
        ('füge "oil the oars" unter Aufgaben hinzu', "- [ ] oil the oars"),
    ],
)
async def test_a_list_without_a_heading_is_continued(talk, request_text, line) -> None:
    await fill(talk, Boat=CHECKLIST)
    await order(talk, "open Boat", request_text)
    assert text(talk, "Boat.md") == f"{CHECKLIST}{line}\n"


async def test_the_only_heading_with_a_word_is_meant(talk) -> None:
    note = "# Boat\n\n## Before the trip\n\n- sail\n\n## Tripwires\n\n- rope\n"
    await fill(talk, Boat=note)
    await order(talk, "open Boat", 'add "oars" under Trip')
    assert text(talk, "Boat.md") == note.replace("- sail\n", "- sail\n- oars\n")


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("and add there: oars", "- sail\n- oars\n"),
        ("add a task there: oil it", "- sail\n- [ ] oil it\n"),
        ("add to Boat: oars", "- sail\n\n## After\n\n- rope\n- oars\n"),
    ],
)
async def test_there_is_the_heading_that_was_just_renamed(talk, request_text, expected) -> None:
    await fill(talk, Boat="# Boat\n\n## Before\n\n- sail\n\n## After\n\n- rope\n")
    await order(talk, "open Boat", "rename the heading Before to Trip", request_text)
    assert f"## Trip\n\n{expected}" in text(talk, "Boat.md")


@pytest.mark.parametrize("place", ["Trip", "the tasks"])
async def test_a_place_that_the_note_lacks_is_reported(talk, place) -> None:
    note = "# Boat\n\n## Trip out\n\n## Trip home\n\n- rope\n"
    await fill(talk, Boat=note)
    await order(talk, "open Boat", f'add "oars" under {place}')
    assert text(talk, "Boat.md") == note


@pytest.mark.parametrize(
    ("addition", "expected"),
    [
        ('append [@Plan] text="3. Rest"', "1. Walk\n2. Eat\n3. Rest\n"),
        ('append [@Plan] text="14. Mai abreisen"', "14. Mai abreisen"),
        ('append [@Plan] text="2026. A year"', "2026. A year"),
        ('append [@Plan] text="- Rest"', "1. Walk\n2. Eat\n3. Rest\n"),
    ],
)
async def test_only_the_next_number_continues_a_numbered_list(talk, addition, expected) -> None:
    await fill(talk, Plan="1. Walk\n2. Eat\n")
    await say(talk, f"= {addition}")
    assert expected in text(talk, "Plan.md")


@pytest.mark.parametrize(
    ("request_", "added"),
    [
        ("write in his note that he was apprenticed to Bird", '[@Ann] text="he was apprenticed to Bird"'),
        ("add to her note that she likes tea", '[@Ann] text="she likes tea"'),
        ("put in the note of H4 that it was tested in 1761", '[@H4] text="it was tested in 1761"'),
        ("add to H4's note that it was cleaned", '[@H4] text="it was cleaned"'),
        ("schreib in ihre Notiz, dass sie Tee mag", '[@Ann] text="sie Tee mag"'),
    ],
)
async def test_a_fact_for_the_note_of_somebody_is_offered(talk, request_, added) -> None:
    await fill(talk, Ann="A friend.\n")
    await say(talk, "open Ann", request_)
    question = talk.items[-1]
    assert isinstance(question, Question)
    assert added in question.choices[0].reply.replace("Instruments/", "").replace(".md", "")


@pytest.mark.parametrize(
    "request_", ["add to my list that it is late", "add a tag to the note that he wrote"]
)
async def test_a_fact_for_an_unknown_place_is_no_text_for_the_note(talk, request_) -> None:
    await fill(talk, Ann="A friend.\n")
    await say(talk, "open Ann", request_)
    assert text(talk, "Ann.md") == "A friend.\n"
