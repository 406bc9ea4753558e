"""Texts that a request adds below a heading of the note in talk."""

from __future__ import annotations

import pytest

from app.agent.language.words.heading_names import named_heading
from app.agent.language.words.lexicon import languages
from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import fill, say, state, talk

__all__ = ["talk"]
PLAN = (
    "Sow rows.\n\n## Sowing dates\n- Beans in May\n\n## Open points\nWho waters?\n\n## Neighbours\n[[Ana]]\n"
)


async def texts(talk, request: str) -> tuple[str, list[str]]:
    """Return the note after a request with it on the screen, and the readings that a question offers."""
    await fill(talk, Bed_plan=PLAN, Ana="Lends tools.\n")
    await talk.say(request, open_note="Bed plan.md")
    question = talk.items[-1]
    offered = [choice.label for choice in question.choices] if isinstance(question, Question) else []
    return (talk.workspace.root / "Bed plan.md").read_text(), offered


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [
        ("add to neighbours: Pia", "[[Ana]]\nPia\n"),
        ("add to the sowing date section: Leeks in April", "- Beans in May\n- Leeks in April\n"),
        ("write under open points: Who weeds?", "Who waters?\nWho weeds?\n"),
        ("ergänze unter Neighbours: Pia", "[[Ana]]\nPia\n"),
        ("under open points write: Who weeds?", "Who waters?\nWho weeds?\n"),
        ("under neighbours add that Pia has a key", "[[Ana]]\nPia has a key\n"),
        ("jot this down under open points, 2026: dig", "Who waters?\n2026: dig\n"),
        ("unter Neighbours ergänze bitte: Pia", "[[Ana]]\nPia\n"),
        ("add to a new section called Pests: slugs in June", "## Pests\n\nslugs in June"),
        ("schreib unter eine neue Überschrift Pests: slugs in June", "## Pests\n\nslugs in June"),
    ],
)
async def test_a_text_after_a_colon_is_added_below_the_heading(talk, request_text, wanted) -> None:
    text, offered = await texts(talk, request_text)
    assert wanted in text and not offered


@pytest.mark.parametrize(
    ("request_text", "heading", "text"),
    [
        ("add an open point: who has the key?", "Open points", "who has the key?"),
        ("add a neighbour heading with: Pia", "Neighbours", "Pia"),
        ("add Pia Lund to the neighbours", "Neighbours", "Pia Lund"),
        ('put "Pia Lund" in the neighbour list', "Neighbours", "Pia Lund"),
    ],
)
async def test_words_that_may_mean_a_heading_offer_it_first(talk, request_text, heading, text) -> None:
    after, offered = await texts(talk, request_text)
    if offered:
        assert f"heading: {heading}" in offered[0] and text in offered[0] and after == PLAN
    else:
        section = after.partition(f"## {heading}\n")[2].partition("\n## ")[0]
        assert text in section


@pytest.mark.parametrize(
    "request_text",
    [
        "add the tag garden to the neighbours",
        "add a task: ask the neighbours",
        "add a pest: slugs in June",
        "add neighbours, beds and beans",
        "under the beans write: slugs",
    ],
)
async def test_other_words_mean_no_heading(talk, request_text) -> None:
    _, offered = await texts(talk, request_text)
    last = state(talk).last
    assert not any("heading" in label for label in offered)
    assert last is None or "heading" not in last.last.arguments


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("open question", "Open questions"),
        ("the decisions", "Decision"),
        ("decisions of the board", ""),
        ("open", ""),
        ("the", ""),
    ],
)
def test_headings_are_named_in_any_form(words, wanted) -> None:
    assert named_heading(words, ["Open questions", "Decision", "Notes for today"], languages()[0]) == wanted


async def test_a_text_is_an_item_before_the_tasks_of_a_section(talk) -> None:
    note = "# Plot\n\n## Rules\n- No dogs\n- No fires\n\n- [ ] Ask Pia\n- [ ] Water\n"
    await fill(talk, Plot=note)
    await talk.say("add to the rules: No drones", open_note="Plot.md")
    assert (talk.workspace.root / "Plot.md").read_text() == note.replace("fires\n", "fires\n- No drones\n")


@pytest.mark.parametrize("request_text", ["put that in the open points", "jot that down in the open points"])
async def test_a_word_such_as_that_is_no_text(talk, request_text) -> None:
    after, offered = await texts(talk, request_text)
    assert after == PLAN and not any("heading: Open points" in own for own in offered)


@pytest.mark.parametrize(
    ("heading", "request_text"),
    [
        ("To-do", 'add "paint the shed" to the to-dos'),
        ("To-do", "add paint the shed to the todos"),
        ("Todos", "put paint the shed in the to-do"),
        ("Tasks", 'add "paint the shed" to the tasks'),
    ],
)
async def test_tasks_are_offered_below_their_heading(talk, heading, request_text) -> None:
    note = f"# Shed\n\n## {heading}\n\n- [x] sweep\n\n## Notes\n\nOld.\n"
    await fill(talk, Shed=note)
    await talk.say(request_text, open_note="Shed.md")
    question = talk.items[-1]
    after = (talk.workspace.root / "Shed.md").read_text()
    if isinstance(question, Question):
        assert f"heading: {heading}" in question.choices[0].label and after == note
        assert "- [ ] paint the shed" in question.choices[0].label
    else:
        assert after == note.replace("sweep\n", "sweep\n- [ ] paint the shed\n")


async def test_a_heading_is_named_without_its_hyphen() -> None:
    english = languages()[0]
    assert named_heading("the todos", ["To-do", "Notes"], english) == "To-do"
    assert named_heading("the tools", ["To-do", "Notes"], english) == ""


@pytest.mark.parametrize(
    ("line", "ending"),
    [
        ("add a line under it: less rain", "Dry.\nless rain\n\n## Food\n"),
        ("write below it: less rain", "Dry.\nless rain\n\n## Food\n"),
        ("add to it: less rain", "## Food\nless rain\n"),
    ],
)
async def test_under_it_is_below_the_heading_of_the_last_change(talk, line, ending) -> None:
    await fill(talk, Trips__Cork="# Cork\n\n## Weather\n\nDry.\n\n## Food\n")
    await say(talk, "open Cork", 'rename the heading "Weather" to Climate', line)
    assert (talk.workspace.root / "Trips/Cork.md").read_text().endswith(ending)
